"""Symmetric trees with constant leaves in SQL: expressions.

The bits of the levels of a tree are the place of its value in a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..model.model import Model
from ._sql_query import Given, Query, add_terms, lay_planes, normalise, write_number
from ._walks import WalkLevels, Walks, take_base

_MOST_VALUES = 200_000  # in expressions
_PART_BITS = 58  # of integers of at most 18 digits, also after a shift to positive ones
TREES_AT_ONCE = 50  # of a query, whose numbers of leaves are columns


def can_list_values(walks: Walks) -> bool:
    """Return whether trees can be expressions with lists of values: they are symmetric, and their leaves constant."""
    n_values = len(walks.intercept) if walks.shares is None else len(walks.shares.value)
    return walks.levels is not None and not len(walks.slopes.value) and n_values <= _MOST_VALUES


def score_levels(query: Query, fitted: Model, walks: Walks, given: Given) -> list[str]:
    """Add the sums raw0, raw1, ... of the targets and return the names of the columns to pass on."""
    assert walks.levels is not None
    levels, dialect = walks.levels, query.dialect
    query.streams = dialect == "duckdb"  # which computes every expression once, without storing rows
    passed = normalise(query, fitted, given)
    used = np.unique(levels.weights.feature).tolist()
    planes, laid = [f"z{place}" for place in used], lay_planes(fitted, walks.planes, dialect)
    bases = [query.number(score) for score in take_base(fitted).tolist()]
    raws = [f"raw{target}" for target in range(len(bases))]
    query.add(
        "laid",
        [
            *passed,
            *(f"{laid[place]} AS {name}" for place, name in zip(used, planes, strict=True)),
            *(f"{base} AS {raw}" for base, raw in zip(bases, raws, strict=True)),
        ],
    )
    values = _list_values(fitted, walks)
    ends = np.append(levels.first_leaf, len(walks.intercept)).tolist()
    starts = np.searchsorted(levels.tree, np.arange(len(walks.root) + 1)).tolist()
    for first in range(0, len(walks.root), TREES_AT_ONCE):
        trees = range(first, min(first + TREES_AT_ONCE, len(walks.root)))
        numbers = (
            "+".join(_write_side(levels, level, dialect) for level in range(starts[t], starts[t + 1])) or "0"
            for t in trees
        )
        found = [f"{number} AS i{t}" for t, number in zip(trees, numbers, strict=True)]
        query.add(f"found{first}", [*passed, *planes, *raws, *found])
        sums = list(raws)
        for t in trees:
            for target, own in values(t, slice(ends[t], ends[t + 1])):
                sums[target] += f"+{look_up_value(f'i{t}', own, dialect)}"
        query.add(
            f"added{first}", [*passed, *planes, *(f"{s} AS {raw}" for s, raw in zip(sums, raws, strict=True))]
        )
    return passed


def _write_side(levels: WalkLevels, level: int, dialect: str) -> str:
    """Return the bit that a row adds to the number of its leaf: 0 on the left of a level."""
    total = add_terms(levels.weights.row(level), dialect)
    offset = write_number(float(levels.offset[level]), dialect)
    return f"CASE WHEN {total}<{offset} THEN 0 ELSE {levels.bit[level]} END"


def _list_values(fitted: Model, walks: Walks) -> Callable[[int, slice], Iterator[tuple[int, list[float]]]]:
    """Return a function of a tree and its leaves that lists targets and the values of the leaves."""
    if walks.shares is None:
        constant = np.clip(walks.intercept, *(walks.bounds or (0.0, 1.0)))
        return lambda tree, leaves: iter([(tree % fitted.n_targets, constant[leaves].tolist())])
    dense = walks.shares.dense(len(take_base(fitted)))
    return lambda tree, leaves: enumerate(dense[leaves].T.tolist())


def look_up_value(place: str, values: list[float], dialect: str) -> str:
    """Return the value at a place of a list."""
    if len(values) == 1:
        return write_number(values[0], dialect)
    if dialect == "sqlite":
        return _look_up_digits(place, values)
    listed = ",".join(map(repr, values))
    if dialect == "duckdb":
        return f"CAST('[{listed}]' AS DOUBLE[])[{place}+1]"
    return f"(CAST('{{{listed}}}' AS float8[]))[{place}+1]"


def _look_up_digits(place: str, values: list[float]) -> str:
    """Return the value at a place of a list in SQLite, which has no arrays: the list is a BLOB of decimal digits.

    SQLite compiles an expression in a time that grows with the square of its constants, and a BLOB is one constant.
    A value is a sum of integers times powers of 2. Each integer has some of the 53 bits of the value, so that all
    products and sums are exact.
    """
    ratios = [value.as_integer_ratio() for value in values]
    common = max(denominator for _, denominator in ratios)
    signs = [-1 if numerator < 0 else 1 for numerator, _ in ratios]
    sizes = [abs(numerator) * (common // denominator) for numerator, denominator in ratios]
    power, terms = 1 - common.bit_length(), []
    while any(sizes):
        parts = [sign * (size % (1 << _PART_BITS)) for sign, size in zip(signs, sizes, strict=True)]
        least = min(parts)
        n_bytes = (len(str(max(parts) - least)) + 1) // 2
        digits = "".join(f"{part - least:0{2 * n_bytes}}" for part in parts)
        whole = f"CAST(hex(substr(x'{digits}',{place}*{n_bytes}+1,{n_bytes})) AS INTEGER)"
        terms.append(f"({whole}{least:+})*{write_number(math.ldexp(1.0, power), 'sqlite')}")
        sizes, power = [size >> _PART_BITS for size in sizes], power + _PART_BITS
    return f"({'+'.join(terms)})" if terms else "0e0"
