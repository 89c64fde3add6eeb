"""The paths of a row through all trees: as flat arrays (``Trace``), and as facts (``Path``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.heads import Head, JointScoreHead, MeanHead, RawScoreHead, SharesHead, WolfHead
from ..model.model import Model
from ..model.shares import memberships_at, shares_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_NEIGHBOURS = 3
TERM_FACTS = ("feature", "value", "weight", "unit_weight", "term")
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class TraceTerms:
    """Products of the weights (or slopes) of blocks with the normalised values of the row, stop after stop."""

    ptr: Ints  # first term of every stop
    stop: Ints  # stop of every term
    feature: NDArray[np.int32]
    weight: Floats
    value: Floats  # weight · z; for slopes of blocks with values, slope · (z - mean)
    unit_weight: Floats  # per unit of the feature


@dataclass(frozen=True)
class Trace:
    """The stops of a row on its paths, sorted by tree and depth.

    A stop is a block on the path through a tree. The last stop of each path is a leaf.
    """

    model: Model
    z: NDArray[np.float32]
    tree: Ints
    block: Ints  # within its tree
    at: Ints  # among all blocks
    depth: Ints
    is_leaf: NDArray[np.bool_]
    value: Floats  # feature sum of a branching block, estimate p̂ of a leaf, as the core computes them
    # μ of every path; the addition or the prediction of its leaf if blocks have values, with trees of all classes
    # that of the class that the leaf raises most.
    membership: Floats
    confidence: Floats  # d of every path, under the model's rule

    @cached_property
    def terms(self) -> TraceTerms:
        """Weights times z; leaves have none."""
        trees = self.model.trees
        return self._gather(
            trees.hyperplane_ptr,
            trees.hyperplane_feature,
            trees.hyperplane_weight,
            ~self.is_leaf,
            self.model.unit_weights,
        )

    @cached_property
    def slope_terms(self) -> TraceTerms:
        """Slopes times z of the leaves; other stops have none. If blocks have values, z minus its mean."""
        trees = self.model.trees
        ptr, feature = trees.membership_ptr, trees.membership_feature
        terms = self._gather(ptr, feature, trees.membership_slope, self.is_leaf, self.model.unit_slopes)
        if not self.model.head.values_blocks:
            return terms
        mean = trees.membership_mean[self._find_entries(ptr, self.is_leaf)[2]].astype(np.float64)
        return replace(terms, value=terms.value - terms.weight * mean)

    @cached_property
    def y(self) -> Floats:
        """Feature sum minus offset of every stop (eq. 8); NaN at leaves."""
        return np.where(self.is_leaf, np.nan, self.value - self.model.trees.offset[self.at])

    @cached_property
    def outcome(self) -> Floats:
        """Outcome of the block of every stop (see ``Model.outcome``)."""
        return self.model.outcome[self.at]

    @cached_property
    def clipped(self) -> Floats:
        """Change of the estimate by the range of the leaf, for every path."""
        return self.membership - self.value[self.is_leaf]

    @cached_property
    def change(self) -> Floats:
        """Change of the outcome from each stop to the next; at a leaf, from its outcome to μ."""
        change = np.empty(len(self.at))
        change[:-1] = np.diff(self.outcome)
        change[self.is_leaf] = self.membership - self.outcome[self.is_leaf]
        return change

    def _find_entries(self, ptr: Ints, wanted: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        """Return pointers of the wanted stops into their entries, the stop of every entry, and the entries."""
        begin = ptr[self.at]
        size = np.where(wanted, ptr[self.at + 1] - begin, 0)
        own_ptr = np.concatenate([[0], np.cumsum(size)])
        stop = np.repeat(np.arange(len(size)), size)
        return own_ptr, stop, begin[stop] + np.arange(own_ptr[-1]) - own_ptr[stop]

    def _gather(
        self,
        ptr: Ints,
        feature: NDArray[np.int32],
        weight: NDArray[Any],
        wanted: NDArray[np.bool_],
        per_unit: Callable[[Ints], Floats],
    ) -> TraceTerms:
        own_ptr, stop, entry = self._find_entries(ptr, wanted)
        features, weights, units = feature[entry], weight[entry].astype(np.float64), per_unit(entry)
        z = self.z[features]
        if not self.model.head.adds_rounds:
            return TraceTerms(own_ptr, stop, features, weights, weights * z, units)
        value = weights * np.clip(z, -self.model.clip, self.model.clip)
        # A single feature is not clipped, and is infinite if it is missing and the block has a side for it.
        is_single = (np.diff(own_ptr) == 1) & ~self.is_leaf
        value = np.where(is_single[stop], self.value[stop], value)
        return TraceTerms(own_ptr, stop, features, weights, value, units)


def sum_targets(model: Model, of_trees: Floats) -> Floats:
    """Return the sums of a value of every tree over the trees of every target, shape (n_targets,)."""
    total = np.zeros(model.n_targets)
    np.add.at(total, model.target_of, of_trees)
    return total


def trace_row(model: Model, x: Floats) -> Trace:
    """Follow a row (in original units) through all trees."""
    trees = model.trees
    ptr, block, value = model.score("trace", x[None])
    membership, confidence = model.score("per_tree", x[None])
    tree = np.repeat(np.arange(trees.n_trees), np.diff(ptr))
    at = trees.block_ptr[tree] + block
    is_leaf = trees.left[at] < 0
    if model.head.shares_classes and model.head.values_blocks:  # the class that a leaf raises most
        value = np.where(is_leaf, model.outcome[at], value)
        membership = value[is_leaf]
    return Trace(
        model=model,
        z=model.normalise(x[None])[0],
        tree=tree,
        block=block.astype(np.int64),
        at=at,
        depth=np.arange(len(tree)) - ptr[tree],
        is_leaf=is_leaf,
        value=value,
        membership=membership.ravel(),
        confidence=confidence.ravel(),
    )


@dataclass(frozen=True)
class Term:
    """The part of one feature in a feature sum, in a membership or in the value of a leaf."""

    feature: str  # "colour = red" for a category, "age is missing" for an indicator
    value: float  # in the user's units, 1 or 0 for a category, or its statistic; NaN is missing
    weight: float  # per normalised unit
    unit_weight: float  # per unit of the user
    term: float  # weight · z; in a leaf that has a value, slope · (z - mean)
    column: str | None = None  # the column of a category or indicator; None if the feature is its column
    category: Any = None  # of the row, if the feature is a target statistic
    opposite: Any = None  # the other one of two categories

    @property
    def what(self) -> str:
        """The feature in words: "colour = red", "colour ≠ red" or, if it is missing, "colour"; else its name.

        Of two categories, "is_new ≠ no" is "is_new = yes".
        """
        if self.category is not None:
            return f"{self.column} = {self.category}"
        if self.column is None or self.value == 1.0:
            return self.feature
        if math.isnan(self.value):
            return self.column
        if self.feature == f"{self.column} is missing":
            return f"{self.column} is not missing"
        if self.opposite is not None:
            return f"{self.column} = {self.opposite}"
        return f"{self.column} ≠ {self.feature.removeprefix(f'{self.column} = ')}"


@dataclass(frozen=True)
class Step:
    """A branching block on the path: ``y`` is the sum of the terms minus the offset."""

    block: int
    depth: int
    terms: tuple[Term, ...]  # largest first
    offset: float
    y: float
    side: str  # "left" if y < 0, else "right"
    distance: float  # |y|
    confidence: float  # min(|y|, 1)
    n_samples: int
    weight: float
    n_target: float
    share: float


@dataclass(frozen=True)
class Neighbour:
    """A training row that ended in the same leaf."""

    given: int  # its number among the rows given to fit
    row: dict[str, Any]
    label: Any  # its class, or its response
    distance: float  # Euclidean, of normalised values


@dataclass(frozen=True)
class LeafStep:
    """The leaf at the end of the path: ``estimate`` is the intercept plus the sum of the terms."""

    block: int
    depth: int
    n_samples: int
    weight: float
    n_target: float
    share: float
    intercept: float
    terms: tuple[Term, ...]  # slopes, largest first
    estimate: float  # p̂
    membership: float  # μ, the estimate clipped to 0 and 1
    confidence: float  # d of the path
    corrected_membership: float  # d·μ
    neighbours: tuple[Neighbour, ...]  # nearest first; empty without prototypes


@dataclass(frozen=True)
class ValueStep:
    """A branching block with a value on the path: ``y`` is the sum of the terms minus the offset.

    The value is the addition to the raw score if the block were a leaf, or its mean response. If the block of a
    boosted tree has a single feature, and that is missing, ``y`` is infinite: the block has a side for it.
    """

    block: int
    depth: int
    terms: tuple[Term, ...]  # largest first
    offset: float
    y: float
    side: str  # "left" if y < 0, else "right"
    n_samples: int
    weight: float
    value: float
    change: float  # of the value, to the next block on the path


@dataclass(frozen=True)
class ValueLeaf:
    """The leaf at the end of the path of a boosted tree, or of a tree of a regression.

    It adds ``added`` to the raw score, or predicts it: its ``value``, the terms of its slopes, and ``clipped``, the
    change of this sum by the range of the leaf. A constant leaf adds its value.
    """

    block: int
    depth: int
    n_samples: int
    weight: float
    value: float
    terms: tuple[Term, ...]  # slopes, largest first; empty in a constant leaf
    clipped: float
    added: float
    neighbours: tuple[Neighbour, ...] = ()  # nearest first; empty without prototypes


@dataclass(frozen=True)
class Path:
    """The path of a row through one tree."""

    tree: int
    target: Any  # the explained class in a tree of all classes; None in a regression
    steps: tuple[Any, ...]  # each a Step; a ValueStep of a boosted model or a regression
    leaf: Any  # a LeafStep or a ValueLeaf

    def list_terms(self) -> Iterator[dict[str, Any]]:
        """Yield the terms of all blocks, which add up to y in a branching block and to the prediction in a leaf."""
        for block in (*self.steps, self.leaf):
            place = {"target": self.target, "tree": self.tree, "block": block.block, "depth": block.depth}
            if isinstance(block, LeafStep):
                constants = {"intercept": block.intercept}
            elif isinstance(block, ValueLeaf):
                constants = {"value": block.value} | ({"clipped": block.clipped} if block.clipped else {})
            else:
                constants = {"offset": -block.offset}
            for part, term in constants.items():
                yield {**place, "part": part, "term": term}
            part = "slope" if block is self.leaf else "weight"
            for own in block.terms:
                yield {**place, "part": part, **{name: getattr(own, name) for name in TERM_FACTS}}


class _Blocks:
    """Facts of the blocks of trees with values."""

    def __init__(self, trace: Trace, code: int) -> None:
        self.trace, self.model, self.trees = trace, trace.model, trace.model.trees
        self.code = code  # of the explained class

    def target(self, tree: int) -> Any:
        """Return the class of a tree; None in a regression."""
        return self.model.name_target(tree)

    def step(self, stop: int, **facts: Any) -> Any:
        """Return a branching block, given the facts that all trees have."""
        value, change = float(self.trace.outcome[stop]), float(self.trace.change[stop])
        return ValueStep(value=value, change=change, **facts)

    def leaf(self, stop: int, tree: int, **facts: Any) -> Any:
        """Return a leaf, given the facts that all trees have."""
        clipped, added = float(self.trace.clipped[tree]), float(self.trace.membership[tree])
        return ValueLeaf(value=float(self.trace.outcome[stop]), clipped=clipped, added=added, **facts)


class _WolfBlocks(_Blocks):
    """Facts of the blocks of trees that separate one class from the rest."""

    def share(self, stop: int) -> dict[str, Any]:
        """Return the weight and the share of the class in a block."""
        return {
            "n_target": float(self.trees.n_target[self.trace.at[stop]]),
            "share": float(self.trace.outcome[stop]),
        }

    def step(self, stop: int, **facts: Any) -> Any:
        distance = abs(facts["y"])
        return Step(distance=distance, confidence=min(distance, 1.0), **self.share(stop), **facts)

    def estimate(self, stop: int, tree: int) -> tuple[float, float, float]:
        """Return intercept, estimate and membership of a leaf."""
        trace, intercept = self.trace, self.trees.intercept[self.trace.at[stop]]
        return float(intercept), float(trace.value[stop]), float(trace.membership[tree])

    def leaf(self, stop: int, tree: int, **facts: Any) -> Any:
        (intercept, estimate, membership), d = self.estimate(stop, tree), float(self.trace.confidence[tree])
        return LeafStep(
            intercept=intercept,
            estimate=estimate,
            membership=membership,
            confidence=d,
            corrected_membership=d * membership,
            **self.share(stop),
            **facts,
        )


class _SharesBlocks(_WolfBlocks):
    """Facts of the blocks of trees of all classes, for the explained class."""

    def __init__(self, trace: Trace, code: int) -> None:
        super().__init__(trace, code)
        self.shares = shares_at(self.trees, trace.at, self.model.n_classes)[:, self.code]

    def target(self, tree: int) -> Any:
        return self.model.labels[self.code]

    def share(self, stop: int) -> dict[str, Any]:
        at, share = int(self.trace.at[stop]), float(self.shares[stop])
        return {"n_target": self.model.count_class(at, self.code, share), "share": share}

    def estimate(self, stop: int, tree: int) -> tuple[float, float, float]:
        at = self.trace.at[stop : stop + 1]
        membership = float(memberships_at(self.trees, at, self.model.prior)[0, self.code])
        return membership, membership, membership


class _JointBlocks(_Blocks):
    """Facts of the blocks of boosted trees of all classes, for the explained class."""

    def __init__(self, trace: Trace, code: int) -> None:
        super().__init__(trace, code)
        self.values = shares_at(self.trees, trace.at, self.model.n_classes)[:, self.code]

    def target(self, tree: int) -> Any:
        return self.model.labels[self.code]

    def step(self, stop: int, **facts: Any) -> Any:
        value = float(self.values[stop])
        return ValueStep(value=value, change=float(self.values[stop + 1]) - value, **facts)

    def leaf(self, stop: int, tree: int, **facts: Any) -> Any:
        value = float(self.values[stop])
        return ValueLeaf(value=value, clipped=0.0, added=value, **facts)


_BLOCKS: dict[type[Head], type[_Blocks]] = {
    WolfHead: _WolfBlocks,
    SharesHead: _SharesBlocks,
    MeanHead: _Blocks,
    RawScoreHead: _Blocks,
    JointScoreHead: _JointBlocks,
}


def find_paths(trace: Trace, x: Floats, code: int) -> Iterator[Path]:
    """Yield the paths of one row with values ``x`` through all trees; ``code`` is the explained class."""
    blocks = trace.model.head.choose(_BLOCKS)(trace, code)
    trees = trace.model.trees
    name_terms, name_slopes = (_name_terms(trace.model, one, x) for one in (trace.terms, trace.slope_terms))
    neighbours = find_neighbours(trace)
    steps: list[Any] = []
    for stop, (at, is_leaf) in enumerate(zip(trace.at.tolist(), trace.is_leaf.tolist(), strict=True)):
        facts: dict[str, Any] = {
            "block": int(trace.block[stop]),
            "depth": int(trace.depth[stop]),
            "n_samples": int(trees.n_samples[at]),
            "weight": float(trees.weight[at]),
        }
        if is_leaf:
            tree = int(trace.tree[stop])
            facts |= {"terms": name_slopes(stop), "neighbours": neighbours[tree]}
            yield Path(tree, blocks.target(tree), tuple(steps), blocks.leaf(stop, tree, **facts))
            steps = []
            continue
        y = float(trace.y[stop])
        facts |= {"offset": float(trees.offset[at]), "y": y, "side": "left" if y < 0.0 else "right"}
        steps.append(blocks.step(stop, terms=name_terms(stop), **facts))


def _name_terms(model: Model, terms: TraceTerms, x: Floats) -> Callable[[int], tuple[Term, ...]]:
    """Return a function that gives the terms of a stop, largest first."""
    order = np.lexsort((-np.abs(terms.value), terms.stop))
    feature = terms.feature[order]
    encoding, column = model.encoding, model.encoding.column
    is_part = encoding.is_category | encoding.is_indicator
    own = {
        number: encoding.encoders[number].decode(x[encoding.features_of(number)])
        for number in encoding.counted
    }
    lists: list[list[Any]] = [
        [model.feature_names[f] for f in feature],
        x[feature].tolist(),
        terms.weight[order].tolist(),
        terms.unit_weight[order].tolist(),
        terms.value[order].tolist(),
        [encoding.names[column[f]] if is_part[f] else None for f in feature],
        [own.get(column[f]) for f in feature],
        [encoding.opposites.get(f) for f in feature.tolist()],
    ]

    def name(stop: int) -> tuple[Term, ...]:
        some = slice(terms.ptr[stop], terms.ptr[stop + 1])
        return tuple(Term(*parts) for parts in zip(*(values[some] for values in lists), strict=True))

    return name


def find_neighbours(trace: Trace) -> list[tuple[Neighbour, ...]]:
    """Return, for every tree, the nearest prototypes in the leaf of the row."""
    model, prototypes = trace.model, trace.model.prototypes
    n_trees = model.trees.n_trees
    if prototypes is None:
        return [()] * n_trees
    Z = model.normalise(prototypes.X)
    distance = np.sqrt(((Z.astype(np.float64) - trace.z) ** 2).sum(axis=1))
    nearest_first = np.argsort(distance, kind="stable")
    own = trace.block[trace.is_leaf]
    near = [np.zeros(0, dtype=np.int64)] * n_trees
    for begin in range(0, len(distance), _ROWS_AT_ONCE):  # most leaves have enough among the first
        some = nearest_first[begin : begin + _ROWS_AT_ONCE]
        is_beside = model.score("apply", prototypes.X[some]) == own
        for tree in range(n_trees):
            if len(near[tree]) < N_NEIGHBOURS:
                near[tree] = np.append(near[tree], some[is_beside[:, tree]])[:N_NEIGHBOURS]
        if all(len(rows) == N_NEIGHBOURS for rows in near):
            break
    known = {
        i: Neighbour(
            int(prototypes.given[i]),
            model.name_values(prototypes.X[i]),
            model.labels[prototypes.codes[i]]
            if prototypes.response is None
            else float(prototypes.response[i]),
            float(distance[i]),
        )
        for i in np.unique(np.concatenate(near))
    }
    return [tuple(known[i] for i in some) for some in near]
