"""Out-of-bag scores of forests, from the trees that did not see a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..grow.training import Training
from ..model.model import Model
from ..model.records import ForestRecord, ResponseRecord


def score_out_of_bag(
    model: Model,
    training: Training,
    wolf: NDArray[np.float64],
    membership: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """Return the model with its out-of-bag scores; the arrays are the result of ``sum_left_out``."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    is_scored = n_trees > 0
    score = model.scorer.settle(wolf, membership)
    guess = score.argmax(axis=1) == training.codes
    given = slice(None) if training.row is None else training.row
    decision = np.full((training.n_given, model.n_classes), np.nan)
    decision[given] = np.where(is_scored[:, None], score, np.nan)
    accuracy = float(guess[is_scored].mean()) if is_scored.any() else None
    return replace(model, forest=replace(record, oob_score=accuracy, oob_decision_function=decision))


def measure_out_of_bag(
    model: Model,
    training: Training,
    keeps_predictions: bool,
    unit: float,
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """Return the model with its out-of-bag errors; the arrays are the result of ``sum_left_out``."""
    response: NDArray[np.float64] = training.response  # type: ignore[assignment]  # it is a regression
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    summary: ResponseRecord = model.response  # type: ignore[assignment]  # it is a regression
    row = np.flatnonzero(n_trees)
    kept, score = np.full(training.n_given, np.nan), None
    if len(row):
        n = n_trees[row].astype(np.float64)
        prediction = total[row, 0] / n
        spread = squares[row, 0] - n * ((prediction - summary.mean) / unit) ** 2
        error = (response[row] - prediction) / unit
        weight = None if training.weight is None else training.weight[row]
        residual = np.abs(error) * _correct(error**2, spread, n, model.n_estimators) * unit
        order = np.argsort(residual, kind="stable")
        summary = replace(
            summary, residual=residual[order], residual_weight=None if weight is None else weight[order]
        )
        kept[row if training.row is None else training.row[row]] = prediction
        score = _score(response[row] / unit, error)
    if keeps_predictions:
        record = replace(record, oob_score=score, oob_prediction=kept)
    return replace(model, forest=record, response=summary)


def _correct(
    error: NDArray[np.float64], spread: NDArray[np.float64], n: NDArray[np.float64], n_trees: int
) -> float:
    """Return the factor from the error of the trees that did not see a row to the error of all trees.

    Trees whose variance is s² add s² / n to the squared error of the mean of n of them, so that s² (1/n - 1/n_trees) is
    too much. ``spread`` is the sum of squared deviations of the n trees of a row from their mean. The squared error is
    at least s² / n, so that the factor is above 0 even if a few rows have smaller errors by chance.
    """
    several = n > 1
    variance = np.maximum(spread[several], 0.0) / (n[several] - 1)
    total = max(float(error[several].sum()), float((variance / n[several]).sum()))
    if not total > 0.0:
        return 1.0
    too_much = float((variance * (1 / n[several] - 1 / n_trees)).sum())
    return float(np.sqrt(1.0 - too_much / total))


def _score(response: NDArray[np.float64], error: NDArray[np.float64]) -> float:
    """Return R²; for a constant response, 1 if all errors are 0, otherwise 0."""
    spread = ((response - response.mean()) ** 2).sum()
    return float(1.0 - (error**2).sum() / spread) if spread > 0.0 else float(not error.any())
