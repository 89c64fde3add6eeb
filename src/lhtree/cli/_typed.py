"""What is typed on the command line: numbers that are too small, names that nothing has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._errors import ExitCode, Problem
from ._names import find_nearest


def check_least(**least: tuple[float, float]) -> None:
    """Refuse numbers below what their options take; by option, the number and the least one."""
    for option, (value, lowest) in least.items():
        if not value >= lowest:
            name = option.replace("_", "-")
            raise Problem(f"--{name} {value:g} is too small: pass {lowest:g} or more", ExitCode.USAGE)


def find_named(text: str, known: Sequence[Any], problem: str) -> Any:
    """The one of some values that is written like this; else the nearest is named."""
    for value in known:
        if str(value) == text:
            return value
    raise Problem(f"{problem} {text!r}; {find_nearest(text, [str(value) for value in known])}")
