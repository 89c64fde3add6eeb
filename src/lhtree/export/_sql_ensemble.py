"""Ensembles in SQL: both members score the same numbered rows, and a join adds their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import _core
from ..model.model import Model
from . import _walks as e
from ._sql_joins import score_joins
from ._sql_query import Given, Query
from ._walks import Walks, find_walks


def score_ensemble(
    query: Query,
    fitted: Model,
    given: Given,
    score_boosted: Callable[[Query, Model, Walks, Given], list[str]],
) -> list[str]:
    """Add the sums raw0, raw1, ... of both members and return the names of the columns to pass on."""
    pool = fitted.pool
    assert pool is not None
    features = [f"x{f}" for f in range(fitted.n_features)]
    query.add("rows", [*given.passed, given.is_infinite, "row_number() OVER () AS number", *features])
    passed, rows = [*given.passed, "is_infinite"], query.name("rows")
    n_scores, n_sums = fitted.head.n_scores, fitted.n_outputs
    members = (
        ("boost", replace(fitted, pool=None), score_boosted, n_scores),
        ("forest", pool.forest, score_joins, n_sums),
    )
    join = "CROSS JOIN" if query.dialect == "sqlite" else "JOIN"  # in this order
    source = f"{rows} AS r"
    for name, member, score, n in members:
        own = query.branch(name, rows)
        score(own, member, find_walks(member), Given(["number"], "0 AS is_infinite"))
        own.add("scores", ["number", *(f"raw{i} AS {name}{i}" for i in range(n))])
        source += f" {join} {own.name('scores')} AS {name} ON {name}.number=r.number"
    query.read(source)
    n_trees, weight = (query.number(value) for value in (float(pool.forest.n_estimators), pool.weight))
    means = [f"forest{i}/{n_trees} AS m{i}" for i in range(n_sums)]
    raws = [f"raw{i}" for i in range(n_scores)]
    query.add("members", [*passed, *(f"boost{i} AS {raw}" for i, raw in enumerate(raws)), *means])
    if not fitted.head.labels:
        query.add("pooled", [*passed, f"raw0+{weight}*m0 AS raw0"])
        return passed
    _add_logarithms(query, [*passed, *raws], n_sums)
    parts = ["(l1-l0)"] if n_scores == 1 else [f"l{i}" for i in range(n_sums)]
    pooled = [f"{raw}+{weight}*{part} AS {raw}" for raw, part in zip(raws, parts, strict=True)]
    query.add("pooled", [*passed, *pooled])
    return passed


def _add_logarithms(query: Query, passed: list[str], n: int) -> None:
    """Add l0, l1, ... = ln of m0, m1, ... by the operations of the core; m is at least the least membership."""
    number = query.number

    def add(name: str, *columns: str) -> None:
        query.add(name, [*passed, *(column.replace("#", str(i)) for i in range(n) for column in columns)])

    least = _core.LEAST_MEMBERSHIP
    add("bounded_below", f"CASE WHEN m#<{number(least)} THEN {number(least)} ELSE m# END AS m#")
    halves = [e.LOG_ROOT_HALF]  # bounds of the powers of 2
    while halves[-1] > least:
        halves.append(halves[-1] / 2.0)

    def choose(values: list[str]) -> str:
        whens = [
            f"WHEN m#>={number(bound)} THEN {value}" for bound, value in zip(halves, values, strict=True)
        ]
        return f"CASE {' '.join(whens)} END"

    powers = choose([number(-float(k)) for k in range(len(halves))])
    scaled = choose([f"m#*{number(2.0**k)}-1" for k in range(len(halves))])
    add("normalised", f"{powers} AS power#", f"{scaled} AS f#")
    add("ratios", "power#", "f#", f"f#/({number(2.0)}+f#) AS s#")
    first, *others = map(number, e.LOG_SERIES)
    series = first
    for coefficient in others:
        series = f"({series}*(s#*s#)+{coefficient})"
    half = number(0.5)
    add("squares", "power#", "f#", "s#", f"{series}*(s#*s#) AS series#", f"{half}*f#*f# AS half#")
    high, low = number(e.EXP_LN2_HIGH), number(e.EXP_LN2_LOW)
    add("logarithms", f"power#*{high}-((half#-(s#*(half#+series#)+power#*{low}))-f#) AS l#")
