"""Optional dependencies, imported when used."""

from __future__ import annotations

import importlib
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say in one line how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"{error.name} is not installed: pip install 'lhtree[{extra}]'", name=error.name
        ) from None
