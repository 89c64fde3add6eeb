"""Files that commands write at once."""

from __future__ import annotations

import os
from pathlib import Path

from ._errors import ExitCode, Problem, writing


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written, before any work is done for it."""
    reason = None
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        reason = "it is not a regular file"
    elif not path.parent.is_dir():
        reason = f"there is no folder {path.parent}"
    elif not os.access(path.parent, os.W_OK):
        reason = f"the folder {path.parent} may not be written to"
    if reason is not None:
        raise Problem(f"cannot write {path}: {reason}", ExitCode.WRITE)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    import numpy as np

    from .._write import write_whole

    check_place(path)
    with writing(path):
        write_whole(path, np.frombuffer(content, dtype=np.uint8))
