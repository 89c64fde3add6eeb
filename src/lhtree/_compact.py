"""The arrays of a forest without what can be told from the rest: how models are pickled.

Blocks are numbered breadth-first, so one bit per block gives the children; a parent's counts are the sums of its
children's; a membership without slopes is the share of the target. Unpacking gives back every bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._forest_data import ForestData

Packed = dict[str, NDArray[Any]]


def pack(forest: ForestData, n_features: int) -> Packed:
    """Take out what ``unpack`` can put back."""
    is_leaf = forest.left < 0
    n_weights, n_slopes = np.diff(forest.hyperplane_ptr), np.diff(forest.membership_ptr)
    slope_block = np.repeat(np.arange(forest.n_blocks), n_slopes)
    root = np.repeat(forest.block_ptr[:-1], np.diff(forest.block_ptr))
    counted = _sum_children(forest.n_target[is_leaf], is_leaf, root, forest.left)
    is_counted = bool((forest.weight == forest.n_samples).all() and (forest.n_target == counted).all())
    packed = {
        "target": _shrink(forest.target),
        "n_blocks": _shrink(np.diff(forest.block_ptr)),
        "is_leaf": np.packbits(is_leaf),
        "n_samples": _shrink(forest.n_samples[is_leaf]),
        "n_target": _shrink(forest.n_target[is_leaf].astype(np.int64)) if is_counted else forest.n_target,
        "offset": forest.offset[~is_leaf],
        "intercept": forest.intercept[n_slopes > 0],
        "n_weights": _shrink(n_weights[~is_leaf]),
        "hyperplane_feature": _shrink(forest.hyperplane_feature),
        "hyperplane_weight": forest.hyperplane_weight,
        "n_slopes": _shrink(n_slopes),
        # A membership that uses every feature need not list them.
        "membership_feature": _shrink(forest.membership_feature[n_slopes[slope_block] < n_features]),
        "membership_slope": forest.membership_slope,
    }
    return packed if is_counted else packed | {"weight": forest.weight}


def unpack(packed: Packed, n_features: int) -> ForestData:
    """Put back what ``pack`` took out."""
    block_ptr = _pointers(packed["n_blocks"])
    n_blocks = int(block_ptr[-1])
    is_leaf = np.unpackbits(packed["is_leaf"], count=n_blocks).astype(bool)
    root = np.repeat(block_ptr[:-1], np.diff(block_ptr))
    rank = np.cumsum(~is_leaf) - ~is_leaf  # branching blocks before this one, in all trees …
    left = np.where(is_leaf, -1, 1 + 2 * (rank - rank[root])).astype(np.int32)  # … and in this one

    n_samples = _sum_children(packed["n_samples"], is_leaf, root, left).astype(np.int32)
    if "weight" in packed:
        weight, n_target = packed["weight"], packed["n_target"]
    else:
        weight = n_samples.astype(np.float64)
        n_target = _sum_children(packed["n_target"], is_leaf, root, left).astype(np.float64)
    offset, n_weights = np.zeros(n_blocks), np.zeros(n_blocks, dtype=np.int64)
    offset[~is_leaf], n_weights[~is_leaf] = packed["offset"], packed["n_weights"]
    n_slopes = packed["n_slopes"].astype(np.int64)
    intercept = n_target / weight
    intercept[n_slopes > 0] = packed["intercept"]
    slope_size = np.repeat(n_slopes, n_slopes)
    membership_feature = np.empty(len(slope_size), dtype=np.int32)
    is_dense = slope_size == n_features
    membership_feature[is_dense] = np.tile(np.arange(n_features), int(is_dense.sum()) // n_features)
    membership_feature[~is_dense] = packed["membership_feature"]
    return ForestData(
        target=packed["target"].astype(np.int32),
        block_ptr=block_ptr,
        left=left,
        n_samples=n_samples,
        weight=weight,
        n_target=n_target,
        offset=offset,
        intercept=intercept,
        hyperplane_ptr=_pointers(n_weights),
        hyperplane_feature=packed["hyperplane_feature"].astype(np.int32),
        hyperplane_weight=packed["hyperplane_weight"],
        membership_ptr=_pointers(n_slopes),
        membership_feature=membership_feature,
        membership_slope=packed["membership_slope"],
    )


def _shrink(values: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in the smallest unsigned type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _pointers(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _sum_children(
    of_leaves: NDArray[Any], is_leaf: NDArray[np.bool_], root: NDArray[np.int64], left: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Whole numbers of all blocks from those of the leaves, level by level from the deepest."""
    levels = []
    level = np.unique(root)
    while len(level):
        level = level[~is_leaf[level]]
        levels.append(level)
        first = root[level] + left[level]
        level = np.concatenate([first, first + 1])
    total = np.zeros(len(is_leaf), dtype=np.int64)
    total[is_leaf] = of_leaves
    for level in reversed(levels):
        first = root[level] + left[level]
        total[level] = total[first] + total[first + 1]
    return total
