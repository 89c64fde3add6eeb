"""The slow twin of scoring: ways down a tree, memberships, WOLF, raw scores and their links, in plain loops."""

import math

import numpy as np

from . import numbers
from .trees import feature_sum


def clip_known(z, clip):
    """Section 8: values as blocks of several features and slopes see them, within ±clip; a missing one is 0."""
    return np.where(np.isnan(z), np.float32(0), np.clip(z, -np.float32(clip), np.float32(clip)))


def block_sum(tree, block, z, clip):
    """FS(x) of a block; that of a single feature is not clipped, and has a side for a missing value (section 8)."""
    weights = tree.weights[block]
    if len(weights) != 1:
        return float(feature_sum(weights, clip_known(z, clip)))
    side = tree.missing[block] if tree.missing else 0
    if side != 0 and np.isnan(z[next(iter(weights))]):
        return side * math.inf
    return float(feature_sum(weights, clip_known(z, 1e30)))


def trace(tree, z, clip=1e30):
    """Algorithm 2: the blocks from the root to the leaf of a row, and their feature sums; for the leaf p̂(x)."""
    blocks, values = [0], []
    while tree.left[blocks[-1]] != -1:
        block = blocks[-1]
        values.append(block_sum(tree, block, z, clip))
        blocks.append(tree.left[block] if values[-1] - tree.offset[block] < 0 else tree.right[block])
    leaf = blocks[-1]
    values.append(tree.intercept[leaf] + float(feature_sum(tree.slopes[leaf], clip_known(z, clip))))
    return blocks, values


def leaf(tree, z):
    """Algorithm 2: the leaf of a row."""
    return trace(tree, z)[0][-1]


def membership(tree, z, clip=1e30):
    """Return mu(x), eq. (15); for a boosted tree, its addition to the raw score."""
    blocks, values = trace(tree, z, clip)
    return min(max(values[-1], tree.low[blocks[-1]]), tree.high[blocks[-1]])


def confidence(tree, z, mode):
    """d(x), eq. (12): "last", of the last branching block; "path", the least over the path; None, 1."""
    blocks, values = trace(tree, z)
    path = [
        min(abs(value - tree.offset[block]), 1.0)
        for block, value in zip(blocks[:-1], values[:-1], strict=True)
    ]
    if mode is None or not path:
        return 1.0
    return path[-1] if mode == "last" else min(path)


def mean_over_trees(trees, targets, n_classes, Z, mode, value):
    """Section 5: means (n, K) of `value(mu, d)` over each class's trees; the other of two has 1 - mu."""
    total, n_trees = np.zeros((len(Z), n_classes)), np.zeros(n_classes)
    for tree, target in zip(trees, targets, strict=True):
        mu = np.array([membership(tree, z) for z in Z])
        d = np.array([confidence(tree, z, mode) for z in Z])
        total[:, target] += value(mu, d)
        n_trees[target] += 1
        if n_classes == 2:
            total[:, 1 - target] += value(1 - mu, d)
            n_trees[1 - target] += 1
    return total / n_trees


def wolf(trees, targets, n_classes, Z, mode):
    """Eq. (17): the mean corrected membership, zeros left as they are."""
    return mean_over_trees(trees, targets, n_classes, Z, mode, lambda mu, d: d * mu)


def mean_membership(trees, targets, n_classes, Z):
    """Section 5: the mean of mu without d."""
    return mean_over_trees(trees, targets, n_classes, Z, None, lambda mu, d: mu)


def mean_confidence(trees, targets, n_classes, Z, mode):
    """Section 5: the mean of d alone, which two classes share."""
    return mean_over_trees(trees, targets, n_classes, Z, mode, lambda mu, d: d)


def settle(wolf, membership, prior):
    """Section 5: all-zero rows have their mean memberships, and where these are all zero the class prior."""
    result = wolf.copy()
    for fall_back in membership, np.tile(prior, (len(wolf), 1)):
        is_zero = ~result.any(axis=1)
        result[is_zero] = fall_back[is_zero]
    return result


def scores(trees, targets, n_classes, Z, mode, prior):
    """Section 5: `wolf`, settled."""
    every = trees, targets, n_classes, Z
    return settle(wolf(*every, mode), mean_membership(*every), prior)


def predict_proba(trees, targets, n_classes, Z, mode, prior):
    """Section 5: the scores divided by their sum."""
    result = scores(trees, targets, n_classes, Z, mode, prior)
    return result / result.sum(axis=1, keepdims=True)


def predict(trees, targets, n_classes, Z, mode, prior):
    """Section 5: the class with the largest of the scores, the first on ties."""
    return scores(trees, targets, n_classes, Z, mode, prior).argmax(axis=1)


def raw_scores(trees, targets, base, Z, clip):
    """Section 8: the base of every target and what its trees add, in their order, (n, n_targets)."""
    result = np.tile(np.asarray(base, dtype=np.float64), (len(Z), 1))
    for tree, target in zip(trees, targets, strict=True):
        for row, z in enumerate(Z):
            result[row, target if len(base) > 1 else 0] += membership(tree, z, clip)
    return result


def values(trees, link, base, Z, clip):
    """Return predictions by section 10: the mean of the estimates, or the raw score through its link."""
    if link == "mean":
        return [sum(membership(tree, z, clip) for tree in trees) / len(trees) for z in Z]
    raw = raw_scores(trees, [0] * len(trees), base, Z, clip)[:, 0]
    return raw if link == "identity" else [numbers.exp(score) for score in raw]


def link(raw):
    """Section 8: probabilities of a row from its raw scores: logistic for one, softmax for more."""
    if len(raw) == 1:
        e = math.exp(-abs(raw[0]))
        proba = [e / (1.0 + e), 1.0 / (1.0 + e)]
        return proba if raw[0] > 0.0 else proba[::-1]
    powers = [math.exp(score - max(raw)) for score in raw]
    return [power / math.fsum(powers) for power in powers]


def shortest_crossing(weights, need, down, up):
    """The shortest move that raises a feature sum by `need`, no feature below -down or above up; None if impossible.

    Each feature moves by λw, or to its bound; λ is found by halving.
    """

    def move(step):
        return [min(max(step * w, -d), u) for w, d, u in zip(weights, down, up, strict=True)]

    def rise(step):
        return sum(w * m for w, m in zip(weights, move(step), strict=True))

    if sum(max(w * u, -w * d) for w, d, u in zip(weights, down, up, strict=True)) < need:
        return None
    low, high = 0.0, 1.0
    while rise(high) < need and high < 1e100:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rise(middle) >= need else (middle, high)
    return move(high)
