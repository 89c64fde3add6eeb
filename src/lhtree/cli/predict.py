"""``lhtree predict``: classes or numbers for a table of any length, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer

from ..evaluation.judge import has_intervals
from ..io.source import FORMATS, Reading
from ..io.streams import PartedStream, Stream, open_stream
from ..scorer import Scorer
from . import _options, _signals
from ._errors import ExitCode, Problem
from ._model import load_scorer, tell_unseen
from ._output import open_output
from ._predicting import Done, Predicting, Wanted
from ._show import show_bar
from ._workers import Work, is_parted, predict_parts

EXAMPLES = (
    "lhtree predict model.lht new.csv --out predictions.csv",
    "lhtree predict model.lht new.csv --proba --keep size --keep colour",
    "lhtree predict model.lht new.parquet --keep-all --out predictions.parquet",
    "lhtree predict model.lht new.parquet --workers 2 --out predictions/",
    "gzip -c new.csv | lhtree predict model.lht - --unseen missing",
)


def predict(
    model: _options.ModelFile,
    data: _options.DataFile,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Output file, or with / at its end a folder of Parquet files, written atomically. Default: stdout.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column 'proba CLASS' per class.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add a column 'confidence CLASS' per class.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            help="Regression forest: add columns 'low' and 'high' of intervals that hold this share of new rows.",
        ),
    ] = None,
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
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            help="Number of processes that share the row groups of a Parquet file.",
        ),
    ] = 1,
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
    """Predict the class, or the number, of every row of a table.

    The table may be larger than memory: rows are read, predicted and written in batches, in their order.
    Columns are matched by name; other columns are ignored. A folder of Parquet files is one table.
    """
    if out_format not in (None, *FORMATS):
        raise Problem(
            f"--out-format {out_format} is not valid: pass one of {', '.join(FORMATS)}", ExitCode.USAGE
        )
    wanted = Wanted(proba, confidence, interval, tuple(keep or ()), keep_all, unseen, batch_rows)
    n_threads = _options.count_threads(threads)
    _options.check_least(workers=(workers, 1))
    scorer = load_scorer(model)
    _check_wanted(scorer, proba=proba, confidence=confidence, interval=interval)
    with _open(data, Reading(format, delimiter, decimal, encoding), workers) as stream:
        predicting = Predicting(scorer, stream, wanted, n_threads)
        with (
            open_output(out, out_format, model, data) as output,
            show_bar(1.0, "predicting", quiet=quiet) as update,
        ):
            n_workers = min(workers, len(stream.parts)) if isinstance(stream, PartedStream) else 1
            if isinstance(stream, PartedStream) and n_workers > 1:
                work = Work(model, data, wanted, max(1, n_threads // n_workers))
                done = predict_parts(work, stream.parts, n_workers, predicting.n_unseen)
            else:
                done = _predict_alone(predicting, stream, batch_rows)
            for batch, share, n_rows in done:
                output.write(batch)
                _signals.check()
                update(share, f"predicting, {n_rows:,} rows")
    tell_unseen(predicting.n_unseen, quiet=quiet)


def _predict_alone(predicting: Predicting, stream: Stream, most_rows: int | None) -> Iterator[Done]:
    for batch in predicting.predict(stream.batches(predicting.columns, most_rows)):
        yield Done(batch, stream.share() or 0.0, stream.n_rows)


def _open(data: str, reading: Reading, n_workers: int) -> AbstractContextManager[Stream]:
    """The table, which workers can share if there are several."""
    if n_workers == 1 or not os.path.exists(data):
        return open_stream(data, reading)
    if not is_parted(data):
        raise Problem(
            f"--workers {n_workers}: {data} is not a Parquet file or folder, whose row groups processes could share: "
            "convert it, or omit --workers",
            ExitCode.USAGE,
        )
    return nullcontext(PartedStream(data))


def _check_wanted(scorer: Scorer, *, proba: bool, confidence: bool, interval: float | None) -> None:
    """Refuse what the model does not have."""
    if interval is not None and not 0.0 < interval < 1.0:
        raise Problem(f"--interval {interval:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    model = scorer._model
    if model.is_regression and (proba or confidence):
        option = "--proba" if proba else "--confidence"
        raise Problem(f"{option}: the model predicts a number, which has no classes; omit it")
    if confidence and model.is_boosted:
        raise Problem("--confidence: a boosted model has no confidences; pass --proba instead")
    if interval is not None and not has_intervals(scorer):
        remedy = (
            "use a forest fitted with --task regression" if model.is_regression else "pass --proba instead"
        )
        raise Problem(f"--interval: the model has no prediction intervals; {remedy}")
