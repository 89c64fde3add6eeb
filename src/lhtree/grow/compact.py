"""Compact trees: growing one, and writing it in the user's units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.records import scale_down
from ..model.trees import bound_values
from ..tables.normalise import Normalisation
from .rounding import CompactRows, UnitTree, find_offsets, in_units, round_to_scale
from .training import Training

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CompactPlan:
    """Parameters of a compact tree, checked."""

    penalty: float
    max_leaf_nodes: int
    max_terms: int
    min_samples_leaf: float
    max_passes: int
    digits: int | None
    is_linear: bool


def count_tasks(plan: CompactPlan) -> int:
    """Return the maximum number of progress steps: trees of doubling size, then attempts to improve the last."""
    return math.ceil(math.log2(plan.max_leaf_nodes)) + 8


@dataclass(frozen=True)
class Grown:
    """A tree as the core grew it, by normalised values, and the rows it was grown from."""

    arrays: dict[str, NDArray[Any]]
    rows: CompactRows

    @property
    def leaf(self) -> Ints:
        """Leaf of every row."""
        return self.arrays["leaf"].astype(np.int64)


def grow(
    training: Training,
    plan: CompactPlan,
    normalisation: Normalisation,
    n_threads: int,
    progress: Callable[[float], None] | None,
) -> Grown:
    """Grow a tree by normalised values."""
    X = bound_values(training.X.load().expand(), normalisation.centre)
    Z = _core.normalise(X, *normalisation, n_threads)
    assert Z is not None  # bounded values are finite
    n_rows = len(X)
    is_class = training.response is None
    response = None if is_class else _standardise(training)
    arrays = _core.grow_compact(
        Z,
        weight=training.weight,
        classes=training.codes if is_class else None,
        prior=training.prior if is_class else None,
        response=response,
        penalty=plan.penalty,
        min_samples_leaf=plan.min_samples_leaf,
        max_leaf_nodes=plan.max_leaf_nodes,
        max_terms=plan.max_terms,
        max_passes=plan.max_passes,
        n_threads=n_threads,
        progress=progress,
    )
    rows = CompactRows(
        X=X,
        weight=np.ones(n_rows) if training.weight is None else training.weight,
        classes=training.codes if is_class else None,
        prior=training.prior,
        response=response,
    )
    return Grown(arrays, rows)


def _standardise(training: Training) -> Floats:
    """Return the response with mean 0 and standard deviation 1/2: two classes of equal size would have it, too."""
    centred, spread, _ = _centre(training)
    return centred / (2.0 * spread) if spread > 0.0 else centred


def _centre(training: Training) -> tuple[Floats, float, int]:
    """Return the response with mean 0, its standard deviation, and the exponent of two that is their unit."""
    assert training.response is not None
    scaled, exponent = scale_down(training.response)
    weight = training.weight
    centred = scaled - np.average(scaled, weights=weight)
    return centred, math.sqrt(np.average(centred**2, weights=weight)), exponent


def weigh_penalty(plan: CompactPlan, rows: CompactRows) -> float:
    """Return the cost of a term or a leaf."""
    return plan.penalty * _core.PENALTY_UNIT * math.log(max(float(rows.weight.sum()), 2.0))


def settle(grown: Grown, plan: CompactPlan, normalisation: Normalisation) -> tuple[UnitTree, Ints]:
    """Return the tree in the user's units, and the leaf of every row."""
    return find_offsets(
        in_units(grown.arrays, normalisation, plan.digits),
        grown.rows,
        grown.leaf,
        weigh_penalty(plan, grown.rows),
        plan.min_samples_leaf,
        is_short=plan.digits is not None,
    )


def round_means(mean: Floats, training: Training, digits: int) -> Floats:
    """Round means of the response to a number of digits of its standard deviation."""
    _, spread, exponent = _centre(training)
    spread = math.ldexp(spread, exponent)
    return round_to_scale(mean, spread, digits) if spread > 0.0 else mean.copy()


def measure_fit(training: Training, leaf: Ints, digits: int | None = None) -> float:
    """Return the share of the training weight that leaves predict correctly; for a regression, R²."""
    weight = np.ones(len(leaf)) if training.weight is None else training.weight
    if training.response is None:
        table = np.zeros((int(leaf.max()) + 1, len(training.classes)))
        np.add.at(table, (leaf, training.codes), weight)
        return float(table.max(axis=1).sum() / weight.sum())
    response, exponent = scale_down(training.response)
    total = np.bincount(leaf, weights=weight)
    mean = np.bincount(leaf, weights=weight * response) / np.where(total > 0.0, total, 1.0)
    if digits is not None:
        mean = np.ldexp(round_means(np.ldexp(mean, exponent), training, digits), -exponent)
    residual = float(np.average((response - mean[leaf]) ** 2, weights=weight))
    variance = _centre(training)[1] ** 2
    return 1.0 - residual / variance if variance > 0.0 else 1.0
