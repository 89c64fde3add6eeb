"""Output of commands: files at once, tables batch by batch, both atomically."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .._extras import import_extra
from .._write import open_whole, open_whole_folder, write_whole
from ..tables.columns import find_arrow_kind
from . import _signals
from ._errors import ExitCode, Problem, writing

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_GROUP_BYTES = 1 << 23  # rows of Parquet and Arrow are written in groups of about this size
_PART_BYTES = 1 << 27  # and the files of a folder have so many bytes before compression


def check_place(path: Path, *sources: str | None) -> None:
    """Reject an output path that cannot be written or is an input, before any work is done."""
    with writing(path):
        reason = _find_reason(path, [source for source in sources if source is not None])
    if reason is not None:
        raise Problem(f"cannot write {path}: {reason}", ExitCode.WRITE)


def _find_reason(path: Path, sources: Sequence[str]) -> str | None:
    if path == Path("-"):
        return "it means standard output; pass a file name"
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


class Writer(Protocol):
    """Writes batches of one schema; every format has one."""

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
        with _telling_types("text"):
            arrow_csv.write_csv(batch, content, options)
        self._file.write(content.getbuffer())

    def close(self) -> None:
        """Nothing is left."""

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


def make_flat(values: Any) -> Any:
    """A column without a dictionary, which may differ between batches, and with text that every format accepts."""
    pa = import_extra("pyarrow", "cli")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values


class GroupWriter:
    """Parquet or Arrow, in groups of rows."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._file, self._kind = file, kind
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, batch: Any) -> None:
        """Buffer a record batch, and write a group when there are enough rows."""
        self._waiting.append(batch)
        if sum(waiting.nbytes for waiting in self._waiting) >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        """Write the last group and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if not self._waiting:
            return
        group = import_extra("pyarrow", "cli").Table.from_batches(self._waiting).combine_chunks()
        self._waiting = []
        with _telling_types(self._kind):
            if self._writer is None:
                self._writer = (
                    import_extra("pyarrow.parquet", "cli").ParquetWriter(self._file, group.schema)
                    if self._kind == "parquet"
                    else import_extra("pyarrow.ipc", "cli").new_file(self._file, group.schema)
                )
            self._writer.write_table(group)


class FolderWriter:
    """Parquet files in a folder, one after the other, of about the same size."""

    def __init__(self, folder: str) -> None:
        self._folder, self._n_parts, self._n_bytes = folder, 0, 0
        self._stack = ExitStack()
        self._part: GroupWriter | None = None

    def write(self, batch: Any) -> None:
        """Write a record batch, and begin a new file when there are enough rows."""
        if self._part is None:
            path = os.path.join(self._folder, f"part-{self._n_parts:05d}.parquet")
            file = self._stack.enter_context(open(path, "xb"))  # noqa: SIM115  # leave() closes it
            self._part, self._n_bytes = GroupWriter(file, "parquet"), 0
            self._n_parts += 1
        self._part.write(batch)
        self._n_bytes += batch.nbytes
        if self._n_bytes >= _PART_BYTES:
            self.close()

    def close(self) -> None:
        """Write the end of the last file."""
        if self._part is not None:
            self._part.close()
            self.leave()

    def leave(self) -> None:
        """Close the file that is being written, if any, as it is."""
        self._part = None
        self._stack.close()


@contextmanager
def _telling_types(kind: str) -> Iterator[None]:
    """Explain in one line that a format cannot store a column."""
    pa = import_extra("pyarrow", "cli")
    try:
        yield
    except pa.ArrowNotImplementedError as error:
        raise Problem(f"a column cannot be written as {kind} ({error}): drop it, or write Arrow") from None


@contextmanager
def open_output(path: str | None, kind: str | None, *sources: str) -> Iterator[Writer]:
    """Open a table to write; None and "-" are stdout. The format is ``kind``, or that of the extension.

    ``sources`` are what is being read, which must not be written over.
    """
    path = None if path == "-" else path
    name = "standard output" if path is None else path
    if path is not None and path.endswith(("/", os.sep)):
        if kind not in (None, "parquet"):
            raise Problem(f"--out-format {kind}: files of a folder are Parquet; omit it", ExitCode.USAGE)
        with writing(name), _open_folder(path, sources) as folder:
            yield folder
        return
    kind = kind or _find_kind(path)
    with writing(name), ExitStack() as stack:
        file = stack.enter_context(_open_file(path, sources))
        if path is not None and path.lower().endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0))  # type: ignore[assignment]
        writer: Writer = (
            CsvWriter(file, "\t" if kind == "tsv" else ",")
            if kind in ("csv", "tsv")
            else GroupWriter(file, kind)
        )
        yield writer
        writer.close()
        _signals.check()  # before the file takes its place


@contextmanager
def _open_folder(path: str, sources: Sequence[str]) -> Iterator[Writer]:
    place = Path(path)
    if place.is_dir() and any(place.iterdir()):
        raise Problem(
            f"cannot write {path}: it is not empty; remove it first, or pass another", ExitCode.WRITE
        )
    if not place.is_dir():
        check_place(place, *sources)
    with open_whole_folder(place) as temporary:
        writer = FolderWriter(temporary)
        try:
            yield writer
            writer.close()
        finally:
            writer.leave()
        _signals.check()  # before the folder takes its place


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
