"""The trees of a model as the arrays the page computes with, as many as fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from ..export._walks import check_plain, has_bounds
from ..model.model import Model
from ..model.shares import split_classes
from ..model.trees import Trees
from ._rows import Rows

_ROWS_AT_ONCE = 4096


def describe_trees(fitted: Model, rows: Rows, max_bytes: float) -> dict[str, Any]:
    """Arrays of the first estimators that fit (an estimator is a tree per target), with the classes of their rows."""
    if not fitted.head.values_blocks:
        check_plain(fitted, "a report")
    n_shown = _count_fitting(fitted, len(rows.X), max_bytes)
    n_trees = n_shown * fitted.n_targets
    trees = fitted.trees.part(0, n_trees)
    if fitted.is_joint:  # the page shows trees of all classes once for each class
        trees = split_classes(trees, fitted.prior)
    n_branching_slopes = np.diff(trees.membership_ptr)[trees.left >= 0]
    return {
        "n_shown": n_shown,
        # A forest keeps slopes in its leaves only.
        "has_branching_membership": bool(fitted.n_estimators == 1 or n_branching_slopes.any()),
        "arrays": _lay_out(trees, fitted)
        | {"leaf_mix": _repeat_mix(fitted, count_mix(fitted, rows, n_trees), n_trees)},
    }


def _lay_out(trees: Trees, fitted: Model) -> dict[str, NDArray[Any]]:
    """Whole numbers take the smallest unsigned type; ``left`` is 0 in a leaf, since no child is a root.

    Of a boosted model, ``missing`` is 0 where missing values go left, 1 where they count as 0, and 2 where right.
    """
    own: dict[str, NDArray[Any]] = {}
    if fitted.is_boosted:
        own["missing"] = (trees.missing + 1).astype(np.uint8)
    if fitted.is_boosted or fitted.is_regression:  # blocks have values, whose changes the features share
        own["hyperplane_share"] = trees.shares.astype(np.float32) if fitted.is_boosted else trees.parts
        if trees.has_slopes:
            own["membership_mean"] = np.array(trees.membership_mean)
    else:
        own["n_target"] = shrink(trees.n_target)
    # Constant leaves of boosted trees need no bounds.
    if has_bounds(trees) and (trees.has_slopes or not fitted.is_boosted):
        own |= {"low": np.array(trees.low), "high": np.array(trees.high)}
    if trees.has_units:
        own |= {"hyperplane_unit": np.array(trees.unit_weight), "unit_offset": np.array(trees.unit_offset)}
        own |= {
            "membership_unit": np.array(trees.unit_slope),
            "unit_intercept": np.array(trees.unit_intercept),
        }
    return own | {
        "target": shrink(trees.target),
        "n_blocks": shrink(np.diff(trees.block_ptr)),
        "left": shrink(np.maximum(trees.left, 0)),
        "n_samples": shrink(trees.n_samples),
        "weight": shrink(trees.weight),
        "offset": trees.offset,
        "intercept": trees.intercept,
        "n_weights": shrink(np.diff(trees.hyperplane_ptr)),
        "hyperplane_feature": shrink(trees.hyperplane_feature),
        "hyperplane_weight": trees.hyperplane_weight,
        "n_slopes": shrink(np.diff(trees.membership_ptr)),
        "membership_feature": shrink(trees.membership_feature),
        "membership_slope": trees.membership_slope,
    }


def _count_fitting(fitted: Model, n_rows: int, max_bytes: float) -> int:
    """Estimators whose arrays stay below ``max_bytes`` in base64."""
    trees = fitted.trees
    arrays = _lay_out(trees, fitted)
    n_trees = np.arange(fitted.n_targets, trees.n_trees + 1, fitted.n_targets)
    n_blocks = trees.block_ptr[n_trees]
    size = (
        (n_blocks + n_trees) // 2 * max(1, fitted.n_classes) * np.min_scalar_type(n_rows).itemsize
    )  # of the leaves
    for name, array in arrays.items():
        if name in ("target", "n_blocks"):
            n_values = n_trees
        elif name.startswith("hyperplane"):
            n_values = trees.hyperplane_ptr[n_blocks]
        elif name.startswith("membership"):
            n_values = trees.membership_ptr[n_blocks]
        else:
            n_values = n_blocks
        size = size + n_values * array.itemsize
    size = size * (fitted.n_classes if fitted.is_joint else 1)
    encoded = (size + 3 * len(arrays)) * 4 / 3  # base64 fills up to three bytes
    n_fitting = int(np.searchsorted(encoded, max_bytes, side="right"))
    if n_fitting == 0:
        raise refuse(
            "max_megabytes",
            max_bytes / 2**20,
            f"at least {np.ceil(encoded[0] / 2**20):g} to hold one tree per class; alternatively fit smaller trees "
            f"({'smaller max_depth' if fitted.is_boosted or fitted.is_regression else 'larger gamma'})",
        )
    return n_fitting


def _repeat_mix(fitted: Model, mix: NDArray[Any], n_trees: int) -> NDArray[Any]:
    """Of trees of all classes, the rows of the leaves of each tree once for each class."""
    if not fitted.is_joint:
        return mix
    is_leaf = fitted.trees.left < 0
    n_leaves = np.add.reduceat(is_leaf, fitted.trees.block_ptr[:-1])[:n_trees]
    of_trees = np.split(mix, np.cumsum(n_leaves)[:-1])
    return np.concatenate([np.tile(one, (fitted.n_classes, 1)) for one in of_trees])


def count_mix(fitted: Model, rows: Rows, n_trees: int) -> NDArray[Any]:
    """Rows of every class in every leaf of the first trees, shape (n_leaves, K); K is 1 for a regression."""
    n_classes = max(1, fitted.n_classes)
    block_ptr = fitted.trees.block_ptr[: n_trees + 1]
    n_blocks = int(block_ptr[-1])
    counts = np.zeros(n_blocks * n_classes, dtype=np.int64)
    for begin in range(0, len(rows.X), _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        leaf: Any = fitted.scorer.apply(rows.X[some])
        block = leaf[:, :n_trees] + block_ptr[:-1]
        cell = block * n_classes + rows.codes[some, None]
        counts += np.bincount(cell.ravel(), minlength=len(counts))
    is_leaf = fitted.trees.left[:n_blocks] < 0
    return shrink(counts.reshape(n_blocks, n_classes)[is_leaf])


def shrink(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest unsigned type, if they are whole and not negative; else as float64."""
    largest = values.max(initial=0)
    if values.min(initial=0) < 0 or largest > np.iinfo(np.uint32).max or (values != np.floor(values)).any():
        return values.astype(np.float64)
    return values.astype(np.min_scalar_type(int(largest)))
