"""Trees that add up values in SQL: a table of blocks, which is joined once per level.

All its numbers are integers, float64 ones with a power of 2, which every engine reads exactly and quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ._sql_query import REAL, Given, Query, add_lanes, choose, lay_planes, normalise
from ._walks import Walks


def score_joins(query: Query, fitted: Model, walks: Walks, given: Given) -> list[str]:
    """Add the sums raw0, raw1, ... of the targets and return the names of the columns to pass on.

    Those of a classification forest are the sums of the memberships of its classes.
    """
    passed = normalise(query, fitted, given)
    _number_rows(query, passed, fitted, walks)
    blocks = _BlockQuery(
        query, walks, int(fitted.trees.depths().max()), len(walks.planes) * fitted.n_features
    )
    _define_table(query, "trees", {"tree": np.arange(len(walks.root)), "root": walks.root}, {})
    if walks.shares is not None:
        _add_up_values(query, fitted, blocks, [f"b.v{output}" for output in range(fitted.n_outputs)])
    elif fitted.base is None and fitted.n_classes == 2:  # one tree serves both classes
        membership = blocks.estimate("b")
        _add_up_values(query, fitted, blocks, [f"{query.number(1.0)}-({membership})", membership])
    else:
        _add_up_targets(query, fitted, blocks)
    join = "CROSS JOIN" if query.dialect == "sqlite" else "JOIN"  # or SQLite scans all rows for every row
    query.read(f"{query.name('raws')} AS s {join} {query.name('numbered')} AS r ON r.n=s.n")
    return passed


def _take_bases(fitted: Model, n_scores: int) -> NDArray[np.float64]:
    """Return the initial scores; 0 where trees are averaged."""
    return np.zeros(n_scores) if fitted.base is None else fitted.base


def _add_up_targets(query: Query, fitted: Model, blocks: _BlockQuery) -> None:
    """Add the raw scores of every row from trees of one target each."""
    base = _take_bases(fitted, fitted.n_targets)
    _define_table(query, "bases", {"target": np.arange(len(base))}, {"v": base})
    (_add_up_one_by_one if query.dialect == "sqlite" else _add_up_in_order)(query, fitted, blocks)
    targets = range(fitted.n_targets)
    by_target = ", ".join(f"max(CASE WHEN target={t} THEN raw END) AS raw{t}" for t in targets)
    query.define("raws", f"SELECT n, {by_target} FROM {query.name('sums')} GROUP BY n")


def _add_up_values(query: Query, fitted: Model, blocks: _BlockQuery, listed: list[str]) -> None:
    """Add the raw scores of every row in the order of the trees, from several values of the leaf b of every tree."""
    name = query.name
    bases = ", ".join(query.number(score) for score in _take_bases(fitted, len(listed)).tolist())
    if query.dialect == "sqlite":
        sums = ", ".join(f"s.raw{i}+({value})" for i, value in enumerate(listed))
        raws = ", ".join(f"raw{i}" for i in range(len(listed)))
        query.define(
            "added",
            f"SELECT r.n, 0, {bases} FROM {name('numbered')} AS r\nUNION ALL\nSELECT s.n, s.tree+1, {sums}\n"
            f"FROM {name('added')} AS s CROSS JOIN {name('trees')} AS t ON t.tree=s.tree "
            f"CROSS JOIN {name('numbered')} AS r ON r.n=s.n{blocks.chain()}",
            f"(n, tree, {raws})",
            is_kept=False,
        )
        n_trees = fitted.trees.n_trees
        query.define("raws", f"SELECT n, {raws} FROM {name('added')} WHERE tree>={n_trees}")
        return
    values = ", ".join(f"{value} AS v{i}" for i, value in enumerate(listed))
    walks = _walk(query, blocks, values)
    query.define(
        "walks", f"{walks}\nUNION ALL\nSELECT r.n, -1, {bases} FROM {name('numbered')} AS r", is_kept=False
    )
    sums = ", ".join(f"sum(v{i} ORDER BY tree) AS raw{i}" for i in range(len(listed)))
    query.define("raws", f"SELECT n, {sums}\nFROM {name('walks')} GROUP BY n")


def _number_rows(query: Query, passed: list[str], fitted: Model, walks: Walks) -> None:
    """Add the values in planes and the number n of every row, because keys need not be unique."""
    planes = lay_planes(fitted, walks.planes, query.dialect)
    if query.dialect == "sqlite":  # which has no arrays
        values = [f"{value} AS p{place}" for place, value in enumerate(planes)]
    else:
        values = [f"{'ARRAY' if query.dialect == 'postgresql' else ''}[{', '.join(planes)}] AS p"]
    query.add("numbered", [*passed, "row_number() OVER () AS n", *values])


class _BlockQuery:
    """The table of blocks and the expressions that read it. The id of a block is its place; leaves have ids below 0.

    Below and above are the children. The children of a leaf are the leaf itself, so that all walks have as many steps.
    """

    def __init__(self, query: Query, walks: Walks, n_levels: int, width: int) -> None:
        self._query, self.n_levels, self._width = query, n_levels, width
        n_leaves = len(walks.intercept)
        leaves = -1 - np.arange(n_leaves)
        zeros = np.zeros(n_leaves)
        low, high = walks.bounds or (zeros, zeros + 1.0)
        self._n_weights, self.n_slopes = walks.weights.widest, walks.slopes.widest
        constant = walks.intercept if self.n_slopes else np.clip(walks.intercept, low, high)

        def of_leaves(values: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([np.zeros(len(walks.offset), dtype=values.dtype), values])

        whole = {
            "id": np.concatenate([np.arange(len(walks.offset)), leaves]),
            "below": np.concatenate([walks.child[:, 0], leaves]),
            "above": np.concatenate([walks.child[:, 1], leaves]),
            "n_terms": np.concatenate([np.diff(walks.weights.ptr), np.zeros(n_leaves, dtype=np.int64)]),
        }
        real = {"c": np.concatenate([walks.offset, zeros])}
        if walks.shares is None:
            real["v"] = of_leaves(constant)
        else:  # values of all classes
            of_classes = walks.shares.dense(int(walks.shares.feature.max()) + 1).T
            real |= {f"v{cls}": of_leaves(values) for cls, values in enumerate(of_classes)}
        for name, value, terms in (("f", "w", walks.weights), ("g", "s", walks.slopes)):
            feature, values = terms.pad(terms.widest)
            more = ((0, n_leaves), (0, 0)) if name == "f" else ((len(walks.offset), 0), (0, 0))
            for place, column in enumerate(np.pad(feature, more).T):
                whole[f"{name}{place}"] = column
            for place, column in enumerate(np.pad(values, more).T):
                real[f"{value}{place}"] = column
        if self.n_slopes:
            real |= {"low": of_leaves(low), "high": of_leaves(high)}
        _define_table(query, "blocks", whole, real)

    def join(self, alias: str, place: str) -> str:
        """Return a join with the block of this id."""
        blocks, kind = self._query.name("blocks"), "JOIN"
        if self._query.dialect == "postgresql":  # or the planner expects a hundred blocks per id
            blocks = f"(SELECT DISTINCT ON (id) * FROM {blocks})"
        elif self._query.dialect == "sqlite":
            kind = "CROSS JOIN"  # in this order
        return f"\n{kind} {blocks} AS {alias} ON {alias}.id={place}"

    def chain(self) -> str:
        """Return the joins from the root of tree t to block b of the last level, one per level."""
        joins, place = "", "t.root"
        for level in range(self.n_levels):
            joins += self.join(f"b{level}", place)
            place = self.step(f"b{level}")
        return joins + self.join("b", place)

    def step(self, block: str) -> str:
        """Return the child that a row goes to."""
        if not self._n_weights:
            return f"{block}.id"
        products = [f"{block}.w{i}*{self._value(f'{block}.f{i}')}" for i in range(self._n_weights)]
        feature_sum = products[0]
        if len(products) > 1:
            feature_sum = f"CASE WHEN {block}.n_terms<2 THEN {products[0]} ELSE {add_lanes(products)} END"
        return f"CASE WHEN {feature_sum}<{block}.c THEN {block}.below ELSE {block}.above END"

    def estimate(self, block: str) -> str:
        """Return the value of a leaf."""
        if not self.n_slopes:
            return f"{block}.v"
        products = [f"{block}.s{i}*{self._value(f'{block}.g{i}')}" for i in range(self.n_slopes)]
        value, low, high = f"({block}.v+({add_lanes(products)}))", f"{block}.low", f"{block}.high"
        return f"CASE WHEN {value}<{low} THEN {low} WHEN {value}>{high} THEN {high} ELSE {value} END"

    def _value(self, feature: str) -> str:
        """Return the value of row r at a place of the planes."""
        if self._query.dialect == "sqlite":
            return choose(feature, ((place, f"r.p{place}") for place in range(self._width)), "NULL")
        return f"r.p[{feature}+1]"


def _define_table(
    query: Query, name: str, whole: dict[str, NDArray[Any]], real: dict[str, NDArray[Any]]
) -> None:
    """Add a table of integers and float64 numbers, all of them written as integers."""
    integers, columns = dict(whole), list(whole)
    for column, values in real.items():
        mantissas, powers = _as_integers(values)
        unit = int(powers.min())
        factor = query.number(2.0**unit)
        if (powers == unit).all():
            integers[column] = mantissas
        else:
            integers |= {column: mantissas, f"{column}_power": powers}
            cases = ((power, query.number(2.0**power)) for power in np.unique(powers).tolist())
            factor = choose(f"{column}_power", cases, "NULL")
        columns.append(f"CAST({column} AS {REAL[query.dialect]})*{factor} AS {column}")
    names = f"({', '.join(integers)})"
    listed = [column.tolist() for column in integers.values()]
    if query.dialect == "sqlite":
        rows = ",".join(f"({','.join(map(str, row))})" for row in zip(*listed, strict=True))
        query.define(f"{name}_given", f"VALUES {rows}", names)
    elif query.dialect == "duckdb":  # which reads a text of numbers fifty times as fast as VALUES
        lists = ", ".join(f"unnest(CAST('[{_join(values)}]' AS BIGINT[]))" for values in listed)
        query.define(f"{name}_given", f"SELECT {lists}", names)
    else:
        lists = ", ".join(f"CAST('{{{_join(values)}}}' AS BIGINT[])" for values in listed)
        query.define(f"{name}_given", f"SELECT * FROM unnest({lists})", names)
    query.define(name, f"SELECT {', '.join(columns)} FROM {query.name(f'{name}_given')}")


def _join(values: Iterable[int]) -> str:
    return ",".join(map(str, values))


def _as_integers(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return integers and powers of 2, with a common power where the integers stay below 2^53."""
    fractions, exponents = np.frexp(values.astype(np.float64))
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    lowest = np.where(mantissas == 0, 1, mantissas & -mantissas)
    shift = np.log2(lowest).astype(np.int64)
    mantissas, powers = mantissas >> shift, exponents.astype(np.int64) - 53 + shift
    is_zero = mantissas == 0
    if is_zero.all():
        return mantissas, np.zeros_like(powers)
    powers[is_zero] = powers[~is_zero].min()
    unit = int(powers.min())
    if int(exponents[~is_zero].max()) - unit <= 53:
        return mantissas << (powers - unit), np.full_like(powers, unit)
    return mantissas, powers


