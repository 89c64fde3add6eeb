"""The slow twin of trees of all classes (section 9) in plain loops; `trees` has what all trees share."""

import math
from itertools import pairwise

import numpy as np

from . import trees


def draw_classes(classes, key):
    """Two of the classes of a block, keyed by its path, 4 for the draws: the lower one first."""
    draws, n = trees.derive(key, 4), len(classes)
    first = derive_below(draws, 0, n)
    second = derive_below(draws, 1, n - 1)
    second += second >= first
    return sorted((classes[first], classes[second]))


def derive_below(draws, number, size):
    """Draw `number` below `size`."""
    return trees.derive(draws, number) * size >> 64


def fisher_between(z, y, weight, pair, taken, options):
    """Fisher's direction between two classes, on the features taken; empty where their means agree."""
    own = (y == pair[0]) | (y == pair[1])
    z, is_target, weight = z[own], y[own] == pair[1], weight[own]
    kept = trees.keep_features(trees.mean_differences(z, is_target, weight, taken), options.beta)
    return trees.fisher_direction(z, is_target, weight, kept, options.shrinkage) if kept else {}


def impurity(y, weight):
    """Gini impurity times weight: W - sum of c^2 / W."""
    total = math.fsum(weight)
    return total - math.fsum(math.fsum(weight[y == cls]) ** 2 for cls in np.unique(y)) / total


def gini_cut(sums, y, weight, min_samples_leaf):
    """(cost, offset) of the cut with the least impurity; ties: wider gap, better balance, lower sum; or None."""
    cuts = []
    for low, high in pairwise(np.unique(sums)):
        is_left = sums <= low
        left, right = math.fsum(weight[is_left]), math.fsum(weight[~is_left])
        if left >= min_samples_leaf and right >= min_samples_leaf:
            cost = impurity(y[is_left], weight[is_left]) + impurity(y[~is_left], weight[~is_left])
            cuts.append((cost, low - high, abs(left - right), low, trees.place_midway(low, high)))
    best = min(cuts, default=None)
    return best and (best[0], best[-1])


def list_candidates(z, y, weight, taken, options, key):
    """The direction between two drawn classes, and every feature alone."""
    direction = fisher_between(z, y, weight, draw_classes(np.unique(y).tolist(), key), taken, options)
    return trees.list_candidates(direction, taken, options)


def find_cut(z, y, weight, taken, options, key):
    """(cost, weights, offset) of the best candidate, the first of equals; None where the block must stay a leaf."""
    best = None
    for weights in list_candidates(z, y, weight, taken, options, key):
        cut = gini_cut(trees.feature_sum(weights, z), y, weight, options.min_samples_leaf)
        if cut is not None and (best is None or cut[0] < best[0]):
            best = cut[0], weights, cut[1]
    return best


def shares(y, weight):
    """Shares of the classes of a block, {class: share}."""
    total = math.fsum(weight)
    return {int(cls): math.fsum(weight[y == cls]) / total for cls in np.unique(y)}


def smooth(shares, n, prior, smoothing):
    """Section 9: shares of a leaf of weight n as if ``smoothing`` rows of the prior were added, {class: share}."""
    return {
        cls: (n * shares.get(cls, 0.0) + smoothing * share) / (n + smoothing)
        for cls, share in enumerate(prior)
    }


def gain_share_alone(weights, offset, z, y, weight):
    """Return the gain share of a single feature: that of the class its sides separate best, among m (k - 1) choices."""
    is_left = (trees.feature_sum(weights, z) < offset).astype(np.float64)
    classes = np.unique(y)
    n_choices = z.shape[1] * (len(classes) - 1)
    return max(trees.credit(is_left, (y == cls).astype(np.float64), weight, n_choices) for cls in classes)


def score(shares_of_leaves, n_classes):
    """Sections 5 and 9: mean over the trees of the shares in the leaves that a row comes to, (K,)."""
    sums = [0.0] * n_classes
    for own in shares_of_leaves:
        for cls, share in own.items():
            sums[cls] += share
    return [total / len(shares_of_leaves) for total in sums]
