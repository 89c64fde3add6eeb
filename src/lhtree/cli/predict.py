"""``lhtree predict``: classes for a table of any length, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .._extras import import_extra
from ..scorer import Scorer
from ..tables.batches import Stream, open_stream
from ..tables.names import check_known
from ..tables.source import FORMATS, Reading
from . import _options, _signals
from ._errors import ExitCode, Problem
from ._model import Encoder, load_scorer, tell_unseen
from ._output import make_flat, open_output
from ._show import show_bar

EXAMPLES = (
    "lhtree predict model.lht new.csv --out predictions.csv",
    "lhtree predict model.lht new.csv --proba --keep size --keep colour",
    "lhtree predict model.lht new.parquet --keep-all --out predictions.parquet",
    "gzip -c new.csv | lhtree predict model.lht - --unseen missing",
)


def predict(
    model: _options.ModelFile,
    data: _options.DataFile,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Output file, written atomically. Default: stdout."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column 'proba CLASS' per class.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add a column 'confidence CLASS' per class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="NAME", help="Copy a column of the table; may be repeated."),
    ] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Copy all columns of the table.")] = False,
    unseen: _options.Unseen = "error",
    batch_rows: Annotated[
        int | None,
        typer.Option("--batch-rows", min=1, metavar="N", help="Maximum number of rows per batch."),
    ] = None,
    threads: _options.Threads = -1,
    format: _options.Format = None,
    delimiter: _options.Delimiter = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = None,
    out_format: Annotated[
        str | None,
        typer.Option(
            "--out-format",
            metavar="FORMAT",
            help="csv, tsv, parquet or arrow. Default: by the extension of --out.",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = None,
    quiet: _options.Quiet = False,
) -> None:
    """Predict the class of every row of a table.

    The table may be larger than memory: rows are read, predicted and written in batches, in their order.
    Columns are matched by name; other columns are ignored.
    """
    if out_format not in (None, *FORMATS):
        raise Problem(
            f"--out-format {out_format} is not valid: pass one of {', '.join(FORMATS)}", ExitCode.USAGE
        )
    n_threads = _options.count_threads(threads)
    scorer = load_scorer(model)
    if confidence and scorer._model.is_boosted:
        raise Problem("--confidence: a boosted model has no confidences; pass --proba instead")
    with open_stream(data, Reading(format, delimiter, decimal, encoding)) as stream:
        encoder = Encoder(scorer, stream, unseen)
        kept = _choose_kept(stream, keep or (), keep_all)
        columns = list(dict.fromkeys([*encoder.columns, *kept]))
        with (
            open_output(out, out_format, model, data) as output,
            show_bar(1.0, "predicting", quiet=quiet) as update,
        ):
            for rows in stream.batches(columns, batch_rows):
                predictions = _predict(encoder.scorer, encoder.encode(rows), proba, confidence, n_threads)
                output.write(_make_batch(rows.records, kept, predictions))
                _signals.check()
                update(stream.share() or 0.0, f"predicting, {stream.n_rows:,} rows")
    tell_unseen(encoder.n_unseen, quiet=quiet)


def _choose_kept(stream: Stream, keep: Sequence[str], keep_all: bool) -> list[str]:
    check_known("keep", keep, stream.names, stream.name)
    return stream.names if keep_all else list(dict.fromkeys(keep))


def _predict(
    scorer: Scorer, features: NDArray[np.float64], proba: bool, confidence: bool, n_threads: int
) -> dict[str, NDArray[Any]]:
    """Columns of the output; a scorer does not accept a table without rows."""
    labels, n_rows = scorer.classes_, len(features)
    columns = {"prediction": scorer.predict(features, n_threads) if n_rows else labels[:0]}
    for is_wanted, name, method in (
        (proba, "proba", scorer.predict_proba),
        (confidence, "confidence", scorer.predict_confidence),
    ):
        if is_wanted:
            values = method(features, n_threads) if n_rows else np.empty((0, len(labels)))
            columns |= {f"{name} {label}": values[:, i] for i, label in enumerate(labels.tolist())}
    return columns


def _make_batch(batch: Any, kept: Sequence[str], predictions: dict[str, NDArray[Any]]) -> Any:
    """A record batch of the output."""
    pa = import_extra("pyarrow", "cli")
    twice = next((name for name in kept if name in predictions), None)
    if twice is not None:
        raise Problem(
            f"the table already has a column {twice!r}: rename it, or select other columns with --keep"
        )
    columns = {name: make_flat(batch.column(name)) for name in kept}
    columns |= {name: pa.array(values) for name, values in predictions.items()}
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
