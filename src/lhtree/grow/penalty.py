"""The penalty of a compact tree, chosen by pruning pilot trees (``penalty="auto"``)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..model.records import scale_down
from ..model.trees import bound_values
from ..tables.normalise import Normalisation
from .calibrate import assign_folds
from .compact import CompactPlan, count_tasks, grow, weigh_penalty
from .labels import Progress
from .rounding import UnitTree, in_units
from .training import Training, shift

PENALTIES = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)
N_PARTS = 2  # of the rows; each part judges the tree that was grown from the other
_FEWEST = 100  # rows; parts of fewer are too small for a choice

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
