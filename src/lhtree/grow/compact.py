"""Compact trees: growing one, and choosing its penalty by pruning pilot trees (``penalty="auto"``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.records import scale_down
from ..model.trees import bound_values
from ..tables.normalise import Normalisation
from .calibrate import assign_folds
from .labels import Progress
from .rounding import CompactRows, UnitTree, find_offsets, in_units, round_to_scale
from .training import Training, shift

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


PENALTIES = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)
N_PARTS = 2  # of the rows; each part judges the tree that was grown from the other
_FEWEST = 100  # rows; parts of fewer are too small for a choice


def count_pilots(training: Training) -> int:
    """Return the number of trees that are grown to choose the penalty."""
    return N_PARTS if training.n_rows >= _FEWEST else 0


def choose_penalty(
    training: Training, plan: CompactPlan, normalisation: Normalisation, n_threads: int, progress: Progress
) -> CompactPlan:
    """Return the penalty whose pruned trees have the least error on the half of the rows that they were not grown from.

    A tree is grown from each half with the smallest penalty, and pruned as the larger ones demand. The halves do not
    depend on a seed, so that a fit is not random.
    """
    if not count_pilots(training):
        return replace(plan, penalty=PENALTIES[0])
    errors = _measure_pruned(training, plan, normalisation, n_threads, progress)
    return replace(plan, penalty=_pick(errors, training.weight))


def _measure_pruned(
    training: Training,
    plan: CompactPlan,
    normalisation: Normalisation,
    n_threads: int,
    progress: Progress,
) -> Floats:
    """Return errors of all rows in trees that were grown from other rows, shape (penalties, rows)."""
    part = assign_folds(training.codes, 0, N_PARTS)
    errors = np.empty((len(PENALTIES), training.n_rows))
    for number in range(N_PARTS):
        held, others = np.flatnonzero(part == number), np.flatnonzero(part != number)
        own, pilot = training.take(others), replace(plan, penalty=PENALTIES[0])
        grown = grow(own, pilot, normalisation, n_threads, shift(progress, number * count_tasks(plan)))
        tree = in_units(grown.arrays, normalisation, None)
        members = tree.members(grown.leaf)
        costs = {
            block: float((grown.rows.weight * grown.rows.costs(some))[some].sum())
            for block, some in members.items()
        }
        X = bound_values(training.X[held].load().expand(), normalisation.centre)
        leaf = tree.apply(X)
        for place, penalty in enumerate(PENALTIES):
            kept = _prune(tree, costs, weigh_penalty(replace(plan, penalty=penalty), grown.rows))
            end = np.array([kept.get(block, -1) for block in range(len(tree.left))])[leaf]
            for block in np.unique(end).tolist():
                here = held[end == block]
                errors[place, here] = _judge(training, others[members[block]], here)
    return errors


def _judge(training: Training, own: Ints, held: Ints) -> Floats:
    """Return errors of held-out rows in a leaf of the rows ``own``: Brier scores, or squared errors of a regression."""
    weight = np.ones(len(own)) if training.weight is None else training.weight[own]
    total = float(weight.sum()) + 1.0
    if training.response is not None:
        response, _ = scale_down(training.response)
        mean = float((weight @ response[own] + np.average(response, weights=training.weight)) / total)
        squares: Floats = (response[held] - mean) ** 2
        return squares
    prior = training.prior
    share = (np.bincount(training.codes[own], weights=weight, minlength=len(prior)) + prior) / total
    scores: Floats = 1.0 - 2.0 * share[training.codes[held]] + float((share**2).sum())
    return scores


def _prune(tree: UnitTree, costs: dict[int, float], penalty: float) -> dict[int, int]:
    """Return the block in which rows of every block end when subtrees that do not pay are leaves.

    ``costs`` has the costs of the rows of every block as a leaf, ``penalty`` is the cost of a term or leaf.
    """
    least, is_leaf = dict[int, float](), set[int]()
    for block in reversed(tree.order()):
        least[block] = costs[block] + penalty
        if tree.left[block] >= 0:
            below = least[tree.left[block]] + least[tree.right[block]] + penalty * len(tree.weights[block])
            if below < least[block]:
                least[block] = below
                continue
        is_leaf.add(block)
    end = {0: 0}
    for block in tree.order():
        for side in (tree.left[block], tree.right[block]):
            if side >= 0:
                end[side] = end[block] if end[block] in is_leaf else side
    return end


def _pick(errors: Floats, weight: Floats | None) -> float:
    """Return the penalty of the least error; the smallest, unless the other is better by more than chance."""
    mean = np.average(errors, axis=1, weights=weight)
    best = int(mean.argmin())
    gain = errors[0] - errors[best]
    share = np.full(len(gain), 1.0 / len(gain)) if weight is None else weight / weight.sum()
    deviation = np.sqrt((share**2 * (gain - gain @ share) ** 2).sum())  # of the mean gain
    return PENALTIES[best if gain @ share > deviation else 0]
