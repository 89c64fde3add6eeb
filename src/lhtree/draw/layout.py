"""Layout of the blocks of a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.views import TreeView


class Sizes(NamedTuple):
    """Sizes of the parts of a drawing of a tree; a folded block has one line more than a leaf."""

    branching_width: float
    branching_height: float
    leaf_width: float
    leaf_height: float
    folded_height: float
    between: float  # horizontal gap between cards
    below: float  # gap between a card and the cards of the next level


class Card(NamedTuple):
    """Place of a block: x of its middle, y of its top (growing downwards), and the number of blocks folded into it."""

    block: int
    x: float
    y: float
    width: float
    height: float
    n_folded: int


class Layout(NamedTuple):
    """Places of the blocks shown, by block number, and the size of the drawing."""

    cards: dict[int, Card]
    width: float
    height: float


def lay_out(view: TreeView, sizes: Sizes, max_depth: int) -> Layout:
    """Place the blocks down to a depth: each in the middle above its children, without overlaps."""
    shown = np.flatnonzero(view.depth <= max_depth)
    opened = (view.left >= 0) & (view.depth < max_depth)
    apart = _find_distances(view, sizes, shown, opened)
    x = np.zeros(view.n_blocks)
    for block in shown[opened[shown]]:
        left = view.left[block]
        x[left], x[left + 1] = x[block] - apart[block] / 2, x[block] + apart[block] / 2
    n_below = view.count_below()
    width = np.where(opened, sizes.branching_width, sizes.leaf_width)
    height = np.where(opened, sizes.branching_height, sizes.folded_height)
    height[view.is_leaf] = sizes.leaf_height
    start = (x[shown] - width[shown] / 2).min()
    step = sizes.branching_height + sizes.below
    cards = {
        int(block): Card(
            int(block),
            float(x[block] - start),
            float(view.depth[block] * step),
            float(width[block]),
            float(height[block]),
            0 if opened[block] else int(n_below[block]),
        )
        for block in shown
    }
    return Layout(
        cards,
        max(card.x + card.width / 2 for card in cards.values()),
        max(card.y + card.height for card in cards.values()),
    )


def _find_distances(
    view: TreeView, sizes: Sizes, shown: NDArray[np.int64], opened: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the distance between the children of each opened block, from the outlines of their subtrees."""
    apart = np.zeros(view.n_blocks)
    outlines: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for block in shown[::-1]:
        half = (sizes.branching_width if opened[block] else sizes.leaf_width) / 2
        if not opened[block]:
            outlines[block] = np.array([-half]), np.array([half])
            continue
        left_low, left_high = outlines.pop(view.left[block])
        right_low, right_high = outlines.pop(view.right[block])
        common = min(len(left_high), len(right_low))
        apart[block] = (left_high[:common] - right_low[:common]).max() + sizes.between
        shift = apart[block] / 2
        low = np.concatenate([[-half], left_low - shift, right_low[len(left_low) :] + shift])
        high = np.concatenate([[half], right_high + shift, left_high[len(right_high) :] - shift])
        outlines[block] = low, high
    return apart


def choose_depth(view: TreeView, sizes: Sizes, width: float, height: float) -> int:
    """Return the largest depth at which the drawing fits into this size; at least 1."""
    deepest = int(view.depth.max())
    fitting = 1
    for depth in range(2, deepest + 1):
        layout = lay_out(view, sizes, depth)
        if layout.width > width or layout.height > height:
            break
        fitting = depth
    return min(fitting, deepest)
