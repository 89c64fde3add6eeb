"""Drawings of symmetric trees: a card per level and a table of leaves."""

import numpy as np
import pytest

from lhtree import LHBoostClassifier
from lhtree.draw.scene import Box, Group, Text
from lhtree.draw.tree import SymmetricDrawing, TreeDrawing, make_drawing
from support.clouds import make_clouds

ROOM = (200.0, 150.0)


@pytest.fixture(scope="module")
def tree():
    X, y = make_clouds(300, 5, 2)
    return LHBoostClassifier(5, max_depth=4, random_state=0).fit(X, y).trees_[0]


def list_boxes(shapes):
    for shape in shapes:
        if isinstance(shape, Group):
            yield from list_boxes(shape.shapes)
        elif isinstance(shape, Box):
            yield shape


def test_levels_share_their_hyperplane(tree):
    assert [len(blocks) for blocks in tree.levels] == [1, 2, 4, 8]
    for blocks in tree.levels:
        assert all(tree.weights(block) == tree.weights(blocks[0]) for block in blocks)


def test_every_level_has_a_card_and_every_leaf_a_cell(tree):
    drawing = make_drawing(tree, ROOM)
    assert isinstance(drawing, SymmetricDrawing)
    names = {box.name for box in list_boxes(drawing.draw())}
    assert {f"level-{level}" for level in range(4)} <= names
    assert {f"block-{leaf}" for leaf in np.flatnonzero(tree.is_leaf)} <= names


def test_cells_lie_at_the_sides_of_their_leaves(tree):
    cells = {box.name: box for box in list_boxes(make_drawing(tree, ROOM).draw())}
    first = int(np.flatnonzero(tree.is_leaf)[0])
    lefts = {cells[f"block-{first + leaf}"].x for leaf in (0, 4, 8, 12)}
    assert len(lefts) == 1  # the same sides in levels 3 and 4
    tops = {cells[f"block-{first + leaf}"].y for leaf in range(4)}
    assert len(tops) == 1  # the same sides in levels 1 and 2


def test_values_are_printed_in_their_cells(tree):
    leaf = int(np.flatnonzero(tree.is_leaf)[5])
    groups = [shape for shape in make_drawing(tree, ROOM).draw() if isinstance(shape, Group)]
    cell = next(group for group in groups if group.title.startswith(f"leaf {leaf}:"))
    printed = [shape.text for shape in cell.shapes if isinstance(shape, Text)]
    assert printed == [tree.write_value(float(tree.value[leaf])).replace("-", "−")]


def test_folded_trees_and_free_trees_have_a_card_per_block(tree):
    assert isinstance(make_drawing(tree, ROOM, max_depth=2), TreeDrawing)
    X, y = make_clouds(300, 5, 2)
    free = LHBoostClassifier(5, growth="free", random_state=0).fit(X, y).trees_[0]
    assert free.levels == []
    assert isinstance(make_drawing(free, ROOM), TreeDrawing)
