"""Linear leaves of compact trees: few slopes, each of which has to be worth its penalty, in the user's units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .decimals import round_significant, shorten_between
from .rounding import MOST_WEIGHT, UnitTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RIDGE = 1e-3  # relative to the mean variance of the features
_MOST_FACTOR = 1e-3  # of the spread of the response: how exactly an intercept is written


class Linear(NamedTuple):
    """The linear function of a leaf: intercept + slopes · x."""

    features: Ints
    slopes: Floats
    intercept: float


class Target(NamedTuple):
    """What leaves estimate: a number for every row, with its weight, and the mean of all rows."""

    response: Floats
    weight: Floats
    mean: float
    exponent: int  # the user's unit is 2**exponent of these


def find_path_features(tree: UnitTree) -> dict[int, Ints]:
    """Features of the blocks above every leaf, ascending."""
    found: dict[int, Ints] = {0: np.zeros(0, dtype=np.int64)}
    for block in tree.order():
        if tree.left[block] >= 0:
            own = np.union1d(found[block], tree.features[block])
            found[tree.left[block]] = found[tree.right[block]] = own
    return {block: features for block, features in found.items() if tree.left[block] < 0}


def fit_leaf(
    X: Floats,
    target: Target,
    features: Ints,
    scale: Floats,
    penalty: float,
    max_terms: int,
    digits: int | None,
) -> Linear:
    """The function of a leaf with these rows, in the user's units.

    Features are added as long as each explains more than the penalty. What is explained is twice the decrease of the
    squared error, as the Brier score of two classes counts it.
    """
    weight, total = target.weight, target.weight.sum()
    mean = (weight @ target.response + target.mean) / (total + 1.0)
    Z = X[:, features] / scale[features]
    Z = Z - weight @ Z / total
    scatter = (Z * weight[:, None]).T @ Z
    moment = Z.T @ (weight * (target.response - weight @ target.response / total))
    is_active = np.diag(scatter) > 1e-9 * total
    chosen: list[int] = []
    slopes, explained = np.zeros(0), 0.0
    while len(chosen) < max_terms:
        best: tuple[float, int, Floats] | None = None
        for feature in np.flatnonzero(is_active):
            if feature in chosen:
                continue
            some = [*chosen, int(feature)]
            own = scatter[np.ix_(some, some)]
            ridge = _RIDGE * np.trace(own) / len(some) * np.eye(len(some))
            found = np.linalg.solve(own + ridge, moment[some])
            value = float(2.0 * found @ moment[some] - found @ own @ found)
            if best is None or value > best[0] * (1.0 + 1e-9):
                best = value, int(feature), found
        if best is None or not 2.0 * (best[0] - explained) > penalty:
            break
        explained, chosen, slopes = best[0], [*chosen, best[1]], best[2]
    mean = np.ldexp(mean, target.exponent)
    constant = Linear(features[:0], np.zeros(0), float(mean))
    if not chosen:
        return constant
    order = np.argsort(chosen)
    own_features = features[np.array(chosen)[order]]
    with np.errstate(over="ignore"):
        unit_slopes = np.ldexp(slopes[order] / scale[own_features], target.exponent)
    if digits is not None:
        unit_slopes = round_significant(unit_slopes, digits)
    if not (np.abs(unit_slopes) < MOST_WEIGHT).all():
        return constant
    values = X[:, own_features] @ unit_slopes
    intercept = float(mean - weight @ values / total)
    if digits is not None:
        step = _MOST_FACTOR * (float(np.ptp(values)) or 1.0)
        intercept = shorten_between(intercept - step / 2.0, intercept + step / 2.0)
    return Linear(own_features, unit_slopes, intercept)
