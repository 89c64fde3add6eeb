"""The classes of a model as values that other languages know."""

from __future__ import annotations

from typing import TypeAlias

from ..model import Model

Label: TypeAlias = bool | int | float | str


def find_labels(fitted: Model, language: str) -> list[Label]:
    """The classes as truth values, integers, floats or text, all of one kind; others are refused."""
    labels: list[Label] = fitted.labels
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            break
    else:
        raise TypeError(
            f"the classes {labels[:3]} cannot be written in {language}: fit with classes that are text, or numbers."
        )
    for label in labels:
        if kind is int and not -(2**63) <= label < 2**63:  # type: ignore[operator]
            raise ValueError(
                f"the class {label} has more than 64 bits: fit with smaller numbers, or with text."
            )
    return labels


def check_text(text: str, what: str, language: str) -> str:
    """Text that can be written as UTF-8 without a zero byte."""
    try:
        is_fine = b"\0" not in text.encode()
    except UnicodeEncodeError:
        is_fine = False
    if not is_fine:
        raise ValueError(f"the {what} {text!r} cannot be written in {language}: rename it.")
    return text
