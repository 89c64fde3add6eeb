"""The facts of an explanation: the decision of every block on the path of a row, and its terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Model
from ._walk import Terms, Walk

N_NEIGHBOURS = 3
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Term:
    """What one feature adds to a feature sum, or to a membership."""

    feature: str  # "colour = red" for a category
    value: float  # in the user's units, 1 or 0 of a category; NaN is missing
    weight: float  # per normalised unit
    unit_weight: float  # per unit of the user
    term: float  # weight · z
    column: str | None = None  # the column of a category; None where the feature is a column of its own

    @property
    def what(self) -> str:
        """The feature in words: "colour = red", "colour ≠ red" or, where it is missing, "colour"; else its name."""
        if self.column is None or self.value == 1.0:
            return self.feature
        if math.isnan(self.value):
            return self.column
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
    label: Any
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
class BoostedStep:
    """A branching block of a boosted tree on the way: ``y`` is the sum of the terms minus the offset.

    Where the block has a single feature, and that is missing, ``y`` is infinite: the block has a side for it.
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
class BoostedLeaf:
    """The leaf of a boosted tree at the end of the way: ``value`` is what it adds to the raw score."""

    block: int
    depth: int
    n_samples: int
    weight: float
    value: float


@dataclass(frozen=True)
class Path:
    """The path of a row through one tree."""

    tree: int
    target: Any
    steps: tuple[Any, ...]  # each a Step, of a boosted model a BoostedStep
    leaf: Any  # a LeafStep or a BoostedLeaf


def make_plain(fact: Any) -> Any:
    """A value for JSON; a date or another object becomes text."""
    return fact if fact is None or isinstance(fact, (str, int, float)) else str(fact)


def find_paths(walk: Walk, x: Any) -> Iterator[Path]:
    """The paths of one row with values ``x`` through all trees."""
    if walk.fitted.is_boosted:
        yield from _find_boosted_paths(walk, x)
        return
    fitted, trees = walk.fitted, walk.fitted.trees
    name_terms, name_slopes = _namer(fitted, walk.terms, x), _namer(fitted, walk.slope_terms, x)
    neighbours = find_neighbours(walk)
    steps: list[Step] = []
    for stop, (at, is_leaf) in enumerate(zip(walk.at.tolist(), walk.is_leaf.tolist(), strict=True)):
        tree = int(walk.tree[stop])
        common = _describe_block(walk, stop) | {
            "n_target": float(trees.n_target[at]),
            "share": float(walk.outcome[stop]),
        }
        if not is_leaf:
            distance = abs(float(walk.y[stop]))
            common |= _describe_side(walk, stop) | {"terms": name_terms(stop)}
            steps.append(Step(distance=distance, confidence=min(distance, 1.0), **common))
            continue
        membership, confidence = float(walk.membership[tree]), float(walk.confidence[tree])
        leaf = LeafStep(
            intercept=float(trees.intercept[at]),
            terms=name_slopes(stop),
            estimate=float(walk.value[stop]),
            membership=membership,
            confidence=confidence,
            corrected_membership=confidence * membership,
            neighbours=neighbours[tree],
            **common,
        )
        yield Path(tree, fitted.labels[int(trees.target[tree])], tuple(steps), leaf)
        steps = []


def _find_boosted_paths(walk: Walk, x: Any) -> Iterator[Path]:
    fitted, trees = walk.fitted, walk.fitted.trees
    name_terms = _namer(fitted, walk.terms, x)
    steps: list[BoostedStep] = []
    for stop, is_leaf in enumerate(walk.is_leaf.tolist()):
        common = _describe_block(walk, stop)
        common["value"] = float(walk.value[stop] if is_leaf else walk.outcome[stop])
        if not is_leaf:
            common |= _describe_side(walk, stop) | {"terms": name_terms(stop)}
            steps.append(BoostedStep(change=float(walk.change[stop]), **common))
            continue
        tree = int(walk.tree[stop])
        yield Path(tree, fitted.labels[int(trees.target[tree])], tuple(steps), BoostedLeaf(**common))
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
        fitted.per_unit(terms.weight[order], feature).tolist(),
        terms.value[order].tolist(),
    ]
    names, column = fitted.encoding.names, fitted.encoding.column
    is_category = fitted.encoding.is_category
    lists.append([names[column[f]] if is_category[f] else None for f in feature])

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
            fitted.labels[prototypes.codes[i]],
            float(distance[i]),
        )
        for i in np.unique(np.concatenate(near))
    }
    return [tuple(known[i] for i in some) for some in near]
