"""Leaves of compact trees, and their arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.records import scale_down
from ..model.trees import Trees
from ..tables.normalise import Normalisation
from .compact import CompactPlan, round_means, weigh_penalty
from .rounding import MOST_WEIGHT, CompactRows, UnitTree, round_significant, shorten_between
from .training import Training

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def build_trees(
    tree: UnitTree,
    leaf: Ints,
    rows: CompactRows,
    training: Training,
    normalisation: Normalisation,
    plan: CompactPlan,
) -> Trees:
    """Return the arrays of a model, breadth-first; statistics are computed from the rows in their leaves."""
    order, members = tree.order(), tree.members(leaf)
    number = {block: place for place, block in enumerate(order)}
    left = [number[tree.left[block]] if tree.left[block] >= 0 else -1 for block in order]
    ptr = np.concatenate([[0], np.cumsum([len(tree.weights[block]) for block in order])]).astype(np.int64)
    feature = np.concatenate([tree.features[block] for block in order]).astype(np.int32)
    unit_weight = np.concatenate([tree.weights[block] for block in order])
    planes = [_normalise(tree, block, normalisation) for block in order]
    shares = [
        _share(planes[place][0], tree.features[block], rows, members[block], normalisation.scale)
        for place, block in enumerate(order)
    ]
    weight = np.array([rows.count(members[block])[1] for block in order])
    arrays: dict[str, NDArray[Any]] = {
        "target": np.array([_target_of(training)], dtype=np.int32),
        "block_ptr": np.array([0, len(order)], dtype=np.int64),
        "left": np.array(left, dtype=np.int32),
        "n_samples": np.array([len(members[block]) for block in order], dtype=np.int32),
        "weight": weight,
        "offset": np.array([plane[1] for plane in planes]),
        "hyperplane_ptr": ptr,
        "hyperplane_feature": feature,
        "hyperplane_weight": np.concatenate([plane[0] for plane in planes]).astype(np.float32),
        "hyperplane_share": np.concatenate(shares).astype(np.float32),
        "membership_ptr": np.zeros(len(order) + 1, dtype=np.int64),
        "membership_feature": np.zeros(0, dtype=np.int32),
        "membership_slope": np.zeros(0),
        "unit_weight": unit_weight,
        "unit_offset": np.array([tree.offset[block] if tree.left[block] >= 0 else 0.0 for block in order]),
    }
    own, is_leaf = [members[block] for block in order], np.array(left) < 0
    if training.response is None:
        arrays |= _say_classes(own, weight, is_leaf, rows, training)
    else:
        arrays |= _say_numbers(own, weight, rows, training, plan.digits)
    if plan.is_linear:
        arrays |= _add_slopes(tree, order, own, rows, training, normalisation, plan, arrays)
    return Trees(**arrays)


def _add_slopes(
    tree: UnitTree,
    order: list[int],
    own: list[Ints],
    rows: CompactRows,
    training: Training,
    normalisation: Normalisation,
    plan: CompactPlan,
    arrays: dict[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the linear functions of leaves, and of the ranges to which they are clipped."""
    if training.response is None:
        response, exponent, unit = (training.codes == 1).astype(np.float64), 0, 1.0
        mean = float(training.prior[1])
    else:
        response, exponent = scale_down(training.response)
        mean = float(np.average(response, weights=rows.weight))
        variance = float(np.average((response - mean) ** 2, weights=rows.weight))
        unit = 4.0 * variance  # of two classes of equal size it is 1
    penalty = weigh_penalty(plan, rows) * unit
    features, (centre, scale) = find_path_features(tree), normalisation
    linear: list[Linear] = []
    for block, some in zip(order, own, strict=True):
        if tree.left[block] >= 0:
            linear.append(Linear(np.zeros(0, dtype=np.int64), np.zeros(0), 0.0))
            continue
        target = Target(response[some], rows.weight[some], mean, exponent)
        linear.append(
            fit_leaf(rows.X[some], target, features[block], scale, penalty, plan.max_terms, plan.digits)
        )
    feature = np.concatenate([one.features for one in linear])
    if not len(feature):
        return {}
    slope = np.concatenate([one.slopes for one in linear])
    size = [len(one.features) for one in linear]
    block_of = np.repeat(np.arange(len(order)), size)
    is_sloped = np.array(size) > 0
    intercept = np.array([one.intercept for one in linear])
    moved = intercept + np.bincount(block_of, weights=slope * centre[feature], minlength=len(order))
    means = [
        np.average(rows.X[some][:, one.features] - centre[one.features], axis=0, weights=rows.weight[some])
        for one, some in zip(linear, own, strict=True)
    ]
    low, high = arrays["low"], arrays["high"]
    if training.response is None:  # as far from certain as a pure leaf of this weight
        total = arrays["weight"] + 1.0
        low = np.where(is_sloped, mean / total, low)
        high = np.where(is_sloped, (arrays["weight"] + mean) / total, high)
    return {
        "membership_ptr": np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
        "membership_feature": feature.astype(np.int32),
        "membership_slope": slope * scale[feature],
        "membership_mean": np.clip(np.concatenate(means) / scale[feature], -1e30, 1e30).astype(np.float32),
        "unit_slope": slope,
        "intercept": np.where(is_sloped, moved, arrays["intercept"]),
        "unit_intercept": np.where(is_sloped, intercept, arrays["intercept"]),
        "low": low,
        "high": high,
    }


