"""Tables that are read several times in batches, and the scratch file for the codes of their rows."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..tables.errors import TableError, check_known
from ..tables.frames import is_arrow
from .read import FilePasses

_BATCH_ROWS = 1 << 16
_SOURCES = (
    "the path of a Parquet, Arrow or CSV file or of a folder of Parquet files, a pyarrow dataset or table, a tuple "
    "(X, y) or (X, y, sample_weight) of arrays, or a function that returns a fresh iterator of such tuples"
)


class Batch(NamedTuple):
    """Some rows of a table, their labels, and their weights if given."""

    X: Any
    y: Any
    weight: Any = None


class Passes:
    """A table that can be read any number of times.

    Parameters
    ----------
    read : callable
        Gives a fresh iterator of batches.
    n_rows : int, optional
        The number of rows, if it is known.
    as_categories : set of str, optional
        Of a file: the columns that hold categories.
    """

    def __init__(
        self, read: Callable[[], Iterator[Batch]], n_rows: int | None = None, as_categories: Any = None
    ) -> None:
        self._read, self.n_rows, self.as_categories = read, n_rows, as_categories

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._read():
            if len(batch.y):
                yield batch


def open_passes(
    source: Any,
    *,
    target: str | None = None,
    sample_weight: str | None = None,
    batch_rows: int | None = None,
    task: str = "classification",
) -> Passes:
    """Return the passes over a source; ``target`` and ``sample_weight`` name columns of files, datasets and tables."""
    rows = batch_rows or _BATCH_ROWS
    if isinstance(source, (str, os.PathLike)):
        wanted = _need(target, source)
        file = FilePasses(os.fspath(source), wanted, task=task, weight=sample_weight, batch_rows=batch_rows)
        return pass_over_file(file)
    if is_arrow(source) or hasattr(source, "to_batches"):
        return _pass_over_arrow(source, _need(target, source), sample_weight, rows)
    if target is not None or sample_weight is not None:
        raise TypeError(
            "target and sample_weight name columns of files, datasets and tables: omit them here."
        )
    if isinstance(source, tuple):
        return _pass_over_arrays(source, rows)
    if callable(source):
        return _pass_over_calls(source)
    raise TypeError(
        f"source is of type {type(source).__name__}, which cannot be read in batches: pass {_SOURCES}."
    )


def pass_over_file(file: FilePasses) -> Passes:
    """Return the passes over a file whose target has been read."""
    return Passes(lambda: (Batch(*batch) for batch in file.batches()), file.n_rows, file.as_categories)


def _need(target: str | None, source: Any) -> str:
    if target is None:
        raise TypeError(f"target is missing: pass the name of the column to predict in {source!r:.80}.")
    return target


def _check_batch(batch: Any) -> Batch:
    if not isinstance(batch, tuple) or not 2 <= len(batch) <= 3:
        raise TypeError(
            f"source() gave a batch of type {type(batch).__name__}: each batch must be a tuple (X, y) or "
            "(X, y, sample_weight)."
        )
    return Batch(*batch)


def _pass_over_calls(source: Callable[[], Any]) -> Passes:
    """Return the passes over a function that returns batches."""
    return Passes(
        _compare_passes(
            lambda: map(_check_batch, source()),
            "source() gave",
            "return the same rows, in the same order, in every call.",
        )
    )


def _compare_passes(
    read: Callable[[], Iterator[Batch]],
    gave: str = "source had",
    remedy: str = "fit again when nothing writes to it.",
) -> Callable[[], Iterator[Batch]]:
    """Return a function that reads the same batches, and fails if a pass has other labels than the first."""
    first: list[tuple[int, int]] = []

    def refuse(n_rows: str) -> NoReturn:
        raise TableError(
            f"{gave} {first[0][0]:,} rows in the first pass and {n_rows} in a later one: {remedy}"
        )

    def compare() -> Iterator[Batch]:
        n_rows = checksum = 0
        for batch in read():
            n_rows += len(batch.y)
            if first and n_rows > first[0][0]:
                refuse("more")
            yield batch
            checksum = zlib.crc32(_find_bytes(batch.y), checksum)
        if not first:
            first.append((n_rows, checksum))
        elif n_rows != first[0][0]:
            refuse(f"{n_rows:,}")
        elif checksum != first[0][1]:
            refuse("others")

    return compare


def _find_bytes(y: Any) -> bytes:
    """Return bytes of labels that do not depend on batches."""
    labels = np.asarray(y)
    return (
        labels.tobytes()
        if labels.dtype.kind in "biuf"
        else "".join(f"{label}\n" for label in labels).encode()
    )


def _pass_over_arrays(source: tuple[Any, ...], batch_rows: int) -> Passes:
    whole = _check_batch(source)
    for values in whole:
        if values is not None and not isinstance(values, np.ndarray):
            raise TypeError(
                f"source holds a value of type {type(values).__name__}: pass a tuple of arrays, or {_SOURCES}."
            )
    n_rows = len(whole.X)
    if len(whole.y) != n_rows or (whole.weight is not None and len(whole.weight) != n_rows):
        raise TableError(
            "source: arrays differ in length: pass one class or number, and one weight, per row of X."
        )

    def read() -> Iterator[Batch]:
        for first in range(0, n_rows, batch_rows):
            some = slice(first, first + batch_rows)
            yield Batch(*(None if values is None else np.asarray(values[some]) for values in whole))

    return Passes(_compare_passes(read), n_rows)


def _pass_over_arrow(source: Any, target: str, weight: str | None, batch_rows: int) -> Passes:
    """Return the passes over a dataset, a table or a record batch, read by the types of its columns."""
    wanted = [target] if weight is None else [target, weight]
    check_known("target", wanted[:1], source.schema.names, "source")
    check_known("sample_weight", wanted[1:], source.schema.names, "source")
    features = [name for name in source.schema.names if name not in wanted]

    def read() -> Iterator[Batch]:
        is_dataset = not is_arrow(source)
        batches = source.to_batches(batch_size=batch_rows) if is_dataset else source.to_batches(batch_rows)
        try:
            for batch in batches:
                labels = (batch.column(name).to_numpy(zero_copy_only=False) for name in wanted)
                yield Batch(batch.select(features), *labels)
        except OSError as error:  # pyarrow keeps the places of columns from the first pass
            raise TableError(
                f"source cannot be read ({' '.join(str(error).split())}): if its files were changed while they were "
                "read, create the dataset again and fit when nothing writes to them."
            ) from error

    return Passes(_compare_passes(read))


class ScratchError(OSError):
    """The disk has no room for a scratch file."""


def check_room(n_bytes: int, folder: str | None) -> str:
    """Check that a folder, by default that of temporary files, has room, and return its path."""
    place = tempfile.gettempdir() if folder is None else folder
    free = shutil.disk_usage(place).free
    if free < n_bytes:
        error = ScratchError(
            f"{place} has {free / 1e9:.2f} GB of free disk space, but the codes of the rows need "
            f"{n_bytes / 1e9:.2f} GB: pass scratch_dir, a folder on a larger disk, or free some space."
        )
        error.errno = errno.ENOSPC
        raise error
    return place


@contextmanager
def open_scratch(n_rows: int, n_columns: int, folder: str | None) -> Iterator[ScratchFile]:
    """Return a ``ScratchFile`` of a byte per cell."""
    place = check_room(n_rows * n_columns, folder)
    with tempfile.TemporaryFile(dir=place, prefix="lhtree-") as file:
        yield ScratchFile(file, place, n_columns)


class ScratchFile:
    """Rows of bytes that are written one after the other, and then read as an array."""

    def __init__(self, file: Any, place: str, n_columns: int) -> None:
        self._file, self._place, self._n_columns, self._n_rows = file, place, n_columns, 0

    def describe(self, n_rows: int) -> str:
        """Describe the task: "writing 0.40 GB of codes to /tmp"."""
        return f"writing {n_rows * self._n_columns / 1e9:.2f} GB of codes to {self._place}"

    def write(self, rows: NDArray[np.uint8]) -> None:
        """Append rows, shape (n, n_columns)."""
        self._file.write(np.ascontiguousarray(rows).data)
        self._n_rows += len(rows)

    def read(self) -> NDArray[np.uint8]:
        """Return all rows as a memory-mapped array."""
        self._file.flush()
        if not self._n_rows * self._n_columns:
            return np.empty((self._n_rows, self._n_columns), dtype=np.uint8)
        return np.memmap(self._file, dtype=np.uint8, mode="r", shape=(self._n_rows, self._n_columns))
