"""Pruning a tree of a regression: a subtree stays where it explains more than its parameters cost.

The squared error of a block's rows, by its mean response, its linear model or the leaves below it, is multiplied by
(W + c·v) / (W - c·v): W is the weight of the rows, v the number of parameters (intercepts and slopes of leaves, weights
of hyperplanes), c the cost of one of them. From the leaves to the root the least of the three is taken. This is the
pruning of M5 (Quinlan, 1992), which need not count hyperplanes, because its blocks use a single feature.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.trees import SCHEMA, Trees


class PrunedRows(NamedTuple):
    """The rows that a tree was grown from."""

    Z: NDArray[np.float32]  # normalised
    response: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    leaf: NDArray[np.int64]  # block in which each row ends


class Choice(NamedTuple):
    """The decision for every block."""

    is_leaf: NDArray[np.bool_]
    is_linear: NDArray[np.bool_]  # its linear model is better than its mean


def prune(tree: Trees, rows: PrunedRows, cost: float) -> Trees:
    """Return the tree, which is one alone, without the subtrees and slopes that do not pay."""
    return _select(tree, choose(tree, rows, cost))


def choose(tree: Trees, rows: PrunedRows, cost: float) -> Choice:
    """Decide for every block whether to prune it, children first."""
    is_leaf, is_linear = tree.left < 0, np.zeros(tree.n_blocks, dtype=bool)
    error, n_parameters = np.zeros(tree.n_blocks), np.zeros(tree.n_blocks)
    order = np.argsort(rows.leaf, kind="stable")
    ends = np.searchsorted(rows.leaf[order], np.arange(tree.n_blocks + 1))
    waiting: dict[int, NDArray[np.int64]] = {}  # rows of blocks whose parent is still to come
    unit = np.abs(rows.response).max()  # the squares of large numbers would overflow

    def inflate(found: tuple[float, float]) -> float:
        """Return an error as it is to be expected on new rows, by the number of parameters behind it."""
        paid = cost * found[1]
        left_over: float = tree.weight[block] - paid
        return found[0] * (tree.weight[block] + paid) / left_over if left_over > 0.0 else np.inf

    for block in range(tree.n_blocks - 1, -1, -1):
        left = int(tree.left[block])
        own = order[ends[block] : ends[block + 1]]
        if left >= 0:
            own = np.concatenate([waiting.pop(left), waiting.pop(left + 1)])
        waiting[block] = own
        n_slopes = int(tree.membership_ptr[block + 1] - tree.membership_ptr[block])
        flat, linear = _measure(tree, block, rows, own, unit)
        best = flat, 1.0
        if n_slopes and inflate((linear, 1.0 + n_slopes)) < inflate(best):
            best, is_linear[block] = (linear, 1.0 + n_slopes), True
        if left >= 0:
            n_terms = tree.hyperplane_ptr[block + 1] - tree.hyperplane_ptr[block]
            below = error[left] + error[left + 1], n_parameters[left] + n_parameters[left + 1] + n_terms
            is_leaf[block] = inflate(best) <= inflate(below)
            best = best if is_leaf[block] else below
        error[block], n_parameters[block] = best
    return Choice(is_leaf, is_linear)


def _measure(
    tree: Trees, block: int, rows: PrunedRows, own: NDArray[np.int64], unit: float
) -> tuple[float, float]:
    """Return squared errors of a block's rows, by its mean and by its linear model."""
    low, high = tree.low[block], tree.high[block]
    if low == high:
        return 0.0, 0.0
    slopes = slice(tree.membership_ptr[block], tree.membership_ptr[block + 1])
    # Term by term: a product of matrices would depend on the machine's library.
    estimate = np.full(len(own), tree.intercept[block])
    for feature, slope in zip(tree.membership_feature[slopes], tree.membership_slope[slopes], strict=True):
        estimate += slope * rows.Z[own, feature]
    weight = 1.0 if rows.weight is None else rows.weight[own]
    flat, linear = (
        float((weight * ((rows.response[own] - values) / unit) ** 2).sum())
        for values in (tree.n_target[block] / tree.weight[block], np.clip(estimate, low, high))
    )
    return flat, linear


def _select(tree: Trees, choice: Choice) -> Trees:
    """Return the blocks that can still be reached, numbered breadth-first."""
    blocks, left, work = [], [], deque([0])
    while work:
        block = work.popleft()
        blocks.append(block)
        left.append(-1 if choice.is_leaf[block] else len(blocks) + len(work))
        if not choice.is_leaf[block]:
            work.extend([tree.left[block], tree.left[block] + 1])
    kept = np.array(blocks)
    n_kept = {
        "weight": np.where(choice.is_leaf, 0, np.diff(tree.hyperplane_ptr))[kept],
        "slope": np.where(choice.is_linear, np.diff(tree.membership_ptr), 0)[kept],
    }
    arrays = tree.arrays()
    first = {"weight": tree.hyperplane_ptr[kept], "slope": tree.membership_ptr[kept]}
    entries = {
        axis: np.repeat(first[axis] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        for axis, sizes in n_kept.items()
    }
    for name, array in SCHEMA.items():
        if name not in arrays:
            continue
        if array.points_to in n_kept:
            arrays[name] = np.concatenate([[0], np.cumsum(n_kept[array.points_to])])
        elif array.axis in entries:
            arrays[name] = arrays[name][entries[array.axis]]
        elif array.axis == "block":
            arrays[name] = arrays[name][kept]
    is_flat, mean = ~choice.is_linear[kept], arrays["n_target"] / arrays["weight"]
    return Trees(
        **arrays
        | {
            "block_ptr": np.array([0, len(kept)]),
            "left": np.array(left, dtype=np.int32),
            "offset": np.where(choice.is_leaf[kept], 0.0, arrays["offset"]),
            "intercept": np.where(is_flat, mean, arrays["intercept"]),
        }
    )
