"""Views of one tree of a model, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ._extras import import_extra
from .model import Model

if TYPE_CHECKING:
    import pandas as pd


class Conditions(NamedTuple):
    """When a row goes left and right in a block: "< 41.5 or missing" and "≥ 41.5" of the subject "age".

    The subject is empty where the feature sum decides.
    """

    subject: str
    left: str
    right: str

    def of(self, side: str) -> str:
        """The whole condition of "left" or "right"."""
        return f"{self.subject} {getattr(self, side)}".lstrip()


class TreeView:
    """One tree of a model, read-only.

    ``target`` is the class it separates from the rest. Every array has one value per block, numbered breadth-first:
    ``left``, ``right`` (-1 in a leaf), ``depth``, ``n_samples`` (rows), ``weight``, ``n_target`` (weight of the
    target's rows), ``offset``, ``intercept``, and ``outcome``: the share of the target in the weight. Weights and
    slopes apply to normalised features.

    A tree of a boosted model adds to the raw score of ``target`` in round ``round``, which is None in other models. Its
    ``outcome`` is the ``value`` of a block, the same as ``intercept``; it has no ``n_target``. ``missing`` says where a
    missing value of a block with a single feature goes: -1 left, 1 right, 0 as a value at the centre.
    """

    def __init__(self, model: Model, tree: int) -> None:
        trees = self._trees = model.trees
        self._model = model
        self._begin, self._end = int(trees.block_ptr[tree]), int(trees.block_ptr[tree + 1])
        self.target = model.classes[trees.target[tree]]
        self.round = tree // model.n_targets if model.is_boosted else None
        self.feature_names = model.feature_names
        self.left = self._own(trees.left)
        self.right = np.where(self.left >= 0, self.left + 1, np.int32(-1))
        self.n_samples = self._own(trees.n_samples)
        self.weight = self._own(trees.weight)
        self.offset = self._own(trees.offset)
        self.intercept = self._own(trees.intercept)
        self.missing = self._own(trees.missing)
        self.outcome = self._own(model.outcome)
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
        number = "" if self.round is None else f", round={self.round}"
        target = self.target.item() if isinstance(self.target, np.generic) else self.target
        return f"TreeView(target={target!r}{number}, n_blocks={self.n_blocks}, depth={self.depth.max()})"

    @property
    def n_target(self) -> NDArray[np.float64]:
        """Weight of the target's rows."""
        if self.round is not None:
            raise AttributeError("a tree of a boosted model has no n_target: use value, what a block adds.")
        return self._own(self._trees.n_target)

    @property
    def value(self) -> NDArray[np.float64]:
        """What a block adds to the raw score, if boosted; branching blocks would add it if they were leaves."""
        if self.round is None:
            raise AttributeError("a tree of a model that is not boosted has no values: use outcome.")
        return self.outcome

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
        trees = self._trees
        return self._named(block, trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)

    def slopes(self, block: int) -> dict[str, float]:
        """Slopes of a block's membership by feature name; empty where it is constant."""
        trees = self._trees
        return self._named(block, trees.membership_ptr, trees.membership_feature, trees.membership_slope)

    def conditions(self, block: int) -> Conditions:
        """When a row goes left and right in a branching block: by its feature sum, or by its single feature.

        A single feature of a boosted model is told in the user's units, with the side of its missing values.
        """
        trees, at = self._trees, self._begin + block
        some = slice(*trees.hyperplane_ptr[at : at + 2])
        if self.round is None or some.stop - some.start > 1:
            return Conditions("", f"< {self.offset[block]:.3g}", f"≥ {self.offset[block]:.3g}")
        feature, model = int(trees.hyperplane_feature[some][0]), self._model
        name, encoding = self.feature_names[feature], model.encoding
        if encoding.is_category[feature]:
            subject = encoding.names[encoding.column[feature]]
            sides = [f"{sign} {name.removeprefix(f'{subject} = ')}" for sign in "≠="]
        else:
            centre, scale = (float(part[feature]) for part in model.normalisation)
            subject, sides = name, [f"{sign} {centre + scale * self.offset[block]:.6g}" for sign in "<≥"]
        if model.boost is None or model.boost.bins.missing[feature]:
            sides[int(self.missing[block] > 0)] += " or missing"
        return Conditions(subject, *sides)

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
            for name in (
                *("left", "right", "depth", "n_samples", "weight"),
                *(
                    ("n_target", "offset", "intercept")
                    if self.round is None
                    else ("offset", "missing", "value")
                ),
            )
        }
        trees = self._trees
        weights = self._dense(trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)
        slopes = self._dense(trees.membership_ptr, trees.membership_feature, trees.membership_slope)
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

    def __init__(self, model: Model) -> None:
        self._model = model

    def __len__(self) -> int:
        return self._model.trees.n_trees

    @overload
    def __getitem__(self, index: int) -> TreeView: ...
    @overload
    def __getitem__(self, index: slice) -> list[TreeView]: ...
    def __getitem__(self, index: int | slice) -> TreeView | list[TreeView]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range: the model has trees 0 to {len(self) - 1}.")
        return TreeView(self._model, range(len(self))[index])

    def __iter__(self) -> Iterator[TreeView]:
        return (self[tree] for tree in range(len(self)))

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:3]))}{', ...' if len(self) > 3 else ''}]"
