"""The facts of an explanation: the decision of every block on the path of a row, and its terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.shares import memberships_at, shares_at
from ._walk import Terms, Walk

N_NEIGHBOURS = 3
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Term:
    """What one feature adds to a feature sum, to a membership or to the value of a leaf."""

    feature: str  # "colour = red" for a category, "age is missing" for an indicator
    value: float  # in the user's units, 1 or 0 of a category, else its statistic; NaN is missing
    weight: float  # per normalised unit
    unit_weight: float  # per unit of the user
    term: float  # weight · z; in a leaf that has a value, slope · (z - mean)
    column: str | None = None  # the column of a category or indicator; None where the feature is its column
    category: Any = None  # of the row, where the feature is a target statistic

    @property
    def what(self) -> str:
        """The feature in words: "colour = red", "colour ≠ red" or, where it is missing, "colour"; else its name."""
        if self.category is not None:
            return f"{self.column} = {self.category}"
        if self.column is None or self.value == 1.0:
            return self.feature
        if math.isnan(self.value):
            return self.column
        if self.feature == f"{self.column} is missing":
            return f"{self.column} is not missing"
        return f"{self.column} ≠ {self.feature.removeprefix(f'{self.column} = ')}"


@dataclass(frozen=True)
class Step:
    """A branching block on the path: ``y`` is the sum of the terms minus the offset."""

    block: int
    depth: int
    terms: tuple[Term, ...]  # largest first
    offset: float
    y: float
    side: str  # "left" where y < 0, else "right"
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
    confidence: float  # d of the way
    corrected_membership: float  # d·μ
    neighbours: tuple[Neighbour, ...]  # nearest first; none without prototypes


@dataclass(frozen=True)
class ValueStep:
    """A branching block with a value on the path: ``y`` is the sum of the terms minus the offset.

    The value is what the block would add to the raw score if it were a leaf, or its mean response. Where the block of a
    boosted tree has a single feature, and that is missing, ``y`` is infinite: the block has a side for it.
    """

    block: int
    depth: int
    terms: tuple[Term, ...]  # largest first
    offset: float
    y: float
    side: str  # "left" where y < 0, else "right"
    n_samples: int
    weight: float
    value: float
    change: float  # of the value, to the next block on the way


@dataclass(frozen=True)
class ValueLeaf:
    """The leaf at the end of the path of a boosted tree, or of a tree of a regression.

    It adds ``added`` to the raw score, or predicts it: its ``value``, the terms of its slopes, and ``clipped``, what
    its range takes away from those. A constant leaf adds its value.
    """

    block: int
    depth: int
    n_samples: int
    weight: float
    value: float
    terms: tuple[Term, ...]  # slopes, largest first; none in a constant leaf
    clipped: float
    added: float
    neighbours: tuple[Neighbour, ...] = ()  # nearest first; none without prototypes


@dataclass(frozen=True)
class Path:
    """The path of a row through one tree."""

    tree: int
    target: Any  # of a tree of all classes: the predicted class; None of a regression
    steps: tuple[Any, ...]  # each a Step; a ValueStep of a boosted model or a regression
    leaf: Any  # a LeafStep or a ValueLeaf


def make_plain(fact: Any) -> Any:
    """A value for JSON; a date or another object becomes text."""
    return fact if fact is None or isinstance(fact, (str, int, float)) else str(fact)


def find_paths(walk: Walk, x: Any) -> Iterator[Path]:
    """The paths of one row with values ``x`` through all trees."""
    if walk.fitted.has_values:
        yield from _find_value_paths(walk, x)
        return
    fitted, trees = walk.fitted, walk.fitted.trees
    name_terms, name_slopes = _namer(fitted, walk.terms, x), _namer(fitted, walk.slope_terms, x)
    neighbours = find_neighbours(walk)
    # A tree of all classes is told from the side of the class that the model predicts.
    code = int(fitted.ask("predict", x[None])[0]) if fitted.is_joint else None
    share = walk.outcome if code is None else shares_at(trees, walk.at, fitted.n_classes)[:, code]
    steps: list[Step] = []
    for stop, (at, is_leaf) in enumerate(zip(walk.at.tolist(), walk.is_leaf.tolist(), strict=True)):
        tree = int(walk.tree[stop])
        common = _describe_block(walk, stop) | {
            "n_target": float(trees.n_target[at])
            if code is None
            else fitted.count_class(at, code, float(share[stop])),
            "share": float(share[stop]),
        }
        if not is_leaf:
            distance = abs(float(walk.y[stop]))
            common |= _describe_side(walk, stop) | {"terms": name_terms(stop)}
            steps.append(Step(distance=distance, confidence=min(distance, 1.0), **common))
            continue
        membership, confidence = float(walk.membership[tree]), float(walk.confidence[tree])
        if code is not None:
            membership = float(memberships_at(trees, walk.at[stop : stop + 1], fitted.prior)[0, code])
        leaf = LeafStep(
            intercept=float(trees.intercept[at]) if code is None else membership,
            terms=name_slopes(stop),
            estimate=float(walk.value[stop]) if code is None else membership,
            membership=membership,
            confidence=confidence,
            corrected_membership=confidence * membership,
            neighbours=neighbours[tree],
            **common,
        )
        target = int(trees.target[tree]) if code is None else code
        yield Path(tree, fitted.labels[target], tuple(steps), leaf)
        steps = []


def _find_value_paths(walk: Walk, x: Any) -> Iterator[Path]:
    fitted = walk.fitted
    name_terms, name_slopes = _namer(fitted, walk.terms, x), _namer(fitted, walk.slope_terms, x)
    neighbours = find_neighbours(walk)
    steps: list[ValueStep] = []
    for stop, is_leaf in enumerate(walk.is_leaf.tolist()):
        common = _describe_block(walk, stop)
        common["value"] = float(walk.outcome[stop])
        if not is_leaf:
            common |= _describe_side(walk, stop) | {"terms": name_terms(stop)}
            steps.append(ValueStep(change=float(walk.change[stop]), **common))
            continue
        tree = int(walk.tree[stop])
        clipped, added = float(walk.clipped[tree]), float(walk.membership[tree])
        common |= {"terms": name_slopes(stop), "neighbours": neighbours[tree]}
        leaf = ValueLeaf(clipped=clipped, added=added, **common)
        yield Path(tree, fitted.name_target(tree), tuple(steps), leaf)
        steps = []


def _describe_block(walk: Walk, stop: int) -> dict[str, Any]:
    """Which block a stop is, and what it holds."""
    trees, at = walk.fitted.trees, walk.at[stop]
    return {
        "block": int(walk.block[stop]),
        "depth": int(walk.depth[stop]),
        "n_samples": int(trees.n_samples[at]),
        "weight": float(trees.weight[at]),
    }


def _describe_side(walk: Walk, stop: int) -> dict[str, Any]:
    """To which side of the hyperplane a row goes."""
    y = float(walk.y[stop])
    return {
        "offset": float(walk.fitted.trees.offset[walk.at[stop]]),
        "y": y,
        "side": "left" if y < 0.0 else "right",
    }


def _namer(fitted: Model, terms: Terms, x: Any) -> Callable[[int], tuple[Term, ...]]:
    """A function that gives the terms of a stop, largest first."""
    order = np.lexsort((-np.abs(terms.value), terms.stop))
    feature = terms.feature[order]
    lists: list[list[Any]] = [
        [fitted.feature_names[f] for f in feature],
        x[feature].tolist(),
        terms.weight[order].tolist(),
        terms.unit_weight[order].tolist(),
        terms.value[order].tolist(),
    ]
    encoding, column = fitted.encoding, fitted.encoding.column
    is_part = encoding.is_category | encoding.is_indicator
    lists.append([encoding.names[column[f]] if is_part[f] else None for f in feature])
    own = {
        number: encoding.treatments[number].decode(x[encoding.features_of(number)])
        for number in encoding.counted
    }
    lists.append([own.get(column[f]) for f in feature])

    def name(stop: int) -> tuple[Term, ...]:
        some = slice(terms.ptr[stop], terms.ptr[stop + 1])
        return tuple(Term(*parts) for parts in zip(*(values[some] for values in lists), strict=True))

    return name


def find_neighbours(walk: Walk) -> list[tuple[Neighbour, ...]]:
    """For every tree the prototypes nearest to the only row of the walk among those that end in its leaf."""
    fitted, prototypes = walk.fitted, walk.fitted.prototypes
    n_trees = fitted.trees.n_trees
    if prototypes is None:
        return [()] * n_trees
    Z = fitted.normalise(prototypes.X)
    distance = np.sqrt(((Z.astype(np.float64) - walk.Z[0]) ** 2).sum(axis=1))
    nearest_first = np.argsort(distance, kind="stable")
    own = walk.block[walk.is_leaf]
    near = [np.zeros(0, dtype=np.int64)] * n_trees
    for begin in range(0, len(distance), _ROWS_AT_ONCE):  # most leaves have enough among the first
        some = nearest_first[begin : begin + _ROWS_AT_ONCE]
        leaves: Any = fitted.scorer.apply(prototypes.X[some])
        is_beside = leaves == own
        for tree in range(n_trees):
            if len(near[tree]) < N_NEIGHBOURS:
                near[tree] = np.append(near[tree], some[is_beside[:, tree]])[:N_NEIGHBOURS]
        if all(len(rows) == N_NEIGHBOURS for rows in near):
            break
    known = {
        i: Neighbour(
            int(prototypes.given[i]),
            fitted.name_values(prototypes.X[i]),
            fitted.labels[prototypes.codes[i]]
            if prototypes.response is None
            else float(prototypes.response[i]),
            float(distance[i]),
        )
        for i in np.unique(np.concatenate(near))
    }
    return [tuple(known[i] for i in some) for some in near]
