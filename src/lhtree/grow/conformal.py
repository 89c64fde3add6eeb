"""Prediction intervals by cross-fitting: ``intervals=True``.

The rows are dealt to five folds. Models of the same settings are grown without each fold and predict it; their errors
are the widths of intervals around predictions of the model, which is grown on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._parameters import check_flag, refuse
from ..model.model import Model
from .calibrate import N_FOLDS, assign_folds
from .training import Training


def check_intervals(intervals: Any, training: Training, *, continues: bool) -> bool:
    """Check ``intervals``."""
    if not check_flag("intervals", intervals):
        return False
    if continues:
        raise refuse("intervals", intervals, "False with warm_start=True: intervals refit all trees")
    if training.response_names:
        raise refuse("intervals", intervals, "False with several columns of y, or fit one column each")
    if training.n_rows < N_FOLDS:
        raise refuse(
            "intervals", intervals, f"False, or fit at least {N_FOLDS} rows: there are {training.n_rows}"
        )
    return True


def learn_residuals(
    model: Model, training: Training, build: Callable[[Training, int], Model], n_threads: int, seed: int
) -> Model:
    """Return the model with the errors of rows that were held out; ``build`` grows model i of those without a fold."""
    fold = assign_folds(training.codes, seed)
    assert training.response is not None
    assert model.response is not None
    residual = np.empty(len(fold))
    for number in range(N_FOLDS):
        held = np.flatnonzero(fold == number)
        without = build(training.take(np.flatnonzero(fold != number)), number)
        predicted = training.X[held].ask(without, model.head.predicts, n_threads)
        low, high = (predicted, predicted) if predicted.ndim == 1 else (predicted[:, 0], predicted[:, -1])
        actual = training.response[held]
        residual[held] = np.maximum(low - actual, actual - high)
    order = np.argsort(residual, kind="stable")
    weight = None if training.weight is None else training.weight[order]
    record = replace(model.response, residual=residual[order], residual_weight=weight)
    return replace(model, response=record)
