"""Choosing the penalty of a compact tree: by pruning pilot trees (``"auto"``) or by cross-validation (``"cv"``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..model.records import scale_down
from ..model.trees import bound_values
from ..tables.normalise import Normalisation
from .calibrate import N_FOLDS, assign_folds
from .compact import CompactPlan, count_tasks, grow, weigh_penalty
from .labels import Progress
from .rounding import UnitTree, in_units
from .training import Training, shift

PENALTIES = (0.3, 1.0, 3.0, 10.0)  # of cross-validation
PRUNED = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)  # of the pilot
AUTO, CHOICES = "auto", ("auto", "cv")
N_PARTS = 2  # of the rows; each part judges the tree that was grown from the other
_FEWEST = 100  # rows; parts of fewer are too small for a choice

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BuildCompact(Protocol):
    """Fit a tree to some rows."""

    def __call__(self, training: Training, plan: CompactPlan, progress: Progress) -> Model:
        """Return the model of one tree."""


def count_fits(choice: str | None, training: Training) -> int:
    """Return the number of trees that are grown to choose the penalty."""
    if choice is None:
        return 0
    if choice == AUTO:
        return N_PARTS if training.n_rows >= _FEWEST else 0
    return N_FOLDS * len(PENALTIES)


def choose_by_folds(
    training: Training, plan: CompactPlan, build: BuildCompact, seed: int, n_threads: int, progress: Progress
) -> CompactPlan:
    """Return the penalty whose trees have the least error on the folds that they were not grown from.

    The error is the Brier score, of a regression the squared error. Of equals the largest penalty is taken.
    """
    fold, n_done = assign_folds(training.codes, seed), 0
    error = np.zeros(len(PENALTIES))
    for number in range(N_FOLDS):
        held, others = (training.take(np.flatnonzero(is_in)) for is_in in (fold == number, fold != number))
        for place, penalty in enumerate(PENALTIES):
            if len(held.codes) and len(others.codes):
                model = build(others, replace(plan, penalty=penalty), shift(progress, n_done))
                error[place] += _measure(model, held, n_threads)
            n_done += count_tasks(plan)
    least = np.flatnonzero(error <= error.min() * (1.0 + 1e-9))
    return replace(plan, penalty=PENALTIES[int(least[-1])])


def _measure(model: Model, held: Training, n_threads: int) -> float:
    if held.response is None:
        error: Floats = held.X.score(model, "proba", n_threads)
        error[np.arange(len(error)), held.codes] -= 1.0
        squares = (error**2).sum(axis=1)
    else:
        difference = held.X.score(model, "value", n_threads) - held.response
        squares = np.ldexp(difference, -int(np.frexp(np.abs(held.response).max())[1])) ** 2
    return float(squares.sum() if held.weight is None else (squares * held.weight).sum())


def choose_by_pruning(
    training: Training, plan: CompactPlan, normalisation: Normalisation, n_threads: int, progress: Progress
) -> CompactPlan:
    """Return the penalty whose pruned trees have the least error on the half of the rows that they were not grown from.

    A tree is grown from each half with the smallest penalty, and pruned as the larger ones demand. The halves do not
    depend on a seed, so that a fit is not random.
    """
    if training.n_rows < _FEWEST:
        return replace(plan, penalty=PRUNED[0])
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
    errors = np.empty((len(PRUNED), training.n_rows))
    for number in range(N_PARTS):
        held, others = np.flatnonzero(part == number), np.flatnonzero(part != number)
        own, pilot = training.take(others), replace(plan, penalty=PRUNED[0])
        grown = grow(own, pilot, normalisation, n_threads, shift(progress, number * count_tasks(plan)))
        tree, _ = in_units(grown.arrays, normalisation, None)
        members = tree.members(grown.leaf)
        costs = {
            block: float((grown.rows.weight * grown.rows.costs(some))[some].sum())
            for block, some in members.items()
        }
        X = bound_values(training.X[held].load().expand(), normalisation.centre)
        leaf = tree.apply(X)
        for place, penalty in enumerate(PRUNED):
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
    return PRUNED[best if gain @ share > deviation else 0]
