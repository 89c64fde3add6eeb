"""The slow twin of a linear leaf of a boosted tree: a ridge Newton step on the features of its way.

Sums over rows are Python integers, and units are powers of two, so floating point begins with the means. Features
are taken in ascending order, without contraction, as in the core.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .numbers import as_float, clamp, solve_with_ridge

VALUE_UNIT = 2.0**-12
MOST_FEATURES = 12
RIDGE = 1.0  # on normalised values, in the units of the l2 regularisation


@dataclass
class Leaf:
    """clip(intercept + Σ slope · z, low, high), with the learning rate in it; constant without slopes."""

    intercept: float
    low: float
    high: float
    features: list[int] = field(default_factory=list)
    slopes: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)  # rounded to float32

    def estimate(self, values):
        """Return the value that the leaf adds to the score of a row, whose values are in VALUE_UNIT."""
        total = self.intercept
        for feature, slope in zip(self.features, self.slopes, strict=True):
            total += slope * (values[feature] * VALUE_UNIT)
        return clamp(total, self.low, self.high)


def extend_path(features, path):
    """Return the features above a child: the nearest block first, each feature once."""
    return [*features, *(feature for feature in path if feature not in features)]


def fit_leaf(grower, block):
    """The leaf that a block becomes."""
    rate = grower.options.learning_rate
    value = rate * block.value
    constant = Leaf(value, value, value)
    if grower.options.leaf == "constant":
        return constant
    steps = [step for row in block.rows if (step := own_step(grower, row)) is not None]
    features, slopes, means = find_slopes(grower, block.rows, sorted(block.way[:MOST_FEATURES]))
    if len(set(steps)) < 2 or not any(
        slopes
    ):  # rows that ask for the same step have slopes of 0, but for rounding
        return constant
    low = min(max(min(steps), block.low), block.value)
    high = max(min(max(steps), block.high), block.value)
    slopes = [rate * slope for slope in slopes]
    means = [float(np.float32(mean)) for mean in means]
    intercept = value
    for slope, mean in zip(slopes, means, strict=True):
        intercept -= slope * mean
    return Leaf(intercept, rate * low, rate * high, features, slopes, means)


def own_step(grower, row):
    """-g/h of one row; None where it has no say."""
    gradient, hessian = grower.entries[row]
    if grower.weight[row] == 0 or hessian == 0:
        return None
    return -(gradient * grower.quanta[0]) / (hessian * grower.quanta[1])


def find_slopes(grower, rows, features):
    """Features, slopes and means of the Newton step; features whose slope a constraint forbids are left out."""
    weight = [grower.weight[row] >> grower.shift for row in rows]
    g = [grower.entries[row][0] * w for row, w in zip(rows, weight, strict=True)]
    h = [grower.entries[row][1] * w for row, w in zip(rows, weight, strict=True)]
    r = [{f: grower.representative(row, f) for f in features} for row in rows]

    def moment(by, *chosen):
        total = sum(b * math.prod(x[f] for f in chosen) for b, x in zip(by, r, strict=True))
        quantum = grower.quanta[0] if by is g else grower.quanta[1]
        return as_float(total) * VALUE_UNIT ** len(chosen) * (quantum * grower.unit * 2.0**grower.shift)

    hessian = moment(h)
    if not hessian > 0.0:
        return [], [], []
    mean = {f: moment(h, f) / hessian for f in features}

    def product(i, j):
        return moment(h, i, j) - moment(h, i) * mean[j]

    # Others are constant but for rounding.
    kept = [f for f in features if product(f, f) > 1e-9 * moment(h, f, f)]
    while kept:
        scatter = [[product(i, j) for j in kept[: at + 1]] for at, i in enumerate(kept)]
        slopes = solve_with_ridge(scatter, RIDGE, [moment(g) * mean[i] - moment(g, i) for i in kept])
        if slopes is None:
            return [], [], []
        signs = [grower.sign_of([f], [1]) for f in kept]
        right = [f for f, slope, sign in zip(kept, slopes, signs, strict=True) if slope * sign >= 0.0]
        if len(right) == len(kept):
            return kept, slopes, [mean[f] for f in kept]
        kept = right
    return [], [], []
