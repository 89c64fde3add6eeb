"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

_FOLDER = ".d"  # the end of the name of a temporary folder


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file atomically: either the old or the new content exists, never a part."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write that takes its place when the block ends, and only if nothing was raised in it."""
    place = os.path.realpath(os.fsdecode(path))
    if os.path.islink(place):  # links that lead in a circle lead nowhere
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(path))
    mode = None
    if os.path.exists(place):
        status = os.stat(place)
        if not stat.S_ISREG(status.st_mode):  # a device would be replaced by a file
            raise ValueError(f"path={os.fspath(path)!r} is not a regular file: pass the name of a file.")
        mode = stat.S_IMODE(status.st_mode)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):  # the error for the temporary file would show a name the user does not know
        raise FileNotFoundError(errno.ENOENT, "the directory does not exist: create it first", folder)
    _remove_leftovers(folder)
    file = _open_locked(folder)
    temporary = file.name
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # where an open file cannot take a place, and nobody removes leftovers
                file.close()
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, place)  # while it is locked, or another process might remove it
    finally:
        with suppress(FileNotFoundError):  # it is there if something failed
            os.unlink(temporary)
    if hasattr(os, "O_DIRECTORY"):  # the new name, too, outlives a failing computer
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def open_whole_folder(path: str | os.PathLike[str]) -> Iterator[str]:
    """A new folder to write files into that takes its place when the block ends, and only if nothing was raised in it.

    The place must be free, or an empty folder.
    """
    place = os.path.realpath(os.fsdecode(path))
    parent = os.path.dirname(place)
    if not os.path.isdir(parent):
        raise FileNotFoundError(errno.ENOENT, "the directory does not exist: create it first", parent)
    _remove_leftovers(parent)
    with _open_locked(parent) as lock:  # whoever finds it unlocked removes the folder, too
        temporary = lock.name + _FOLDER
        try:
            os.mkdir(temporary)
            yield temporary
            if os.path.isdir(place):
                os.rmdir(place)
            os.replace(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            os.unlink(lock.name)


def _open_locked(folder: str) -> BinaryIO:
    """A new temporary file in the same directory, locked so that it is not removed as a leftover."""
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
                shutil.rmtree(leftover + _FOLDER, ignore_errors=True)
                os.unlink(leftover)


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False if this system has no such locks. An error if another process holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ModuleNotFoundError, OSError):  # Windows; not possible in this file system
        return False
    return True