def _add_up_one_by_one(query: Query, fitted: Model, blocks: _BlockQuery) -> None:
    """Add raw scores by row and target, tree by tree, because the sum of SQLite rounds differently."""
    name, n_trees, n_targets = query.name, fitted.trees.n_trees, fitted.n_targets
    query.define(
        "added",
        f"SELECT r.n, t.target, t.v FROM {name('numbered')} AS r CROSS JOIN {name('bases')} AS t\nUNION ALL\n"
        f"SELECT s.n, s.tree+{n_targets}, s.raw+({blocks.estimate('b')})\n"
        f"FROM {name('added')} AS s CROSS JOIN {name('trees')} AS t ON t.tree=s.tree "
        f"CROSS JOIN {name('numbered')} AS r ON r.n=s.n{blocks.chain()}",
        "(n, tree, raw)",
        is_kept=False,
    )
    query.define(
        "sums", f"SELECT n, tree-{n_trees} AS target, raw FROM {name('added')} WHERE tree>={n_trees}"
    )


def _add_up_in_order(query: Query, fitted: Model, blocks: _BlockQuery) -> None:
    """Add raw scores by row and target, as sums in the order of the trees; the first term is the initial score."""
    name, n_targets, rows = query.name, fitted.n_targets, f"{query.name('numbered')} AS r"
    walks = _walk(query, blocks, f"{blocks.estimate('b')} AS v")
    bases = f"SELECT r.n, t.target-{n_targets}, t.v FROM {rows} CROSS JOIN {name('bases')} AS t"
    query.define("walks", f"{walks}\nUNION ALL\n{bases}", is_kept=False)
    target = f"(tree+{n_targets})%{n_targets}"
    query.define(
        "sums",
        f"SELECT n, {target} AS target, sum(v ORDER BY tree) AS raw\nFROM {name('walks')} GROUP BY n, {target}",
    )


def _walk(query: Query, blocks: _BlockQuery, values: str) -> str:
    """Return the query of some values of the leaf b of every row and tree."""
    name, last = query.name, blocks.n_levels
    rows, trees = f"{name('numbered')} AS r", f"{name('trees')} AS t"
    if query.dialect == "postgresql":
        return f"SELECT r.n, t.tree, {values}\nFROM {rows} CROSS JOIN {trees}{blocks.chain()}"
    # DuckDB would join blocks with blocks first
    query.define("level0", f"SELECT r.n, t.tree, t.root AS place FROM {rows} CROSS JOIN {trees}")
    for level in range(last):
        source = f"{name(f'level{level}')} AS w{blocks.join('b', 'w.place')} JOIN {rows} ON r.n=w.n"
        query.define(f"level{level + 1}", f"SELECT w.n, w.tree, {blocks.step('b')} AS place\nFROM {source}")
    source = f"{name(f'level{last}')} AS w{blocks.join('b', 'w.place')}"
    source += f" JOIN {rows} ON r.n=w.n" * (blocks.n_slopes > 0)
    return f"SELECT w.n, w.tree, {values}\nFROM {source}"
