"""Contributions of many rows at once: blocks are met one by one, each with all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ._frame import flatten
from ._joint import add_classes, root_shares
from ._walk import sum_targets, walk

if TYPE_CHECKING:
    from ._contributions import Contributions

Floats = NDArray[np.float64]

_WALKS_AT_ONCE = 64  # rows whose paths are held, with the shares of all classes
_VALUES_AT_ONCE = 1 << 22  # leaves and memberships of this many rows and trees are held


def explain_rows(fitted: Model, X: NDArray[Any], index: Any = None) -> Contributions:
    """One line per row and class, or per row of a regression; see ``explain_batch``."""
    pandas = import_extra("pandas", "pandas")
    from ._contributions import Contributions

    n_rows, n_outputs = len(X), fitted.n_outputs
    names = _name_predictions(fitted)
    starts = ["base", *(["clipped"] if fitted.is_clipped else [])]
    n_known = len(names) + len(starts)
    table = np.zeros((n_rows, n_outputs, n_known + len(fitted.column_names)))
    for column, name in enumerate(names):
        values = fitted.ask(name, X)
        table[:, :, column] = fitted.head.spread(values, np.negative) if name == "raw_score" else values
    own = of_features = table[:, :, n_known:]
    if not fitted.encoding.is_plain:
        of_features = np.zeros((n_rows, n_outputs, fitted.n_features))
    clipped = find_contributions(fitted, X, out=of_features)
    if not fitted.encoding.is_plain:
        own[:] = fitted.encoding.sum_columns(of_features)
    table[:, :, len(names)] = find_base(fitted)
    if fitted.is_clipped:
        table[:, :, len(names) + 1] = clipped
    numbers = flatten(pandas.RangeIndex(n_rows) if index is None else index)
    frame = Contributions(
        table.reshape(n_rows * n_outputs, -1),
        index=numbers.rename("row") if fitted.is_regression else _index_classes(numbers, fitted),
        columns=[*names, *starts, *(f"contribution.{name}" for name in fitted.column_names)],
        copy=False,
    )
    predicted: Any = fitted.ask("value" if fitted.is_regression else "predict", X)
    if not fitted.is_regression:
        predicted = pandas.Categorical.from_codes(np.repeat(predicted, n_outputs), fitted.labels)
    frame.insert(0, "prediction", predicted)
    return frame.keep(fitted, X)


def _name_predictions(fitted: Model) -> list[str]:
    """Methods of the scorer whose results are columns; the prediction itself is always there."""
    if fitted.is_regression:
        return ["raw_score"] * (fitted.link == "log")
    names = ["proba", *(["uncalibrated"] if fitted.calibration is not None else [])]
    return [*names, *(["raw_score"] if fitted.is_boosted else ["wolf", "membership", "confidence"])]


def _index_classes(rows: Any, fitted: Model) -> Any:
    """An index of every row with every class."""
    codes, levels = rows.factorize()
    return import_extra("pandas", "pandas").MultiIndex(
        levels=[flatten(levels), fitted.labels],
        codes=[np.repeat(codes, fitted.n_classes), np.tile(np.arange(fitted.n_classes), len(rows))],
        names=["row", "class"],
    )


def find_contributions(fitted: Model, X: NDArray[Any], out: Floats) -> Floats:
    """Contributions of every row, class and feature are written to ``out``; of a regression there is one "class".

    Returns what the ranges of linear leaves take away, shape (n, K); 0 unless blocks have values.
    """
    trees, target = fitted.trees, fitted.target_of
    clipped = np.zeros((len(X), fitted.n_targets))
    n_at_once = max(1, _VALUES_AT_ONCE // trees.n_trees)
    for begin in range(0, len(X), n_at_once):
        some = slice(begin, begin + n_at_once)
        if fitted.is_joint:
            _add_joint(fitted, X[some], out[some])
            continue
        leaves = fitted.ask("apply", X[some])
        dealt = np.zeros((len(leaves), fitted.n_targets, fitted.n_features))
        Z = fitted.normalise(X[some]).astype(np.float64)
        if fitted.has_values:
            np.clip(Z, -fitted.clip, fitted.clip, out=Z)
            for tree in range(trees.n_trees):
                own = dealt[:, target[tree]]
                own += _add_changes(fitted, tree)[leaves[:, tree]]
                if trees.has_slopes:
                    at = trees.block_ptr[tree] + leaves[:, tree]
                    clipped[some, target[tree]] += _add_slopes(fitted, at, Z, own)
        else:
            membership = fitted.ask("per_tree", X[some])[0]
            for tree in range(trees.n_trees):
                _deal_tree(fitted, tree, Z, leaves[:, tree], membership[:, tree], dealt[:, target[tree]])
        if not fitted.is_boosted:
            dealt /= fitted.n_estimators
            clipped[some] /= fitted.n_estimators
        out[some] = fitted.head.spread(dealt, np.negative, axis=1)
    return fitted.head.spread(clipped, np.negative)


def _add_joint(fitted: Model, X: NDArray[Any], out: Floats) -> None:
    """Write to ``out``, shape (n, K, m), what the features contribute in trees of all classes."""
    for begin in range(0, len(X), _WALKS_AT_ONCE):
        some = slice(begin, begin + _WALKS_AT_ONCE)
        out[some] = add_classes(walk(fitted, X[some])) / fitted.n_estimators


def find_base(fitted: Model) -> Floats:
    """Where the contributions start, by class, shape (K,): the mean share of the class in the roots of its trees.

    Of trees of a regression, it is their mean response. If boosted, the raw score before the first tree, and the values
    of all roots.
    """
    if fitted.is_joint:
        return root_shares(fitted)
    roots = fitted.outcome[fitted.trees.block_ptr[:-1]]
    total = sum_targets(fitted, roots)
    if fitted.base is not None:
        return fitted.head.spread(fitted.base + total, np.negative)
    return fitted.head.spread(total / fitted.n_estimators, lambda share: 1.0 - share)


def _add_changes(fitted: Model, tree: int) -> Floats:
    """What the features contribute on the way to every block of a tree with values, shape (n_blocks, m)."""
    trees = fitted.trees
    root, last = trees.block_ptr[tree], trees.block_ptr[tree + 1]
    value = fitted.outcome[root:last]
    added = np.zeros((last - root, fitted.n_features))
    for block, below in enumerate(trees.left[root:last].tolist()):  # children come after their parents
        if below >= 0:
            some = slice(*trees.hyperplane_ptr[root + block : root + block + 2])
            for child in (below, below + 1):
                added[child] = added[block]
                change = value[child] - value[block]
                added[child, trees.hyperplane_feature[some]] += trees.parts[some] * change
    return added


def _add_slopes(fitted: Model, at: NDArray[np.int64], Z: Floats, out: Floats) -> Floats:
    """Add to ``out``, shape (n, m), the slopes of the leaves of rows; gives what their ranges take away, shape (n,)."""
    trees = fitted.trees
    begin = trees.membership_ptr[at]
    size = trees.membership_ptr[at + 1] - begin
    row = np.repeat(np.arange(len(at)), size)
    entry = np.arange(len(row)) + np.repeat(begin - (np.cumsum(size) - size), size)
    feature = trees.membership_feature[entry]
    term = trees.membership_slope[entry] * (Z[row, feature] - trees.membership_mean[entry])
    out[row, feature] += term  # each feature once in a leaf
    estimate = fitted.outcome[at] + np.bincount(row, weights=term, minlength=len(at))
    clipped = np.clip(estimate, trees.low[at], trees.high[at]) - estimate
    return np.where(size > 0, clipped, 0.0)


def _deal_tree(
    fitted: Model, tree: int, Z: Floats, leaf: NDArray[np.int64], membership: Floats, out: Floats
) -> None:
    """Add to ``out``, shape (n, m), what the features contribute in one tree (``Walk.deal`` does it for few rows).

    Rows are sorted by leaf, from left to right, and in a leaf by whether the membership is above the share of the
    target. So the rows of any block lie side by side, those that it takes down first and then those it takes up.
    """
    trees = fitted.trees
    root, last = trees.block_ptr[tree], trees.block_ptr[tree + 1]
    left = trees.left[root:last].tolist()
    share = fitted.outcome[root:last]
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
