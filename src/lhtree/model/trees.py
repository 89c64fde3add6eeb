"""The flat arrays of all trees of a model. The fields of :class:`Trees` are the schema of model files, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core

Ints = NDArray[np.int32]
Pointers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Trees in the user's units clip values to MOST_VALUE and treat values below LEAST_VALUE as 0.
MOST_VALUE, LEAST_VALUE = _core.MOST_VALUE, _core.LEAST_VALUE


class Array(NamedTuple):
    """One array of the schema."""

    dtype: str
    axis: str  # items with one value each: "tree", "block", "weight", "slope" or "value"
    about: str  # for the documentation
    points_to: str | None = None  # the axis into which it points, with one entry more than its own axis has
    default: float | None = None  # value of an array that is not given; None: it must be given
    since: str = "0.2.0"  # the first version of lhtree that reads it
    is_scored: bool = True  # whether predictions depend on it; else explanations only

    def size(self, n: int) -> int:
        """Number of values where the axis has n."""
        return n + (self.points_to is not None)


def _array(
    dtype: str,
    axis: str,
    about: str,
    *,
    points_to: str | None = None,
    default: float | None = None,
    since: str = "0.2.0",
    is_scored: bool = True,
) -> Any:
    array = Array(dtype, axis, about, points_to, default, since, is_scored)
    if default is None:
        return field(metadata={"array": array})
    return field(default=None, metadata={"array": array})


@dataclass(frozen=True, eq=False)
class Trees:
    """Arrays of all blocks of all trees; the blocks of a tree are numbered breadth-first, right = left + 1.

    The trees of an estimator follow each other, one per target, unless it is a tree of all classes. An array that is
    not given holds its default everywhere; such arrays take no memory and are not saved. All arrays are read-only.
    """

    target: Ints = _array(
        "i4", "tree", "class that the tree separates from the rest; -1: a tree of all classes"
    )
    block_ptr: Pointers = _array("i8", "tree", "first block of every tree", points_to="block")
    left: Ints = _array("i4", "block", "left child, numbered within the tree; -1 in a leaf")
    n_samples: Ints = _array("i4", "block", "training rows", is_scored=False)
    weight: Floats = _array("f8", "block", "their weight", is_scored=False)
    offset: Floats = _array("f8", "block", "offset c of the hyperplane y = FS - c")
    intercept: Floats = _array(
        "f8",
        "block",
        "intercept of the membership (of a tree of all classes: the largest share); if boosted, the value of a block "
        "without slopes",
    )
    hyperplane_ptr: Pointers = _array("i8", "block", "first weight of every block", points_to="weight")
    hyperplane_feature: Ints = _array("i4", "weight", "features of a block, ascending; branching blocks only")
    hyperplane_weight: NDArray[np.float32] = _array("f4", "weight", "their weights")
    membership_ptr: Pointers = _array("i8", "block", "first slope of every block", points_to="slope")
    membership_feature: Ints = _array("i4", "slope", "features of a block, ascending")
    membership_slope: Floats = _array("f8", "slope", "their slopes")
    n_target: Floats = _array(
        "f8",
        "block",
        "weight of the target's rows (of a tree of all classes: of the heaviest class); not given if boosted",
        default=0.0,
        is_scored=False,
    )
    low: Floats = _array("f8", "block", "estimates of a leaf are clipped to low …", default=0.0)
    high: Floats = _array("f8", "block", "… and high", default=1.0)
    missing: NDArray[np.int8] = _array(
        "i1",
        "block",
        "where a missing value of a single-feature block goes: -1 left, 1 right, 0 as a value at the centre",
        default=0,
    )
    gain: Floats = _array(
        "f8",
        "block",
        "decrease of impurity or loss by the hyperplane",
        default=0.0,
        is_scored=False,
    )
    hyperplane_share: NDArray[np.float32] = _array(
        "f4",
        "weight",
        "share of the block's gain that goes to the feature",
        default=0.0,
        is_scored=False,
    )
    membership_mean: NDArray[np.float32] = _array(
        "f4", "slope", "mean of the feature in the block", default=0.0, is_scored=False
    )
    value_ptr: Pointers = _array("i8", "block", "first value of every block", points_to="value", default=0)
    value_class: Ints = _array(
        "i4", "value", "classes of a block of a tree of all classes, ascending", default=0
    )
    value: Floats = _array("f8", "value", "share of the class, or addition to its score", default=0.0)
    prior_share: Floats = _array(
        "f8",
        "block",
        "share of the class prior in the memberships of a leaf of a tree of all classes; the values have the rest",
        default=0.0,
    )

    unit_weight: Floats = _array(
        "f8",
        "weight",
        "of a tree that is evaluated in the user's units: weights of the features as they are given",
        default=0.0,
    )
    unit_offset: Floats = _array(
        "f8",
        "block",
        "their offset: unit_weight times values, added from left to right, goes left if below it",
        default=0.0,
    )
    unit_slope: Floats = _array("f8", "slope", "slopes of such a tree …", default=0.0)
    unit_intercept: Floats = _array(
        "f8", "block", "… and its intercept: the estimate before it is clipped", default=0.0
    )

    def __post_init__(self) -> None:
        sizes = {"tree": len(self.target), "block": len(self.left)}
        sizes |= {"weight": len(self.hyperplane_weight), "slope": len(self.membership_slope)}
        sizes["value"] = 0 if self.value is None else len(self.value)
        for name, array in SCHEMA.items():
            values = getattr(self, name)
            if values is None:
                shape = (array.size(sizes[array.axis]),)
                values = np.ndarray(shape, array.dtype, _IMPLIED[array.dtype, array.default], strides=(0,))
            elif values.flags.writeable:
                values = values.view()
                values.flags.writeable = False
            object.__setattr__(self, name, values)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.target)

    @property
    def n_blocks(self) -> int:
        """Number of blocks of all trees."""
        return len(self.left)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(values.nbytes for values in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, without arrays that hold their default everywhere."""
        given = {}
        for name, array in SCHEMA.items():
            values = getattr(self, name)
            if array.default is None or (len(values) and values.strides != (0,)):
                given[name] = values
        return given

    @cached_property
    def root(self) -> Pointers:
        """Root of every block's tree among all blocks, shape (n_blocks,)."""
        return np.repeat(self.block_ptr[:-1], np.diff(self.block_ptr))

    @cached_property
    def parent(self) -> Pointers:
        """Parent of every block among all blocks, shape (n_blocks,); -1 for roots."""
        parent = np.full(self.n_blocks, -1)
        branching = np.flatnonzero(self.left >= 0)
        left = self.root[branching] + self.left[branching]
        parent[left] = parent[left + 1] = branching
        return parent

    def part(self, first: int, last: int) -> Trees:
        """Return trees first to last - 1 as separate Trees."""
        bounds = {"tree": (first, last)}
        arrays = self.arrays()
        for name, array in SCHEMA.items():  # an array comes behind the pointers into its axis
            if name not in arrays:
                continue
            begin, end = bounds[array.axis]
            values = arrays[name]
            if array.points_to is None:
                arrays[name] = values[begin:end]
            else:
                bounds[array.points_to] = int(values[begin]), int(values[end])
                arrays[name] = values[begin : end + 1] - values[begin]
        return Trees(**arrays)

    def __add__(self, other: Trees) -> Trees:
        """Return the trees of both."""
        names = self.arrays().keys() | other.arrays().keys()
        joined = {}
        for name in names:
            own, more = getattr(self, name), getattr(other, name)
            is_pointer = SCHEMA[name].points_to is not None
            joined[name] = np.concatenate([own, own[-1] + more[1:]] if is_pointer else [own, more])
        return Trees(**joined)

    def multiply(self, factor: float) -> Trees:
        """Return boosted trees whose values are multiplied by a factor."""
        arrays = self.arrays()
        names = ("n_target", "intercept", "membership_slope", "low", "high", "value")
        return Trees(**arrays | {name: arrays[name] * factor for name in names if name in arrays})

    @property
    def has_units(self) -> bool:
        """Whether trees are evaluated in the user's units, by ``unit_weight`` and ``unit_offset``."""
        return "unit_offset" in self.arrays()

    @property
    def is_joint(self) -> bool:
        """Whether every tree is one of all classes, whose blocks hold shares."""
        return bool(self.target[0] < 0)

    @cached_property
    def value_block(self) -> NDArray[np.int64]:
        """Block of every value, shape (n_values,)."""
        return np.repeat(np.arange(self.n_blocks), np.diff(self.value_ptr))

    def depths(self) -> Ints:
        """Return the depth of every block; roots have 0."""
        depth = np.zeros(self.n_blocks, dtype=np.int32)
        for level, blocks in enumerate(self.levels()):
            depth[blocks] = level
        return depth

    def levels(self) -> list[NDArray[np.int64]]:
        """Return the blocks of every depth."""
        levels, level = [], np.asarray(self.block_ptr[:-1])
        while len(level):
            levels.append(level)
            level = level[self.left[level] >= 0]
            first = self.root[level] + self.left[level]
            level = np.concatenate([first, first + 1])
        return levels

    @property
    def has_slopes(self) -> bool:
        """Whether any block is linear."""
        return len(self.membership_slope) > 0

    @cached_property
    def values(self) -> Floats:
        """Estimate of every block at the means of its features, shape (n_blocks,)."""
        if not self.has_slopes:
            return self.intercept
        block = np.repeat(np.arange(self.n_blocks), np.diff(self.membership_ptr))
        return self.intercept + np.bincount(
            block, weights=self.membership_slope * self.membership_mean, minlength=self.n_blocks
        )

    @cached_property
    def shares(self) -> Floats:
        """Share of the block's gain that goes to the feature of every weight, as float64."""
        return self.hyperplane_share.astype(np.float64)

    @cached_property
    def parts(self) -> Floats:
        """Part of every weight in a change of value at its block: its share of the gain, divided by the sum of shares.

        Where no weight has a share, because chance alone could have earned it, they are divided by |weight|.
        """
        block = np.repeat(np.arange(self.n_blocks), np.diff(self.hyperplane_ptr))
        size = np.abs(self.hyperplane_weight.astype(np.float64))
        is_earned = np.bincount(block, weights=self.shares, minlength=self.n_blocks)[block] > 0.0
        size = np.where(is_earned, self.shares, size)
        return size / np.bincount(block, weights=size, minlength=self.n_blocks)[block]

    def importances(self, n_features: int) -> Floats:
        """Return the share of every feature in the gain of all blocks, shape (n_features,)."""
        earned = self.shares * np.repeat(self._measure_gains()[0], np.diff(self.hyperplane_ptr))
        importance = np.bincount(self.hyperplane_feature, weights=earned, minlength=n_features)
        return importance / importance.sum() if importance.sum() > 0.0 else np.zeros(n_features)

    def gains(self) -> Floats:
        """Return the decrease of the impurity from every block to its children, shape (n_blocks,); 0 in leaves.

        The impurity is t·u / (t + u) of targets and others, or the squared error of a response of any number. Of all
        classes it is the weight times 1 - Σ share². ``gain`` takes its place where it is given.
        """
        gains, unit = self._measure_gains()
        return gains if unit == 1.0 else gains * unit**2

    def _measure_gains(self) -> tuple[Floats, float]:
        """Return the gains in units of the square of a number, and that number."""
        if "gain" in self.arrays():
            return self.gain, 1.0
        gains, branching = np.zeros(self.n_blocks), np.flatnonzero(self.left >= 0)
        left = self.root[branching] + self.left[branching]
        if "low" in self.arrays():  # means of numbers may be far from 0, and their squares may overflow
            mean, weight = self.n_target / self.weight, self.weight
            step = mean[left] - mean[left + 1]
            unit = float(np.abs(step).max(initial=0.0)) or 1.0
            gains[branching] = weight[left] / weight[branching] * weight[left + 1] * (step / unit) ** 2
            return gains, unit
        explained = self.n_target * (self.n_target / self.weight)
        if self.is_joint:
            squares = np.bincount(self.value_block, weights=self.value**2, minlength=self.n_blocks)
            explained = self.weight * squares
        gains[branching] = np.maximum(explained[left] + explained[left + 1] - explained[branching], 0.0)
        return gains, 1.0

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Trees, **self.arrays()), ()


