"""Names of columns, classes and categories: an unknown one gets a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import OptionError

_MOST_SHOWN = 60


def shorten(value: Any) -> str:
    """A value of a table as messages show it: text in quotes, and never longer than a line."""
    shown = repr(value)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 3]}…"


def find_nearest(name: str, names: Sequence[str]) -> str:
    """The end of a message: the name that was probably meant, or the first few available."""
    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), folded, 1, 0.5)
    if near:
        return f"did you mean {shorten(folded[near[0]])}?"
    shown = ", ".join(map(shorten, names[:5]))
    return f"available: {shown}{', …' if len(names) > 5 else ''}"


def check_known(option: str, wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse names of columns that a table does not have."""
    known = set(names)
    for name in wanted:
        if name not in known:
            nearest = find_nearest(name, names)
            raise OptionError(option, name, f"is not a column of {where} ({nearest})", is_usage=False)
