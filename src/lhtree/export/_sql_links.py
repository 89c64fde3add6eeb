"""Links in SQL: from sums over trees to expressions of the prediction and the probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..model.calibration import Knots
from ..model.model import Model
from . import _walks as e
from ._sql_text import Query, find_largest

_MOST_BITS = 10  # of half of the largest power of 1/2
_MOST_TURNS = 512  # half of the largest power of 2
# PostgreSQL raises an error where a product or quotient becomes 0, so those are replaced before.
_SMALL_X, _SMALL = -700.0, 1e-300

Result: TypeAlias = tuple[str, list[str]]  # expressions of the prediction and of the probabilities
Finish: TypeAlias = Callable[[Query, list[str], Model, Sequence[str]], Result]


class Link(NamedTuple):
    """How trees are evaluated ("columns" or "joins"), and the function that turns their sums into a result.

    Columns give the scores s0, s1, ... of the classes. Joins give the sums raw0, raw1, ... of the targets.
    """

    layout: str
    finish: Finish


def _finish_wolf(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class of the largest score, and the shares of the scores."""
    scores = [f"s{c}" for c in range(fitted.n_classes)]
    parts = [f"{score}/({'+'.join(scores)})" for score in scores]
    if fitted.calibration is None:
        return find_largest(scores, labels), parts
    own = parts[-fitted.calibration.n_maps :]
    query.add("uncalibrated", [*passed, *(f"{share} AS f{i}" for i, share in enumerate(own))])
    return _calibrate(query, passed, fitted, [f"f{i}" for i in range(len(own))], labels)


