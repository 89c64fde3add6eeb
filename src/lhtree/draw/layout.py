"""Where the blocks of a tree stand: numbers only, no drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.views import TreeView


class Sizes(NamedTuple):
    """Inches of the parts of a picture of a tree; a folded block looks like a leaf with one line more."""

    branching_width: float
    branching_height: float
    leaf_width: float
    leaf_height: float
    folded_height: float
    between: float = 0.14  # cards side by side
    below: float = 0.42  # from a card to the cards of the next level


class Card(NamedTuple):
    """A block's place in inches: x of its middle and y of its top, y growing downwards; blocks folded into it."""

    block: int
    x: float
    y: float
    width: float
    height: float
    n_folded: int


class Layout(NamedTuple):
    """Places of the blocks shown, by block number, in a picture of so many inches."""

    cards: dict[int, Card]
    width: float
    height: float


def lay_out(view: TreeView, sizes: Sizes, max_depth: int) -> Layout:
    """Place the blocks down to a depth; every block is in the middle above its two, none overlap."""
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
    """Distance between the two blocks below each opened block, from the outlines of what is below them."""
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
    """Largest depth at which the picture fits into so many inches; at least 1."""
    deepest = int(view.depth.max())
    fitting = 1
    for depth in range(2, deepest + 1):
        layout = lay_out(view, sizes, depth)
        if layout.width > width or layout.height > height:
            break
        fitting = depth
    return min(fitting, deepest)


def spread(centres: NDArray[np.float64], widths: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Centres moved as little as order and width allow so that none overlap; given in ascending order.

    Neighbours that touch form a group that stands where its members would be on average.
    """
    groups: list[tuple[float, float, int]] = []  # middle, width, members
    for centre, width in zip(centres.tolist(), widths.tolist(), strict=True):
        group = (centre, width, 1)
        while groups and groups[-1][0] + groups[-1][1] / 2 + gap > group[0] - group[1] / 2:
            middle, breadth, members = groups.pop()
            total = breadth + gap + group[1]
            # Each part's wish for the middle of the joint group, weighted by its members.
            wish = members * (middle - breadth / 2 + total / 2) + group[2] * (
                group[0] + group[1] / 2 - total / 2
            )
            group = (wish / (members + group[2]), total, members + group[2])
        groups.append(group)
    placed, own = [], iter(widths.tolist())
    for middle, total, members in groups:
        at = middle - total / 2
        for _ in range(members):
            width = next(own)
            placed.append(at + width / 2)
            at += width + gap
    return np.array(placed)
