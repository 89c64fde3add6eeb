"""The flat arrays of all trees of a model, and views of one tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._extras import import_extra
from .tables.normalise import Normalisation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ForestData:
    """Arrays of all blocks of all trees; the blocks of a tree are numbered breadth-first, right = left + 1."""

    target: NDArray[np.int32]  # class of every tree
    block_ptr: NDArray[np.int64]  # first block of every tree
    left: NDArray[np.int32]  # within the tree; -1 in a leaf
    n_samples: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_target: NDArray[np.float64]
    offset: NDArray[np.float64]
    intercept: NDArray[np.float64]
    hyperplane_ptr: NDArray[np.int64]  # weights of every block, CSR
    hyperplane_feature: NDArray[np.int32]
    hyperplane_weight: NDArray[np.float32]
    membership_ptr: NDArray[np.int64]  # slopes of every block, CSR
    membership_feature: NDArray[np.int32]
    membership_slope: NDArray[np.float64]

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
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def part(self, first: int, last: int) -> ForestData:
        """Trees first to last - 1, as a forest of their own."""
        begin, end = self.block_ptr[first], self.block_ptr[last]
        weights = slice(self.hyperplane_ptr[begin], self.hyperplane_ptr[end])
        slopes = slice(self.membership_ptr[begin], self.membership_ptr[end])
        return ForestData(
            target=self.target[first:last],
            block_ptr=self.block_ptr[first : last + 1] - begin,
            left=self.left[begin:end],
            n_samples=self.n_samples[begin:end],
            weight=self.weight[begin:end],
            n_target=self.n_target[begin:end],
            offset=self.offset[begin:end],
            intercept=self.intercept[begin:end],
            hyperplane_ptr=self.hyperplane_ptr[begin : end + 1] - weights.start,
            hyperplane_feature=self.hyperplane_feature[weights],
            hyperplane_weight=self.hyperplane_weight[weights],
            membership_ptr=self.membership_ptr[begin : end + 1] - slopes.start,
            membership_feature=self.membership_feature[slopes],
            membership_slope=self.membership_slope[slopes],
        )

    def __add__(self, other: ForestData) -> ForestData:
        """The trees of both."""
        joined = {}
        for field in fields(self):
            own, more = getattr(self, field.name), getattr(other, field.name)
            joined[field.name] = np.concatenate(
                [own, own[-1] + more[1:]] if field.name.endswith("_ptr") else [own, more]
            )
        return ForestData(**joined)

    def depths(self) -> NDArray[np.int32]:
        """Depth of every block; roots have 0."""
        depth = np.zeros(self.n_blocks, dtype=np.int32)
        branching = np.flatnonzero(self.left >= 0)
        root = np.repeat(self.block_ptr[:-1], np.diff(self.block_ptr))
        level, children = np.flatnonzero(root == np.arange(self.n_blocks)), 0
        if not len(branching):
            return depth
        while len(level):
            level = level[self.left[level] >= 0]
            first = root[level] + self.left[level]
            children += 1
            level = np.concatenate([first, first + 1])
            depth[level] = children
        return depth

    def importances(self, n_features: int) -> NDArray[np.float64]:
        """Share of |weight| by feature over the branching blocks, each counted by the weight of its samples."""
        size = np.diff(self.hyperplane_ptr)
        absolute = np.abs(self.hyperplane_weight.astype(np.float64))
        block = np.repeat(np.arange(self.n_blocks), size)
        total = np.bincount(block, weights=absolute, minlength=self.n_blocks)
        share = absolute / total[block] * self.weight[block]
        importance = np.bincount(self.hyperplane_feature, weights=share, minlength=n_features).astype(
            np.float64
        )
        return importance / importance.sum() if importance.sum() > 0.0 else importance

    def scorer(
        self, normalisation: Normalisation, prior: NDArray[np.float64], confidence: str | None
    ) -> _core.Scorer:
        """Pack the arrays for scoring rows in the user's units."""
        return _core.Scorer(
            target=self.target,
            block_ptr=self.block_ptr,
            left=self.left,
            offset=self.offset,
            intercept=self.intercept,
            hyperplane_ptr=self.hyperplane_ptr,
            hyperplane_feature=self.hyperplane_feature,
            hyperplane_weight=self.hyperplane_weight,
            membership_ptr=self.membership_ptr,
            membership_feature=self.membership_feature,
            membership_slope=self.membership_slope,
            centre=normalisation.centre,
            scale=normalisation.scale,
            prior=prior,
            confidence=confidence,
        )


