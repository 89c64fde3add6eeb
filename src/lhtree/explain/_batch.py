"""Contributions of many rows at once: blocks are met one by one, each with all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._fitted import Fitted
from .._forest_data import ForestData
from ._frame import flatten

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


def explain_rows(fitted: Fitted, X: NDArray[Any], index: Any = None) -> pd.DataFrame:
    """One line per row and class; see ``explain_batch``."""
    pandas = import_extra("pandas", "pandas")
    n_rows, n_classes, names = len(X), fitted.n_classes, ["proba", "wolf", "membership", "confidence"]
    table = np.zeros((n_rows, n_classes, len(names) + 1 + len(fitted.column_names)))
    for column, name in enumerate(names):
        table[:, :, column] = getattr(fitted.scorer, name)(X)
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


def find_contributions(fitted: Fitted, X: NDArray[Any], out: Floats) -> Floats:
    """Base of every class, shape (K,); contributions of every row, class and feature are added to ``out``."""
    Z = fitted.normalise(X).astype(np.float64)
    base = np.zeros(fitted.n_classes)
    for number in range(fitted.n_estimators):
        model = fitted if fitted.n_estimators == 1 else fitted.estimator(number)
        leaves: Any = model.scorer.apply(X)
        membership: Any = model.scorer.membership(X)
        for tree, target in enumerate(model.forest.target):
            root = model.forest.block_ptr[tree]
            base[target] += model.forest.n_target[root] / model.forest.weight[root]
            _deal_tree(model.forest, tree, Z, leaves[:, tree], membership[:, target], out[:, target])
    base /= fitted.n_estimators
    if fitted.n_estimators > 1:
        out /= fitted.n_estimators
    if fitted.n_classes == 2:  # one tree serves both
        base[0] = 1.0 - base[1]
        np.negative(out[:, 1], out=out[:, 0])
    return base


def _deal_tree(
    forest: ForestData, tree: int, Z: Floats, leaf: NDArray[np.int64], membership: Floats, out: Floats
) -> None:
    """Add to ``out``, shape (n, m), what the features contribute in one tree (``Walk.deal`` does it for few rows).

    Rows are sorted by leaf, from left to right, and in a leaf by whether the membership is above the share of the
    target. So the rows of any block lie side by side, those that it takes down first and then those it takes up.
    """
    root, last = forest.block_ptr[tree], forest.block_ptr[tree + 1]
    left = forest.left[root:last].tolist()
    share = forest.n_target[root:last] / forest.weight[root:last]
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
            some = slice(*forest.hyperplane_ptr[at : at + 2])
            feature, weight = (
                forest.hyperplane_feature[some],
                forest.hyperplane_weight[some].astype(np.float64),
            )
            shift, middle = forest.offset[at], end[below]
            change = share[below] - share[block], share[below + 1] - share[block]
        else:
            some = slice(*forest.membership_ptr[at : at + 2])
            feature, weight = forest.membership_feature[some], forest.membership_slope[some]
            shift, middle = share[block] - forest.intercept[at], int(ptr[2 * first[block] + 1])
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
