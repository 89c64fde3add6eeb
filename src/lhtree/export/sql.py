"""A tree or a small forest as one SELECT: all trees are walked at once, one level per common table expression."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._parameters import refuse
from ..model import Model, read
from ._labels import find_labels
from ._sql_text import (
    Query,
    add_terms,
    choose,
    find_largest,
    find_twins,
    quote_name,
    write_label,
    write_number,
)
from ._sql_z import DIALECTS, normalise
from ._walks import Terms, check_walkable, has_bounds

_MOST_CHARACTERS = 5_000_000
_MOST_COLUMNS = 2000  # of a table in SQLite
_MOST_LEVELS = 200
_MOST_SECONDS = 60.0
_SECONDS = 1.2e-5  # per column squared and level: both engines look every column up among all, at every level


def export_sql(
    model: Any,
    *,
    table: str = "data",
    keys: Iterable[str] = (),
    dialect: str = "sqlite",
    force: bool = False,
) -> str:
    """Write a SELECT statement that predicts the rows of a table, for SQLite or DuckDB.

    It returns the ``keys``, the class as ``prediction`` and a column ``probability_<class>`` per class. NULL (and NaN)
    means missing; a row with an infinite value, for which the model raises an error, gets NULL in every column. The
    arithmetic and its order are those of the model, so rows reach the same leaves. Models whose statement would take an
    engine too long, which includes most forests, raise an error.

    Parameters
    ----------
    model : LHTClassifier or LHForestClassifier
        Fitted model; the columns it was fitted on are looked up in the table by name.
    table : str, default="data"
        Name of the table.
    keys : iterable of str, optional
        Columns of the table to include in the result, to identify rows: a SELECT has no guaranteed order.
    dialect : {"sqlite", "duckdb"}, default="sqlite"
        SQL dialect.
    force : bool, default=False
        Write the statement however large it is. SQLite's limit of 2,000 columns still applies.

    Returns
    -------
    str
    """
    fitted = read(model)
    if dialect not in DIALECTS:
        raise refuse("dialect", dialect, " or ".join(map(repr, DIALECTS)))
    if not isinstance(table, str) or not table:
        raise refuse("table", table, "the name of a table")
    keys = [keys] if isinstance(keys, str) else list(keys)
    if not all(isinstance(key, str) for key in keys):
        raise refuse("keys", keys, "a list of column names")
    check_walkable(fitted, "SQL")
    labels = find_labels(fitted, "SQL")
    outputs = ["prediction", *(f"probability_{label}" for label in labels)]
    _check_names(fitted, keys, outputs)
    _check_size(fitted, len(keys), dialect, force)

    query = Query(table)
    passed = normalise(query, fitted, keys, dialect)
    trees = _find_trees(fitted)
    _walk(query, passed, trees, fitted)
    _score(query, passed, trees, fitted)
    scores = [f"s{c}" for c in range(len(labels))]
    values = [find_largest(scores, [write_label(label) for label in labels])]
    values += [f"{score}/({'+'.join(scores)})" for score in scores]
    shown = [f"k{i} AS {quote_name(key)}" for i, key in enumerate(keys)] + [
        f"CASE WHEN is_infinite=0 THEN {value} END AS {quote_name(name)}"
        for value, name in zip(values, outputs, strict=True)
    ]
    text = query.finish(shown)
    if len(text) > _MOST_CHARACTERS and not force:
        raise _too_large(f"its SELECT would have {len(text):,} characters, more than {_MOST_CHARACTERS:,}")
    return text


def _too_large(reason: str) -> ValueError:
    return ValueError(
        f"the model is too large for SQL: {reason}. Fit fewer trees, or smaller ones (larger gamma, min_samples_leaf "
        "or beta, smaller max_depth), use export_onnx or export_c, or pass force=True."
    )


def _check_names(fitted: Model, keys: list[str], outputs: list[str]) -> None:
    """SQL names are case-insensitive."""
    for what, names in (("columns", fitted.column_names), ("output columns", [*keys, *outputs])):
        twins = find_twins(names)
        if twins:
            raise ValueError(
                f"SQL ignores case, so the {what} {twins[0]!r} and {twins[1]!r} are the same: rename one of them."
            )


def _check_size(fitted: Model, n_keys: int, dialect: str, force: bool) -> None:
    """Refuse models that are far too large before writing anything."""
    trees = fitted.trees
    depth = int(trees.depths().max())
    n_columns = n_keys + 1 + 3 * max(fitted.n_features, trees.n_trees) + fitted.n_features
    if n_columns > _MOST_COLUMNS and not (force and dialect == "duckdb"):
        raise _too_large(f"it needs {n_columns:,} columns, more than {_MOST_COLUMNS:,}")
    if force:
        return
    if depth > _MOST_LEVELS:
        raise _too_large(f"its trees have up to {depth} levels, more than {_MOST_LEVELS}")
    n_terms = len(trees.hyperplane_weight) + int(trees.left.size)
    if 12 * n_terms > _MOST_CHARACTERS:
        raise _too_large(f"it has {n_terms:,} weights and blocks")
    seconds = _SECONDS * n_columns**2 * depth
    if seconds > _MOST_SECONDS:
        raise _too_large(
            f"its {trees.n_trees:,} trees of up to {depth} levels would take an engine about {seconds:,.0f} seconds "
            "before the first row"
        )


class _Tree:
    """One tree, and the columns in which rows walk down it.

    Of tree t, a{t} is the block a row is in, y{t} the value of its hyperplane (NULL in a leaf), d{t} the confidence so
    far and, at the end, m{t} the membership.
    """

    def __init__(self, fitted: Model, number: int, depth: Any) -> None:
        trees = fitted.trees
        self.a, self.y, self.d, self.m = (f"{letter}{number}" for letter in "aydm")
        self._first = int(trees.block_ptr[number])
        blocks = slice(self._first, int(trees.block_ptr[number + 1]))
        self._left = trees.left[blocks].tolist()
        self._offset = trees.offset[blocks].tolist()
        self._intercept = trees.intercept[blocks].tolist()
        self._bounds = [ends[blocks].tolist() for ends in (trees.low, trees.high)]
        self._weights = Terms(trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)
        self._slopes = Terms(trees.membership_ptr, trees.membership_feature, trees.membership_slope)
        self._starts = np.searchsorted(depth[blocks], np.arange(depth[blocks].max() + 2))
        self.n_levels = len(self._starts) - 2

    def branching(self, level: int) -> Iterator[int]:
        """The branching blocks of a level."""
        return (b for b in range(self._starts[level], self._starts[level + 1]) if self._left[b] >= 0)

    def plane(self, block: int) -> str:
        """Value y of a block's hyperplane; NULL in a leaf."""
        if self._left[block] < 0:
            return "NULL"
        return f"({add_terms(self._weights.row(self._first + block))})-{write_number(self._offset[block])}"

    def step(self, level: int, confidence: str | None) -> list[str]:
        """Columns after a step down from this level."""
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
        """Columns l{t} and u{t}: what the estimate of the leaf is clipped to."""
        leaves = [block for block, left in enumerate(self._left) if left < 0]
        return [
            f"{choose(self.a, ((leaf, write_number(ends[leaf])) for leaf in leaves), 'NULL')} AS {letter}{self.a[1:]}"
            for letter, ends in zip("lu", self._bounds, strict=True)
        ]

    def estimate(self) -> str:
        """Intercept + slopes times z of the leaf."""
        cases = []
        for block in range(len(self._left)):
            if self._left[block] < 0:
                slopes = self._slopes.row(self._first + block)
                more = f"+({add_terms(slopes)})" if slopes else ""
                cases.append((block, write_number(self._intercept[block]) + more))
        return choose(self.a, cases, "NULL") if self.n_levels else cases[0][1]


