"""A compact tree in SQL: one CASE expression in the user's units, written as a person would."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ..model.model import Model
from ..model.trees import count_nesting
from ._sql_query import Query, Result, fill_units, find_largest, quote_distinct, write_real, write_short
from ._walks import Walks


def score_case(
    query: Query, fitted: Model, walks: Walks, keys: Sequence[str], labels: Sequence[str]
) -> Result:
    """Evaluate the tree and return expressions of the prediction and the probabilities."""
    used = np.union1d(walks.weights.feature, walks.slopes.feature).tolist()
    taken = (f"k{i}" for i in range(len(keys)))
    quoted = quote_distinct([fitted.feature_names[f] for f in used], "z", taken, query.dialect)
    names = dict(zip(used, quoted, strict=True))
    passed = fill_units(query, fitted, keys, names)
    if walks.leaf == "shares":
        return _look_up(query, passed, fitted, walks, names, labels)
    leaves = [_write_estimate(walks, leaf, names, query.dialect) for leaf in range(len(walks.intercept))]
    query.add("decided", [*passed, f"{_write_tree(walks, leaves, names, query.dialect)} AS estimate"])
    if not labels:
        return "estimate", []
    one = query.number(1.0)
    query.add("scores", [*passed, f"{one}-estimate AS s0", "estimate AS s1"])
    return find_largest(["s0", "s1"], labels), ["s0/(s0+s1)", "s1/(s0+s1)"]


def _look_up(
    query: Query, passed: list[str], fitted: Model, walks: Walks, names: dict[int, str], labels: Sequence[str]
) -> Result:
    """Find the number of the leaf, and its class and probabilities in a table."""
    blocks = np.flatnonzero(fitted.trees.left < 0).tolist()
    tree = _write_tree(walks, [str(block) for block in blocks], names, query.dialect)
    query.add("decided", [*passed, f"{tree} AS leaf"])
    assert walks.shares is not None
    lines = []
    for block, scores in zip(blocks, walks.shares.dense(fitted.n_classes), strict=True):
        *_, total = accumulate(scores.tolist())
        listed = [write_real(share, query.dialect) for share in (scores / total).tolist()]
        lines.append(f"  ({', '.join([str(block), labels[int(scores.argmax())], *listed])})")
    probabilities = [f"p{c}" for c in range(fitted.n_classes)]
    columns = f"(leaf, label, {', '.join(probabilities)})"
    query.define("leaves", "VALUES\n" + ",\n".join(lines) + "\n", columns)
    query.read(f"{query.name('decided')} AS d JOIN {query.name('leaves')} AS l ON l.leaf=d.leaf")
    return "label", probabilities


def _write_tree(walks: Walks, leaves: list[str], names: dict[int, str], dialect: str) -> str:
    """Return the CASE expression: a WHEN for every leaf below a block, and another CASE where both sides branch.

    The side with fewer levels is nested, because SQLite parses few CASE inside each other.
    """
    children = walks.child.tolist()
    nesting = count_nesting(children)

    def count(place: int) -> int:
        return nesting[place] if place >= 0 else 0

    def write(place: int, indent: str) -> str:
        if place < 0:
            return leaves[-1 - place]
        lines, more = ["CASE"], indent + "  "
        while place >= 0:
            below, above = children[place]
            total = _write_sum(walks.weights.row(place), names, dialect)
            bound = write_short(float(walks.offset[place]), dialect)
            is_swapped = count(below) > count(above)
            sign, chosen, place = (">=", above, below) if is_swapped else ("<", below, above)
            lines.append(f"{more}WHEN {total} {sign} {bound} THEN {write(chosen, more)}")
        return "\n".join([*lines, f"{more}ELSE {leaves[-1 - place]}", f"{indent}END"])

    return write(int(walks.root[0]), "")


def _write_estimate(walks: Walks, leaf: int, names: dict[int, str], dialect: str) -> str:
    """Return the clipped estimate of a leaf."""
    low, high = (0.0, 1.0) if walks.bounds is None else (float(ends[leaf]) for ends in walks.bounds)
    slopes, intercept = walks.slopes.row(leaf), float(walks.intercept[leaf])
    if not slopes:
        return write_real(min(max(intercept, low), high), dialect)
    least, most = ("MIN", "MAX") if dialect == "sqlite" else ("LEAST", "GREATEST")
    total = _write_sum(slopes, names, dialect, write_real(intercept, dialect))
    return f"{least}({most}({total}, {write_real(low, dialect)}), {write_real(high, dialect)})"


def _write_sum(terms: list[tuple[int, float]], names: dict[int, str], dialect: str, first: str = "") -> str:
    """Return a sum from left to right, after ``first`` if it is given."""
    text = first
    for feature, value in terms:
        size = abs(value)
        term = names[feature] if size == 1.0 else f"{write_short(size, dialect)} * {names[feature]}"
        if text:
            text += f" {'-' if value < 0 else '+'} {term}"
        else:
            text = f"-{term}" if value < 0 else term
    return text
