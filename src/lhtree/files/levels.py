"""Symmetric trees in model files: one hyperplane per level and values of the leaves, expanded when a file is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.levels import CompleteTrees, find_places, find_ptr
from ..model.trees import Array
from .container import check

Arrays = dict[str, NDArray[Any]]
MOST_LEVELS = 24
MOST_TERMS = 16  # a level is repeated in up to half as many blocks as the tree has: a bound for the memory


def _level_array(
    dtype: str, axis: str, about: str, *, points_to: str | None = None, is_scored: bool = True
) -> Array:
    return Array(dtype, axis, about, points_to, default=0.0, is_scored=is_scored)


# Arrays of symmetric trees, in place of arrays by block.
LEVEL_ARRAYS = {
    "depth": _level_array("i4", "tree", "number of levels above the leaves of a symmetric tree"),
    "level_offset": _level_array(
        "f8", "level", "offset of the hyperplane that all blocks of the level share"
    ),
    "level_missing": _level_array("i1", "level", "its side of missing values"),
    "level_ptr": _level_array("i8", "level", "its first weight", points_to="term"),
    "level_feature": _level_array("i4", "term", "features of a level, ascending"),
    "level_weight": _level_array("f4", "term", "their weights"),
    "level_share": _level_array("f4", "term", "share of the gain that goes to the feature", is_scored=False),
    "branch_gain": _level_array(
        "f8", "branch", "decrease of the loss in every branching block", is_scored=False
    ),
    "leaf_samples": _level_array(
        "i4", "leaf", "training rows; those of a branching block are the sum over its leaves", is_scored=False
    ),
    "leaf_weight": _level_array(
        "f8", "leaf", "their weight; the number of rows if not given", is_scored=False
    ),
    "leaf_low": _level_array("f8", "leaf", "low of a leaf; the intercept if not given …"),
    "leaf_high": _level_array("f8", "leaf", "… and high"),
    "leaf_ptr": _level_array(
        "i8", "leaf", "first slope of every leaf; no leaf is linear if not given", points_to="slope"
    ),
}
_REQUIRED = {
    name for name in LEVEL_ARRAYS if name not in ("leaf_weight", "leaf_low", "leaf_high", "leaf_ptr")
}
_SLOPES = ("membership_feature", "membership_slope", "membership_mean")
# Arrays that both forms have, and arrays that other files have instead of those by level.
_KEPT = {"target", "intercept", "value", *_SLOPES}
_REPLACED = {
    *("block_ptr", "left", "n_samples", "weight", "offset", "low", "high", "missing", "gain"),
    *("hyperplane_ptr", "hyperplane_feature", "hyperplane_weight", "hyperplane_share", "membership_ptr"),
    *("value_ptr", "value_class"),
}


def measure_levels(arrays: Arrays) -> dict[str, int]:
    """Return the sizes of the axes of symmetric trees, and check that no array of other trees is given."""
    twice = sorted(_REPLACED & arrays.keys())
    check(not twice, f"it has arrays by level and {', '.join(twice)}")
    missing = sorted(({"target", "intercept"} | _REQUIRED) - arrays.keys())
    check(not missing, f"it has no arrays {', '.join(missing)}")
    depth = arrays["depth"]
    is_depth = depth.dtype == np.int32 and depth.ndim == 1 and len(depth) > 0
    is_valid = is_depth and bool(((depth >= 0) & (depth <= MOST_LEVELS)).all())
    check(is_valid, f"depth does not consist of numbers from 0 to {MOST_LEVELS}")
    n_trees, n_leaves = len(depth), int(np.left_shift(1, depth, dtype=np.int64).sum())
    return {
        "level": int(depth.sum()),
        "leaf": n_leaves,
        "branch": n_leaves - n_trees,
        "block": 2 * n_leaves - n_trees,
    }


def fold_levels(arrays: Arrays) -> Arrays:
    """Return the arrays of symmetric trees by level and leaf; other trees are unchanged."""
    sizes = np.diff(arrays["block_ptr"])
    depth = np.log2(sizes + 1).astype(np.int32) - 1
    trees = CompleteTrees(depth)
    optional = {"membership_mean", "value", "value_ptr", "value_class"}
    is_complete = (
        arrays.keys() | optional == _KEPT | _REPLACED
        and np.array_equal(arrays["block_ptr"], trees.block_ptr)
        and np.array_equal(arrays["left"], trees.left)
        and depth.max() <= MOST_LEVELS
    )
    if not is_complete:
        return arrays
    first, leaves = trees.first, trees.leaves
    weights = np.diff(arrays["hyperplane_ptr"])[first]
    slopes = np.diff(arrays["membership_ptr"])[leaves]
    if weights.max(initial=0) > MOST_TERMS or slopes.sum() < len(arrays["membership_slope"]):
        return arrays
    place = find_places(arrays["hyperplane_ptr"][first], weights)
    folded = {name: arrays[name] for name in _KEPT if name in arrays} | {
        "depth": depth,
        "level_offset": arrays["offset"][first],
        "level_missing": arrays["missing"][first],
        "level_ptr": find_ptr(weights),
        "level_feature": arrays["hyperplane_feature"][place],
        "level_weight": arrays["hyperplane_weight"][place],
        "level_share": arrays["hyperplane_share"][place],
        "branch_gain": arrays["gain"][trees.branches],
        "leaf_samples": arrays["n_samples"][leaves],
        "leaf_weight": arrays["weight"][leaves],
        "leaf_low": arrays["low"][leaves],
        "leaf_high": arrays["high"][leaves],
        "leaf_ptr": find_ptr(slopes),
    }
    if np.array_equal(folded["leaf_weight"], folded["leaf_samples"]):
        del folded["leaf_weight"]
    if not slopes.any():
        for name in ("leaf_low", "leaf_high", "leaf_ptr", *_SLOPES):
            folded.pop(name, None)
    expanded = expand_levels(folded)
    is_same = expanded.keys() == arrays.keys() and all(
        expanded[name].tobytes() == values.tobytes() for name, values in arrays.items()
    )
    return folded if is_same else arrays


def expand_levels(arrays: Arrays) -> Arrays:
    """Return arrays with one value per block, given those by level and leaf; others unchanged.

    The shapes have been checked.
    """
    if "depth" not in arrays:
        return arrays
    trees = CompleteTrees(arrays["depth"])
    n_blocks, intercept = len(trees.number), arrays["intercept"]
    weights = _measure_parts(arrays, "level_ptr", "level_weight")
    check(bool((weights <= MOST_TERMS).all()), f"level_ptr has a level of more than {MOST_TERMS} weights")
    place = find_places(arrays["level_ptr"][trees.level], weights[trees.level])
    no_leaf = np.zeros(len(arrays["leaf_samples"]))
    n_samples = trees.sum_up(arrays["leaf_samples"].astype(np.int64))
    check(bool((np.abs(n_samples) < 2**31).all()), "leaf_samples has a sum that is out of range")
    with np.errstate(over="ignore", invalid="ignore"):  # the values are checked later
        weight = (
            trees.sum_up(arrays["leaf_weight"]) if "leaf_weight" in arrays else n_samples.astype(np.float64)
        )
    slopes = no_leaf.astype(np.int64)
    if "leaf_ptr" in arrays:
        slopes = _measure_parts(arrays, "leaf_ptr", "membership_slope")
    bounds = {
        name: trees.fill(arrays[f"leaf_{name}"], intercept[trees.branches])
        if f"leaf_{name}" in arrays
        else intercept
        for name in ("low", "high")
    }
    expanded = {name: values for name, values in arrays.items() if name not in LEVEL_ARRAYS} | bounds
    expanded |= {
        "block_ptr": trees.block_ptr,
        "left": trees.left,
        "n_samples": n_samples.astype(np.int32),
        "weight": weight,
        "offset": trees.fill(no_leaf, arrays["level_offset"][trees.level]),
        "missing": trees.fill(no_leaf.astype(np.int8), arrays["level_missing"][trees.level]),
        "gain": trees.fill(no_leaf, arrays["branch_gain"]),
        "hyperplane_ptr": find_ptr(trees.fill(no_leaf.astype(np.int64), weights[trees.level])),
        "hyperplane_feature": arrays["level_feature"][place],
        "hyperplane_weight": arrays["level_weight"][place],
        "hyperplane_share": arrays["level_share"][place],
        "membership_ptr": find_ptr(trees.fill(slopes, 0)),
    }
    if "leaf_ptr" not in arrays:
        expanded |= {"membership_feature": np.empty(0, np.int32), "membership_slope": np.empty(0)}
    if "value" in arrays:
        n_values, rest = divmod(len(arrays["value"]), n_blocks)
        check(rest == 0, "value does not have the same number of values in every block")
        expanded["value_ptr"] = n_values * np.arange(n_blocks + 1)
        expanded["value_class"] = np.tile(np.arange(n_values, dtype=np.int32), n_blocks)
    return expanded


def _measure_parts(arrays: Arrays, ptr: str, values: str) -> NDArray[np.int64]:
    """Return the sizes of the parts of an array, and check that they span it."""
    sizes = np.diff(arrays[ptr])
    is_valid = arrays[ptr][0] == 0 and arrays[ptr][-1] == len(arrays[values]) and bool((sizes >= 0).all())
    check(is_valid, f"{ptr} does not span {values}")
    return sizes