def _find_trees(fitted: Model) -> list[_Tree]:
    depth = fitted.trees.depths()
    return [_Tree(fitted, number, depth) for number in range(fitted.trees.n_trees)]


def _walk(query: Query, passed: list[str], trees: list[_Tree], fitted: Model) -> None:
    """Take the rows down all trees; then a{t} is the leaf, and d{t} the confidence."""
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
    kept = [*passed, *(tree.d for tree in trees if has_confidence)]
    estimates = [f"{tree.estimate()} AS {tree.m}" for tree in trees]
    clip, ends = "CASE WHEN {0}<{1} THEN {1} WHEN {0}>{2} THEN {2} ELSE {0} END AS {0}", ("0e0", "1e0")
    is_own = has_bounds(fitted.trees)
    query.add("leaves", [*kept, *estimates, *(bound for tree in trees if is_own for bound in tree.bounds())])
    clips = [
        clip.format(tree.m, *([f"l{tree.a[1:]}", f"u{tree.a[1:]}"] if is_own else ends)) for tree in trees
    ]
    query.add("memberships", [*kept, *clips])


def _score(query: Query, passed: list[str], trees: list[_Tree], fitted: Model) -> None:
    """WOLF values of every class as s{c}, with their fall-backs."""
    n_trees = write_number(float(fitted.n_estimators))
    wolf, membership = [], []
    for cls in range(fitted.n_classes):
        own = trees if fitted.n_classes == 2 else trees[cls :: fitted.n_classes]
        values = [f"(1e0-{tree.m})" if fitted.n_classes == 2 and cls == 0 else tree.m for tree in own]
        membership.append(f"({'+'.join(values)})/{n_trees}")
        corrected = "+".join(f"{tree.d}*{value}" for tree, value in zip(own, values, strict=True))
        wolf.append(f"({corrected})/{n_trees}")
    if fitted.confidence is None:
        wolf = membership
    classes = range(fitted.n_classes)
    query.add("sums", [*passed, *(f"{wolf[c]} AS w{c}, {membership[c]} AS v{c}" for c in classes)])
    no_wolf, no_membership = (" AND ".join(f"{letter}{c}=0" for c in classes) for letter in "wv")
    fall_back = "CASE WHEN NOT ({0}) THEN w{1} WHEN NOT ({2}) THEN v{1} ELSE {3} END AS s{1}"
    prior = [write_number(share) for share in fitted.prior.tolist()]
    query.add("scores", [*passed, *(fall_back.format(no_wolf, c, no_membership, prior[c]) for c in classes)])
