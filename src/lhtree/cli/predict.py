"""``lhtree predict``: classes or numbers for a table of any length, read and written batch by batch."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Protocol

import numpy as np
import typer
from numpy.typing import NDArray

from .._extras import import_extra
from .._write import open_whole
from ..evaluation.regression import has_intervals
from ..explain._reasons import Comparer, ReasonTask, find_reasons
from ..io.fields import FileRows
from ..io.source import FORMATS
from ..io.streams import Stream, open_stream
from ..model.model import Model
from ..scorer import Scorer
from ..tables.columns import find_arrow_kind
from ..tables.encoding import Encoding
from ..tables.errors import check_known
from . import _options
from ._errors import ExitCode, Problem, check_signals, writing
from ._files import check_place, load_scorer, note_unseen
from ._show import show_bar

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_GROUP_BYTES = 1 << 23  # size of row groups of Parquet and Arrow files
_PART_BYTES = 1 << 26  # size of the files of a folder, before compression


class Writer(Protocol):
    """Writes record batches of one schema; every format has one."""

    def write(self, batch: Any) -> None:
        """Write an Arrow record batch."""

    def close(self) -> None:
        """Write the remaining rows."""


class CsvWriter:
    """Text with a header line."""

    def __init__(self, file: BinaryIO, delimiter: str) -> None:
        self._file, self._delimiter, self._has_header = file, delimiter, False
        self._special = f'["\r\n{re.escape(delimiter)}]'

    def write(self, batch: Any) -> None:
        """Write a record batch; text is quoted where necessary."""
        arrow_csv = import_extra("pyarrow.csv", "cli")
        if not self._has_header:
            _check_text(batch.schema)
            line = io.StringIO()
            csv.writer(line, delimiter=self._delimiter, lineterminator="\n").writerow(batch.schema.names)
            self._file.write(line.getvalue().encode())
            self._has_header = True
        style = "needed" if any(map(self._needs_quotes, batch.columns)) else "none"
        options = arrow_csv.WriteOptions(include_header=False, delimiter=self._delimiter, quoting_style=style)
        content = io.BytesIO()
        with _explaining_types("text"):
            arrow_csv.write_csv(batch, content, options)
        self._file.write(content.getbuffer())

    def close(self) -> None:
        """Do nothing: all rows are written."""

    def _needs_quotes(self, values: Any) -> bool:
        pa, pc = import_extra("pyarrow", "cli"), import_extra("pyarrow.compute", "cli")
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            return False
        return bool(pc.any(pc.match_substring_regex(values, self._special)).as_py())


def _check_text(schema: Any) -> None:
    """Reject columns that text cannot represent; bytes would be written raw."""
    for field in schema:
        if find_arrow_kind(field.type) == "other":
            raise Problem(
                f"column {field.name!r} holds {field.type}, which is not text: drop it, or write Parquet or Arrow"
            )


class GroupWriter:
    """Parquet or Arrow: buffered rows are written as one row group, or as one file of a Parquet folder."""

    def __init__(self, place: BinaryIO | str, kind: str) -> None:
        self._place, self._kind = place, kind
        self._most_bytes = _PART_BYTES if isinstance(place, str) else _GROUP_BYTES
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._n_files = 0  # of a folder

    def write(self, batch: Any) -> None:
        """Buffer a record batch, and write a group when there are enough rows."""
        self._waiting.append(batch)
        if sum(waiting.nbytes for waiting in self._waiting) >= self._most_bytes:
            self._write_group()

    def close(self) -> None:
        """Write the last group and the end of the file."""
        if self._waiting:
            self._write_group()
        if self._writer is not None:
            self._writer.close()

    def discard(self) -> None:
        """Leave the file unfinished after an error; when deleted, a Parquet writer would write to the closed file."""
        if self._kind == "parquet" and self._writer is not None:
            self._writer.is_open = False

    def _write_group(self) -> None:
        parquet, ipc = import_extra("pyarrow.parquet", "cli"), import_extra("pyarrow.ipc", "cli")
        group = import_extra("pyarrow", "cli").Table.from_batches(self._waiting).combine_chunks()
        self._waiting = []
        with _explaining_types(self._kind):
            if isinstance(self._place, str):
                path = os.path.join(self._place, f"part-{self._n_files:05d}.parquet")
                parquet.write_table(group, path, row_group_size=1 << 17)
                self._n_files += 1
                return
            if self._writer is None:
                new = parquet.ParquetWriter if self._kind == "parquet" else ipc.new_file
                self._writer = new(self._place, group.schema)
            self._writer.write_table(group)


@contextmanager
def _explaining_types(kind: str) -> Iterator[None]:
    """Explain in one line that a format cannot store a column."""
    pa = import_extra("pyarrow", "cli")
    try:
        yield
    except pa.ArrowNotImplementedError as error:
        raise Problem(f"a column cannot be written as {kind} ({error}): drop it, or write Arrow") from None


@contextmanager
def open_output(path: str | None, kind: str | None, *sources: str) -> Iterator[Writer]:
    """Open a table to write; None and "-" are stdout. The format is ``kind``, or that of the extension.

    ``sources`` are input files, which must not be overwritten.
    """
    path = None if path == "-" else path
    with writing("standard output" if path is None else path), ExitStack() as stack:
        writer: Writer
        if path is not None and path.endswith(("/", os.sep)):
            if kind not in (None, "parquet"):
                raise Problem(f"--out-format {kind}: files of a folder are Parquet; omit it", ExitCode.USAGE)
            writer = GroupWriter(stack.enter_context(_open_folder(path, sources)), "parquet")
        else:
            kind = kind or _find_kind(path)
            file = stack.enter_context(_open_file(path, sources))
            if path is not None and path.lower().endswith(".gz"):
                file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0))  # type: ignore[assignment]
            if kind in ("csv", "tsv"):
                writer = CsvWriter(file, "\t" if kind == "tsv" else ",")
            else:
                writer = GroupWriter(file, kind)
                stack.callback(writer.discard)  # before the file is closed
        yield writer
        writer.close()
        check_signals()  # before the file is renamed


@contextmanager
def _open_folder(path: str, sources: Sequence[str]) -> Iterator[str]:
    """Yield a temporary folder that is renamed to ``path`` if no error is raised."""
    place = Path(path)
    if place.is_dir() and any(place.iterdir()):
        raise Problem(
            f"cannot write {path}: it is not empty; remove it first, or pass another", ExitCode.WRITE
        )
    if not place.is_dir():
        check_place(place, *sources)
    temporary = place.with_name(f".{place.name}-{os.getpid()}.part")
    temporary.mkdir()
    try:
        yield str(temporary)
        if place.is_dir():
            place.rmdir()
        os.replace(temporary, place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _find_kind(path: str | None) -> str:
    if path is None:
        return "csv"
    stem = path.lower().removesuffix(".gz")
    kind = _ENDINGS.get(Path(stem).suffix or ".csv")
    if kind is None or (kind in ("parquet", "arrow") and path.lower().endswith(".gz")):
        raise Problem(
            f"--out {path}: unknown file extension; use .csv, .csv.gz, .tsv, .parquet or .arrow, or pass "
            "--out-format",
            ExitCode.USAGE,
        )
    return kind


@contextmanager
def _open_file(path: str | None, sources: Sequence[str]) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        with open(path, "wb") as device:  # a pipe or /dev/null cannot be replaced atomically
            yield device
    else:
        check_place(Path(path), *sources)
        with open_whole(path) as file:
            yield file


EXAMPLES = (
    "lhtree predict model.lht new.csv --out predictions.csv",
    "lhtree predict model.lht new.csv --proba --keep size --keep colour",
    "lhtree predict model.lht new.parquet --keep-all --out predictions.parquet",
    "lhtree predict model.lht new.csv --reasons 2 --positive kept --group look=size,colour --out letters.csv",
    "lhtree predict model.lht new.parquet --out predictions/",
    "gzip -c new.csv | lhtree predict model.lht - --unseen missing",
)


def predict(
    model: _options.ModelFile,
    data: _options.DataFile,
    table: _options.TableOptions,
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
            help="Regression: add columns 'low' and 'high' of intervals that hold this share of new rows (a forest, "
            "an ensemble, or boosted trees fitted with --intervals).",
        ),
    ] = None,
    reasons: Annotated[
        int | None,
        typer.Option(
            "--reasons",
            min=1,
            metavar="N",
            help="Add columns 'reason 1' and 'reason 1 text' to 'reason N text': what pushed most to the prediction.",
        ),
    ] = None,
    positive: _options.Positive = None,
    threshold: _options.Threshold = None,
    texts: _options.ReasonTexts = None,
    group: _options.ReasonGroups = None,
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
    n_threads = _options.count_threads(threads)
    scorer = load_scorer(model)
    _check_wanted(scorer, proba=proba, confidence=confidence, interval=interval)
    label = _options.find_class("--positive", positive, scorer._model.labels)
    task = compare = None
    if reasons is not None:
        task = make_task(scorer._model, reasons, label, threshold, _options.read_texts(texts), group)
        compare = Comparer(scorer._model)
    elif texts is not None or group or threshold is not None or label is not None:
        raise Problem(
            "--positive, --threshold, --texts and --group describe reasons: pass --reasons as well",
            ExitCode.USAGE,
        )
    methods = {"proba": proba, "confidence": confidence}
    scores = [name for name, is_wanted in methods.items() if is_wanted]
    with open_stream(data, table.reading) as stream:
        encoder = Encoder(scorer, stream, unseen)
        check_known("keep", keep or (), stream.names, stream.name)
        kept = stream.names if keep_all else list(dict.fromkeys(keep or ()))
        columns = list(dict.fromkeys([*encoder.columns, *kept]))
        with (
            open_output(out, out_format, model, data) as output,
            show_bar(1.0, "predicting", quiet=quiet) as update,
        ):
            for rows in stream.batches(columns, batch_rows):
                X = encoder.encode(rows)
                predicted = _predict(encoder.scorer, X, scores, interval, n_threads)
                if task is not None and compare is not None:
                    predicted |= _list_reasons(scorer._model, X, task, compare)
                output.write(_make_batch(rows.records, kept, predicted))
                check_signals()
                update(stream.share() or 0.0, f"predicting, {stream.n_rows:,} rows")
    note_unseen(encoder.n_unseen, quiet=quiet)


class Encoder:
    """Finds the columns of a model in a table and encodes them batch by batch."""

    def __init__(self, scorer: Scorer, stream: Stream, unseen: str) -> None:
        self._encoding, self._unseen = scorer._model.encoding, unseen
        self.columns = self._encoding.find_columns(stream.names, stream.name)
        self.n_unseen: Counter[str] = Counter()  # number of values treated as missing, by column
        # A scorer of encoded rows.
        plain = Encoding.plain(self._encoding.n_features)
        self.scorer = Scorer(replace(scorer._model, encoding=plain), quantile=scorer.quantile)

    def encode(self, rows: FileRows) -> NDArray[np.float64]:
        """Return features of some rows, shape (n, m)."""
        return self._encoding.encode(rows.select(self.columns), unseen=self._unseen, n_unseen=self.n_unseen)


def make_task(
    model: Model,
    n: int,
    positive: Any,
    threshold: float | None,
    texts: dict[str, Any] | None,
    groups: list[str] | None,
) -> ReasonTask:
    """Return the checked options of reasons."""
    _options.check_threshold(threshold)
    try:
        return ReasonTask.of(model, n, positive, threshold, texts, _options.read_groups(groups))
    except ValueError as error:
        raise Problem(f"reasons: {error}".rstrip("."), ExitCode.USAGE) from None


def _list_reasons(
    model: Model, X: NDArray[np.float64], task: ReasonTask, compare: Comparer
) -> dict[str, NDArray[Any]]:
    """Return columns of codes and texts; empty where a row has fewer reasons."""
    columns = {
        f"reason {number}{ending}": np.full(len(X), None, dtype=object)
        for number in range(1, task.n + 1)
        for ending in ("", " text")
    }
    if len(X):
        found = find_reasons(model, X, task, compare)
        for number in range(1, task.n + 1):
            own = found["reason"] == number
            for field, ending in (("code", ""), ("text", " text")):
                columns[f"reason {number}{ending}"][found["row"][own]] = found[field][own]
    return columns


def _check_wanted(scorer: Scorer, *, proba: bool, confidence: bool, interval: float | None) -> None:
    """Reject options for scores that the model does not have."""
    if interval is not None and not 0.0 < interval < 1.0:
        raise Problem(f"--interval {interval:g} is not valid: pass a share between 0 and 1", ExitCode.USAGE)
    head = scorer._model.head
    if (proba or confidence) and not head.predicts_classes:
        option = "--proba" if proba else "--confidence"
        raise Problem(f"{option}: the model predicts a number, which has no classes; omit it")
    if confidence and "confidence" not in head.scores:
        raise Problem("--confidence: a boosted model has no confidences; pass --proba instead")
    if interval is not None and not has_intervals(scorer):
        remedy = (
            "pass --proba instead"
            if head.predicts_classes
            else "use a forest or an ensemble, or boosted trees fitted with --intervals"
        )
        raise Problem(f"--interval: the model has no prediction intervals; {remedy}")


def _predict(
    scorer: Scorer, X: NDArray[np.float64], scores: list[str], interval: float | None, n_threads: int
) -> dict[str, NDArray[Any]]:
    """Return columns of the output. A scorer rejects a table without rows, so that a row of zeros gives the columns."""
    n_rows = len(X)
    X = X if n_rows else np.zeros((1, X.shape[1]))
    predicted, names = scorer.predict(X, n_threads), scorer._model.head.names
    columns = {"prediction": predicted}
    if names:
        columns = {f"prediction {name}": predicted[:, place] for place, name in enumerate(names)}
    if interval is not None:
        columns["low"], columns["high"] = scorer.predict_interval(X, interval, n_threads).T
    for name in scores:
        values = getattr(scorer, f"predict_{name}")(X, n_threads)
        columns |= {f"{name} {label}": values[:, i] for i, label in enumerate(scorer.classes_.tolist())}
    return {name: values[:n_rows] for name, values in columns.items()}


def _make_batch(batch: Any, kept: list[str], predicted: dict[str, NDArray[Any]]) -> Any:
    """Return a record batch of the output."""
    pa = import_extra("pyarrow", "cli")
    twice = next((name for name in kept if name in predicted), None)
    if twice is not None:
        raise Problem(
            f"the table already has a column {twice!r}: rename it, or select other columns with --keep"
        )
    columns = {name: _make_flat(batch.column(name)) for name in kept}
    columns |= {
        name: pa.array(values, pa.string())
        if values.dtype == object and name.startswith("reason ")
        else pa.array(values)
        for name, values in predicted.items()
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _make_flat(values: Any) -> Any:
    """Return a column without a dictionary, which may differ between batches, and with text of a common type."""
    pa = import_extra("pyarrow", "cli")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values
