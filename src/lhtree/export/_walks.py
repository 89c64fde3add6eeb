"""Description of all trees for evaluators in other languages: branching blocks and leaves, numbered over all trees."""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import CLIP, Model
from ..model.shares import list_memberships
from ..model.trees import Trees, find_levels

# The values of a row are stored in planes, each with one value per feature. Blocks of several features and slopes read
# the clipped plane. Blocks of one feature read a plane that differs in the value that replaces missing ones.
MISSING = {"clipped": 0.0, "at_centre": 0.0, "leftmost": -np.inf, "rightmost": np.inf}

# Constants of the core's e^x (``elementary.hpp``), whose operations exports repeat one by one:
# x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^x = 2^k (1 + (high + (r² tail - low))), where tail is a Taylor series.
EXP_PER_LN2 = float.fromhex("0x1.71547652b82fep0")
EXP_LN2_HIGH, EXP_LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
EXP_ROUNDER = 1.5 * 2.0**52  # adding and subtracting it rounds to a whole number
EXP_TAIL = [1.0 / factorial(n) for n in range(13, 1, -1)]
EXP_LEAST = -746.0  # for smaller x the result is 0 …
EXP_LARGEST = 709.0  # larger x are treated as this, since e^710 is infinite
EXP_MOST_HALF = 512  # half of the largest k

# Constants of the core's ln x: x = 2^k (1 + f) with 1 + f from √½ to √2, s = f / (2 + f), and
# ln(1 + f) = 2s + s · series, where the series has powers of s².
LOG_ROOT_HALF = float.fromhex("0x1.6a09ep-1")
LOG_SERIES = [2.0 / n for n in range(23, 1, -2)]


def check_plain(fitted: Model, where: str) -> None:
    """Raise ValueError if a model of memberships has properties that ``where`` does not support."""
    has = {
        "blocks that route missing values": bool(fitted.trees.missing.any()),
        "initial scores": fitted.base is not None,
        f"clip={fitted.clip:g}": fitted.clip != CLIP,
    }
    refused = [what for what, is_there in has.items() if is_there]
    if refused:
        raise ValueError(
            f"the model has {' and '.join(refused)}, which {where} does not support yet: use lhtree.save and "
            "lhtree.Scorer."
        )


def take_base(fitted: Model) -> NDArray[np.float64]:
    """Return the initial score of every target; 0 where trees are averaged."""
    return np.zeros(1) if fitted.base is None else fitted.base


def has_bounds(trees: Trees) -> bool:
    """Return whether estimates of any leaf are clipped to a range other than 0 to 1."""
    is_leaf = trees.left < 0
    return bool((trees.low[is_leaf] != 0.0).any() or (trees.high[is_leaf] != 1.0).any())


