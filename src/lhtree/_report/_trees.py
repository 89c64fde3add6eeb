"""The trees of a model as the arrays the page computes with, as many as fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fitted import Fitted
from .._parameters import refuse
from ._rows import Rows

_ROWS_AT_ONCE = 4096


def describe_trees(fitted: Fitted, max_bytes: float) -> dict[str, Any]:
    """Arrays of the first estimators that fit (an estimator is a tree per target); ``leaf_mix`` is added later.

    Whole numbers take the smallest unsigned type; ``left`` is 0 in a leaf, since no child is a root.
    """
    n_shown = _count_fitting(fitted, max_bytes)
    forest = fitted.forest.part(0, n_shown * fitted.n_targets)
    is_leaf = forest.left < 0
    n_slopes = np.diff(forest.membership_ptr)
    return {
        "n_shown": n_shown,
        # A forest keeps slopes in its leaves only.
        "has_branching_membership": bool(fitted.n_estimators == 1 or n_slopes[~is_leaf].any()),
        "arrays": {
            "target": shrink(forest.target),
            "n_blocks": shrink(np.diff(forest.block_ptr)),
            "left": shrink(np.maximum(forest.left, 0)),
            "n_samples": shrink(forest.n_samples),
            "weight": shrink(forest.weight),
            "n_target": shrink(forest.n_target),
            "offset": forest.offset,
            "intercept": forest.intercept,
            "n_weights": shrink(np.diff(forest.hyperplane_ptr)),
            "hyperplane_feature": shrink(forest.hyperplane_feature),
            "hyperplane_weight": forest.hyperplane_weight,
            "n_slopes": shrink(n_slopes),
            "membership_feature": shrink(forest.membership_feature),
            "membership_slope": forest.membership_slope,
        },
    }


def _count_fitting(fitted: Fitted, max_bytes: float) -> int:
    """Estimators whose arrays stay below ``max_bytes`` in base64, counted with types of full width."""
    forest = fitted.forest
    of_block = 6 * 4 + 4 * 8 + 4 * fitted.n_classes
    blocks = forest.block_ptr[fitted.n_targets :: fitted.n_targets]
    size = of_block * blocks + 8 * forest.hyperplane_ptr[blocks] + 12 * forest.membership_ptr[blocks]
    n_fitting = int(np.searchsorted(size * 4 / 3, max_bytes, side="right"))
    if n_fitting == 0:
        least = size[0] * 4 / 3 / 2**20
        raise refuse(
            "max_megabytes",
            max_bytes / 2**20,
            f"at least {np.ceil(least):g}: one tree per class takes that much, or fit smaller trees (larger gamma)",
        )
    return n_fitting


def count_mix(fitted: Fitted, rows: Rows, n_trees: int) -> NDArray[Any]:
    """Rows of every class in every leaf of the first trees, shape (n_leaves, K)."""
    n_classes = fitted.n_classes
    block_ptr = fitted.forest.block_ptr[: n_trees + 1]
    n_blocks = int(block_ptr[-1])
    counts = np.zeros(n_blocks * n_classes, dtype=np.int64)
    for begin in range(0, len(rows.X), _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        leaf: Any = fitted.scorer.apply(rows.X[some])
        block = leaf[:, :n_trees] + block_ptr[:-1]
        cell = block * n_classes + rows.codes[some, None]
        counts += np.bincount(cell.ravel(), minlength=len(counts))
    is_leaf = fitted.forest.left[:n_blocks] < 0
    return shrink(counts.reshape(n_blocks, n_classes)[is_leaf])


def shrink(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest unsigned type, if they are whole; else as float64."""
    largest = values.max(initial=0)
    if largest > np.iinfo(np.uint32).max or (values != np.floor(values)).any():
        return values.astype(np.float64)
    return values.astype(np.min_scalar_type(int(largest)))
