"""A file for the codes of rows that memory does not hold. It has no name, so it goes with the process that made it."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ScratchError(OSError):
    """The disk has no room for a scratch file."""


def check_room(n_bytes: int, folder: str | None) -> str:
    """Check that a folder, by default that of temporary files, has room; returns which one it is."""
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
    """A ``ScratchFile`` of a byte per cell."""
    place = check_room(n_rows * n_columns, folder)
    with tempfile.TemporaryFile(dir=place, prefix="lhtree-") as file:
        yield ScratchFile(file, place, n_columns)


class ScratchFile:
    """Rows of bytes that are written one after the other, and then read as an array."""

    def __init__(self, file: Any, place: str, n_columns: int) -> None:
        self._file, self._place, self._n_columns, self._n_rows = file, place, n_columns, 0

    def describe(self, n_rows: int) -> str:
        """What is done with it: "writing 0.40 GB of codes to /tmp"."""
        return f"writing {n_rows * self._n_columns / 1e9:.2f} GB of codes to {self._place}"

    def write(self, rows: NDArray[np.uint8]) -> None:
        """Append rows, shape (n, n_columns)."""
        self._file.write(np.ascontiguousarray(rows).data)
        self._n_rows += len(rows)

    def read(self) -> NDArray[np.uint8]:
        """All rows, mapped: the system keeps in memory what it has room for."""
        self._file.flush()
        if not self._n_rows * self._n_columns:
            return np.empty((self._n_rows, self._n_columns), dtype=np.uint8)
        return np.memmap(self._file, dtype=np.uint8, mode="r", shape=(self._n_rows, self._n_columns))
