"""Atomic writes of files."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


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
    _remove_leftovers(folder)
    file = _open_locked(folder)
    temporary = file.name
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # where an open file cannot be renamed, and leftovers are not removed
                file.close()
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, place)  # while it is locked: another process might remove it
    finally:
        with suppress(FileNotFoundError):  # it exists if something failed
            os.unlink(temporary)
    if hasattr(os, "O_DIRECTORY"):  # fsync the directory so that the rename survives a crash
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_locked(folder: str) -> BinaryIO:
    """Open a new temporary file in the same directory, locked so that it is not removed as a leftover."""
    while True:
        file = open(os.path.join(folder, f".lhtree-{os.urandom(8).hex()}.part"), "xb")  # noqa: SIM115  # the caller closes it
        with suppress(BlockingIOError):  # another process is about to remove it
            _lock(file)
            if os.path.exists(file.name):  # else it was removed before it was locked
                return file
        file.close()


def _remove_leftovers(folder: str) -> None:
    """Remove temporary files of killed processes; those still in use are locked."""
    for leftover in glob.glob(os.path.join(glob.escape(folder), ".lhtree-*.part")):
        # Its writer may have removed it, or it may belong to another user.
        with suppress(OSError), open(leftover, "rb+") as file:
            if _lock(file):
                os.unlink(leftover)


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; return False if the system has no locks. Raise if another process holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ModuleNotFoundError, OSError):  # Windows; not possible in this file system
        return False
    return True
