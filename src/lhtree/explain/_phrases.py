"""Phrases of explanations: names, numbers and decisions in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.views import Conditions
from ._facts import Step, Term, ValueStep

N_REASONS = 3  # features named in a step
CLIPPED = "clipped to the ranges of the leaves"  # the one term that belongs to no feature
_LONGEST_NAME = 60


def tell_step(step: Step | ValueStep, levels: dict[str, str]) -> str:
    """Which side, and which features pull there."""
    feature_sum = step.y + step.offset
    pulled = "right" if feature_sum > 0.0 else "left"
    pulling = [term for term in step.terms if term.term * feature_sum > 0.0]
    if not pulling:
        return f"goes {step.side}, like any row with typical or missing values."
    names = join([name_term(term, levels) for term in pulling[:N_REASONS]])
    pull = "pull" if len(pulling[:N_REASONS]) > 1 else "pulls"
    if pulled != step.side:
        return f"goes {step.side}: {names} {pull} to the {pulled}, but not strongly enough."
    against = next((term for term in step.terms[:N_REASONS] if term.term * feature_sum < 0.0), None)
    but = f"; {name_term(against, levels)} pulls the other way" if against else ""
    return f"goes {step.side}, because {names} {pull} that way{but}."


def tell_single(step: ValueStep, conditions: Conditions) -> str:
    """Which side, where a single feature decides: "goes left, because age 33 < 41.5"."""
    (term,) = step.terms
    if np.isnan(term.value):
        return f"goes {step.side}, because {tidy(term.column or conditions.subject)} is missing."
    bound = f" {getattr(conditions, step.side).removesuffix(' or missing')}"
    if term.category is not None:
        bound = f" ({say_number(term.value)}{bound})"
    elif term.column is not None:
        bound = ""
    return f"goes {step.side}, because {_tidy_term(term)}{bound}."


def name_term(term: Term, levels: dict[str, str]) -> str:
    """A feature with its value, and how that compares with the training rows."""
    level = levels[term.feature]
    return f"{_tidy_term(term)} ({level})" if level else _tidy_term(term)


def _tidy_term(term: Term) -> str:
    return tidy(term.what) if term.column is not None else name_value(term.feature, term.value)


def name_value(name: str, value: float) -> str:
    """A feature with its value; the name alone where it is missing."""
    return tidy(name) if np.isnan(value) else f"{tidy(name)} {say_number(value)}"


def name_category(name: str, category: Any) -> str:
    """A column with its category; the name alone where it is missing."""
    return tidy(name) if category is None else tidy(f"{name} = {category}")


def say_number(value: float) -> str:
    """A value of a row as one writes it: 28600, not 2.86e+04."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def name_class(label: Any) -> str:
    """A class as one calls it; a number alone would be taken for a value."""
    return tidy(label) if isinstance(label, str) else f"class {label}"


def tidy(name: str) -> str:
    """A name that fits a sentence: on one line, not too long."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable if len(printable) <= _LONGEST_NAME else f"{printable[: _LONGEST_NAME - 1]}…"


def percent(share: float) -> str:
    """A share in per cent, never rounded to all or nothing."""
    text = f"{100.0 * share:.1f}".removesuffix(".0")
    if text == "0" and share > 0.0:
        return "under 0.1 %"
    return "over 99.9 %" if text == "100" and share < 1.0 else f"{text} %"


def count(number: int, what: str) -> str:
    """A number of things: "1 block", "2 blocks"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def join(names: Sequence[str]) -> str:
    """Names as a list in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
