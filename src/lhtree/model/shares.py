"""Trees of all classes: shares and memberships of the classes in their blocks, or their values in boosted trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .trees import Trees, join_trees

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCKS_AT_ONCE = 1 << 14  # blocks whose shares of all classes are in memory
_OF_ALL_CLASSES = ("value_ptr", "value_class", "value", "prior_share")


def share_of(trees: Trees, cls: int) -> Floats:
    """Return the share of one class in every block, shape (n_blocks,)."""
    share, own = np.zeros(trees.n_blocks), trees.value_class == cls
    share[trees.value_block[own]] = trees.value[own]
    return share


def shares_at(trees: Trees, blocks: Ints, n_classes: int) -> Floats:
    """Return the shares of all classes in some blocks, numbered over all trees, shape (len(blocks), K)."""
    begin = trees.value_ptr[blocks]
    size = trees.value_ptr[blocks + 1] - begin
    row = np.repeat(np.arange(len(blocks)), size)
    place = np.arange(len(row)) + np.repeat(begin - (np.cumsum(size) - size), size)
    shares = np.zeros((len(blocks), n_classes))
    shares[row, trees.value_class[place]] = trees.value[place]
    return shares


def memberships_at(trees: Trees, blocks: Ints, prior: Floats) -> Floats:
    """Return the memberships of all classes in some blocks, shape (len(blocks), K): shares, smoothed in leaves."""
    of_prior = trees.prior_share[blocks, None]
    memberships: Floats = (1.0 - of_prior) * shares_at(trees, blocks, len(prior)) + of_prior * prior
    return memberships


def list_memberships(trees: Trees, prior: Floats) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return memberships as a sparse matrix (CSR) with a row per block: pointers, classes and values.

    A leaf that is smoothed to the prior has a value of every class.
    """
    is_smoothed = trees.prior_share > 0.0
    if not is_smoothed.any():
        return trees.value_ptr, trees.value_class, trees.value
    size = np.where(is_smoothed, len(prior), np.diff(trees.value_ptr))
    ptr = np.concatenate([[0], np.cumsum(size)])
    is_new, is_kept = np.repeat(is_smoothed, size), ~is_smoothed[trees.value_block]
    cls, value = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1])
    cls[~is_new], value[~is_new] = trees.value_class[is_kept], trees.value[is_kept]
    cls[is_new] = np.tile(np.arange(len(prior)), is_smoothed.sum())
    value[is_new] = memberships_at(trees, np.flatnonzero(is_smoothed), prior).ravel()
    return ptr, cls, value


def find_heaviest(trees: Trees, blocks: Ints, n_classes: int) -> Ints:
    """Return the majority class of some blocks; the first one if several are equal."""
    heaviest: Ints = shares_at(trees, blocks, n_classes).argmax(axis=1)
    return heaviest


def find_contrast(trees: Trees, blocks: Ints, n_classes: int) -> tuple[Ints, Floats]:
    """Return the class in which the sides of branching blocks differ most, and its share right minus left."""
    cls, lift = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks))
    for begin in range(0, len(blocks), _BLOCKS_AT_ONCE):
        some = slice(begin, begin + _BLOCKS_AT_ONCE)
        left = trees.root[blocks[some]] + trees.left[blocks[some]]
        rise = shares_at(trees, left + 1, n_classes) - shares_at(trees, left, n_classes)
        cls[some] = np.abs(rise).argmax(axis=1)
        lift[some] = np.take_along_axis(rise, cls[some, None], axis=1)[:, 0]
    return cls, lift


def take_output(trees: Trees, output: int) -> Trees:
    """Return the trees of one of several outputs; trees with values of all outputs become trees of constants."""
    if not trees.is_joint:
        own = np.flatnonzero(trees.target == output).tolist()
        joined = join_trees([trees.part(tree, tree + 1) for tree in own])
        return replace(joined, target=np.zeros(len(own), dtype=np.int32))
    value = share_of(trees, output)
    plain = {name: values for name, values in trees.arrays().items() if name not in _OF_ALL_CLASSES}
    target = np.zeros(trees.n_trees, dtype=np.int32)
    return Trees(**plain | {"target": target} | dict.fromkeys(("intercept", "low", "high"), value))


def split_classes(trees: Trees, prior: Floats, *, has_values: bool = False) -> Trees:
    """Return one tree per class instead of each tree of all classes; scores are equal, the size is K times larger."""
    plain = {name: values for name, values in trees.arrays().items() if name not in _OF_ALL_CLASSES}
    shares = np.stack([share_of(trees, cls) for cls in range(len(prior))])
    memberships = (1.0 - trees.prior_share) * shares + trees.prior_share * prior[:, None]
    is_leaf, is_smoothed = trees.left < 0, "prior_share" in trees.arrays()
    parts = []
    for tree in range(trees.n_trees):
        own = slice(trees.block_ptr[tree], trees.block_ptr[tree + 1])
        one = Trees(**plain).part(tree, tree + 1).arrays()
        for cls, (share, membership) in enumerate(zip(shares[:, own], memberships[:, own], strict=True)):
            new = {"target": np.array([cls], dtype=np.int32), "n_target": share * trees.weight[own]}
            if is_smoothed:  # the share of a leaf is clipped to a range of one value
                new |= {
                    "low": np.where(is_leaf[own], membership, 0.0),
                    "high": np.where(is_leaf[own], membership, 1.0),
                }
            if has_values:
                new |= {"low": membership, "high": membership}
            parts.append(Trees(**one | new | {"intercept": membership}))
    return join_trees(parts)
