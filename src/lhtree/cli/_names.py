"""Names that the user gives, of columns, classes and categories: where one is not there, the nearest is told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import Problem


def shorten(text: str) -> str:
    """Text of a table as messages show it: in quotes, and never longer than a line."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def find_nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the end of a message: the name that was probably meant, or the first few."""
    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), folded, 1, 0.5)
    if near:
        return f"the nearest is {shorten(folded[near[0]])}"
    shown = ", ".join(name if len(name) <= 60 else f"{name[:57]}…" for name in names[:5])
    return f"there are {shown}{', …' if len(names) > 5 else ''}"


def check_known(option: str, wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse names of an option that the table does not have."""
    known = set(names)
    for name in wanted:
        if name not in known:
            raise Problem(f"{option} {name}: {where} has no such column; {find_nearest(name, names)}")


def find_named(text: str, known: Sequence[Any], problem: str) -> Any:
    """The one of some values that is written like this; else the nearest is named."""
    for value in known:
        if str(value) == text:
            return value
    raise Problem(f"{problem} {text!r}; {find_nearest(text, [str(value) for value in known])}")
