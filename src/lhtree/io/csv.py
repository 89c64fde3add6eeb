"""Text tables: encoding, delimiter and header are detected here; Arrow parses chunks of whole records.

Arrow's own streaming reader (``open_csv``) reads up to 32 blocks ahead in a thread, where a signal cannot interrupt it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._extras import import_extra
from ..tables.errors import OptionError, ReadError
from .source import Feed, Source

_HEAD_BYTES = 1 << 22  # the first line must end within these
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = {  # that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class CsvHeader(NamedTuple):
    """Header and delimiter of a text table."""

    names: list[str]
    delimiter: str
    n_bytes: int  # of the header, in UTF-8


class CsvReader:
    """A text table whose header has been read: ``schema``, and ``batches`` of Arrow with text in every column."""

    def __init__(self, source: Source) -> None:
        csv.field_size_limit(1 << 30)  # how long a record may be is settled in records.py
        self._source = source
        self._encoding = _find_encoding(source)
        self._feed = source.feed if self._encoding is None else _recode(source, self._encoding)
        self._head = _read_head(source, self._feed)
        pa = import_extra("pyarrow", "cli")
        self.schema = pa.schema([(name, pa.string()) for name in self._head.names])
        self._feed.read(self._head.n_bytes)

    def batches(self, columns: Iterable[str]) -> Iterator[Any]:
        """Record batches with these columns, in the order of the rows; blank lines are skipped."""
        last = self._head.names[-1]  # a quoted field that does not end is found there
        chosen = list(dict.fromkeys([*columns, last]))
        n_rows, ending, end = 0, b"", None
        for chunk in cut_records(self._feed, self._head.delimiter, self._source.name):
            batch = self._parse(chunk, chosen, n_rows)
            if batch is not None:
                yield batch
                n_rows += batch.num_rows
                ending, end = chunk, batch.column(last)[-1].as_py()
        if end is not None and "\n" in end and ending.count(b'"') % 2:
            raise ReadError(
                f"{self._source.name} ends within a quoted field: close the quote; the file may be truncated"
            )

    def _parse(self, chunk: bytes, columns: list[str], n_before: int) -> Any:
        """Return the record batch of a chunk of whole records; None if it holds blank lines only."""
        pa, arrow_csv = import_extra("pyarrow", "cli"), import_extra("pyarrow.csv", "cli")
        names = self._head.names
        try:
            table = arrow_csv.read_csv(
                pa.py_buffer(chunk),
                # Without threads rows are counted, and no more than this chunk is held.
                arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(chunk) + 1),
                arrow_csv.ParseOptions(delimiter=self._head.delimiter, newlines_in_values=True),
                # Empty fields, the most frequent sign of a missing value, are null from the start.
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=columns,
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._explain(str(error), n_before) from None
        return table.combine_chunks().to_batches()[0] if table.num_rows else None

    def _explain(self, message: str, n_before: int) -> ReadError:
        name = self._source.name
        found = re.search(r"Row #(\d+)", message)
        where = f", {self.locate(n_before + int(found[1]) - 1)}" if found else ""
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
        if ragged:
            return ReadError(
                f"{name}{where} has {ragged[2]} fields, but the header has {ragged[1]}: correct the line; a field that "
                "contains a delimiter must be quoted"
            )
        if "UTF8" in message:
            return ReadError(f"{name}{where} is not valid UTF-8: specify the encoding", encoding="cp1252")
        return ReadError(f"{name} cannot be read: {message}")

    def locate(self, row: int) -> str:
        """Return the line of a data row (from 0) if the file can be read again, else its number."""
        if self._source.path == "-" or self._source.n_bytes is None:
            return f"row {row + 1}"
        again = Source(self._source.path, self._source.reading)
        try:
            lines = io.TextIOWrapper(
                io.BufferedReader(again.feed), self._encoding or "utf-8", errors="replace", newline=""
            )
            records = csv.reader(lines, delimiter=self._head.delimiter)
            before, number = 0, -2  # the header is no row
            for record in records:
                number += bool(record)
                if number == row:
                    return f"line {before + 1}"
                before = records.line_num
        except csv.Error:  # a zero byte, or a field beyond its limit
            pass
        finally:
            again.close()
        return f"row {row + 1}"

    def share(self) -> float | None:
        """Return the share of the bytes that has been read."""
        return self._source.share()

    def estimate_bytes(self) -> int | None:
        """Return the approximate memory: gzip packs text to about a fifth, and numbers take as much as text."""
        n_bytes = self._source.n_bytes
        return None if n_bytes is None else n_bytes * (10 if self._source.is_packed else 2)


def _find_encoding(source: Source) -> str | None:
    """Return the encoding of the byte-order mark, else that of the user; None for UTF-8, which needs no decoding."""
    head = source.feed.peek(4096)
    found = next((name for bom, name in _BOMS.items() if head.startswith(bom)), None)
    wanted = source.reading.encoding
    if wanted is None and found is None and b"\0" in head:
        raise ReadError(
            f"{source.name} contains null bytes and is not text: pass CSV, TSV, Parquet or Arrow, or the encoding",
            encoding="utf-16",
        )
    if found is not None or wanted is None:
        return found
    try:
        return None if codecs.lookup(wanted).name == "utf-8" else wanted
    except LookupError:
        raise OptionError(
            "encoding", wanted, "is not a known encoding: try utf-8, cp1252 or utf-16"
        ) from None


def _recode(source: Source, encoding: str) -> Feed:
    """Return the text converted to UTF-8."""
    try:
        text = io.TextIOWrapper(io.BufferedReader(source.feed), encoding, newline="")
    except LookupError:  # a codec of something else than text
        raise OptionError(
            "encoding", encoding, "is not a text encoding: try utf-8, cp1252 or utf-16"
        ) from None
    return Feed(_Encoder(text, source.name, encoding), source.name)


class _Encoder:
    """Reads text and converts it to UTF-8."""

    def __init__(self, text: io.TextIOWrapper, name: str, encoding: str) -> None:
        self._text, self._name, self._encoding = text, name, encoding

    def read(self, n: int) -> bytes:
        """Return about n bytes; none at the end."""
        try:
            return self._text.read(max(1, n)).encode("utf-8", "replace")
        except UnicodeError:
            raise ReadError(
                f"{self._name} is not valid {self._encoding}: specify another encoding", encoding="cp1252"
            ) from None


def _read_head(source: Source, feed: Feed) -> CsvHeader:
    content = feed.peek(_HEAD_BYTES)
    is_whole = len(content) < _HEAD_BYTES
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        # Errors further on are reported with their line when they are reached.
        text = content[: error.start].decode("utf-8")
        if not re.search(r"\S.*[\r\n]", text):
            raise ReadError(
                f"{source.name}, line 1 is not valid UTF-8: specify the encoding", encoding="cp1252"
            ) from None
        is_whole = False
    if not text.strip():
        raise ReadError(f"{source.name} is empty: pass a table with a header line and rows")
    delimiter = _find_delimiter(source, text, is_whole)
    lines = Lines(text)
    try:
        header = next(record for record in csv.reader(lines, delimiter=delimiter) if record)
    except csv.Error as error:
        raise ReadError(f"{source.name}: the header cannot be read ({error})") from None
    if lines.n_chars == len(text) and not is_whole:
        raise ReadError(f"{source.name}: the first line has no end; pass a text table")
    return CsvHeader(settle_names(header), delimiter, len(text[: lines.n_chars].encode()))


def settle_names(header: list[str]) -> list[str]:
    """Return names without surrounding blanks; a column without a name is called by its number."""
    return [name.strip() or f"#{number}" for number, name in enumerate(header, 1)]


def _find_delimiter(source: Source, text: str, is_whole: bool) -> str:
    if source.reading.delimiter is not None:
        delimiter = source.reading.delimiter.replace(r"\t", "\t")
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise OptionError("delimiter", delimiter, "is not valid: pass a single character")
        return delimiter
    if source.format == "tsv":
        return "\t"
    return max(_DELIMITERS, key=lambda delimiter: _rate(text, delimiter, is_whole))


def _rate(text: str, delimiter: str, is_whole: bool) -> tuple[bool, int]:
    """Whether the first rows are as wide as the header with a delimiter, and how wide."""
    widths: list[int] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            widths += [len(record)] if record else []
            if len(widths) > 20:
                break
        else:
            widths = widths if is_whole else widths[:-1]
    except csv.Error:  # a field without end; the records before it suffice
        pass
    width = widths[0] if widths else 0
    return width > 1 and set(widths) == {width}, width


CHUNK_BYTES = 1 << 20
_MOST_BYTES = 1 << 24  # of one record; a quoted field without end must not fill the memory


class Lines:
    """Lines of a text, and how much of it they cover so far."""

    def __init__(self, text: str) -> None:
        self._lines, self.n_chars = io.StringIO(text, newline=""), 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.n_chars += len(line)
            yield line


def cut_records(feed: Feed, delimiter: str, name: str) -> Iterator[bytes]:
    """Yield chunks of whole records, of about a megabyte each unless a record is longer."""
    rest = b""
    while more := feed.read(max(CHUNK_BYTES, len(rest))):  # a long record is looked at few times
        if b"\0" in more:
            raise ReadError(f"{name} contains null bytes: it is damaged or not a text file")
        chunk = rest + more
        end = _find_end(chunk, delimiter)
        if not end and len(chunk) > _MOST_BYTES:
            raise ReadError(
                f"{name} has a row of more than {_MOST_BYTES >> 20} MB: check for an unclosed quote"
            )
        rest = chunk[end:]
        if end:
            yield chunk[:end]
    if rest:
        yield rest


def _find_end(chunk: bytes, delimiter: str) -> int:
    """Return the end of the last record that is certainly complete."""
    if b'"' not in chunk:
        return max(chunk.rfind(b"\n"), -1 if b"\n" in chunk else chunk.rfind(b"\r", 0, -1)) + 1
    lines = Lines(chunk.decode("latin-1"))  # a character per byte
    end = begin = 0
    for _ in csv.reader(lines, delimiter=delimiter):
        end, begin = begin, lines.n_chars
    return end
