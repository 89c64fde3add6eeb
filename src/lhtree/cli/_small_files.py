"""Files that commands write at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .._write import write_whole
from ._errors import ExitCode, Problem, writing


def check_place(path: Path, *sources: str | None) -> None:
    """Refuse a place where no file can be written, or where one lies that is read, before any work is done for it."""
    with writing(path):
        reason = _find_reason(path, [source for source in sources if source is not None])
    if reason is not None:
        raise Problem(f"cannot write {path}: {reason}", ExitCode.WRITE)


def _find_reason(path: Path, sources: Sequence[str]) -> str | None:
    if path == Path("-"):
        return "it stands for standard output; name a file"
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        return "it is not a regular file"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if not os.access(path.parent, os.W_OK):
        return f"the folder {path.parent} may not be written to"
    if path.exists() and any(os.path.exists(source) and path.samefile(source) for source in sources):
        return "it is what is read; write to another file"
    return None


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    check_place(path)
    with writing(path):
        write_whole(path, content)
