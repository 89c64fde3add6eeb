"""Tables of features and published labels, read from the bytes of a file and checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._sets import About, Source

_MOST_BYTES = 100_000_000  # of a file inside an archive; the largest, skin's, has 3.4 million


class DamagedError(ValueError):
    """A truncated or damaged file; another copy may be intact."""


class Table(NamedTuple):
    """Features (n, m) and labels (n,) as published."""

    X: NDArray[np.float64]
    labels: NDArray[np.str_]


def digest(table: Table) -> str:
    """The sha256 of the values, independent of file, format and notation of numbers."""
    n_rows, n_features = table.X.shape
    summary = hashlib.sha256(f"{n_rows} {n_features}\n".encode())
    summary.update(np.ascontiguousarray(table.X + 0.0, dtype="<f8").tobytes())  # + 0.0: no negative zero
    summary.update("\n".join(table.labels.tolist()).encode())
    return summary.hexdigest()


def read_csv(content: bytes, about: About, source: Source) -> Table:
    """Read a gzip-compressed CSV: a row of names, the label in the last column, `class`."""
    try:
        text = gzip.decompress(content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DamagedError(f"it is not a complete gzip file ({error})") from error
    header, _, rows = text.partition("\n")
    if tuple(header.strip().split(",")) != (*about.features, "class"):
        raise ValueError(f"its first row should be {','.join(about.features)},class")
    return check(parse_rows(rows, ","), source)


def read_archive(content: bytes, about: About, source: Source) -> Table:
    """Read UCI's zip file."""
    del about  # UCI's files carry no names, or names that are the same
    text = unpack(content, source.member)
    if source.member.endswith(".arff"):
        text = skip_arff_header(text)
    return check(parse_rows(text, source.delimiter), source)


def unpack(content: bytes, name: str) -> str:
    """Find a file inside a zip file, in any folder."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = [
                member
                for member in archive.infolist()
                if PurePosixPath(member.filename).name.casefold() == name.casefold()
            ]
            if not found:
                raise ValueError(f"it contains no {name}")
            if found[0].file_size > _MOST_BYTES:
                raise ValueError(f"{name} in it has {found[0].file_size} bytes, far more than expected")
            return archive.read(found[0]).decode()
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, UnicodeDecodeError) as error:
        raise DamagedError(f"it is not a complete zip file ({error})") from error


def skip_arff_header(text: str) -> str:
    """Keep the rows of an ARFF file."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip().casefold() == "@data":
            return "\n".join(line for line in lines[number + 1 :] if not line.startswith("%"))
    raise ValueError("it has no @data line")


def parse_rows(text: str, delimiter: str | None) -> Table:
    """Split rows into numbers and a label; None: at any white space."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("it has no rows")
    cells = np.loadtxt(lines, delimiter=delimiter, dtype=str, comments=None, ndmin=2)
    return Table(
        np.ascontiguousarray(cells[:, :-1], dtype=np.float64), np.strings.strip(cells[:, -1], " '\"")
    )


def check(table: Table, source: Source) -> Table:
    """Reject a table that is not the published one."""
    if digest(table) != source.digest:
        n_rows, n_features = table.X.shape
        raise ValueError(
            f"its {n_rows} rows of {n_features} features differ from the published values "
            f"(sha256 of the values: {digest(table)}, expected {source.digest})"
        )
    return table
