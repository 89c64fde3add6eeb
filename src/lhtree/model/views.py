"""Views of one tree of a model, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .model import Model
from .numbers import ALL_DIGITS, NumberFormat, write_value
from .shares import find_heaviest, shares_at
from .trees import find_levels

if TYPE_CHECKING:
    import pandas as pd


# Function that draws views in notebooks, given by the caller that creates them.
Draw: TypeAlias = Callable[[Sequence["TreeView"]], str]


class Conditions(NamedTuple):
    """Conditions to go left and right in a block: "< 41.5 or missing" and "≥ 41.5" of the subject "age".

    The subject is empty if the feature sum decides.
    """

    subject: str
    left: str
    right: str

    def of(self, side: str) -> str:
        """Return the whole condition of "left" or "right"."""
        return f"{self.subject} {getattr(self, side)}".lstrip()


class TreeView:
    """One tree of a model, read-only.

    ``target`` is the class it separates from the rest, None in a regression. Every array has one value per block,
    numbered breadth-first: ``left``, ``right`` (-1 in a leaf), ``depth``, ``n_samples`` (rows), ``weight``,
    ``n_target`` (weight of the target's rows, or sum of weight times response), ``offset``, ``intercept``, and
    ``outcome``: the share of the target in the weight, or the mean response. Weights and slopes apply to normalised
    features.

    A tree of all classes has the target None. ``shares(block)`` returns the share of every class in a block, and
    ``heaviest`` is the majority class, to which ``n_target`` and ``outcome`` apply.

    A tree of a boosted model adds to the raw score of ``target`` in round ``round``, which is None in other models. Its
    ``outcome`` is the ``value`` of a block; it has no ``n_target``. In a boosted tree of all classes the value is that
    of the class that the block raises most, which is ``heaviest``; ``values(block)`` returns those of all classes. A
    constant leaf adds its value; a linear one adds value + Σ ``slopes`` · (z - ``means``), at least ``low`` and at most
    ``high``. ``missing`` is the side of missing values in a block with a single feature: -1 left, 1 right, 0 like a
    value at the centre. In trees of a regression the ``value`` is the mean response, and leaves predict the same sums,
    in the same ranges.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> tree = LHTClassifier(gamma=50).fit(X, y).trees_[0]
    >>> tree.n_blocks, tree.n_leaves
    (5, 3)
    >>> tree.left.tolist(), tree.right.tolist()
    ([1, -1, 3, -1, -1], [2, -1, 4, -1, -1])
    >>> {name: round(weight, 2) for name, weight in tree.weights(0).items() if abs(weight) > 0.8}
    {'flavanoids': 0.82, 'proline': 1.0}
    """

    def __init__(self, model: Model, tree: int, draw: Draw | None = None) -> None:
        trees = self._trees = model.trees
        self._model, self._draw, self._tree = model, draw, tree
        self._begin, self._end = int(trees.block_ptr[tree]), int(trees.block_ptr[tree + 1])
        self.head = model.head
        self._code = int(trees.target[tree])
        self.target = model.classes[self._code] if 0 <= self._code < model.n_classes else None
        if self.head.names and self._code >= 0:
            self.target = self.head.names[self._code]
        self.round = tree // model.n_targets if self.head.adds_rounds else None
        self.feature_names = model.feature_names
        self.left = self._own(trees.left)
        self.right = np.where(self.left >= 0, self.left + 1, np.int32(-1))
        self.n_samples = self._own(trees.n_samples)
        self.weight = self._own(trees.weight)
        self.offset = self._own(trees.offset)
        self.intercept = self._own(trees.intercept)
        self.low, self.high = self._own(trees.low), self._own(trees.high)
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
        of_all = "all outputs" if self.head.names else "all classes"
        target = of_all if self.head.shares_classes else f"target={target!r}"
        return f"TreeView({target}{number}, n_blocks={self.n_blocks}, depth={self.depth.max()})"

    def _repr_html_(self) -> str | None:
        return None if self._draw is None else self._draw([self])

    @property
    def classes(self) -> NDArray[Any]:
        """The classes of the model; empty in a regression."""
        return self._model.classes

    @property
    def n_target(self) -> NDArray[np.float64]:
        """Weight of the target's rows."""
        if self.round is not None:
            raise AttributeError("a tree of a boosted model has no n_target: use value, what a block adds.")
        return self._own(self._trees.n_target)

    @property
    def value(self) -> NDArray[np.float64]:
        """Addition to the raw score, if boosted, or mean response of a regression.

        A linear leaf has it where its features have their means. A branching block would have it if it were a leaf.
        """
        if not self.head.values_blocks:
            raise AttributeError("a tree of a model that is not boosted has no values: use outcome.")
        return self.outcome

    def shares(self, block: int) -> dict[Any, float]:
        """Return the share of every class in the weight of a block, for trees of all classes."""
        if not self.head.shares_classes or self.head.values_blocks:
            raise AttributeError(
                "the tree separates one class from the rest: use outcome, the share of its target."
                if not self.head.values_blocks
                else "the blocks of the tree have values instead of shares: use value or values."
            )
        return self._by_class(block)

    def values(self, block: int) -> dict[Any, float]:
        """Return the value that a block adds to the raw score of every class or output, for boosted trees of all."""
        if not self.head.shares_classes or not self.head.values_blocks:
            raise AttributeError(
                "the tree is not a boosted tree of all classes or outputs: use value or shares."
            )
        return self._by_class(block)

    def _by_class(self, block: int) -> dict[Any, float]:
        if not 0 <= block < self.n_blocks:
            raise IndexError(f"block={block} is not valid: the tree has blocks 0 to {self.n_blocks - 1}.")
        shares = shares_at(self._trees, np.array([self._begin + block]), self._model.n_outputs)[0]
        return dict(zip(self.head.outputs, shares.tolist(), strict=True))

    @cached_property
    def heaviest_code(self) -> NDArray[np.int64]:
        """Code of the majority class of every block; the target, unless the tree is one of all classes."""
        if self.head.shares_classes and self.head.labels:
            return find_heaviest(self._trees, np.arange(self._begin, self._end), self._model.n_classes)
        return np.full(self.n_blocks, self._code, dtype=np.int64)

    @property
    def heaviest(self) -> NDArray[Any]:
        """Majority class of every block; the target, unless the tree is one of all classes."""
        return self._model.classes[self.heaviest_code]

    @property
    def is_mean(self) -> bool:
        """Whether values are mean responses, as in the trees and forests of a regression."""
        return self.head.values_blocks and not self.head.adds_rounds

    @property
    def middle(self) -> float:
        """Value with which blocks are compared: the mean response of the root, or 0 if values are added up."""
        return self.head.reference_value(self.outcome)

    def amounts(self, decimals: int = 3) -> NumberFormat:
        """Return the number format of values: with ``decimals``, or by their range if any number is predicted."""
        return self.head.block_format(self.outcome, self._model.response, decimals)

    def write_value(self, value: float, decimals: int = 3) -> str:
        """Format a value: a mean as it is, an addition with its sign."""
        return self.head.write_block(value, self.amounts(decimals))

    def write_slope(self, slope: float) -> str:
        """Format a slope of a leaf."""
        return f"{slope:+.3g}" if self.head.labels else self.amounts().sign(slope)

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

    @cached_property
    def levels(self) -> list[list[int]]:
        """Blocks of every level above the leaves of a symmetric tree, all of a level with the same hyperplane.

        Empty if the tree is not symmetric, or a single leaf.
        """
        complete = find_levels(self._trees.part(self._tree, self._tree + 1))
        depth = 0 if complete is None else int(complete.depth[0])
        return [list(range(2**level - 1, 2 ** (level + 1) - 1)) for level in range(depth)]

    def count_below(self) -> NDArray[np.int64]:
        """Return the number of blocks below every block."""
        below = np.zeros(self.n_blocks, dtype=np.int64)
        for block in np.flatnonzero(self.left >= 0)[::-1]:  # children come after their parents
            below[block] = 2 + below[self.left[block]] + below[self.right[block]]
        return below

    def weights(self, block: int) -> dict[str, float]:
        """Return the weights of a block's hyperplane by feature name; empty in a leaf."""
        trees = self._trees
        return self._named(block, trees.hyperplane_ptr, trees.hyperplane_feature, trees.hyperplane_weight)

    def slopes(self, block: int) -> dict[str, float]:
        """Return the slopes of a block's membership by feature name; empty if it is constant."""
        trees = self._trees
        return self._named(block, trees.membership_ptr, trees.membership_feature, trees.membership_slope)

    def means(self, block: int) -> dict[str, float]:
        """Return the mean normalised values of the features that have slopes in a block, by name; 0 if unknown."""
        trees = self._trees
        return self._named(block, trees.membership_ptr, trees.membership_feature, trees.membership_mean)

    def lift(self, block: int) -> float:
        """Return the outcome on the right of a branching block minus the left one; 0 in a tree of all classes."""
        if self.head.shares_classes:
            return 0.0
        return float(self.outcome[self.right[block]] - self.outcome[self.left[block]])

    def conditions(self, block: int) -> Conditions:
        """Return the conditions to go left and right in a branching block: on its feature sum, or on a single feature.

        A condition on a single feature is in the user's units, unless the tree has WOLF values. In boosted models it
        has the side of missing values.
        """
        trees, model, at = self._trees, self._model, self._begin + block
        some = slice(*trees.hyperplane_ptr[at : at + 2])
        if model.has_wolf or some.stop - some.start != 1:
            return Conditions("", f"< {self.offset[block]:.3g}", f"≥ {self.offset[block]:.3g}")
        feature = int(trees.hyperplane_feature[some][0])
        weight = float(trees.hyperplane_weight[some][0])
        name, encoding = self.feature_names[feature], model.encoding
        if encoding.is_one_hot[feature]:
            subject, opposite = encoding.names[encoding.column[feature]], encoding.opposites.get(feature)
            category = name.removeprefix(f"{subject} = ")
            absent = f"≠ {category}" if opposite is None else f"= {opposite}"
            sides = [absent, f"= {category}"][:: 1 if weight > 0.0 else -1]
        else:
            centre, scale = (float(part[feature]) for part in model.normalisation)
            subject, signs = name, "<≥" if weight > 0.0 else "≤>"
            if encoding.is_statistic[feature]:
                subject = f"mean target of {name}"
            if trees.has_units:  # the weight is 1
                bound = write_value(float(trees.unit_offset[at]), ALL_DIGITS)
            else:
                bound = write_value(centre + scale * (float(self.offset[block]) / weight))
            sides = [f"{sign} {bound}" for sign in (signs if weight > 0.0 else signs[::-1])]
        if self.round is not None and (model.boost is None or model.boost.bins.missing[feature]):
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
        """Return one row per block; ``weights.<feature>`` and ``slopes.<feature>`` are 0 where a block has none."""
        pandas = import_extra("pandas", "pandas")
        head, linear = self.head, self.head.linear_columns if self._trees.has_slopes else ()
        names = ("left", "right", "depth", "n_samples", "weight", *head.block_columns, *linear)
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
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
    """Views of all trees of a model, created on access; ``draw`` returns some of them as HTML."""

    def __init__(self, model: Model, draw: Draw | None = None) -> None:
        self._model, self._draw = model, draw

    def _repr_html_(self) -> str | None:
        return None if self._draw is None else self._draw(self)

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
        return TreeView(self._model, range(len(self))[index], self._draw)

    def __iter__(self) -> Iterator[TreeView]:
        return (self[tree] for tree in range(len(self)))

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:3]))}{', ...' if len(self) > 3 else ''}]"
