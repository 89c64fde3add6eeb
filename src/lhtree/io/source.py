"""Sources of tables: a file or stdin, optionally gzipped, and its format."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import tempfile
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..tables.errors import OptionError, ReadError, TableError

FORMATS = ("csv", "tsv", "parquet", "arrow")
# First bytes of files: formats that are read, and frequent other formats.
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
_OTHERS = {
    b"PK\x03\x04": "a zip archive or an Excel sheet: save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel sheet: save the table as CSV",
    b"BZh": "packed with bzip2: unpack it first, or pack it with gzip",
    b"\xfd7zXZ": "packed with xz: unpack it first, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it first, or pack it with gzip",
    b"%PDF": "a PDF: save the table as CSV",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"FEA1": "Feather of version 1: save it as version 2, or as Parquet",
}
_JSON = re.compile(rb"""(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[\[{"\]])""")


@dataclass(frozen=True)
class Reading:
    """Options for reading a table; None means detect automatically."""

    format: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.format not in (None, *FORMATS):
            raise OptionError("format", self.format, f"is not valid: pass one of {', '.join(FORMATS)}")
        if self.decimal not in (".", ","):
            raise OptionError("decimal", self.decimal, "is not valid: pass . or ,")


class Feed(io.RawIOBase):
    """The bytes of a source as a stream with look-ahead; damage raises a ReadError."""

    def __init__(self, raw: Any, name: str) -> None:
        super().__init__()
        self._raw, self._name, self._ahead = raw, name, b""

    def readable(self) -> bool:
        """Return True: bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; less than that is the end."""
        content = self.peek(len(buffer))
        self._ahead = self._ahead[len(content) :]
        buffer[: len(content)] = content
        return len(content)

    def peek(self, n: int) -> bytes:
        """Return the next bytes, without consuming them."""
        while len(self._ahead) < n:
            try:
                more = self._raw.read(n - len(self._ahead))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise ReadError(f"{self._name} is damaged: invalid gzip data ({error})") from None
            except OSError as error:
                raise _refuse_file(self._name, error) from None
            if not more:
                break
            self._ahead += more
        return self._ahead[:n]


class Source:
    """An open table: ``feed`` yields its decompressed bytes, ``format`` is known, ``share`` the progress."""

    def __init__(self, path: str, reading_: Reading) -> None:
        self.path, self.reading = path, reading_
        self.name = "standard input" if path == "-" else path
        with ExitStack() as stack:
            self._file = self._open(stack)
            status = os.fstat(self._file.fileno()) if _has_number(self._file) else None
            self.n_bytes = status.st_size if status and stat.S_ISREG(status.st_mode) else None
            self.feed = Feed(self._file, self.name)
            self.is_packed = self.feed.peek(2) == b"\x1f\x8b"
            if self.is_packed:
                self.feed = Feed(gzip.GzipFile(fileobj=io.BufferedReader(self.feed)), self.name)
            self.format = self._find_format()
            self._stack = stack.pop_all()

    def _open(self, stack: ExitStack) -> BinaryIO:
        if self.path == "-":
            if sys.stdin.isatty():
                raise ReadError("'-' reads from standard input, which is a terminal: pipe a table into it")
            return sys.stdin.buffer
        try:
            return stack.enter_context(open(self.path, "rb", buffering=0))
        except OSError as error:
            raise _refuse_file(self.name, error) from None

    def _find_format(self) -> str:
        head = self.feed.peek(64)
        if head[8:].startswith(b'{"__metadata__"'):
            raise TableError(
                f"{self.name} is a model file, not a table: pass the model first, then the table"
            )
        for magic, what in _OTHERS.items():
            if head.startswith(magic):
                raise ReadError(f"{self.name} is {what}")
        found = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), None)
        wanted = self.reading.format
        if wanted is None and _JSON.match(head):
            raise ReadError(
                f"{self.name} is JSON: save the table as CSV or Parquet, for example with pandas.read_json (with "
                "lines=True if every line is a row) and to_csv"
            )
        if wanted in ("parquet", "arrow") and (found or "").partition(" ")[0] != wanted:
            raise ReadError(
                f"{self.name} is not a valid {wanted} file: omit the format to detect it automatically"
            )
        if found or wanted:
            return found or str(wanted)
        stem = self.path.lower().removesuffix(".gz")
        return "tsv" if stem.endswith((".tsv", ".tab")) else "csv"

    def open_whole(self) -> BinaryIO:
        """Return the decompressed, seekable file, for formats whose directory is at the end."""
        if self.n_bytes is not None and self.path != "-" and not self.is_packed:
            return self._stack.enter_context(open(self.path, "rb"))
        spooled = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        while content := self.feed.read(1 << 20):
            spooled.write(content)
        spooled.seek(0)
        return spooled

    def share(self) -> float | None:
        """Return the share of the bytes that has been read; None if their number is unknown."""
        return self._file.tell() / self.n_bytes if self.n_bytes else None

    def close(self) -> None:
        """Close the files."""
        self._stack.close()


def _refuse_file(name: str, error: OSError) -> ReadError:
    return ReadError(f"cannot read {name}: {error.strerror or error}")


def _has_number(file: BinaryIO) -> bool:
    try:
        file.fileno()
    except (OSError, AttributeError):  # in memory
        return False
    return True
