"""Tables that ``lhtree predict`` writes, batch by batch and atomically."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .._extras import import_extra
from .._write import open_whole
from ..tables.columns import find_arrow_kind
from ._errors import ExitCode, Problem, check_signals, writing
from ._files import check_place

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
