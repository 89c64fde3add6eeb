"""Text tables cut into chunks of whole records.

Arrow could read a file by itself, but then in threads of its own, which Ctrl-C does not reach while a pipe is silent.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from .errors import ReadError
from .source import Feed

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
    """Chunks of whole records, of about a megabyte each unless a record is longer."""
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
    """Where the last record that is certainly complete ends."""
    if b'"' not in chunk:
        return max(chunk.rfind(b"\n"), -1 if b"\n" in chunk else chunk.rfind(b"\r", 0, -1)) + 1
    lines = Lines(chunk.decode("latin-1"))  # a character per byte
    end = begin = 0
    for _ in csv.reader(lines, delimiter=delimiter):
        end, begin = begin, lines.n_chars
    return end