class TreeView:
    """One tree of a model, read-only.

    ``target`` is the class it separates from the rest. Every array has one value per block, numbered breadth-first:
    ``left``, ``right`` (-1 in a leaf), ``depth``, ``n_samples`` (rows), ``weight``, ``n_target`` (weight of the
    target's rows), ``offset`` and ``intercept``. Weights and slopes apply to normalised features.
    """

    def __init__(self, forest: ForestData, tree: int, target: Any, feature_names: Sequence[str]) -> None:
        self._forest = forest
        self._begin, self._end = int(forest.block_ptr[tree]), int(forest.block_ptr[tree + 1])
        self.target = target
        self.feature_names = feature_names
        self.left = self._own(forest.left)
        self.right = np.where(self.left >= 0, self.left + 1, np.int32(-1))
        self.n_samples = self._own(forest.n_samples)
        self.weight = self._own(forest.weight)
        self.n_target = self._own(forest.n_target)
        self.offset = self._own(forest.offset)
        self.intercept = self._own(forest.intercept)
        self.depth = self._find_depth()

    def _own(self, values: NDArray[Any]) -> NDArray[Any]:
        view = values[self._begin : self._end]
        view.flags.writeable = False
        return view

    def _find_depth(self) -> NDArray[np.int32]:
        depth = np.zeros(self.n_blocks, dtype=np.int32)
        for block in np.flatnonzero(self.left >= 0):  # parents come before their children
            depth[self.left[block]] = depth[self.right[block]] = depth[block] + 1
        return depth

    def __repr__(self) -> str:
        return f"TreeView(target={self.target!r}, n_blocks={self.n_blocks}, depth={self.depth.max()})"

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self._end - self._begin

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.left < 0).sum())

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether a block is a leaf."""
        return self.left < 0

    def count_below(self) -> NDArray[np.int64]:
        """Number of blocks below every block."""
        below = np.zeros(self.n_blocks, dtype=np.int64)
        for block in np.flatnonzero(self.left >= 0)[::-1]:  # children come after their parents
            below[block] = 2 + below[self.left[block]] + below[self.right[block]]
        return below

    def weights(self, block: int) -> dict[str, float]:
        """Weights of a block's hyperplane by feature name; empty in a leaf."""
        forest = self._forest
        return self._named(block, forest.hyperplane_ptr, forest.hyperplane_feature, forest.hyperplane_weight)

    def slopes(self, block: int) -> dict[str, float]:
        """Slopes of a block's membership by feature name; empty where it is constant."""
        forest = self._forest
        return self._named(block, forest.membership_ptr, forest.membership_feature, forest.membership_slope)

    def _named(
        self, block: int, ptr: NDArray[np.int64], feature: NDArray[np.int32], value: NDArray[Any]
    ) -> dict[str, float]:
        if not 0 <= block < self.n_blocks:
            raise IndexError(f"block={block} is not valid: the tree has blocks 0 to {self.n_blocks - 1}.")
        some = slice(ptr[self._begin + block], ptr[self._begin + block + 1])
        return {self.feature_names[f]: float(v) for f, v in zip(feature[some], value[some], strict=True)}

    def to_frame(self) -> pd.DataFrame:
        """One row per block; ``weights.<feature>`` and ``slopes.<feature>`` are 0 where a block has none."""
        pandas = import_extra("pandas", "pandas")
        columns: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("left", "right", "depth", "n_samples", "weight", "n_target", "offset", "intercept")
        }
        forest = self._forest
        weights = self._dense(forest.hyperplane_ptr, forest.hyperplane_feature, forest.hyperplane_weight)
        slopes = self._dense(forest.membership_ptr, forest.membership_feature, forest.membership_slope)
        for prefix, values in (("weights", weights), ("slopes", slopes)):
            columns |= {f"{prefix}.{name}": values[:, f] for f, name in enumerate(self.feature_names)}
        frame: pd.DataFrame = pandas.DataFrame(columns)
        frame.index.name = "block"
        return frame

    def _dense(
        self, ptr: NDArray[np.int64], feature: NDArray[np.int32], value: NDArray[Any]
    ) -> NDArray[np.float64]:
        own = ptr[self._begin : self._end + 1]
        dense = np.zeros((self.n_blocks, len(self.feature_names)))
        block = np.repeat(np.arange(self.n_blocks), np.diff(own))
        dense[block, feature[own[0] : own[-1]]] = value[own[0] : own[-1]]
        return dense


class TreeViews(Sequence[TreeView]):
    """Views of all trees of a model, made when they are asked for."""

    def __init__(self, forest: ForestData, classes: NDArray[Any], feature_names: Sequence[str]) -> None:
        self._forest, self._classes, self._feature_names = forest, classes, feature_names

    def __len__(self) -> int:
        return self._forest.n_trees

    @overload
    def __getitem__(self, index: int) -> TreeView: ...
    @overload
    def __getitem__(self, index: slice) -> list[TreeView]: ...
    def __getitem__(self, index: int | slice) -> TreeView | list[TreeView]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"tree {index} is not there: the model has trees 0 to {len(self) - 1}.")
        tree = range(len(self))[index]
        target = self._classes[self._forest.target[tree]]
        return TreeView(self._forest, tree, target, self._feature_names)

    def __iter__(self) -> Iterator[TreeView]:
        return (self[tree] for tree in range(len(self)))

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:3]))}{', ...' if len(self) > 3 else ''}]"
