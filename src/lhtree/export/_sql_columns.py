"""Trees of memberships in SQL: columns of a query, in which rows descend all trees together.

There is one common table expression per level.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.shares import list_memberships
from ._sql_query import Given, Query, add_terms, choose, normalise, write_number
from ._walks import Terms, Walks, check_plain, has_bounds


def score_columns(query: Query, fitted: Model, walks: Walks, given: Given) -> list[str]:
    """Add the scores s0, s1, ... of the classes and return the names of the columns to pass on."""
    check_plain(fitted, "SQL")
    passed = normalise(query, fitted, given, missing=query.number(0.0))
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
