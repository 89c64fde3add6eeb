"""Contributions of many rows at once: blocks are met one by one, each with all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model import Model
from ..trees import Trees
from ._frame import flatten

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

_VALUES_AT_ONCE = 1 << 22  # leaves and memberships of this many rows and trees are held


def explain_rows(fitted: Model, X: NDArray[Any], index: Any = None) -> pd.DataFrame:
    """One line per row and class; see ``explain_batch``."""
    pandas = import_extra("pandas", "pandas")
    n_rows, n_classes = len(X), fitted.n_classes
    names = ["proba", *(["raw_score"] if fitted.is_boosted else ["wolf", "membership", "confidence"])]
    table = np.zeros((n_rows, n_classes, len(names) + 1 + len(fitted.column_names)))
    for column, name in enumerate(names):
        values = fitted.ask(name, X)
        table[:, :, column] = fitted.spread(values, np.negative) if name == "raw_score" else values
    own = table[:, :, len(names) + 1 :]
    if fitted.encoding.is_plain:
        table[:, :, len(names)] = find_contributions(fitted, X, out=own)
    else:
        of_features = np.zeros((n_rows, n_classes, fitted.n_features))
        table[:, :, len(names)] = find_contributions(fitted, X, out=of_features)
        own[:] = fitted.encoding.sum_columns(of_features)
    codes, rows = flatten(pandas.RangeIndex(n_rows) if index is None else index).factorize()
    lines = pandas.MultiIndex(
        levels=[flatten(rows), fitted.labels],
        codes=[np.repeat(codes, n_classes), np.tile(np.arange(n_classes), n_rows)],
        names=["row", "class"],
    )
    frame: pd.DataFrame = pandas.DataFrame(
        table.reshape(n_rows * n_classes, -1),
        index=lines,
        columns=[*names, "base", *(f"contribution.{name}" for name in fitted.column_names)],
        copy=False,
    )
    predicted: Any = fitted.scorer.predict(X)
    prediction = pandas.Categorical.from_codes(np.repeat(predicted, n_classes), fitted.labels)
    frame.insert(0, "prediction", prediction)
    return frame


def find_contributions(fitted: Model, X: NDArray[Any], out: Floats) -> Floats:
    """Base of every class, shape (K,); contributions of every row, class and feature are written to ``out``."""
    trees, target = fitted.trees, fitted.target_of
    n_at_once = max(1, _VALUES_AT_ONCE // trees.n_trees)
    for begin in range(0, len(X), n_at_once):
        some = slice(begin, begin + n_at_once)
        leaves = fitted.ask("apply", X[some])
        dealt = np.zeros((len(leaves), fitted.n_targets, fitted.n_features))
        if fitted.is_boosted:
            for tree in range(trees.n_trees):
                dealt[:, target[tree]] += _add_changes(fitted, tree)[leaves[:, tree]]
        else:
            Z = fitted.normalise(X[some]).astype(np.float64)
            membership = fitted.ask("per_tree", X[some])[0]
            for tree in range(trees.n_trees):
                _deal_tree(trees, tree, Z, leaves[:, tree], membership[:, tree], dealt[:, target[tree]])
            dealt /= fitted.n_estimators
        out[some] = fitted.spread(dealt, np.negative, axis=1)
    return find_base(fitted)


def find_base(fitted: Model) -> Floats:
    """Where the contributions start, by class, shape (K,): the mean share of the class in the roots of its trees.

    If boosted, the raw score before the first tree, and the values of all roots.
    """
    roots = fitted.outcome[fitted.trees.block_ptr[:-1]]
    total = np.bincount(fitted.target_of, weights=roots, minlength=fitted.n_targets)
    if fitted.base is not None:
        return fitted.spread(fitted.base + total, np.negative)
    return fitted.spread(total / fitted.n_estimators, lambda share: 1.0 - share)


def _add_changes(fitted: Model, tree: int) -> Floats:
    """What the features contribute on the way to every block of a boosted tree, shape (n_blocks, m)."""
    trees = fitted.trees
    root, last = trees.block_ptr[tree], trees.block_ptr[tree + 1]
    value = fitted.outcome[root:last]
    added = np.zeros((last - root, fitted.n_features))
    for block, below in enumerate(trees.left[root:last].tolist()):  # children come after their parents
        if below >= 0:
            some = slice(*trees.hyperplane_ptr[root + block : root + block + 2])
            share = trees.shares[some] / trees.shares[some].sum()
            for child in (below, below + 1):
                added[child] = added[block]
                added[child, trees.hyperplane_feature[some]] += share * (value[child] - value[block])
    return added


def _deal_tree(
    trees: Trees, tree: int, Z: Floats, leaf: NDArray[np.int64], membership: Floats, out: Floats
) -> None:
    """Add to ``out``, shape (n, m), what the features contribute in one tree (``Walk.deal`` does it for few rows).

    Rows are sorted by leaf, from left to right, and in a leaf by whether the membership is above the share of the
    target. So the rows of any block lie side by side, those that it takes down first and then those it takes up.
    """
    root, last = trees.block_ptr[tree], trees.block_ptr[tree + 1]
    left = trees.left[root:last].tolist()
    share = trees.n_target[root:last] / trees.weight[root:last]
    first, n_leaves = _order_leaves(left)
    place = 2 * first[leaf] + (membership >= share[leaf])
    order = np.argsort(place.astype(np.min_scalar_type(2 * int(n_leaves[0]))), kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=2 * n_leaves[0]))])
    begin, end = ptr[2 * first].tolist(), ptr[2 * (first + n_leaves)].tolist()
    Z, membership = Z[order], membership[order]
    dealt = np.zeros_like(Z)
    for block, below in enumerate(left):
        if begin[block] == end[block]:
            continue
        at = root + block
        change: tuple[Any, Any]
        if below >= 0:
            some = slice(*trees.hyperplane_ptr[at : at + 2])
            feature, weight = (
                trees.hyperplane_feature[some],
                trees.hyperplane_weight[some].astype(np.float64),
            )
            shift, middle = trees.offset[at], end[below]
            change = share[below] - share[block], share[below + 1] - share[block]
        else:
            some = slice(*trees.membership_ptr[at : at + 2])
            feature, weight = trees.membership_feature[some], trees.membership_slope[some]
            shift, middle = share[block] - trees.intercept[at], int(ptr[2 * first[block] + 1])
            rise = membership[begin[block] : end[block]] - share[block]
            change = rise[: middle - begin[block]], rise[middle - begin[block] :]
        if len(feature):
            down, up = slice(begin[block], middle), slice(middle, end[block])
            _deal_side(Z[down], feature, -weight, -shift, change[0], dealt[down])
            _deal_side(Z[up], feature, weight, shift, change[1], dealt[up])
    out[order] += dealt


def _deal_side(
    Z: Floats, feature: NDArray[np.int32], weight: Floats, shift: float, change: Any, dealt: Floats
) -> None:
    """Add to ``dealt`` the change of every row, dealt to the features whose term is above its part of the shift."""
    if not len(Z):
        return
    is_most = 3 * len(feature) > Z.shape[1]  # then zeros cost less than picking columns
    if is_most:
        weight, few = np.zeros(Z.shape[1]), weight
        weight[feature] = few
    else:
        Z = Z[:, feature]
    size = np.abs(weight)
    part = size / size.sum() if size.any() else np.full(len(size), 1.0 / len(size))
    pull = Z * weight
    pull -= shift * part
    np.maximum(pull, 0.0, out=pull)
    total = np.einsum("ij->i", pull)  # a product with ones would wake BLAS and its threads
    is_still = total == 0.0
    if is_still.any():
        pull[is_still], total[is_still] = part, 1.0
    pull *= (change / total)[:, None]
    if is_most:
        dealt += pull
    else:
        dealt[:, feature] += pull


def _order_leaves(left: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every block its first leaf and its number of leaves, counting leaves from left to right."""
    n_leaves = [1] * len(left)
    for block in range(len(left) - 1, -1, -1):  # children come after their parents
        if left[block] >= 0:
            n_leaves[block] = n_leaves[left[block]] + n_leaves[left[block] + 1]
    first = [0] * len(left)
    for block, below in enumerate(left):
        if below >= 0:
            first[below] = first[block]
            first[below + 1] = first[block] + n_leaves[below]
    return np.array(first), np.array(n_leaves)
