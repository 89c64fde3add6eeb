"""What is typed on the command line and names something in a model: ``--values colour=red``, ``--to sold``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import ExitCode, Problem
from ._names import find_nearest
from ._values import MISSING


def parse_values(
    typed: Iterable[str], names: Sequence[str], categories: Sequence[Sequence[Any] | None]
) -> dict[str, Any]:
    """Values by column; ``categories`` has None for a column of numbers. What is missing is None."""
    values: dict[str, Any] = {}
    for item in typed:
        name = _find_name(item, names)
        if name in values:
            raise Problem(f"--values gives {name!r} twice: give it once")
        text = item[len(name) + 1 :].strip()
        known = categories[names.index(name)]
        if text in MISSING and text not in map(str, known or ()):
            values[name] = None
        elif known is None:
            values[name] = _parse_number(name, text)
        else:
            values[name] = find_named(text, known, f"--values: {name!r} has no category")
    return values


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


def _find_name(item: str, names: Sequence[str]) -> str:
    found = [name for name in names if item.startswith(f"{name}=")]  # a name may hold "=" itself
    if found:
        return max(found, key=len)
    typed, equals, _ = item.partition("=")
    if not equals:
        raise Problem(f"--values {item!r} is not NAME=VALUE: write, for example, --values '{names[0]}=1'")
    raise Problem(f"--values: the model has no column {typed!r}; {find_nearest(typed, names)}")


def _parse_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise Problem(f"--values: {name!r} takes a number, and {text!r} is none") from None
    if math.isinf(number):
        raise Problem(f"--values: {name!r} takes a finite number, or nothing where it is missing")
    return number
