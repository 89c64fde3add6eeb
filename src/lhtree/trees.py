"""The flat arrays of all trees of a model. The fields of :class:`Trees` are the schema of model files, too."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Pointers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Array(NamedTuple):
    """One array of the schema."""

    dtype: str
    axis: str  # what has one value each: "tree", "block", "weight", "slope" or "value"
    about: str  # for the documentation
    points_to: str | None = None  # the axis into which it points, with one entry more than its own axis has
    default: float | None = None  # what every value is where the array is not given; None: it has to be given
    since: str = "0.1.0"  # the first lhtree that can read it
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
    since: str = "0.1.0",
    is_scored: bool = True,
) -> Any:
    array = Array(dtype, axis, about, points_to, default, since, is_scored)
    if default is None:
        return field(metadata={"array": array})
    return field(default=None, metadata={"array": array})


@dataclass(frozen=True, eq=False)
class Trees:
    """Arrays of all blocks of all trees; the blocks of a tree are numbered breadth-first, right = left + 1.

    The trees of an estimator follow each other, one per target. An array that is not given holds its default
    everywhere; such arrays take no memory and are not saved. All arrays are read-only.
    """

    target: Ints = _array(
        "i4", "tree", "class that the tree separates from the rest; -1: a tree of all classes"
    )
    block_ptr: Pointers = _array("i8", "tree", "first block of every tree", points_to="block")
    left: Ints = _array("i4", "block", "left child, numbered within the tree; -1 in a leaf")
    n_samples: Ints = _array("i4", "block", "training rows", is_scored=False)
    weight: Floats = _array("f8", "block", "their weight", is_scored=False)
    n_target: Floats = _array(
        "f8",
        "block",
        "weight of the target's rows; if boosted, minus the sum of the gradients",
        is_scored=False,
    )
    offset: Floats = _array("f8", "block", "offset c of the hyperplane y = FS - c")
    intercept: Floats = _array(
        "f8", "block", "intercept of the membership; the value of the block, if boosted"
    )
    hyperplane_ptr: Pointers = _array("i8", "block", "first weight of every block", points_to="weight")
    hyperplane_feature: Ints = _array("i4", "weight", "features of a block, ascending; branching blocks only")
    hyperplane_weight: NDArray[np.float32] = _array("f4", "weight", "their weights")
    membership_ptr: Pointers = _array("i8", "block", "first slope of every block", points_to="slope")
    membership_feature: Ints = _array("i4", "slope", "features of a block, ascending")
    membership_slope: Floats = _array("f8", "slope", "their slopes")
    low: Floats = _array(
        "f8", "block", "estimates of a leaf are clipped to low …", default=0.0, since="0.2.0"
    )
    high: Floats = _array("f8", "block", "… and high", default=1.0, since="0.2.0")
    missing: NDArray[np.int8] = _array(
        "i1",
        "block",
        "where a missing value of a single-feature block goes: -1 left, 1 right, 0 as a value at the centre",
        default=0,
        since="0.2.0",
    )
    gain: Floats = _array(
        "f8",
        "block",
        "decrease of impurity or loss by the hyperplane",
        default=0.0,
        since="0.2.0",
        is_scored=False,
    )
    hyperplane_share: NDArray[np.float32] = _array(
        "f4",
        "weight",
        "share of the block's gain that goes to the feature; -1: unknown",
        default=-1.0,
        since="0.2.0",
        is_scored=False,
    )
    membership_mean: NDArray[np.float32] = _array(
        "f4", "slope", "mean of the feature in the block", default=0.0, since="0.2.0", is_scored=False
    )
    value_ptr: Pointers = _array(
        "i8", "block", "first value of every block", points_to="value", default=0, since="0.2.0"
    )
    value_class: Ints = _array(
        "i4", "value", "classes of a block of a tree of all classes, ascending", default=0, since="0.2.0"
    )
    value: Floats = _array(
        "f8", "value", "share of the class, or addition to its score", default=0.0, since="0.2.0"
    )

    def __post_init__(self) -> None:
        sizes = {"tree": len(self.target), "block": len(self.left)}
        sizes |= {"weight": len(self.hyperplane_weight), "slope": len(self.membership_slope)}
        sizes["value"] = 0 if self.value is None else len(self.value)
        for name, array in SCHEMA.items():
            values = getattr(self, name)
            if values is None:
                implied = np.asarray(array.default, dtype=array.dtype)
                values = np.broadcast_to(implied, (array.size(sizes[array.axis]),))
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
        """The arrays by name, without those that hold their default everywhere."""
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

    def part(self, first: int, last: int) -> Trees:
        """Trees first to last - 1 as separate Trees."""
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
        """The trees of both."""
        names = self.arrays().keys() | other.arrays().keys()
        joined = {}
        for name in names:
            own, more = getattr(self, name), getattr(other, name)
            is_pointer = SCHEMA[name].points_to is not None
            joined[name] = np.concatenate([own, own[-1] + more[1:]] if is_pointer else [own, more])
        return Trees(**joined)

    def depths(self) -> Ints:
        """Depth of every block; roots have 0."""
        depth = np.zeros(self.n_blocks, dtype=np.int32)
        for level, blocks in enumerate(self.levels()):
            depth[blocks] = level
        return depth

    def levels(self) -> list[NDArray[np.int64]]:
        """The blocks of every depth."""
        levels, level = [], np.asarray(self.block_ptr[:-1])
        while len(level):
            levels.append(level)
            level = level[self.left[level] >= 0]
            first = self.root[level] + self.left[level]
            level = np.concatenate([first, first + 1])
        return levels

    @cached_property
    def shares(self) -> Floats:
        """What every weight earns of the gain of its block; by |weight| where it is unknown (files of version 1)."""
        block = np.repeat(np.arange(self.n_blocks), np.diff(self.hyperplane_ptr))
        size = np.abs(self.hyperplane_weight.astype(np.float64))
        total = np.bincount(block, weights=size, minlength=self.n_blocks)
        return np.where(self.hyperplane_share < 0.0, size / total[block], self.hyperplane_share)

    def importances(self, n_features: int) -> Floats:
        """What every feature earns of the gain of all blocks, as shares of the sum, shape (n_features,)."""
        earned = self.shares * np.repeat(self.gains(), np.diff(self.hyperplane_ptr))
        importance = np.bincount(self.hyperplane_feature, weights=earned, minlength=n_features)
        return importance / importance.sum() if importance.sum() > 0.0 else np.zeros(n_features)

    def gains(self) -> Floats:
        """Decrease of the impurity from every block to its children, shape (n_blocks,); 0 in leaves.

        The impurity is t·u / (t + u) of targets and others, or the squared error of a response of any number: the
        difference is the same, and needs only what blocks hold. ``gain`` takes its place where it is given.
        """
        if "gain" in self.arrays():
            return self.gain
        gains, explained = np.zeros(self.n_blocks), self.n_target * (self.n_target / self.weight)
        branching = np.flatnonzero(self.left >= 0)
        left = self.root[branching] + self.left[branching]
        gains[branching] = np.maximum(explained[left] + explained[left + 1] - explained[branching], 0.0)
        return gains

    def __getstate__(self) -> dict[str, tuple[str, bytes]]:
        return {name: _pack(values, SCHEMA[name]) for name, values in self.arrays().items()}

    def __setstate__(self, state: dict[str, tuple[str, bytes]]) -> None:
        for name, array in SCHEMA.items():
            object.__setattr__(self, name, _unpack(*state[name], array) if name in state else None)
        self.__post_init__()


SCHEMA: dict[str, Array] = {one.name: one.metadata["array"] for one in fields(Trees)}


def _pack(values: NDArray[Any], array: Array) -> tuple[str, bytes]:
    """The array in few bytes, for pickles: sizes instead of pointers, small integers where they do, compressed."""
    if array.points_to is not None:
        values = np.diff(values)
    if _is_whole(values):
        low, high = int(values.min(initial=0)), int(values.max(initial=0))
        values = values.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
    return values.dtype.str, zlib.compress(values.tobytes(), 1)


def _unpack(dtype: str, packed: bytes, array: Array) -> NDArray[Any]:
    """What ``_pack`` packed, bit by bit."""
    values = np.frombuffer(zlib.decompress(packed), dtype)
    if array.points_to is not None:
        values = np.concatenate([[0], np.cumsum(values, dtype=array.dtype)])
    return values.astype(array.dtype, copy=False)


def _is_whole(values: NDArray[Any]) -> bool:
    """Whether all values are integers, and none is -0."""
    if values.dtype.kind in "iu":
        return True
    is_whole = (
        (np.abs(values) < 2**53) & (np.trunc(values) == values) & ((values != 0.0) | ~np.signbit(values))
    )
    return bool(is_whole.all())
