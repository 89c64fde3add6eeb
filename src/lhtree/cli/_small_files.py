"""Files that commands write at once."""

from __future__ import annotations

from pathlib import Path

from ._errors import writing


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    import numpy as np

    from .._write import write_whole

    with writing(path):
        write_whole(path, np.frombuffer(content, dtype=np.uint8))
