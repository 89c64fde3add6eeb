"""Classes and names as constants of other languages."""

from __future__ import annotations

from typing import TypeAlias

from .model import Model

Label: TypeAlias = bool | int | float | str


def find_labels(fitted: Model, language: str) -> list[Label]:
    """Return the classes as booleans, integers, floats or text, all of one kind; refuse others."""
    return check_labels(fitted.labels, language)


def check_labels(labels: list[Label], language: str) -> list[Label]:
    """Refuse classes that are not all booleans, integers, floats or text."""
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            break
    else:
        raise TypeError(
            f"the classes {labels[:3]} cannot be written in {language}: fit with strings or numbers only."
        )
    for label in labels:
        if kind is int and not -(2**63) <= label < 2**63:  # type: ignore[operator]
            raise ValueError(
                f"the class {label} does not fit into 64 bits: fit with smaller integers, or with strings."
            )
    return labels


def check_text(text: str, what: str, language: str) -> str:
    """Refuse text that is not valid UTF-8 or has a zero byte."""
    try:
        is_fine = b"\0" not in text.encode()
    except UnicodeEncodeError:
        is_fine = False
    if not is_fine:
        raise ValueError(f"the {what} {text!r} cannot be written in {language}: rename it.")
    return text
