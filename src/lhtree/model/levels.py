"""Levels of symmetric trees: all leaves of a tree have the same depth, and all blocks of a level one hyperplane."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .trees import Trees


class CompleteTrees:
    """Numbers of the blocks of trees whose leaves are all at the depth of their tree."""

    def __init__(self, depth: NDArray[np.int32]) -> None:
        self.depth = depth.astype(np.int64)
        self.n_leaves = np.left_shift(1, self.depth)

    @cached_property
    def block_ptr(self) -> NDArray[np.int64]:
        """First block of every tree."""
        return np.concatenate([[0], np.cumsum(2 * self.n_leaves - 1)])

    @cached_property
    def number(self) -> NDArray[np.int64]:
        """Number of every block within its tree."""
        return np.arange(self.block_ptr[-1]) - np.repeat(self.block_ptr[:-1], 2 * self.n_leaves - 1)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether a block is a leaf."""
        return self.number >= np.repeat(self.n_leaves - 1, 2 * self.n_leaves - 1)

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The leaves among all blocks."""
        return np.flatnonzero(self.is_leaf)

    @cached_property
    def branches(self) -> NDArray[np.int64]:
        """The branching blocks among all blocks."""
        return np.flatnonzero(~self.is_leaf)

    @cached_property
    def left(self) -> NDArray[np.int32]:
        """Left child of every block."""
        return np.where(self.is_leaf, -1, 2 * self.number + 1).astype(np.int32)

    @cached_property
    def level(self) -> NDArray[np.int64]:
        """Level of every branching block, numbered over all trees."""
        levels = np.arange(self.depth.max())
        of_number = np.repeat(levels, np.left_shift(1, levels))
        first = np.cumsum(self.depth) - self.depth
        return of_number[self.number[self.branches]] + np.repeat(first, self.n_leaves - 1)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """First block of every level."""
        tree = np.repeat(np.arange(len(self.depth)), self.depth)
        above = np.arange(len(tree)) - np.repeat(np.cumsum(self.depth) - self.depth, self.depth)
        return self.block_ptr[tree] + np.left_shift(1, above) - 1

    def fill(self, of_leaves: NDArray[Any], of_branches: NDArray[Any] | float) -> NDArray[Any]:
        """Return values by block, given the values of leaves and of branching blocks."""
        values = np.empty(len(self.number), dtype=of_leaves.dtype)
        values[self.leaves], values[self.branches] = of_leaves, of_branches
        return values

    def sum_up(self, of_leaves: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the leaves below every block."""
        total = self.fill(of_leaves, 0)
        for above in reversed(range(int(self.depth.max()))):
            root = self.block_ptr[:-1][self.depth > above, None]
            parent = np.arange(2**above - 1, 2 ** (above + 1) - 1)
            total[root + parent] = total[root + 2 * parent + 1] + total[root + 2 * parent + 2]
        return total


def find_levels(trees: Trees) -> CompleteTrees | None:
    """Return the levels of trees in normalised values that are all symmetric; None of any others."""
    if trees.has_units:
        return None
    complete = CompleteTrees(np.log2(np.diff(trees.block_ptr) + 1).astype(np.int32) - 1)
    if not np.array_equal(complete.block_ptr, trees.block_ptr):
        return None
    like, branches = complete.first[complete.level], complete.branches
    sizes = np.diff(trees.hyperplane_ptr)
    is_same = (
        np.array_equal(trees.left, complete.left)
        and np.array_equal(trees.offset[branches], trees.offset[like])
        and np.array_equal(trees.missing[branches], trees.missing[like])
        and np.array_equal(sizes[branches], sizes[like])
    )
    if not is_same:
        return None
    own, first = (find_places(trees.hyperplane_ptr[blocks], sizes[like]) for blocks in (branches, like))
    pairs = (trees.hyperplane_feature, trees.hyperplane_weight)
    return complete if all(np.array_equal(values[own], values[first]) for values in pairs) else None


def find_ptr(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return pointers into an array, given the sizes of its parts."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def find_places(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of parts of an array, given the first place and the size of each."""
    ptr = find_ptr(sizes)
    return np.arange(ptr[-1]) + np.repeat(first - ptr[:-1], sizes)
