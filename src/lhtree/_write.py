"""Atomic writes of files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ._parameters import refuse


def check_output(path: Any, call: str, noun: str = "a file", endings: tuple[str, ...] = ()) -> Path:
    """Return the path of a file to write, checked; ``call`` is shown for arguments in the wrong order."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is of type {type(path).__name__}: pass the path of {noun}, as in {call}.")
    place = Path(path)
    if place.is_dir() or not place.parent.is_dir() or (endings and place.suffix.lower() not in endings):
        raise refuse("path", str(place), f"the path of {noun} in an existing directory")
    return place


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file atomically: either the old or the new content exists, never a part."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that is renamed to ``path`` at the end of the block, unless an exception is raised."""
    place = os.path.realpath(os.fsdecode(path))
    if os.path.islink(place):  # circular symbolic links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(path))
    mode = None
    if os.path.exists(place):
        status = os.stat(place)
        if not stat.S_ISREG(status.st_mode):  # a device would be replaced by a file
            raise ValueError(f"path={os.fspath(path)!r} is not a regular file: pass the name of a file.")
        mode = stat.S_IMODE(status.st_mode)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):  # the error for the temporary file would show its name
        raise FileNotFoundError(errno.ENOENT, "the directory does not exist: create it first", folder)
    temporary = os.path.join(folder, f".lhtree-{os.urandom(8).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, place)
    finally:
        with suppress(FileNotFoundError):  # it exists if something failed
            os.unlink(temporary)
    if hasattr(os, "O_DIRECTORY"):  # fsync the directory so that the rename survives a crash
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
