"""Files of commands: models, tables in batches for them, and output that is written atomically."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._write import open_whole, write_whole
from ..io.fields import FileRows
from ..io.read import RowsTable, read_rows
from ..io.streams import Stream
from ..model.model import read
from ..scorer import Scorer
from ..tables.columns import find_arrow_kind
from ..tables.encoding import Encoding
from ._errors import ExitCode, Problem, check_signals, reading, writing
from ._options import RowOptions, TableOptions
from ._show import note

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


def add_provenance(model: Any, path: str, target: str, held: dict[str, Any] | None = None) -> Any:
    """Return the model with its target, the date, the file with its hash, and the results on held-out rows."""
    source: dict[str, Any] = {"path": "standard input" if path == "-" else path}
    if os.path.isfile(path):
        digest = hashlib.sha256()
        with reading(path), open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        source["sha256"] = digest.hexdigest()
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    provenance = replace(model.provenance, target=target, date=now, source=source, holdout=held)
    return replace(model, provenance=provenance)


def load_scorer(path: str) -> Scorer:
    """Load a model for prediction only."""
    from ..scorer import load_scorer

    with reading(path):
        scorer = load_scorer(path)
    check_signals()  # before a read of standard input, which may block
    return scorer


def load_model(path: str) -> Any:
    """Load a model."""
    from lhtree import load

    with reading(path):
        return load(path)


def choose_output(model: Any, output: str | None) -> Any:
    """Return a model, or the model of one of its outputs, of which there must be several."""
    names = read(model, takes_numbers=True, takes_several=True).head.names
    if output is None and names:
        raise Problem(f"the model has several outputs: pass --output {' or '.join(names)}", ExitCode.USAGE)
    if output is not None and output not in names:
        remedy = f"pass {' or '.join(names)}" if names else "omit it: the model has one output"
        raise Problem(f"--output {output} is not valid: {remedy}", ExitCode.USAGE)
    return model if output is None else model.output(output)


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


def read_table(
    model: Any, path: str, options: TableOptions, *, quiet: bool = False, **others: Any
) -> RowsTable:
    """Read a whole table with the columns of a model; ``others`` are arguments of ``read_rows``."""
    learned = read(model, takes_numbers=True, takes_several=True)
    classes = learned.classes if learned.head.predicts_classes else None
    if isinstance(options, RowOptions):
        others = {"unseen": options.unseen, "drop_missing_target": options.drop_missing_target} | others
    rows = read_rows(path, learned.encoding, classes, options.reading, **others)
    note_unseen(rows.n_unseen, quiet=quiet)
    return rows


def note_unseen(n_unseen: Counter[str], *, quiet: bool) -> None:
    """Print a note on values that were treated as missing."""
    counts = ", ".join(f"{n} of column {name!r}" for name, n in n_unseen.items())
    if counts:
        note(f"lhtree: categories not seen in training are treated as missing: {counts}", quiet=quiet)


def check_place(path: Path, *sources: str | None) -> None:
    """Reject an output path that cannot be written or is an input, before any work is done."""
    with writing(path):
        reason = _find_reason(path, [source for source in sources if source is not None])
    if reason is not None:
        raise Problem(f"cannot write {path}: {reason}", ExitCode.WRITE)


def _find_reason(path: Path, sources: Sequence[str]) -> str | None:
    if path == Path("-"):
        return "it means standard output; pass a file name"
    if path.is_dir():
        return "it is a directory; pass the name of a file"
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        return "it is not a regular file"
    if not path.parent.is_dir():
        return f"the directory {path.parent} does not exist"
    if not os.access(path.parent, os.W_OK):
        return f"the directory {path.parent} is not writable"
    if path.exists() and any(os.path.exists(source) and path.samefile(source) for source in sources):
        return "it is an input file; write to another file"
    if any(os.path.isdir(source) and Path(source).resolve() in path.resolve().parents for source in sources):
        return "it is in the input folder; write to another folder"
    return None


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    check_place(path)
    with writing(path):
        write_whole(path, content)


def check_picture(path: Path) -> None:
    """Reject a picture whose format is unknown."""
    known = import_extra("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        endings = ", ".join(f".{name}" for name in sorted(known))
        raise Problem(f"--plot {path}: the extension must be one of {endings}", ExitCode.USAGE)


def save_figure(draw: Callable[[], Any], path: Path) -> bytes:
    """Return the picture of a figure in the format of the path's extension; it is drawn without a screen."""
    import_extra("matplotlib", "plot").use("Agg")
    figure = draw()
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    import_extra("matplotlib.pyplot", "plot").close(figure)
    return picture.getvalue()


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
