"""From raw scores to classes and probabilities, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.model import Model
from . import _exp
from ._sql_text import Query, find_largest

_MOST_BITS = 10  # of half of the largest power of 1/2
_MOST_TURNS = 512  # half of the largest power of 2
# PostgreSQL raises an error where a product or quotient becomes 0: that is known before.
_SMALL_X, _SMALL = -700.0, 1e-300


def link(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> tuple[str, list[str]]:
    """Expressions of the class, which no exponential decides, and of the probabilities."""
    raws = [f"raw{target}" for target in range(fitted.n_targets)]
    if fitted.is_regression:
        return _take_number(query, passed, fitted), []
    if fitted.link == "logistic":
        return link_logistic(query, passed, labels)
    query.add("largest", [*passed, *raws, f"{find_largest(raws, raws)} AS most"])
    query.add("exponents", [*passed, *raws, *(f"{raw}-most AS x{i}" for i, raw in enumerate(raws))])
    add_exponentials(query, [*passed, *raws], len(raws))
    powers = [f"e{i}" for i in range(len(raws))]
    query.add("totals", [*passed, *raws, *powers, f"{'+'.join(powers)} AS total"])
    return find_largest(raws, labels), [divide(query, power) for power in powers]


def _take_number(query: Query, passed: list[str], fitted: Model) -> str:
    """The expression of the prediction of a regression."""
    query.add("summed", [*passed, "raw0"])
    if fitted.link == "log":
        query.add("exponents", [*passed, "raw0 AS x0"])
        add_exponentials(query, passed, 1, is_signed=True)
        return "e0"
    return "raw0" if fitted.link == "identity" else f"raw0/{query.number(float(fitted.n_estimators))}"


def link_logistic(query: Query, passed: list[str], labels: Sequence[str]) -> tuple[str, list[str]]:
    """The same of two classes, from raw0."""
    kept = [*passed, "raw0"]
    query.add("exponents", [*kept, "-abs(raw0) AS x0"])
    add_exponentials(query, kept, 1)
    large, small = "1/(1+e0)", "e0/(1+e0)"
    first, second = [f"CASE WHEN raw0>0 THEN {a} ELSE {b} END" for a, b in ((small, large), (large, small))]
    return f"CASE WHEN raw0>0 THEN {labels[1]} ELSE {labels[0]} END", [first, second]


def divide(query: Query, power: str) -> str:
    """A column divided by total."""
    small, up, more = (query.number(value) for value in (_SMALL, 2.0**537, 2.0**538))
    quotient = f"{power}/total"
    is_zero = f"{power}*{up}*{more}<=total"  # at most half of 2^-1074
    return f"CASE WHEN {power}>{small} THEN {quotient} WHEN {is_zero} THEN {query.number(0.0)} ELSE {quotient} END"


def add_exponentials(query: Query, passed: list[str], n: int, *, is_signed: bool = False) -> None:
    """e0, e1, ... of x0, x1, ... ≤ 0 by the operations of the core: those of engines differ in the last digits.

    They may be above 0 if ``is_signed``.
    """
    number, least, largest = query.number, query.number(_exp.LEAST), query.number(_exp.LARGEST)
    more = 2 * _MOST_TURNS if is_signed else 0  # so that no power of 1/2 is negative

    def add(name: str, *columns: str) -> None:
        query.add(name, [*passed, *(column.replace("#", str(i)) for i in range(n) for column in columns)])

    above = f" WHEN x#>{largest} THEN {largest}" if is_signed else ""
    add("bounded", f"CASE WHEN x#<{least} THEN {least}{above} ELSE x# END AS x#")
    rounder = number(_exp.ROUNDER)
    add("turns", "x#", f"(x#*{number(_exp.PER_LN2)}+{rounder})-{rounder} AS turn#")
    add(
        "parts",
        "x#",
        "turn#",
        f"x#-turn#*{number(_exp.LN2_HIGH)} AS high#",
        f"turn#*{number(_exp.LN2_LOW)} AS low#",
    )
    add("remainders", "x#", f"CAST({more}-turn# AS BIGINT) AS turn#", "high#", "low#", "high#-low# AS r#")
    tail = number(_exp.TAIL[0])
    for coefficient in _exp.TAIL[1:]:
        tail = f"({tail}*r#+{number(coefficient)})"
    add("series", "x#", "turn#", f"{number(1.0)}+(high#+(r#*r#*{tail}-low#)) AS e#")
    # Times 2^-k in two steps: neither factor leaves the range, and only the last product is rounded.
    add(
        "steps",
        "x#",
        f"e#*{_power_of_half(query, '(turn#>>1)', more // 2)} AS e#",
        f"{_power_of_half(query, '(turn#-(turn#>>1))', more // 2)} AS h#",
    )
    is_zero = f"(e#*{number(2.0**538)})*(h#*{number(2.0**537)})<=1"  # at most half of 2^-1074
    add(
        "powers",
        f"CASE WHEN x#>{number(_SMALL_X)} THEN e#*h# WHEN {is_zero} THEN {number(0.0)} ELSE e#*h# END AS e#",
    )


def _power_of_half(query: Query, exponent: str, more: int) -> str:
    """2^(more - exponent), bit by bit."""
    one = query.number(1.0)
    bits = [
        f"CASE WHEN ({exponent}&{2**bit})=0 THEN {one} ELSE {query.number(2.0 ** -(2**bit))} END"
        for bit in range(_MOST_BITS + (more > 0))
    ]
    return f"({'*'.join([query.number(2.0**more)] * (more > 0) + bits)})"
