"""The arrays of a model file, checked; the core checks once more what scoring reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._json import check

Arrays = dict[str, NDArray[Any]]

# What scoring needs of a forest comes first; the names are those of ForestData.
SCORED = {
    "target": "i4",
    "block_ptr": "i8",
    "left": "i4",
    "offset": "f8",
    "intercept": "f8",
    "hyperplane_ptr": "i8",
    "hyperplane_feature": "i4",
    "hyperplane_weight": "f4",
    "membership_ptr": "i8",
    "membership_feature": "i4",
    "membership_slope": "f8",
}
FOREST = SCORED | {"n_samples": "i4", "weight": "f8", "n_target": "f8"}
_REQUIRED = FOREST | {"centre": "f8", "scale": "f8", "low": "f8", "high": "f8", "prior": "f8"}
_PROTOTYPES = {"prototypes_X": "f8 f4", "prototypes_codes": "i4", "prototypes_given": "i8"}
_OPTIONAL = _PROTOTYPES | {"oob_decision_function": "f8"}
_TABLES = ("prototypes_X", "oob_decision_function")


def check_shapes(arrays: Arrays) -> None:
    """The arrays that have to be there, of their types and lengths."""
    missing, unknown = set(_REQUIRED) - set(arrays), set(arrays) - set(_REQUIRED) - set(_OPTIONAL)
    check(not missing, f"it lacks the arrays {', '.join(sorted(missing))}")
    check(not unknown, f"it has arrays that no model has, {', '.join(sorted(unknown))[:100]!r}")
    for name, array in arrays.items():
        dtypes = (_REQUIRED | _OPTIONAL)[name].split()
        check(array.dtype.str[1:] in dtypes, f"array {name} is not of type {' or '.join(dtypes)}")
        check(array.ndim == 1 + (name in _TABLES), f"array {name} has {array.ndim} axes")
    n_features, n_classes = len(arrays["centre"]), len(arrays["prior"])
    check(n_features > 0, "it has no features")
    for of, names in (("centre", ("scale", "low", "high")), ("left", ("n_samples", "weight", "n_target"))):
        is_alike = all(len(arrays[name]) == len(arrays[of]) for name in names)
        check(is_alike, f"{of}, {', '.join(names)} differ in length")
    kept = set(_PROTOTYPES) & set(arrays)
    check(len(kept) in (0, len(_PROTOTYPES)), "it has a part of the prototypes only")
    if kept:
        X, codes, given = (arrays[name] for name in _PROTOTYPES)
        check(
            X.shape == (len(codes), n_features) and len(given) == len(codes), "its prototypes differ in shape"
        )
    if "oob_decision_function" in arrays:
        check(arrays["oob_decision_function"].shape[1] == n_classes, "oob_decision_function lacks classes")


def check_values(arrays: Arrays) -> None:
    """What the core does not look at."""
    centre, scale, prior = arrays["centre"], arrays["scale"], arrays["prior"]
    weight, n_target = arrays["weight"], arrays["n_target"]
    check(_all(np.isfinite(centre)), "centre has a value that is not finite")
    check(_all(np.isfinite(scale) & (scale > 0.0)), "scale has a value that is not positive and finite")
    for name in ("low", "high"):
        check(not np.isinf(arrays[name]).any(), f"{name} has an infinity")
    check(_all((prior >= 0.0) & (prior <= 1.0)) and abs(prior.sum() - 1.0) < 1e-6, "prior is not of shares")
    check(_all(arrays["n_samples"] > 0), "n_samples has a block without samples")
    check(_all(np.isfinite(weight) & (weight > 0.0)), "weight has a value that is not positive and finite")
    check(_all((n_target >= 0.0) & (n_target <= weight)), "n_target is not between 0 and weight")
    if "prototypes_X" in arrays:
        codes = arrays["prototypes_codes"]
        check(not np.isinf(arrays["prototypes_X"]).any(), "its prototypes hold an infinity")
        check(_all((codes >= 0) & (codes < len(prior))), "its prototypes are of classes that are not there")
        check(_all(arrays["prototypes_given"] >= 0), "its prototypes have negative row numbers")


def check_trees(arrays: Arrays, n_targets: int) -> None:
    """Trees in the order in which they are grown: of every estimator one per target."""
    target, n_classes = arrays["target"], len(arrays["prior"])
    targets = np.arange(n_classes - n_targets, n_classes)
    check(
        len(target) % n_targets == 0 and np.array_equal(target, np.tile(targets, len(target) // n_targets)),
        "its trees are not in the order of the classes",
    )
    has_weights = np.diff(arrays["hyperplane_ptr"]) > 0
    check(
        np.array_equal(arrays["left"] >= 0, has_weights),
        "a branching block has no weights, or a leaf has some",
    )


def _all(holds: NDArray[np.bool_]) -> bool:
    return bool(holds.all())
