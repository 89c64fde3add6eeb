"""Trees in SQL, in one of four layouts.

A compact tree is one CASE expression in the user's units, written as a person would. Trees of memberships are columns
of a query, in which rows descend all trees together, one level per common table expression. Trees that add up values
are a table of blocks, which is joined once per level; all its numbers are integers, float64 ones with a power of 2,
which every engine reads exactly and quickly. Symmetric trees with constant leaves are expressions: the bits of the
levels of a tree are the place of its value in a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..model.shares import list_memberships
from ..model.trees import count_nesting
from ._sql_query import (
    REAL,
    Query,
    add_lanes,
    add_terms,
    choose,
    fill_units,
    find_largest,
    lay_planes,
    normalise,
    quote_distinct,
    write_number,
    write_real,
    write_short,
)
from ._walks import Terms, WalkLevels, Walks, check_plain, has_bounds, take_base

Result: TypeAlias = tuple[str, list[str]]  # expressions of the prediction and of the probabilities


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


def score_columns(query: Query, fitted: Model, walks: Walks, keys: Sequence[str]) -> list[str]:
    """Add the scores s0, s1, ... of the classes and return the names of the columns to pass on."""
    check_plain(fitted, "SQL")
    passed = normalise(query, fitted, keys, missing=query.number(0.0))
    depth = fitted.trees.depths()
    shares = Terms(*list_memberships(fitted.trees, fitted.prior)) if walks.leaf == "shares" else None
    trees = [_Tree(fitted, t, depth, shares, query.dialect) for t in range(fitted.trees.n_trees)]
    _descend(query, passed, trees, fitted)
    values = (_add_shares if walks.leaf == "shares" else _add_estimates)(query, passed, trees, fitted)
    _score(query, passed, trees, values, fitted)
    return passed


def _keep(passed: list[str], trees: list[_Tree], fitted: Model) -> list[str]:
    """Return the columns to pass on, with the confidences."""
    return [*passed, *(tree.d for tree in trees if fitted.confidence is not None)]


def _descend(query: Query, passed: list[str], trees: list[_Tree], fitted: Model) -> None:
    """Add the levels; after the last, a{t} is the leaf and d{t} the confidence."""
    z = [f"z{f}" for f in range(fitted.n_features)]
    has_confidence = fitted.confidence is not None
    columns = passed + z
    for tree in trees:
        columns += [f"0 AS {tree.a}"] + [f"1e0 AS {tree.d}"] * has_confidence
        columns += [f"{tree.plane(0)} AS {tree.y}"] * (tree.n_levels > 0)
    query.add("level0", columns)
    for level in range(max(tree.n_levels for tree in trees)):
        steps = [column for tree in trees for column in tree.step(level, fitted.confidence)]
        query.add(f"level{level + 1}", passed + z + steps)


def _add_shares(query: Query, passed: list[str], trees: list[_Tree], fitted: Model) -> list[list[str]]:
    """Add the shares of the leaves as m{t}_{c} and return the names by class."""
    classes = range(fitted.n_classes)
    shares = [f"{tree.share(cls)} AS {tree.m}_{cls}" for tree in trees for cls in classes]
    query.add("memberships", [*_keep(passed, trees, fitted), *shares])
    return [[f"{tree.m}_{cls}" for tree in trees] for cls in classes]


def _add_estimates(query: Query, passed: list[str], trees: list[_Tree], fitted: Model) -> list[list[str]]:
    """Add the clipped estimates of the leaves as m{t} and return expressions by class."""
    kept = _keep(passed, trees, fitted)
    estimates = [f"{tree.estimate()} AS {tree.m}" for tree in trees]
    clip, ends = "CASE WHEN {0}<{1} THEN {1} WHEN {0}>{2} THEN {2} ELSE {0} END AS {0}", ("0e0", "1e0")
    is_own = has_bounds(fitted.trees)
    query.add("leaves", [*kept, *estimates, *(bound for tree in trees if is_own for bound in tree.bounds())])
    clips = [
        clip.format(tree.m, *([f"l{tree.a[1:]}", f"u{tree.a[1:]}"] if is_own else ends)) for tree in trees
    ]
    query.add("memberships", [*kept, *clips])
    if fitted.n_classes == 2:  # two classes share a tree
        return [[f"(1e0-{tree.m})" for tree in trees], [tree.m for tree in trees]]
    return [[tree.m for tree in trees[cls :: fitted.n_classes]] for cls in range(fitted.n_classes)]


def _score(
    query: Query, passed: list[str], trees: list[_Tree], values: list[list[str]], fitted: Model
) -> None:
    """Add the WOLF values of every class as s{c}, with their fall-backs."""
    n_trees = query.number(float(fitted.n_estimators))
    wolf, membership = [], []
    for cls, own in enumerate(values):
        distances = [tree.d for tree in (trees if fitted.n_targets == 1 else trees[cls :: fitted.n_classes])]
        membership.append(f"({'+'.join(own)})/{n_trees}")
        corrected = "+".join(f"{d}*{value}" for d, value in zip(distances, own, strict=True))
        wolf.append(f"({corrected})/{n_trees}")
    if fitted.confidence is None:
        wolf = membership
    classes = range(fitted.n_classes)
    query.add("sums", [*passed, *(f"{wolf[c]} AS w{c}, {membership[c]} AS v{c}" for c in classes)])
    no_wolf, no_membership = (" AND ".join(f"{letter}{c}=0" for c in classes) for letter in "wv")
    fall_back = "CASE WHEN NOT ({0}) THEN w{1} WHEN NOT ({2}) THEN v{1} ELSE {3} END AS s{1}"
    prior = [query.number(share) for share in fitted.prior.tolist()]
    query.add("scores", [*passed, *(fall_back.format(no_wolf, c, no_membership, prior[c]) for c in classes)])


class _Tree:
    """One tree and its columns.

    Tree t has the columns a{t}, the block of a row, y{t}, the value of its hyperplane (NULL in a leaf), d{t}, the
    confidence so far, and at the end m{t}, the membership.
    """

    def __init__(self, fitted: Model, number: int, depth: Any, shares: Terms | None, dialect: str) -> None:
        self._dialect = dialect
        trees = fitted.trees
        self.a, self.y, self.d, self.m = (f"{letter}{number}" for letter in "aydm")
        self._first = int(trees.block_ptr[number])
        blocks = slice(self._first, int(trees.block_ptr[number + 1]))
        self._left = trees.left[blocks].tolist()
        self._offset, self._intercept = trees.offset[blocks].tolist(), trees.intercept[blocks].tolist()
        self._bounds = [ends[blocks].tolist() for ends in (trees.low, trees.high)]
        self._weights = Terms(trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)
        self._slopes = Terms(trees.membership_ptr, trees.membership_feature, trees.membership_slope)
        self._shares = shares
        self._starts = np.searchsorted(depth[blocks], np.arange(depth[blocks].max() + 2))
        self.n_levels = len(self._starts) - 2

    def _number(self, value: float) -> str:
        return write_number(value, self._dialect)

    def branching(self, level: int) -> Iterator[int]:
        """Return the branching blocks of a level."""
        return (b for b in range(self._starts[level], self._starts[level + 1]) if self._left[b] >= 0)

    def plane(self, block: int) -> str:
        """Return the value y of the hyperplane of a block; NULL in a leaf."""
        if self._left[block] < 0:
            return "NULL"
        weights = add_terms(self._weights.row(self._first + block), self._dialect)
        return f"({weights})-{self._number(self._offset[block])}"

    def step(self, level: int, confidence: str | None) -> list[str]:
        """Return the columns after a step down from this level."""
        if level >= self.n_levels:
            return [self.a] + [self.d] * (confidence is not None)
        a, y, d = self.a, self.y, self.d
        blocks = list(self.branching(level))
        lefts = choose(a, ((b, str(self._left[b])) for b in blocks), a)
        columns = [
            f"CASE WHEN {y} IS NULL THEN {a} ELSE {lefts}+CASE WHEN {y}<0 THEN 0 ELSE 1 END END AS {a}"
        ]
        if confidence == "last":
            columns.append(
                f"CASE WHEN {y} IS NULL THEN {d} WHEN abs({y})<1 THEN abs({y}) ELSE 1e0 END AS {d}"
            )
        elif confidence == "path":
            columns.append(f"CASE WHEN abs({y})<{d} THEN abs({y}) ELSE {d} END AS {d}")
        if level + 1 < self.n_levels:
            cases = []
            for block in blocks:
                left, right = (self.plane(self._left[block] + side) for side in (0, 1))
                if (left, right) != ("NULL", "NULL"):
                    cases.append((block, f"CASE WHEN {y}<0 THEN {left} ELSE {right} END"))
            columns.append(f"{choose(a, cases, 'NULL')} AS {y}")
        return columns

    def bounds(self) -> list[str]:
        """Return the columns l{t} and u{t}, the bounds of the estimate of the leaf."""
        leaves = [block for block, left in enumerate(self._left) if left < 0]
        return [
            f"{choose(self.a, ((leaf, self._number(ends[leaf])) for leaf in leaves), 'NULL')} AS {letter}{self.a[1:]}"
            for letter, ends in zip("lu", self._bounds, strict=True)
        ]

    def estimate(self) -> str:
        """Return intercept + slopes times z of the leaf."""
        cases = []
        for block in range(len(self._left)):
            if self._left[block] < 0:
                slopes = self._slopes.row(self._first + block)
                first = self._number(self._intercept[block])
                more = f"+({add_terms(slopes, self._dialect)})" if slopes else ""
                cases.append((block, first + more))
        return choose(self.a, cases, "NULL") if self.n_levels else cases[0][1]

    def share(self, cls: int) -> str:
        """Return the membership of a class in the leaf, for a tree of all classes."""
        assert self._shares is not None
        cases = []
        for block, left in enumerate(self._left):
            own = dict(self._shares.row(self._first + block)) if left < 0 else {}
            if cls in own:
                cases.append((block, self._number(own[cls])))
        return choose(self.a, cases, "0e0")


_MOST_VALUES = 200_000  # in expressions
_PART_BITS = 58  # of integers of at most 18 digits, also after a shift to positive ones
TREES_AT_ONCE = 50  # of a query, whose numbers of leaves are columns


def can_list_values(walks: Walks) -> bool:
    """Return whether trees can be expressions with lists of values: they are symmetric, and their leaves constant."""
    n_values = len(walks.intercept) if walks.shares is None else len(walks.shares.value)
    return walks.levels is not None and not len(walks.slopes.value) and n_values <= _MOST_VALUES


def score_levels(query: Query, fitted: Model, walks: Walks, keys: Sequence[str]) -> list[str]:
    """Add the sums raw0, raw1, ... of the targets and return the names of the columns to pass on."""
    assert walks.levels is not None
    levels, dialect = walks.levels, query.dialect
    query.streams = dialect == "duckdb"  # which computes every expression once, without storing rows
    passed = normalise(query, fitted, keys)
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


def score_joins(query: Query, fitted: Model, walks: Walks, keys: Sequence[str]) -> list[str]:
    """Add the sums raw0, raw1, ... of the targets and return the names of the columns to pass on."""
    passed = normalise(query, fitted, keys)
    _number_rows(query, passed, fitted, walks)
    blocks = _BlockQuery(
        query, walks, int(fitted.trees.depths().max()), len(walks.planes) * fitted.n_features
    )
    _define_table(query, "trees", {"tree": np.arange(len(walks.root)), "root": walks.root}, {})
    if walks.shares is not None:
        _add_up_classes(query, fitted, blocks)
    else:
        _add_up_targets(query, fitted, blocks)
    join = "CROSS JOIN" if query.dialect == "sqlite" else "JOIN"  # or SQLite scans all rows for every row
    query.read(f"{query.name('raws')} AS s {join} {query.name('numbered')} AS r ON r.n=s.n")
    return passed


def _add_up_targets(query: Query, fitted: Model, blocks: _BlockQuery) -> None:
    """Add the raw scores of every row from trees of one target each."""
    base = take_base(fitted)
    _define_table(query, "bases", {"target": np.arange(len(base))}, {"v": base})
    (_add_up_one_by_one if query.dialect == "sqlite" else _add_up_in_order)(query, fitted, blocks)
    targets = range(fitted.n_targets)
    by_target = ", ".join(f"max(CASE WHEN target={t} THEN raw END) AS raw{t}" for t in targets)
    query.define("raws", f"SELECT n, {by_target} FROM {query.name('sums')} GROUP BY n")


def _add_up_classes(query: Query, fitted: Model, blocks: _BlockQuery) -> None:
    """Add the raw scores of every row from trees of all classes, in the order of the trees."""
    name, classes = query.name, range(fitted.n_outputs)
    bases = ", ".join(query.number(score) for score in take_base(fitted).tolist())
    if query.dialect == "sqlite":
        sums = ", ".join(f"s.raw{cls}+b.v{cls}" for cls in classes)
        raws = ", ".join(f"raw{cls}" for cls in classes)
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
    values = ", ".join(f"b.v{cls} AS v{cls}" for cls in classes)
    walks = _walk(query, blocks, values)
    query.define(
        "walks", f"{walks}\nUNION ALL\nSELECT r.n, -1, {bases} FROM {name('numbered')} AS r", is_kept=False
    )
    sums = ", ".join(f"sum(v{cls} ORDER BY tree) AS raw{cls}" for cls in classes)
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
