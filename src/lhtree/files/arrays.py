"""The arrays of a model file: what each is, and the checks before anything is made of them.

Those of the trees are the fields of :class:`lhtree.model.trees.Trees`; the core checks once more what scoring reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.trees import SCHEMA, Array
from .strict_json import check

Arrays = dict[str, NDArray[Any]]

# Of the model beside its trees. A second axis follows behind a blank.
MODEL_ARRAYS = {
    "centre": Array("f8", "feature", "z = (x - centre) / scale"),
    "scale": Array("f8", "feature", "above 0"),
    "feature_low": Array("f8", "feature", "smallest training value; NaN if all are missing"),
    "feature_high": Array("f8", "feature", "largest training value"),
    "prior": Array("f8", "class", "shares of the classes; empty for a regression"),
    "base": Array(
        "f8", "target", "raw scores of a boosted model before the first tree", default=0.0, since="0.2.0"
    ),
    "calibration_ptr": Array("i8", "target", "first knot of every target", "knot", 0, "0.2.0"),
    "calibration_x": Array(
        "f8", "knot", "scores of isotonic knots; slope of a sigmoid", default=0.0, since="0.2.0"
    ),
    "calibration_y": Array(
        "f8", "knot", "probabilities of isotonic knots; intercept of a sigmoid", default=0.0, since="0.2.0"
    ),
    "statistics": Array(
        "f8",
        "statistic",
        "target statistics of the columns with many categories, each by target and category; the last is the prior",
        default=0.0,
        since="0.2.0",
    ),
    "prototypes_X": Array("f8 f4", "prototype feature", "stored training rows", default=0.0, is_scored=False),
    "prototypes_codes": Array("i4", "prototype", "indices of their classes", default=0, is_scored=False),
    "prototypes_given": Array("i8", "prototype", "their row numbers in fit", default=0, is_scored=False),
    "prototypes_response": Array(
        "f8", "prototype", "their responses, in a regression", None, 0.0, "0.2.0", False
    ),
    "oob_decision_function": Array(
        "f8", "row class", "out-of-bag probabilities", default=0.0, is_scored=False
    ),
    "oob_prediction": Array(
        "f8", "number", "out-of-bag predictions of a regression", None, 0.0, "0.2.0", False
    ),
    "residual": Array(
        "f8", "residual", "out-of-bag |response - prediction|, ascending", None, 0.0, "0.2.0", False
    ),
    "residual_weight": Array("f8", "residual", "weights of their rows", None, 1.0, "0.2.0", False),
    "bins_ptr": Array(
        "i8",
        "feature",
        "first bin of every feature, for warm starts of boosted models",
        "bin",
        0,
        "0.2.0",
        False,
    ),
    "bins_edge": Array("f8", "bin", "upper edges, as z", default=0.0, since="0.2.0", is_scored=False),
    "bins_value": Array(
        "i4",
        "bin",
        "what stands for a bin, in 2**-12; the last is for missing values",
        None,
        0,
        "0.2.0",
        False,
    ),
    "bins_missing": Array("i1", "feature", "1 if values were missing", None, 0, "0.2.0", False),
}
ALL_ARRAYS = SCHEMA | MODEL_ARRAYS
# The array whose length is that of an axis.
_MEASURES = {
    "tree": "target",
    "block": "left",
    "weight": "hyperplane_weight",
    "slope": "membership_slope",
    "value": "value",
    "feature": "centre",
    "class": "prior",
    "prototype": "prototypes_codes",
    "row": "oob_decision_function",
    "number": "oob_prediction",
    "residual": "residual",
    "bin": "bins_value",
    "knot": "calibration_x",
    "statistic": "statistics",
}
_PROTOTYPES = {name for name in MODEL_ARRAYS if name.startswith("prototypes_")} - {"prototypes_response"}
_VALUES = {name for name in SCHEMA if name.startswith("value")}
_KNOTS = {name for name in MODEL_ARRAYS if name.startswith("calibration_")}
_BINS = {name for name in MODEL_ARRAYS if name.startswith("bins_")}


def check_shapes(arrays: Arrays) -> None:
    """Arrays that have to be given are given; all have their types and lengths."""
    missing = {name for name, array in ALL_ARRAYS.items() if array.default is None} - set(arrays)
    check(not missing, f"it has no arrays {', '.join(sorted(missing))}")
    for group in (_PROTOTYPES, _VALUES, _BINS, _KNOTS):
        check(len(group & set(arrays)) in (0, len(group)), f"it has only some of {', '.join(sorted(group))}")
    sizes = {axis: len(arrays[name]) if name in arrays else 0 for axis, name in _MEASURES.items()}
    sizes["target"] = 1 if sizes["class"] in (0, 2) else sizes["class"]
    for name, values in arrays.items():
        array = ALL_ARRAYS[name]
        check(values.dtype.str[1:] in array.dtype.split(), f"array {name} is not of type {array.dtype}")
        axes = array.axis.split()
        shape = (array.size(sizes[axes[0]]), *(sizes[axis] for axis in axes[1:]))
        check(values.shape == shape, f"array {name} has shape {values.shape} instead of {shape}")
    check(sizes["feature"] > 0, "it has no features")


def check_values(arrays: Arrays) -> None:
    """What the core does not look at."""
    scale, prior = arrays["scale"], arrays["prior"]
    weight, n_target = arrays["weight"], arrays["n_target"]
    check(_all(np.isfinite(arrays["centre"])), "centre has a value that is not finite")
    check(_all(np.isfinite(scale) & (scale > 0.0)), "scale has a value that is not positive and finite")
    for name in ("feature_low", "feature_high"):
        check(not np.isinf(arrays[name]).any(), f"{name} contains infinity")
    is_regression = len(prior) == 0
    check(
        is_regression or (_all((prior >= 0.0) & (prior <= 1.0)) and abs(prior.sum() - 1.0) < 1e-6),
        "prior does not consist of shares that sum to 1",
    )
    if "base" in arrays:  # a round of boosting may draw no rows, and sums up gradients
        check(_all(arrays["n_samples"] >= 0), "n_samples has a negative value")
        check(_all(np.isfinite(weight) & (weight >= 0.0)), "weight has a negative or infinite value")
        check(_all(np.isfinite(n_target)), "n_target has a value that is not finite")
    else:
        check(_all(arrays["n_samples"] > 0), "n_samples has a block without samples")
        check(
            _all(np.isfinite(weight) & (weight > 0.0)), "weight has a value that is not positive and finite"
        )
        check(
            _all(np.isfinite(n_target)) if is_regression else _all((n_target >= 0.0) & (n_target <= weight)),
            "n_target is not between 0 and weight, or not finite",
        )
    for name in (
        "gain",
        "hyperplane_share",
        "membership_mean",
        "value",
        "base",
        "prototypes_response",
        "statistics",
    ):
        if name in arrays:
            check(_all(np.isfinite(arrays[name])), f"{name} has a value that is not finite")
    if "prototypes_X" in arrays:
        codes = arrays["prototypes_codes"]
        check(not np.isinf(arrays["prototypes_X"]).any(), "its prototypes contain infinity")
        n_codes = max(len(prior), 1)
        check(_all((codes >= 0) & (codes < n_codes)), "its prototypes have classes that are out of range")
        check(_all(arrays["prototypes_given"] >= 0), "its prototypes have negative row numbers")


def check_response(arrays: Arrays, *, is_regression: bool) -> None:
    """What only regressions have, and what they do not have."""
    numbers = {"prototypes_response", "oob_prediction", "residual", "residual_weight"} & set(arrays)
    check(is_regression or not numbers, f"only a regression has {', '.join(sorted(numbers))}")
    check(not is_regression or "oob_decision_function" not in arrays, "a regression has no probabilities")
    has_both = ("prototypes_X" in arrays) == ("prototypes_response" in arrays)
    check(not is_regression or has_both, "its prototypes have no responses")
    if "residual" in arrays:
        residual = arrays["residual"]
        is_sorted = _all(np.isfinite(residual) & (residual >= 0.0)) and _all(residual[1:] >= residual[:-1])
        check(len(residual) > 0 and is_sorted, "residual is not ascending from 0 or more")
    if "residual_weight" in arrays:
        weight = arrays["residual_weight"]
        check(_all(np.isfinite(weight) & (weight > 0.0)), "residual_weight has a value that is not positive")


def check_trees(arrays: Arrays, n_targets: int) -> None:
    """Trees in the order in which they are grown: of every estimator one per target."""
    target, n_classes = arrays["target"], max(len(arrays["prior"]), 1)
    is_joint = target[0] < 0
    targets = np.array([-1]) if is_joint else np.arange(n_classes - n_targets, n_classes)
    check(
        len(target) % n_targets == 0 and np.array_equal(target, np.tile(targets, len(target) // n_targets)),
        "its trees are not in the order of the classes",
    )
    has_weights = np.diff(arrays["hyperplane_ptr"]) > 0
    check(
        np.array_equal(arrays["left"] >= 0, has_weights),
        "a branching block has no weights, or a leaf has some",
    )
    of_all = [name for name in ("value", "prior_share") if name in arrays]
    check(is_joint or not of_all, f"it has {' and '.join(of_all)}, but no trees of all classes")
    if is_joint:
        total = np.add.reduceat(
            arrays["value"], arrays["value_ptr"][:-1]
        )  # the core found that no block is empty
        check(_all(np.abs(total - 1.0) < 1e-6), "value does not consist of shares that sum to 1")


def _all(holds: NDArray[np.bool_]) -> bool:
    return bool(holds.all())