def _target_of(training: Training) -> int:
    if training.response is not None:
        return 0
    return 1 if len(training.classes) == 2 else -1


def _say_classes(
    own: list[Ints], weight: Floats, is_leaf: NDArray[np.bool_], rows: CompactRows, training: Training
) -> dict[str, NDArray[Any]]:
    """Return the shares of the classes in every block, smoothed in leaves: a membership of two classes, or values."""
    counts = np.stack([rows.count(some)[0] for some in own])
    shares = np.where(
        is_leaf[:, None], (counts + training.prior) / (weight[:, None] + 1.0), counts / weight[:, None]
    )
    n_classes = len(training.classes)
    if n_classes == 2:
        share = shares[:, 1].copy()
        return {
            "n_target": counts[:, 1].copy(),
            "intercept": share,
            "low": np.where(is_leaf, share, 0.0),
            "high": np.where(is_leaf, share, 1.0),
        }
    shares /= shares.sum(axis=1, keepdims=True)
    return {
        "n_target": counts[np.arange(len(own)), shares.argmax(axis=1)],
        "intercept": shares.max(axis=1),
        "value_ptr": np.arange(len(own) + 1, dtype=np.int64) * n_classes,
        "value_class": np.tile(np.arange(n_classes, dtype=np.int32), len(own)),
        "value": np.minimum(shares, 1.0).ravel(),
    }


def _say_numbers(
    own: list[Ints], weight: Floats, rows: CompactRows, training: Training, digits: int | None
) -> dict[str, NDArray[Any]]:
    """Return means of the response, shrunk towards that of all rows by one row, in few digits."""
    assert training.response is not None
    response, exponent = scale_down(training.response)
    sums = np.array([(rows.weight[some] * response[some]).sum() for some in own])
    mean = (sums + np.average(response, weights=rows.weight)) / (weight + 1.0)
    low = np.minimum([response[some].min() for some in own], mean)
    high = np.maximum([response[some].max() for some in own], mean)
    scaled = {"n_target": sums, "intercept": mean, "low": low, "high": high}
    arrays = {name: np.ldexp(values, exponent) for name, values in scaled.items()}
    if digits is not None:
        arrays["intercept"] = _shorten(arrays["intercept"], arrays["low"], arrays["high"], training, digits)
    return arrays


def _shorten(mean: Floats, low: Floats, high: Floats, training: Training, digits: int) -> Floats:
    """Return means in few digits of the spread of the response, none outside the range of the block."""
    rounded = round_means(mean, training, digits)
    is_outside = (rounded < low) | (rounded > high)
    for block in np.flatnonzero(is_outside):
        rounded[block] = shorten_between(float(low[block]), float(high[block]))
    return rounded


def _normalise(tree: UnitTree, block: int, normalisation: Normalisation) -> tuple[Floats, float]:
    """Return weights and offset of a block for normalised values, the largest weight ±1."""
    features, weights = tree.features[block], tree.weights[block]
    if not len(weights):
        return np.zeros(0), 0.0
    centre, scale = normalisation.centre[features], normalisation.scale[features]
    size = np.log2(np.abs(weights)) + np.log2(scale)  # their product may be beyond all numbers
    largest = float(size.max())
    with np.errstate(under="ignore"):
        normalised = np.sign(weights) * np.exp2(size - largest)
    rest = float((tree.offset[block] - (weights * centre).sum()) * np.exp2(-largest))
    return normalised, rest if math.isfinite(rest) else 0.0


def _share(weights: Floats, features: Ints, rows: CompactRows, own: Ints, scale: Floats) -> Floats:
    """Return the share of every term in the gain: its part of the sum of |weight| × spread of the feature."""
    if not len(weights):
        return np.zeros(0)
    with np.errstate(over="ignore", invalid="ignore"):
        Z, weight = rows.X[own][:, features] / scale[features], rows.weight[own]
        centred = Z - np.average(Z, axis=0, weights=weight)
        size = np.abs(weights) * np.sqrt(np.average(centred * centred, axis=0, weights=weight))
    is_known = bool(np.isfinite(size).all()) and size.sum() > 0.0
    return size / size.sum() if is_known else np.full(len(weights), 1.0 / len(weights))


_RIDGE = 1e-3  # relative to the mean variance of the features
_MOST_FACTOR = 1e-3  # of the spread of the response: how exactly an intercept is written


class Linear(NamedTuple):
    """The linear function of a leaf: intercept + slopes · x."""

    features: Ints
    slopes: Floats
    intercept: float


class Target(NamedTuple):
    """Target of the estimates in leaves: a number and a weight for every row, and the mean of all rows."""

    response: Floats
    weight: Floats
    mean: float
    exponent: int  # the user's unit is 2**exponent of these


def find_path_features(tree: UnitTree) -> dict[int, Ints]:
    """Return features of the blocks above every leaf, ascending."""
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
    """Return the function of a leaf with these rows, in the user's units.

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
    size = np.abs(unit_slopes)
    if not ((size > 1.0 / MOST_WEIGHT) & (size < MOST_WEIGHT)).all():
        return constant
    values = X[:, own_features] @ unit_slopes
    intercept = float(mean - weight @ values / total)
    if digits is not None:
        step = _MOST_FACTOR * (float(np.ptp(values)) or 1.0)
        intercept = shorten_between(intercept - step / 2.0, intercept + step / 2.0)
    return Linear(own_features, unit_slopes, intercept)
