"""What a walk down the trees needs, and no more: branching blocks and leaves, numbered over all trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import CLIP, Model
from ..trees import Trees


def check_walkable(fitted: Model, where: str) -> None:
    """Refuse what the walks of exports and of the report's page cannot do yet."""
    has = {
        "trees of all classes": (fitted.trees.target < 0).any(),
        "blocks that route missing values": fitted.trees.missing.any(),
        f"link={fitted.link!r}": fitted.link != "wolf",
        "initial scores": fitted.base is not None,
        f"clip={fitted.clip:g}": fitted.clip != CLIP,
    }
    refused = [what for what, is_there in has.items() if is_there]
    if refused:
        raise ValueError(
            f"the model has {' and '.join(refused)}, which {where} does not support yet: use lhtree.save and "
            "lhtree.Scorer."
        )


def has_bounds(trees: Trees) -> bool:
    """Whether the estimates of any leaf are clipped to something else than 0 and 1."""
    is_leaf = trees.left < 0
    return bool((trees.low[is_leaf] != 0.0).any() or (trees.high[is_leaf] != 1.0).any())


class Terms(NamedTuple):
    """Values by feature, as the rows of a sparse matrix (CSR): weights of hyperplanes or slopes of memberships."""

    ptr: NDArray[np.int64]
    feature: NDArray[np.int32]
    value: NDArray[Any]

    @property
    def widest(self) -> int:
        """Terms of the row that has most."""
        return int(np.diff(self.ptr).max(initial=0))

    def row(self, number: int) -> list[tuple[int, float]]:
        """Features and values of one row."""
        some = slice(self.ptr[number], self.ptr[number + 1])
        return list(zip(self.feature[some].tolist(), self.value[some].tolist(), strict=True))

    def take(self, rows: NDArray[np.int64]) -> Terms:
        """Some of the rows."""
        size = np.diff(self.ptr)[rows]
        ptr = np.concatenate([[0], np.cumsum(size)])
        place = np.arange(ptr[-1]) + np.repeat(self.ptr[rows] - ptr[:-1], size)
        return Terms(ptr, self.feature[place], self.value[place])

    def pad(self, width: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Features and values as dense matrices of this width, filled up with 0 times feature 0."""
        size = np.diff(self.ptr)
        row = np.repeat(np.arange(len(size)), size)
        place = np.arange(self.ptr[-1]) - np.repeat(self.ptr[:-1], size)
        feature = np.zeros((len(size), width), dtype=np.int32)
        value = np.zeros((len(size), width), dtype=self.value.dtype)
        feature[row, place], value[row, place] = self.feature, self.value
        return feature, value


class Walks(NamedTuple):
    """Branching blocks and leaves of all trees. A place is the number of a branching block, or -1 - that of a leaf."""

    root: NDArray[np.int32]  # place of every tree's root
    child: NDArray[np.int32]  # places of the left and the right child of every branching block, shape (n, 2)
    offset: NDArray[np.float64]
    weights: Terms
    intercept: NDArray[np.float64]  # of every leaf
    slopes: Terms
    bounds: (
        tuple[NDArray[np.float64], NDArray[np.float64]] | None
    )  # low and high of every leaf; None: 0 and 1


def find_walks(fitted: Model, where: str) -> Walks:
    """Branching blocks and leaves of a model that is written ``where``."""
    check_walkable(fitted, where)
    trees = fitted.trees
    is_leaf = trees.left < 0
    branching, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    place = np.where(is_leaf, -np.cumsum(is_leaf, dtype=np.int64), np.cumsum(~is_leaf) - 1).astype(np.int32)
    first = np.repeat(trees.block_ptr[:-1], np.diff(trees.block_ptr))
    left = (first + trees.left)[branching]
    weights = Terms(trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)
    slopes = Terms(trees.membership_ptr, trees.membership_feature, trees.membership_slope)
    return Walks(
        root=place[trees.block_ptr[:-1]],
        child=np.stack([place[left], place[left + 1]], axis=1),
        offset=trees.offset[branching],
        weights=weights.take(branching),
        intercept=trees.intercept[leaves],
        slopes=slopes.take(leaves),
        bounds=(trees.low[leaves], trees.high[leaves]) if has_bounds(trees) else None,
    )
