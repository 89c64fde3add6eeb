"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file so that whatever happens the old one or the new one is there, whole."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write that takes its place when the block ends, and only if nothing was raised in it."""
    place = os.path.realpath(os.fsdecode(path))
    mode = None
    if os.path.exists(place):
        status = os.stat(place)
        if not stat.S_ISREG(status.st_mode):  # a device would be replaced by a file
            raise ValueError(f"path={os.fspath(path)!r} is not a regular file: pass the name of a file.")
        mode = stat.S_IMODE(status.st_mode)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):  # opening the file beside would say so of a name that nobody gave
        raise FileNotFoundError(errno.ENOENT, "the folder is not there: make it first", folder)
    temporary = os.path.join(folder, f".lhtree-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, place)
    finally:
        if os.path.exists(temporary):  # something failed
            os.unlink(temporary)
    if hasattr(os, "O_DIRECTORY"):  # the new name, too, outlives a failing computer
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