def bound_values(X: NDArray[Any], centre: Floats) -> Floats:
    """Return rows for trees in the user's units: float64, clipped, with the centre in place of missing values."""
    X = X.astype(np.float64)
    bounded = np.clip(X, -MOST_VALUE, MOST_VALUE)
    bounded = np.where(np.abs(bounded) < LEAST_VALUE, 0.0, bounded)
    return np.where(np.isnan(X), centre, bounded)


def count_nesting(children: Sequence[Sequence[int]]) -> list[int]:
    """Return the levels of nesting needed to write a tree, below every block, as "if one side, …; the other side".

    The side with fewer levels is the nested one, so that a tree of n leaves has at most log2(n) levels. Children follow
    their parents; a negative child is a leaf.
    """
    levels = [0] * len(children)
    for block in reversed(range(len(children))):
        fewer, more = sorted(levels[child] if child >= 0 else 0 for child in children[block])
        levels[block] = max(more, fewer + 1)
    return levels


SCHEMA: dict[str, Array] = {one.name: one.metadata["array"] for one in fields(Trees)}
# The bytes of every default: an array that is not given repeats them with a stride of 0.
_IMPLIED: dict[tuple[str, float | None], bytes] = {
    (array.dtype, array.default): np.array([array.default], dtype=array.dtype).tobytes()
    for array in SCHEMA.values()
    if array.default is not None
}


def join_trees(parts: Sequence[Trees]) -> Trees:
    """Return the trees of some parts, of which there is at least one, one after the other."""
    parts = list(parts)
    while len(parts) > 1:  # neighbours join, so that arrays are copied a few times only
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [one + more for one, more in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


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
