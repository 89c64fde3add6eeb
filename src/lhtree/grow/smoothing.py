"""Leaves of few rows are not certain: their memberships are clipped to smoothed shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..model.trees import Trees


def smooth_leaves(trees: Trees, prior: NDArray[np.float64], smoothing: float) -> Trees:
    """Clip the membership of every leaf to what a pure leaf of its weight says, smoothed towards the prior.

    A leaf of weight n has memberships from a·p / (n + a) to (n + a·p) / (n + a), where p is the share of its target
    and a is ``smoothing``; 0 leaves the trees as they are. Of a tree of all classes, a leaf with shares s has
    memberships (n·s + a·p) / (n + a).
    """
    if smoothing == 0.0:
        return trees
    total = trees.weight + smoothing
    is_leaf = trees.left < 0
    if trees.is_joint:
        return replace(trees, prior_share=np.where(is_leaf, smoothing / total, 0.0))
    share = np.repeat(prior[trees.target], np.diff(trees.block_ptr))
    low = np.where(is_leaf, smoothing * share / total, 0.0)
    high = np.where(is_leaf, (trees.weight + smoothing * share) / total, 1.0)
    return replace(trees, low=low, high=high)