def _finish_raw(link: Finish) -> Finish:
    """Return a function that calibrates raw scores, or passes them through a link if there is no calibration."""

    def finish(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
        if fitted.calibration is None:
            return link(query, passed, fitted, labels)
        raws = [f"raw{target}" for target in range(fitted.n_targets)]
        return _calibrate(query, passed, fitted, raws, labels)

    return finish


def _softmax(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class of the largest raw score, which needs no exponential, and the probabilities."""
    raws = [f"raw{target}" for target in range(fitted.n_targets)]
    query.add("largest", [*passed, *raws, f"{find_largest(raws, raws)} AS most"])
    query.add("exponents", [*passed, *raws, *(f"{raw}-most AS x{i}" for i, raw in enumerate(raws))])
    _add_exponentials(query, [*passed, *raws], len(raws))
    powers = [f"e{i}" for i in range(len(raws))]
    query.add("totals", [*passed, *raws, *powers, f"{'+'.join(powers)} AS total"])
    return find_largest(raws, labels), [_divide(query, power) for power in powers]


def _finish_mean(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    query.add("summed", [*passed, "raw0"])
    return f"raw0/{query.number(float(fitted.n_estimators))}", []


def _finish_identity(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    query.add("summed", [*passed, "raw0"])
    return "raw0", []


def _finish_log(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    query.add("summed", [*passed, "raw0"])
    query.add("exponents", [*passed, "raw0 AS x0"])
    _add_exponentials(query, passed, 1, is_signed=True)
    return "e0", []


def _logistic(query: Query, passed: list[str], fitted: Model, labels: Sequence[str]) -> Result:
    """Return the class and the probabilities of two classes, from raw0."""
    kept = [*passed, "raw0"]
    query.add("exponents", [*kept, "-abs(raw0) AS x0"])
    _add_exponentials(query, kept, 1)
    large, small = "1/(1+e0)", "e0/(1+e0)"
    first, second = [f"CASE WHEN raw0>0 THEN {a} ELSE {b} END" for a, b in ((small, large), (large, small))]
    return f"CASE WHEN raw0>0 THEN {labels[1]} ELSE {labels[0]} END", [first, second]


def _divide(query: Query, power: str) -> str:
    """Return a column divided by total."""
    small, up, more = (query.number(value) for value in (_SMALL, 2.0**537, 2.0**538))
    quotient = f"{power}/total"
    is_zero = f"{power}*{up}*{more}<=total"  # at most half of 2^-1074
    return f"CASE WHEN {power}>{small} THEN {quotient} WHEN {is_zero} THEN {query.number(0.0)} ELSE {quotient} END"


def _add_exponentials(query: Query, passed: list[str], n: int, *, is_signed: bool = False) -> None:
    """Add e0, e1, ... = e^x of x0, x1, ... by the operations of the core: engines differ in the last digits.

    x may be above 0 only if ``is_signed``.
    """
    number, least, largest = query.number, query.number(e.EXP_LEAST), query.number(e.EXP_LARGEST)
    more = 2 * _MOST_TURNS if is_signed else 0  # so that no power of 1/2 is negative

    def add(name: str, *columns: str) -> None:
        query.add(name, [*passed, *(column.replace("#", str(i)) for i in range(n) for column in columns)])

    above = f" WHEN x#>{largest} THEN {largest}" if is_signed else ""
    add("bounded", f"CASE WHEN x#<{least} THEN {least}{above} ELSE x# END AS x#")
    rounder = number(e.EXP_ROUNDER)
    add("turns", "x#", f"(x#*{number(e.EXP_PER_LN2)}+{rounder})-{rounder} AS turn#")
    add(
        "parts",
        "x#",
        "turn#",
        f"x#-turn#*{number(e.EXP_LN2_HIGH)} AS high#",
        f"turn#*{number(e.EXP_LN2_LOW)} AS low#",
    )
    add("remainders", "x#", f"CAST({more}-turn# AS BIGINT) AS turn#", "high#", "low#", "high#-low# AS r#")
    tail = number(e.EXP_TAIL[0])
    for coefficient in e.EXP_TAIL[1:]:
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
    """Return 2^(more - exponent), computed bit by bit."""
    one = query.number(1.0)
    bits = [
        f"CASE WHEN ({exponent}&{2**bit})=0 THEN {one} ELSE {query.number(2.0 ** -(2**bit))} END"
        for bit in range(_MOST_BITS + (more > 0))
    ]
    return f"({'*'.join([query.number(2.0**more)] * (more > 0) + bits)})"


def _calibrate(
    query: Query, passed: list[str], fitted: Model, scores: list[str], labels: Sequence[str]
) -> Result:
    """Return the class and calibrated probabilities from columns of scores, one per target."""
    calibration = fitted.calibration
    assert calibration is not None
    n = len(scores)
    if calibration.method == "sigmoid":
        lines = zip(scores, calibration.x.tolist(), calibration.y.tolist(), strict=True)
        raws = [f"{query.number(x)}*{score}+{query.number(y)}" for score, x, y in lines]
        query.add("mapped", [*passed, *(f"{raw} AS raw{i}" for i, raw in enumerate(raws))])
        if n == 1:
            return _logistic(query, passed, fitted, labels)
        kept = [*passed, *(f"raw{i}" for i in range(n))]
        query.add("exponents", [*kept, *(f"-abs(raw{i}) AS x{i}" for i in range(n))])
        _add_exponentials(query, kept, n)
        own = [f"CASE WHEN raw{i}>0 THEN 1/(1+e{i}) ELSE e{i}/(1+e{i}) END" for i in range(n)]
    else:
        maps = zip(scores, calibration.knots, strict=True)
        own = [_interpolate(query, score, knots) for score, knots in maps]
    query.add("calibrated", [*passed, *(f"{value} AS p{i}" for i, value in enumerate(own))])
    if n == 1:
        one = query.number(1.0)
        query.add("both", [*passed, f"{one}-p0 AS c0", "p0 AS c1"])
        return find_largest(["c0", "c1"], labels), ["c0", "c1"]
    shares = [f"p{i}" for i in range(n)]
    query.add("totals", [*passed, *shares, f"{'+'.join(shares)} AS total"])
    even = query.number(1.0 / n)
    divided = [f"CASE WHEN total=0 THEN {even} ELSE {_divide(query, share)} END" for share in shares]
    query.add("shares", [*passed, *(f"{value} AS c{i}" for i, value in enumerate(divided))])
    columns = [f"c{i}" for i in range(n)]
    return find_largest(columns, labels), columns


def _interpolate(query: Query, score: str, knots: Knots) -> str:
    """Return the isotonic map of a column."""
    number = query.number
    (x, y), whens = (values.tolist() for values in knots), []
    for k, (width, rise) in enumerate(zip(np.diff(x).tolist(), np.diff(y).tolist(), strict=True)):
        line = f"{number(y[k])}+({score}-{number(x[k])})/{number(width)}*{number(rise)}"
        whens.append(f"WHEN {score}<{number(x[k + 1])} THEN {line}")
    return f"CASE WHEN {score}<={number(x[0])} THEN {number(y[0])} {' '.join(whens)} ELSE {number(y[-1])} END"


LINKS = {
    "wolf": Link("columns", _finish_wolf),
    "logistic": Link("joins", _finish_raw(_logistic)),
    "softmax": Link("joins", _finish_raw(_softmax)),
    "mean": Link("joins", _finish_mean),
    "identity": Link("joins", _finish_identity),
    "log": Link("joins", _finish_log),
}
