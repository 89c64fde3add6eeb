"""Layout of the blocks of a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lhtree import LHTClassifier
from lhtree.draw.tree import Sizes, choose_depth, lay_out
from support import pictures

SIZES = Sizes(2.0, 1.0, 0.9, 0.5, 0.6, 0.14, 0.42)


def overlap(first, second):
    gap = (first.width + second.width) / 2 - abs(first.x - second.x)
    return gap > 1e-9 and first.y < second.y + second.height and second.y < first.y + first.height


def trees():
    return st.builds(
        lambda seed, gamma, direction: (
            LHTClassifier(gamma=gamma, direction=direction)
            .fit(
                np.random.default_rng(seed).normal(size=(80, 2)),
                np.random.default_rng(seed + 1).integers(0, 2, 80),
            )
            .trees_[0]
        ),
        seed=st.integers(0, 1000),
        gamma=st.integers(1, 12),
        direction=st.sampled_from(["mean_difference", "mixed"]),
    )


@given(view=trees(), max_depth=st.integers(0, 12))
def test_no_cards_overlap_and_all_blocks_are_shown_or_counted(view, max_depth):
    layout = lay_out(view, SIZES, max_depth)
    cards = list(layout.cards.values())
    for i, card in enumerate(cards):
        assert not any(overlap(card, other) for other in cards[i + 1 :])
        assert card.x - card.width / 2 >= -1e-9
        assert card.x + card.width / 2 <= layout.width + 1e-9
        assert card.y + card.height <= layout.height + 1e-9
    assert len(cards) + sum(card.n_folded for card in cards) == view.n_blocks
    assert set(layout.cards) == set(np.flatnonzero(view.depth <= max_depth))


@given(view=trees())
def test_block_is_in_the_middle_above_its_children(view):
    layout = lay_out(view, SIZES, 100)
    for block in np.flatnonzero(view.left >= 0):
        card, left, right = (layout.cards[int(b)] for b in (block, view.left[block], view.right[block]))
        assert left.x < right.x
        assert left.y == right.y > card.y + card.height
        assert card.x == pytest.approx((left.x + right.x) / 2)
        assert card.n_folded == 0


@given(view=trees(), width=st.floats(3.0, 30.0), height=st.floats(2.0, 20.0))
def test_the_chosen_depth_is_the_largest_that_fits(view, width, height):
    def fits(depth):
        layout = lay_out(view, SIZES, depth)
        return layout.width <= width and layout.height <= height

    depth = choose_depth(view, SIZES, width, height)
    deepest = int(view.depth.max())
    assert depth <= 1 or fits(depth)
    assert depth == deepest or not fits(depth + 1) or depth + 1 <= 1


def test_deep_tree_is_laid_out_without_recursion():
    view = pictures.noise().trees_[0]
    assert view.depth.max() > 1000
    assert len(lay_out(view, SIZES, 100_000).cards) == view.n_blocks


def test_counts_of_blocks_below():
    view = pictures.clouds()[0].trees_[0]
    below = view.count_below()
    assert below[0] == view.n_blocks - 1
    assert (below[view.is_leaf] == 0).all()
