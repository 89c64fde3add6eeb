"""What a walk down the trees needs, and no more: branching blocks and leaves, numbered over all trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import CLIP, Model
from ..model.shares import list_memberships
from ..model.trees import Trees

# Values of a row lie in planes, one behind the other, with a value for every feature in each: clipped, for blocks of
# several features and slopes, or as they are, with one of these instead of missing values, for blocks of one feature.
MISSING = {"clipped": 0.0, "at_centre": 0.0, "leftmost": -np.inf, "rightmost": np.inf}


def check_walkable(fitted: Model, where: str, *, knows_boosted: bool = False) -> None:
    """Refuse what the walks of exports and of the report's page cannot do yet."""
    has = {}
    if not knows_boosted:
        has["blocks that route missing values"] = fitted.trees.missing.any()
        has[f"link={fitted.link!r}"] = np.bool_(fitted.link != "wolf")
        has["initial scores"] = np.bool_(fitted.base is not None)
        has[f"clip={fitted.clip:g}"] = np.bool_(fitted.clip != CLIP)
    refused = [what for what, is_there in has.items() if is_there]
    if refused:
        raise ValueError(
            f"the model has {' and '.join(refused)}, which {where} does not support yet: use lhtree.save and "
            "lhtree.Scorer."
        )


def take_base(fitted: Model) -> NDArray[np.float64]:
    """What the trees of every target add to: raw scores before the first tree, or 0 where they are averaged."""
    return np.zeros(1) if fitted.base is None else fitted.base


def has_bounds(trees: Trees) -> bool:
    """Whether the estimates of any leaf are clipped to something else than 0 and 1."""
    is_leaf = trees.left < 0
    return bool((trees.low[is_leaf] != 0.0).any() or (trees.high[is_leaf] != 1.0).any())


def find_linear(
    trees: Trees,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Slopes, intercepts and offsets that predictions use: those in the user's units, if there are any."""
    if not trees.has_units:
        return trees.membership_slope, trees.intercept, trees.offset
    intercept = trees.unit_intercept if trees.has_slopes else trees.intercept
    return trees.unit_slope, intercept, trees.unit_offset


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


def find_planes(fitted: Model) -> tuple[tuple[str, ...], Terms]:
    """The planes that a model uses, "clipped" first, and all weights, with plane · n_features + feature as feature."""
    trees = fitted.trees
    if trees.has_units:
        return ("clipped",), Terms(trees.hyperplane_ptr, trees.hyperplane_feature, trees.unit_weight)
    n_terms = np.diff(trees.hyperplane_ptr)
    at_centre = int(fitted.clip < CLIP)
    plane = np.where(n_terms == 1, np.array([at_centre, 3, 2])[trees.missing], 0)
    used = np.union1d(plane, 0)
    number = np.searchsorted(used, np.repeat(plane, n_terms)) * fitted.n_features
    feature = (trees.hyperplane_feature + number).astype(np.int32)
    kinds = tuple(MISSING)
    return tuple(kinds[one] for one in used), Terms(trees.hyperplane_ptr, feature, trees.hyperplane_weight)


class Walks(NamedTuple):
    """Branching blocks and leaves of all trees. A place is the number of a branching block, or -1 - that of a leaf.

    In the user's units, there are the values as they are, the centre instead of a missing one, and terms are added from
    left to right; a sum of slopes begins with the intercept.
    """

    root: NDArray[np.int32]  # place of every tree's root
    child: NDArray[np.int32]  # places of the left and the right child of every branching block, shape (n, 2)
    offset: NDArray[np.float64]
    planes: tuple[str, ...]
    weights: Terms  # their features are places in the planes
    intercept: NDArray[np.float64]  # of every leaf
    slopes: Terms
    shares: Terms | None  # of trees of all classes: shares by class of every leaf
    bounds: (
        tuple[NDArray[np.float64], NDArray[np.float64]] | None
    )  # low and high of every leaf; None: 0 and 1
    has_units: bool  # whether all of it is in the user's units


def find_walks(fitted: Model, where: str) -> Walks:
    """Branching blocks and leaves of a model that is written ``where``."""
    check_walkable(fitted, where, knows_boosted=True)
    trees = fitted.trees
    is_leaf = trees.left < 0
    branching, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    place = np.where(is_leaf, -np.cumsum(is_leaf, dtype=np.int64), np.cumsum(~is_leaf) - 1).astype(np.int32)
    first = np.repeat(trees.block_ptr[:-1], np.diff(trees.block_ptr))
    left = (first + trees.left)[branching]
    planes, weights = find_planes(fitted)
    slope, intercept, offset = find_linear(trees)
    slopes = Terms(trees.membership_ptr, trees.membership_feature, slope)
    return Walks(
        root=place[trees.block_ptr[:-1]],
        child=np.stack([place[left], place[left + 1]], axis=1),
        offset=offset[branching],
        planes=planes,
        weights=weights.take(branching),
        intercept=intercept[leaves],
        slopes=slopes.take(leaves),
        shares=Terms(*list_memberships(trees, fitted.prior)).take(leaves) if fitted.is_joint else None,
        bounds=(trees.low[leaves], trees.high[leaves]) if has_bounds(trees) else None,
        has_units=trees.has_units,
    )
