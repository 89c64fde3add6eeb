"""Calibrated probabilities, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.calibration import Calibration, Knots
from ..model.model import Model
from ._sql_link import add_exponentials, divide, link_logistic
from ._sql_text import Query, find_largest


def calibrate(
    query: Query, passed: list[str], fitted: Model, scores: list[str], labels: Sequence[str]
) -> tuple[str, list[str]]:
    """Expressions of the class and of the probabilities from columns of scores, one per target."""
    calibration: Calibration = fitted.calibration  # type: ignore[assignment]  # it is calibrated
    n = len(scores)
    if calibration.method == "sigmoid":
        lines = zip(scores, calibration.x.tolist(), calibration.y.tolist(), strict=True)
        raws = [f"{query.number(x)}*{score}+{query.number(y)}" for score, x, y in lines]
        query.add("mapped", [*passed, *(f"{raw} AS raw{i}" for i, raw in enumerate(raws))])
        if n == 1:
            return link_logistic(query, passed, labels)
        kept = [*passed, *(f"raw{i}" for i in range(n))]
        query.add("exponents", [*kept, *(f"-abs(raw{i}) AS x{i}" for i in range(n))])
        add_exponentials(query, kept, n)
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
    divided = [f"CASE WHEN total=0 THEN {even} ELSE {divide(query, share)} END" for share in shares]
    query.add("shares", [*passed, *(f"{value} AS c{i}" for i, value in enumerate(divided))])
    columns = [f"c{i}" for i in range(n)]
    return find_largest(columns, labels), columns


def _interpolate(query: Query, score: str, knots: Knots) -> str:
    """The isotonic map of a column."""
    number = query.number
    (x, y), whens = (values.tolist() for values in knots), []
    for k, (width, rise) in enumerate(zip(np.diff(x).tolist(), np.diff(y).tolist(), strict=True)):
        line = f"{number(y[k])}+({score}-{number(x[k])})/{number(width)}*{number(rise)}"
        whens.append(f"WHEN {score}<{number(x[k + 1])} THEN {line}")
    return f"CASE WHEN {score}<={number(x[0])} THEN {number(y[0])} {' '.join(whens)} ELSE {number(y[-1])} END"
