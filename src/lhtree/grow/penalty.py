"""The penalty of a compact tree, chosen by cross-validation: ``penalty="cv"``."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .calibrate import N_FOLDS, assign_folds
from .compact import Plan, count_tasks
from .pilot import Progress, shift
from .training import Training

PENALTIES = (0.3, 1.0, 3.0, 10.0)


class Build(Protocol):
    """Fit a tree to some rows."""

    def __call__(self, training: Training, plan: Plan, progress: Progress) -> Model:
        """Return the model of one tree."""


def count_fits() -> int:
    """Trees that are grown to choose among the penalties."""
    return N_FOLDS * len(PENALTIES)


def choose_penalty(
    training: Training, plan: Plan, build: Build, seed: int, n_threads: int, progress: Progress
) -> Plan:
    """The penalty whose trees have the least error on the folds that they were not grown from.

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
        error: NDArray[np.float64] = model.ask("proba", held.X, n_threads)
        error[np.arange(len(error)), held.codes] -= 1.0
        squares = (error**2).sum(axis=1)
    else:
        difference = model.ask("value", held.X, n_threads) - held.response
        squares = np.ldexp(difference, -int(np.frexp(np.abs(held.response).max())[1])) ** 2
    return float(squares.sum() if held.weight is None else (squares * held.weight).sum())
