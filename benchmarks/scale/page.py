"""The page of the benchmark of many rows."""

from collections.abc import Sequence
from typing import Any

from ..common.pages import Figure, figure_table, markdown_table
from .on_dask import N_ROUNDS, DaskFit
from .out_of_core import Fit

_MOST_BYTES = 3e9
_LEAST_SPEEDUP, _LARGE = 1.5, 5_000_000  # goal for two workers, and the number of rows from which it applies
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
    ours = [fit for fit in fits if fit.way == "dask"]
    sent = [
        [
            f"{fit.n_rows:,}",
            f"{fit.n_workers}",
            f"{fit.n_exchanges / N_ROUNDS:.1f}",
            f"{fit.n_bytes / 1e3:.0f}",
            f"{fit.n_bytes_predicted / 1e3:.0f}",
        ]
        for fit in ours
    ]
    head = "rows | workers | exchanges per round | kB per level and worker | predicted"
    return {
        "dask": markdown_table(
            " | rows | workers or threads | s elapsed | s of the busiest processor", times
        ),
        "speedup": figure_table(_compare(fits)),
        "sent": markdown_table(head, sent),
    }


def _compare(fits: Sequence[DaskFit]) -> list[Figure]:
    """How much faster two workers are than one, for every size."""
    seconds = {(fit.way, fit.n_rows, fit.n_workers): fit.seconds for fit in fits}
    return [
        Figure(
            f"{_ON_DASK[way]}, {n_rows:,} rows: two {'threads' if way == 'local' else 'workers'} over one",
            seconds[way, n_rows, 1] / seconds[way, n_rows, 2],
            _LEAST_SPEEDUP if way == "dask" and n_rows >= _LARGE else None,
        )
        for n_rows in sorted({fit.n_rows for fit in fits})
        for way in _ON_DASK
    ]
