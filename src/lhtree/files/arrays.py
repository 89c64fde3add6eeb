"""The arrays of a model file, and their checks; symmetric trees have arrays by level in place of arrays by block.

The arrays of the trees are the fields of :class:`lhtree.model.trees.Trees`; the core checks those that scoring reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.profile import MOST_FEATURES
from ..model.trees import SCHEMA, Array, CompleteTrees, find_places, find_ptr
from .container import ModelFileError, check

Arrays = dict[str, NDArray[Any]]
MOST_LEVELS = 24
MOST_TERMS = 16  # a level is repeated in up to half as many blocks as the tree has: a bound for the memory


def _optional(
    dtype: str, axis: str, about: str, *, points_to: str | None = None, is_scored: bool = False
) -> Array:
    """Describe an array that a model may lack; its default value is not used."""
    return Array(dtype, axis, about, points_to, default=0.0, is_scored=is_scored)


# Arrays of symmetric trees, in place of arrays by block.
LEVEL_ARRAYS = {
    "depth": _optional("i4", "tree", "number of levels above the leaves of a symmetric tree", is_scored=True),
    "level_offset": _optional(
        "f8", "level", "offset of the hyperplane that all blocks of the level share", is_scored=True
    ),
    "level_missing": _optional("i1", "level", "its side of missing values", is_scored=True),
    "level_ptr": _optional("i8", "level", "its first weight", points_to="term", is_scored=True),
    "level_feature": _optional("i4", "term", "features of a level, ascending", is_scored=True),
    "level_weight": _optional("f4", "term", "their weights", is_scored=True),
    "level_share": _optional("f4", "term", "share of the gain that goes to the feature"),
    "branch_gain": _optional("f8", "branch", "decrease of the loss in every branching block"),
    "leaf_samples": _optional(
        "i4", "leaf", "training rows; those of a branching block are the sum over its leaves"
    ),
    "leaf_weight": _optional("f8", "leaf", "their weight; the number of rows if not given"),
    "leaf_low": _optional("f8", "leaf", "low of a leaf; the intercept if not given …", is_scored=True),
    "leaf_high": _optional("f8", "leaf", "… and high", is_scored=True),
    "leaf_ptr": _optional(
        "i8",
        "leaf",
        "first slope of every leaf; no leaf is linear if not given",
        points_to="slope",
        is_scored=True,
    ),
}
_REQUIRED = {
    name for name in LEVEL_ARRAYS if name not in ("leaf_weight", "leaf_low", "leaf_high", "leaf_ptr")
}
_SLOPE_ARRAYS = ("membership_feature", "membership_slope", "membership_mean")
# Arrays that both forms have, and arrays that other files have instead of those by level.
_KEPT = {"target", "intercept", "value", *_SLOPE_ARRAYS}
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
        for name in ("leaf_low", "leaf_high", "leaf_ptr", *_SLOPE_ARRAYS):
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


# Arrays of the model, except the arrays of its trees. A blank separates two axes.
MODEL_ARRAYS = {
    "centre": Array("f8", "feature", "z = (x - centre) / scale"),
    "scale": Array("f8", "feature", "above 0"),
    "feature_low": Array("f8", "feature", "smallest training value; NaN if all are missing"),
    "feature_high": Array("f8", "feature", "largest training value"),
    "feature_whole": _optional("i1", "feature", "1 if all training values are whole numbers"),
    "prior": Array("f8", "class", "shares of the classes; empty for a regression"),
    "base": _optional("f8", "target", "raw scores of a boosted model before the first tree", is_scored=True),
    "calibration_ptr": _optional(
        "i8", "target", "first knot of every target", points_to="knot", is_scored=True
    ),
    "calibration_x": _optional(
        "f8", "knot", "scores of the ends of lines; slope of a sigmoid", is_scored=True
    ),
    "calibration_y": _optional(
        "f8", "knot", "probabilities of the ends of lines; intercept of a sigmoid", is_scored=True
    ),
    "statistics": _optional(
        "f8",
        "statistic",
        "target statistics of the columns with many categories, each by target and category; the last is the prior",
        is_scored=True,
    ),
    "pool_forest": _optional("i1", "byte", "the model file of the forest of an ensemble", is_scored=True),
    "prototypes_X": _optional("f8 f4", "prototype feature", "stored training rows"),
    "prototypes_codes": _optional("i4", "prototype", "indices of their classes"),
    "prototypes_given": _optional("i8", "prototype", "their row numbers in fit"),
    "prototypes_response": _optional("f8", "prototype", "their responses, in a regression"),
    "oob_decision_function": _optional("f8", "row class", "out-of-bag probabilities"),
    "oob_prediction": _optional("f8", "number", "out-of-bag predictions of a regression"),
    "residual": _optional("f8", "residual", "errors on rows that were left out, ascending"),
    "residual_weight": _optional("f8", "residual", "weights of their rows; 1 each if not given"),
    "band": _optional("f8", "block", "standard errors of the values of an additive model; 0 unless a leaf"),
    "bins_ptr": _optional(
        "i8", "feature", "first bin of every feature, for warm starts of boosted models", points_to="bin"
    ),
    "bins_edge": _optional("f8", "bin", "upper edges, as z"),
    "bins_value": _optional(
        "i4", "bin", "representative value of a bin, in 2**-12; the last is for missing values"
    ),
    "bins_missing": _optional("i1", "feature", "1 if values were missing"),
    "profile_missing": _optional(
        "f8", "profile", "share of missing values in every column and in the score, which is last"
    ),
    "profile_ptr": _optional(
        "i8", "profile", "first bin or category; a column without any is not used", points_to="share"
    ),
    "profile_share": _optional("f8", "share", "share of the bin or category among known values"),
    "profile_bound": _optional(
        "f8", "share", "upper end of the bin, or number of the category; the last of a column is infinite"
    ),
    "joint_sums": _optional("i8", "feature", "sums of sampled rows, in steps of 1/16 of the scale"),
    "joint_products": _optional("i8", "pair", "sums of products of two features: lower triangle, row by row"),
}
ALL_ARRAYS = SCHEMA | LEVEL_ARRAYS | MODEL_ARRAYS
# The array that defines the length of an axis.
_MEASURES = {
    "tree": "target",
    "block": "left",
    "weight": "hyperplane_weight",
    "slope": "membership_slope",
    "value": "value",
    "term": "level_weight",
    "feature": "centre",
    "class": "prior",
    "prototype": "prototypes_codes",
    "row": "oob_decision_function",
    "number": "oob_prediction",
    "residual": "residual",
    "bin": "bins_value",
    "knot": "calibration_x",
    "statistic": "statistics",
    "byte": "pool_forest",
    "profile": "profile_missing",
    "share": "profile_share",
    "pair": "joint_products",
}
_ONLY_REGRESSION = {"prototypes_response", "oob_prediction", "residual", "residual_weight"}
# Arrays that are given together or not at all.
_SLOPES = {"leaf_ptr", "membership_feature", "membership_slope"}  # of trees with levels
_VALUES = {name for name in SCHEMA if name.startswith("value")}  # of trees without levels
_GROUPS = (
    {name for name in MODEL_ARRAYS if name.startswith("prototypes_")} - _ONLY_REGRESSION,
    *(
        {name for name in MODEL_ARRAYS if name.startswith(start)}
        for start in ("bins_", "calibration_", "profile_", "joint_")
    ),
)
_MOST = np.finfo(np.float64).max / 2.0
_FINITE = (
    *("gain", "hyperplane_share", "membership_mean", "value"),
    *("base", "prototypes_response", "statistics", "band"),
)


def check_shapes(arrays: Arrays) -> None:
    """Check that no required array is missing, and the types and lengths of all."""
    has_levels = bool(LEVEL_ARRAYS.keys() & arrays.keys())
    of_levels = measure_levels(arrays) if has_levels else {}
    schema = MODEL_ARRAYS if has_levels else ALL_ARRAYS
    missing = {name for name, array in schema.items() if array.default is None} - set(arrays)
    check(not missing, f"it has no arrays {', '.join(sorted(missing))}")
    for group in (_SLOPES if has_levels else _VALUES, *_GROUPS):
        check(len(group & set(arrays)) in (0, len(group)), f"it has only some of {', '.join(sorted(group))}")
    sizes = {axis: len(arrays[name]) if name in arrays else 0 for axis, name in _MEASURES.items()}
    sizes |= of_levels
    n_classes, base = sizes["class"], arrays.get("base", ())
    sizes["target"] = max(len(base), 1) if n_classes == 0 else 1 if n_classes == 2 else n_classes
    for name, values in arrays.items():
        array = ALL_ARRAYS[name]
        if values.dtype.str[1:] not in array.dtype.split():
            raise ModelFileError(f"array {name} is not of type {array.dtype}")
        axes = array.axis.split()
        shape = (array.size(sizes[axes[0]]), *(sizes[axis] for axis in axes[1:]))
        if values.shape != shape:
            raise ModelFileError(f"array {name} has shape {values.shape} instead of {shape}")
    check(sizes["feature"] > 0, "it has no features")


def check_values(arrays: Arrays) -> None:
    """Check the values that the core does not check."""
    scale, prior = arrays["scale"], arrays["prior"]
    has_classes = len(prior) > 0
    check(_all(np.isfinite(arrays["centre"])), "centre has a value that is not finite")
    check(_all(np.isfinite(scale) & (scale > 0.0)), "scale has a value that is not positive and finite")
    for name in ("feature_low", "feature_high"):
        check(not np.isinf(arrays[name]).any(), f"{name} contains infinity")
    is_prior = _all((prior >= 0.0) & (prior <= 1.0)) and abs(prior.sum() - 1.0) < 1e-6
    check(not has_classes or is_prior, "prior does not consist of shares that sum to 1")
    _check_amounts(arrays, is_target_weight=has_classes)
    for name in _FINITE:
        if name in arrays:
            check(_all(np.isfinite(arrays[name])), f"{name} has a value that is not finite")
    if "prototypes_X" in arrays:
        codes = arrays["prototypes_codes"]
        check(not np.isinf(arrays["prototypes_X"]).any(), "its prototypes contain infinity")
        n_codes = max(len(prior), 1)
        check(_all((codes >= 0) & (codes < n_codes)), "its prototypes have classes that are out of range")
        check(_all(arrays["prototypes_given"] >= 0), "its prototypes have negative row numbers")
    if has_classes:
        numbers = _ONLY_REGRESSION & set(arrays)
        check(not numbers, f"only a regression has {', '.join(sorted(numbers))}")
    else:
        check("oob_decision_function" not in arrays, "a regression has no probabilities")
        has_both = ("prototypes_X" in arrays) == ("prototypes_response" in arrays)
        check(has_both, "its prototypes have no responses")
    if "residual" in arrays:
        residual = arrays["residual"]
        # Half of the largest number: the core bounds predictions in the same way, and intervals add both.
        is_sorted = _all(np.abs(residual) <= _MOST) and _all(residual[1:] >= residual[:-1])
        check(len(residual) > 0 and is_sorted, "residual is not ascending")
        is_signed = "base" in arrays and len(arrays["base"]) > 1  # of several quantiles
        check(is_signed or residual[0] >= 0.0, "residual has a negative value")
    if "residual_weight" in arrays:
        weight = arrays["residual_weight"]
        with np.errstate(over="ignore"):
            is_weight = _all(weight > 0.0) and weight.sum() <= _MOST
        check(is_weight, "residual_weight has a value that is not positive, or an infinite sum")


def check_summary(arrays: Arrays, n_categories: list[int | None]) -> None:
    """Check the profile and the joint spread; ``n_categories`` has None for columns of numbers."""
    if "profile_ptr" in arrays:
        _check_profile(arrays, n_categories)
    if "joint_sums" in arrays:
        sums, products = arrays["joint_sums"], arrays["joint_products"]
        check(len(sums) <= MOST_FEATURES, f"joint_sums has more than {MOST_FEATURES} features")
        n_pairs = len(sums) * (len(sums) + 1) // 2
        check(len(products) == n_pairs, "joint_products does not have one value for every pair of features")
        for name, values in (("joint_sums", sums), ("joint_products", products)):
            check(_all((values < 2**53) & (values > -(2**53))), f"{name} has a value beyond 2**53")


def _check_profile(arrays: Arrays, n_categories: list[int | None]) -> None:
    ptr, missing = arrays["profile_ptr"], arrays["profile_missing"]
    share, bound = arrays["profile_share"], arrays["profile_bound"]
    check(
        len(missing) == len(n_categories) + 1,
        "profile_missing does not have one value per column and one more",
    )
    is_valid = ptr[0] == 0 and ptr[-1] == len(share) and _all(ptr[1:] >= ptr[:-1]) and ptr[-1] > ptr[-2]
    check(is_valid, "profile_ptr is not ascending from 0 to the number of shares")
    for name, values in (("profile_missing", missing), ("profile_share", share)):
        check(_all((values >= 0.0) & (values <= 1.0)), f"{name} has a value that is not between 0 and 1")
    n_own = np.diff(ptr)
    is_last = np.zeros(len(bound), dtype=bool)
    is_last[ptr[1:][n_own > 0] - 1] = True
    check(
        np.array_equal(np.isinf(bound), is_last),
        "profile_bound is infinite elsewhere than at the end of a column",
    )
    limit = np.repeat([-1 if n is None else n for n in (*n_categories, None)], n_own)
    is_number = limit < 0
    is_code = (bound >= 0.0) & (bound < limit) & (bound == np.floor(bound))
    check(_all(is_code | is_number | is_last), "profile_bound has an unknown category")
    is_ascending = (bound[1:] > bound[:-1]) | is_last[:-1] | ~is_number[1:]
    check(_all(is_ascending), "profile_bound is not ascending")


def _check_amounts(arrays: Arrays, *, is_target_weight: bool) -> None:
    """Check the rows and weights of the blocks."""
    n_samples, weight = arrays["n_samples"], arrays["weight"]
    if "base" in arrays:  # a boosting round may draw no rows
        check(_all(n_samples >= 0), "n_samples has a negative value")
        check(_all(np.isfinite(weight) & (weight >= 0.0)), "weight has a negative or infinite value")
        check("n_target" not in arrays, "a boosted model has n_target")
        return
    check("n_target" in arrays, "it has no arrays n_target")
    n_target = arrays["n_target"]
    check(_all(n_samples > 0), "n_samples has a block without samples")
    check(_all(np.isfinite(weight) & (weight > 0.0)), "weight has a value that is not positive and finite")
    is_valid = (n_target >= 0.0) & (n_target <= weight) if is_target_weight else np.isfinite(n_target)
    check(_all(is_valid), "n_target is not between 0 and weight, or not finite")


def check_trees(arrays: Arrays, n_targets: int) -> None:
    """Check that every estimator has one tree per target, in the order of the classes or outputs."""
    target, n_classes = arrays["target"], len(arrays["prior"]) or n_targets
    has_shares = target[0] < 0  # of all classes
    targets = np.array([-1]) if has_shares else np.arange(n_classes - n_targets, n_classes)
    check(
        len(target) % n_targets == 0 and np.array_equal(target, np.tile(targets, len(target) // n_targets)),
        "its trees are not in the order of the classes",
    )
    has_weights = np.diff(arrays["hyperplane_ptr"]) > 0
    check(
        np.array_equal(arrays["left"] >= 0, has_weights),
        "a branching block has no weights, or a leaf has some",
    )
    shares = [name for name in ("value", "prior_share") if name in arrays]
    check(has_shares or not shares, f"it has {' and '.join(shares)}, but no trees of all classes")
    if has_shares and "base" not in arrays:  # the core has checked that no block is empty
        total = np.add.reduceat(arrays["value"], arrays["value_ptr"][:-1])
        check(_all(np.abs(total - 1.0) < 1e-6), "value does not consist of shares that sum to 1")


def _all(holds: NDArray[np.bool_]) -> bool:
    return bool(holds.all())