class Terms(NamedTuple):
    """Values by feature, as the rows of a sparse matrix (CSR): weights of hyperplanes or slopes of memberships."""

    ptr: NDArray[np.int64]
    feature: NDArray[np.int32]
    value: NDArray[Any]

    @property
    def widest(self) -> int:
        """Largest number of terms in a row."""
        return int(np.diff(self.ptr).max(initial=0))

    def row(self, number: int) -> list[tuple[int, float]]:
        """Return the features and values of one row."""
        some = slice(self.ptr[number], self.ptr[number + 1])
        return list(zip(self.feature[some].tolist(), self.value[some].tolist(), strict=True))

    def take(self, rows: NDArray[np.int64]) -> Terms:
        """Return some of the rows."""
        size = np.diff(self.ptr)[rows]
        ptr = np.concatenate([[0], np.cumsum(size)])
        place = np.arange(ptr[-1]) + np.repeat(self.ptr[rows] - ptr[:-1], size)
        return Terms(ptr, self.feature[place], self.value[place])

    def pad(self, width: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return features and values as dense matrices of this width, padded with 0 times feature 0."""
        size = np.diff(self.ptr)
        row = np.repeat(np.arange(len(size)), size)
        place = np.arange(self.ptr[-1]) - np.repeat(self.ptr[:-1], size)
        feature = np.zeros((len(size), width), dtype=np.int32)
        value = np.zeros((len(size), width), dtype=self.value.dtype)
        feature[row, place], value[row, place] = self.feature, self.value
        return feature, value

    def dense(self, n_features: int) -> NDArray[np.float64]:
        """Return a dense matrix, one column per feature."""
        matrix = np.zeros((len(self.ptr) - 1, n_features))
        matrix[np.repeat(np.arange(len(matrix)), np.diff(self.ptr)), self.feature] = self.value
        return matrix


def _find_planes(fitted: Model) -> tuple[tuple[str, ...], Terms]:
    """Return the planes in use, "clipped" first, and all weights, with plane · n_features + feature as feature."""
    trees = fitted.trees
    n_terms = np.diff(trees.hyperplane_ptr)
    at_centre = int(fitted.clip < CLIP)
    plane = np.where(n_terms == 1, np.array([at_centre, 3, 2])[trees.missing], 0)
    used = np.union1d(plane, 0)
    number = np.searchsorted(used, np.repeat(plane, n_terms)) * fitted.n_features
    feature = (trees.hyperplane_feature + number).astype(np.int32)
    kinds = tuple(MISSING)
    return tuple(kinds[one] for one in used), Terms(trees.hyperplane_ptr, feature, trees.hyperplane_weight)


class WalkLevels(NamedTuple):
    """Levels of symmetric trees. The leaf of a row is the first of the tree plus the bits of levels on the right."""

    tree: NDArray[np.int64]  # of every level
    bit: NDArray[np.int64]
    offset: NDArray[np.float64]
    weights: Terms
    first_leaf: NDArray[np.int64]  # of every tree

    @property
    def is_step(self) -> NDArray[np.bool_]:
        """Whether a level has a single feature with weight 1, which is compared with the offset."""
        first = self.weights.value[self.weights.ptr[:-1]]
        return np.asarray((np.diff(self.weights.ptr) == 1) & (first == 1.0))


def _find_levels(fitted: Model, weights: Terms) -> WalkLevels | None:
    trees = find_levels(fitted.trees) if fitted.confidence is None else None
    if trees is None or not len(trees.first):
        return None
    tree = np.repeat(np.arange(len(trees.depth)), trees.depth)
    above = trees.first - trees.block_ptr[tree] + 1  # blocks of the level
    return WalkLevels(
        tree=tree,
        bit=trees.n_leaves[tree] // (2 * above),
        offset=fitted.trees.offset[trees.first],
        weights=weights.take(trees.first),
        first_leaf=np.cumsum(trees.n_leaves) - trees.n_leaves,
    )


class Walks(NamedTuple):
    """Branching blocks and leaves of all trees. A place is the number of a branching block, or -1 - that of a leaf.

    The space says how a row is read. "normalised": float32 values in planes; terms are added in eight lanes. "units":
    values in the user's units, a missing one replaced by the centre; terms are added from left to right, and a sum of
    slopes begins with the intercept. The leaf type is "estimate" (intercept and slopes) or "shares" (of all classes).
    """

    space: str
    leaf: str
    root: NDArray[np.int32]  # place of every tree's root
    child: NDArray[np.int32]  # places of the left and the right child of every branching block, shape (n, 2)
    offset: NDArray[np.float64]
    planes: tuple[str, ...]
    weights: Terms  # their features are places in the planes
    intercept: NDArray[np.float64]  # of every leaf
    slopes: Terms
    shares: Terms | None  # by class, of every leaf
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None  # of every leaf; None: 0 and 1
    levels: WalkLevels | None  # of symmetric trees without confidences, in place of their blocks


def find_walks(fitted: Model) -> Walks:
    """Return the branching blocks and leaves of a model; raise an error if it has columns of dates."""
    fitted.encoding.refuse_dates("exports")
    trees = fitted.trees
    is_leaf = trees.left < 0
    branching, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    place = np.where(is_leaf, -np.cumsum(is_leaf, dtype=np.int64), np.cumsum(~is_leaf) - 1).astype(np.int32)
    first = np.repeat(trees.block_ptr[:-1], np.diff(trees.block_ptr))
    left = (first + trees.left)[branching]
    planes: tuple[str, ...] = ("clipped",)
    if trees.has_units:
        space, offset = "units", trees.unit_offset
        weights = Terms(trees.hyperplane_ptr, trees.hyperplane_feature, trees.unit_weight)
        slope, intercept = trees.unit_slope, trees.unit_intercept if trees.has_slopes else trees.intercept
    else:
        space, offset, slope, intercept = "normalised", trees.offset, trees.membership_slope, trees.intercept
        planes, weights = _find_planes(fitted)
    has_shares = fitted.head.shares_classes
    return Walks(
        space=space,
        leaf="shares" if has_shares else "estimate",
        root=place[trees.block_ptr[:-1]],
        child=np.stack([place[left], place[left + 1]], axis=1),
        offset=offset[branching],
        planes=planes,
        weights=weights.take(branching),
        intercept=intercept[leaves],
        slopes=Terms(trees.membership_ptr, trees.membership_feature, slope).take(leaves),
        shares=Terms(*list_memberships(trees, fitted.prior)).take(leaves) if has_shares else None,
        bounds=(trees.low[leaves], trees.high[leaves]) if has_bounds(trees) else None,
        levels=_find_levels(fitted, weights),
    )
