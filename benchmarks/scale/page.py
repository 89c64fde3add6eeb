"""The page of the benchmark of many rows."""

from collections.abc import Sequence
from typing import Any

from ..common.pages import Figure, figure_table, markdown_table
from .on_dask import DaskFit
from .out_of_core import Fit

_MOST_BYTES = 3e9
_ON_DASK = {"local": "lhtree, threads", "dask": "lhtree.dask", "lightgbm.dask": "lightgbm.dask"}
_WAYS = {"memory": "lhtree, fit", "batches": "lhtree, fit_batches", "lightgbm": "LightGBM"}


def _describe(fit: Fit) -> list[str]:
    return [
        _WAYS[fit.way],
        f"{fit.n_rows:,}",
        f"{fit.n_rounds}",
        f"{fit.prepare_seconds:.1f}",
        f"{fit.round_seconds:.2f}",
        f"{1e9 * fit.round_seconds / fit.n_rows:.0f}",
        f"{fit.n_bytes / 1e9:.2f}",
        f"{fit.n_bytes_scratch / 1e9:.2f}" if fit.n_bytes_scratch else "",
    ]


_HEAD = (
    " | rows | rounds | s before the first round | s per round | ns per row and round"
    " | anonymous memory, GB | scratch file, GB"
)


def write_growth(found: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Time and memory by the number of rows."""
    return {"growth": markdown_table(_HEAD, [_describe(Fit(*cells)) for cells in found])}


def write_large(found: dict[str, Any]) -> dict[str, str]:
    """The fit past memory, beside LightGBM's on a sample."""
    ours, theirs = Fit(*found["ours"]), Fit(*found["theirs"])
    per_row = (ours.round_seconds / ours.n_rows) / (theirs.round_seconds / theirs.n_rows)
    figures = [
        Figure(
            "anonymous memory of fit_batches", ours.n_bytes / 1e9, _MOST_BYTES / 1e9, "GB", is_floor=False
        ),
        Figure("time per row and round, relative to LightGBM", per_row, None),
    ]
    return {
        "large": markdown_table(_HEAD, [_describe(ours), _describe(theirs)]),
        "figures": figure_table(figures),
    }


def write_dask(found: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Workers against threads, and what workers send."""
    fits = [DaskFit(*cells) for cells in found]
    times = [
        [
            _ON_DASK[fit.way],
            f"{fit.n_rows:,}",
            f"{fit.n_workers}",
            f"{fit.seconds:.1f}",
            f"{fit.processor_seconds:.1f}",
        ]
        for fit in fits
    ]
    sent = [
        [
            f"{fit.n_rows:,}",
            f"{fit.n_workers}",
            f"{fit.n_messages}",
            f"{fit.n_bytes / 1e3:.0f}",
            f"{fit.n_bytes_predicted / 1e3:.0f}",
        ]
        for fit in fits
        if fit.way == "dask"
    ]
    head = "rows | workers | messages | kB per level and worker | predicted"
    return {
        "dask": markdown_table(" | rows | workers or threads | s | s of the busiest processor", times),
        "sent": markdown_table(head, sent),
    }
