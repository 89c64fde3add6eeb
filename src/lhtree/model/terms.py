"""Terms of additive models, curves of columns and surfaces of pairs, and the trees that hold them.

A term is one estimator of the model: a tree per target, whose leaves are the cells of the term. All other blocks have
the value 0, so that the contribution of a curve to a row is the value of its cell, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..tables.encoders import LEVEL
from .trees import Trees

if TYPE_CHECKING:
    from ..tables.normalise import Normalisation
    from .model import Model

Floats = NDArray[np.float64]
_MOST_CELLS = 1 << 20
_BEYOND = _core.BEYOND  # an offset above every z: all values go left, and missing ones right


@dataclass(frozen=True, eq=False)
class TermAxis:
    """A column of a term: ranges of a feature between edges, or the levels of a column; the last cell is missing."""

    feature: int  # of the numbers, or of the first level
    edges: Floats  # normalised, ascending; empty for levels
    n_levels: int = 0

    @property
    def n_cells(self) -> int:
        """Number of cells, with that of missing values."""
        return (self.n_levels or len(self.edges) + 1) + 1

    @property
    def features(self) -> range:
        """The features of the axis."""
        return range(self.feature, self.feature + max(self.n_levels, 1))


@dataclass(frozen=True, eq=False)
class AdditiveTerm:
    """A curve (one axis) or a surface (two), with the values of every cell and target."""

    axes: tuple[TermAxis, ...]
    values: Floats  # shape (*n_cells, n_targets)
    band: Floats  # of the same shape
    weight: Floats  # of the training rows, shape (*n_cells,)

    @property
    def size(self) -> Floats:
        """Mean absolute value over the training rows, shape (n_targets,)."""
        total = self.weight.sum()
        share = self.weight / total if total > 0.0 else np.full(self.weight.shape, 1.0 / self.weight.size)
        return np.asarray(
            (np.abs(self.values) * share[..., None]).reshape(-1, self.values.shape[-1]).sum(axis=0)
        )


def normalise_values(x: Floats, centre: float, scale: float) -> Floats:
    """Return the normalised values of a feature as the core computes them, in float32."""
    z = _core.normalise(x[:, None], np.array([centre]), np.array([scale]))
    return np.asarray(z[:, 0], dtype=np.float64)  # type: ignore[index]  # no infinity


class _Node:
    """A block while a tree is built: its feature and offset, or the place of its cell."""

    def __init__(self, feature: int = -1, offset: float = 0.0, cell: tuple[int, ...] = ()) -> None:
        self.feature, self.offset, self.cell = feature, offset, cell
        self.children: tuple[_Node, ...] = ()


def _grow(term: AdditiveTerm, normalisation: Normalisation, before: tuple[int, ...] = ()) -> _Node:
    """Return the tree of the axes that follow the cells ``before``."""
    if len(before) == len(term.axes):
        return _Node(cell=before)
    axis = term.axes[len(before)]

    def reach(cell: int) -> _Node:
        return _grow(term, normalisation, (*before, cell))

    def search(first: int, last: int) -> _Node:
        if first == last:
            return reach(first)
        middle = (first + last + 1) // 2
        node = _Node(axis.feature, float(axis.edges[middle - 1]))
        node.children = search(first, middle - 1), search(middle, last)
        return node

    def peel(levels: list[int]) -> _Node:
        if len(levels) == 1:
            return reach(levels[0])
        feature = axis.feature + levels[0]
        middle = (0.5 - normalisation.centre[feature]) / normalisation.scale[feature]
        node = _Node(feature, float(middle))
        node.children = peel(levels[1:]), reach(levels[0])
        return node

    node = _Node(axis.feature, _BEYOND)
    if axis.n_levels:
        others = tuple(i for i in range(len(term.axes)) if i != len(before))
        order = np.argsort(-term.weight.sum(axis=others)[:-1], kind="stable")
        present = peel(order.tolist())
    else:
        present = search(0, axis.n_cells - 2)
    node.children = present, reach(axis.n_cells - 1)
    return node


def build_trees(
    terms: Sequence[AdditiveTerm], normalisation: Normalisation, targets: Sequence[int], n_rows: int
) -> tuple[Trees, Floats]:
    """Return trees for every term and target, and the band of every block."""
    names = ("left", "weight", "offset", "value", "missing", "gain", "band", "feature")
    lists: dict[str, list[Any]] = {name: [] for name in names}
    block_ptr, target_of = [0], []
    for term in terms:
        nodes = [_grow(term, normalisation)]
        left = []
        for node in nodes:  # breadth-first: the list grows while it is read
            left.append(len(nodes) if node.children else -1)
            nodes.extend(node.children)
        weight = np.zeros(len(nodes))
        for number in reversed(range(len(nodes))):
            node = nodes[number]
            weight[number] = (
                weight[left[number]] + weight[left[number] + 1] if node.children else term.weight[node.cell]
            )
        first_of: dict[int, int] = {}  # the first block of every axis
        for number, node in enumerate(nodes):
            if node.children:
                axis = next(i for i, one in enumerate(term.axes) if node.feature in one.features)
                first_of.setdefault(axis, number)
        for k, target in enumerate(targets):
            gain = np.zeros(len(nodes))
            for number in first_of.values():
                gain[number] = term.size[k] * max(float(weight[0]), 1.0) / len(term.axes)
            lists["left"] += left
            lists["weight"] += weight.tolist()
            lists["offset"] += [node.offset for node in nodes]
            lists["value"] += [
                0.0 if node.children else float(term.values[(*node.cell, k)]) for node in nodes
            ]
            lists["band"] += [0.0 if node.children else float(term.band[(*node.cell, k)]) for node in nodes]
            lists["missing"] += [int(bool(node.children)) for node in nodes]
            lists["gain"] += gain.tolist()
            lists["feature"] += [node.feature for node in nodes]
            block_ptr.append(len(lists["left"]))
            target_of.append(target)
    is_branching = np.array(lists["feature"], dtype=np.int32) >= 0
    weight, value = np.array(lists["weight"]), np.array(lists["value"])
    per_weight = n_rows / weight[0] if weight[0] > 0.0 else 0.0
    n_blocks = len(value)
    trees = Trees(
        target=np.array(target_of, dtype=np.int32),
        block_ptr=np.array(block_ptr, dtype=np.int64),
        left=np.array(lists["left"], dtype=np.int32),
        n_samples=np.rint(weight * per_weight).astype(np.int32),
        weight=weight,
        offset=np.array(lists["offset"]),
        intercept=value,
        hyperplane_ptr=np.concatenate([[0], np.cumsum(is_branching)]).astype(np.int64),
        hyperplane_feature=np.array(lists["feature"], dtype=np.int32)[is_branching],
        hyperplane_weight=np.ones(int(is_branching.sum()), dtype=np.float32),
        membership_ptr=np.zeros(n_blocks + 1, dtype=np.int64),
        membership_feature=np.empty(0, dtype=np.int32),
        membership_slope=np.empty(0),
        low=value,
        high=value,
        missing=np.array(lists["missing"], dtype=np.int8),
        gain=np.array(lists["gain"]),
        hyperplane_share=np.ones(int(is_branching.sum()), dtype=np.float32),
    )
    return trees, np.array(lists["band"])


def read_terms(model: Model) -> list[AdditiveTerm]:
    """Return the terms of an additive model, from its trees.

    Raises ValueError if a tree is not a curve or a surface, or has other cells than the first tree of its term.
    """
    trees, n_targets = model.trees, model.n_targets
    if model.base is None or trees.is_joint or trees.has_slopes or (np.diff(trees.hyperplane_ptr) > 1).any():
        raise ValueError("trees of an additive model are not sums of values of single features")
    band = model.additive.band if model.additive is not None else np.zeros(trees.n_blocks)
    terms = []
    for first in range(0, trees.n_trees, n_targets):
        axes = read_axes(model, first)
        own_blocks = [
            slice(trees.block_ptr[tree], trees.block_ptr[tree + 1])
            for tree in range(first, first + n_targets)
        ]
        if any(
            not np.array_equal(array[own_blocks[0]], array[blocks])
            for array in (trees.left, trees.offset, trees.missing)
            for blocks in own_blocks[1:]
        ):
            raise ValueError("the trees of a term differ in their blocks")
        cells = np.stack(
            np.meshgrid(*(np.arange(axis.n_cells) for axis in axes), indexing="ij"), axis=-1
        ).reshape(-1, len(axes))
        leaf = _find_leaves(trees, first, axes, cells)
        shape = tuple(axis.n_cells for axis in axes)
        own = trees.block_ptr[first : first + n_targets, None] + leaf
        terms.append(
            AdditiveTerm(
                axes,
                trees.intercept[own].T.reshape(*shape, n_targets),
                band[own].T.reshape(*shape, n_targets),
                trees.weight[own[0]].reshape(shape),
            )
        )
    return terms


def read_axes(model: Model, tree: int) -> tuple[TermAxis, ...]:
    """Return the axes of a tree of a term, in the order of its blocks."""
    trees, encoding = model.trees, model.encoding
    blocks = np.arange(trees.block_ptr[tree], trees.block_ptr[tree + 1])
    blocks = blocks[trees.left[blocks] >= 0]
    feature = trees.hyperplane_feature[trees.hyperplane_ptr[blocks]]
    axes: dict[int, TermAxis] = {}
    for one in feature.tolist():
        column = int(encoding.column[one])
        if encoding.encoders[column].features[0] == LEVEL:
            own = encoding.features_of(column)
            axes.setdefault(own.start, TermAxis(own.start, np.empty(0), own.stop - own.start))
        elif one not in axes:
            offsets = trees.offset[blocks[feature == one]]
            axes[one] = TermAxis(one, np.unique(offsets[offsets < _BEYOND]))
    if not 1 <= len(axes) <= 2 or np.prod([axis.n_cells for axis in axes.values()]) > _MOST_CELLS:
        raise ValueError("a tree of an additive model has no column, or more than two, or too many cells")
    return tuple(axes.values())


def _find_leaves(
    trees: Trees, tree: int, axes: tuple[TermAxis, ...], cells: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the leaf of every cell, numbered within the tree."""
    root = trees.block_ptr[tree]
    at = np.zeros(len(cells), dtype=np.int64)
    while True:
        block = root + at
        walking = np.flatnonzero(trees.left[block] >= 0)
        if not len(walking):
            return at
        block = block[walking]
        feature, offset = trees.hyperplane_feature[trees.hyperplane_ptr[block]], trees.offset[block]
        goes_right = np.zeros(len(walking), dtype=bool)
        for number, axis in enumerate(axes):
            cell = cells[walking, number]
            is_own = (feature >= axis.features.start) & (feature < axis.features.stop)
            if axis.n_levels:
                is_right = (feature - axis.feature == cell) & (offset < _BEYOND)
            else:
                is_right = (cell >= np.searchsorted(axis.edges, offset, side="right")) & (offset < _BEYOND)
            is_right = np.where(cell == axis.n_cells - 1, trees.missing[block] > 0, is_right)
            goes_right |= is_own & is_right
        at[walking] = trees.left[block] + goes_right
