"""Calibration by cross-fitting: ``calibrate="sigmoid"`` or ``"isotonic"``.

The rows are dealt to five folds. Models of the same settings are grown without each fold and score it; the map from
these scores to classes is learned, and the model itself is grown on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .. import _core
from .._parameters import choose, refuse
from ..model.model import Model
from ..model.records import CALIBRATORS, Calibration, Knots
from .training import Training

N_FOLDS = 5
_MOST_STEPS = 100
_SIGMOID_WEIGHT = 30.0  # rows that the sigmoid counts for in every step of an isotonic map
_LONGEST_LINE = 0.5  # of an isotonic map, in log-odds


def check_calibrate(method: Any, training: Training, *, continues: bool) -> str | None:
    """Check ``calibrate``: a method, or None."""
    checked: str | None = choose("calibrate", method, (None, *CALIBRATORS))
    if checked is None:
        return None
    if continues:
        raise refuse(
            "calibrate",
            method,
            "None with warm_start=True, or warm_start=False: calibration refits all trees",
        )
    counts = np.bincount(training.codes)
    if counts.min() < 2:
        label = training.classes.tolist()[int(counts.argmin())]
        raise refuse("calibrate", method, f"None, or at least 2 rows of every class: {label!r} has 1")
    return checked


def assign_folds(codes: NDArray[np.int32], seed: int, n_folds: int = N_FOLDS) -> NDArray[np.int64]:
    """Fold of every row, stratified; rows of a class are in different folds as long as there are any."""
    order = np.lexsort((_core.draw_keys(seed, _core.Stream.calibration_folds, len(codes)), codes))
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold


def calibrate(
    model: Model,
    training: Training,
    method: str,
    build: Callable[[Training, int], Model],
    n_threads: int,
    seed: int,
) -> Model:
    """The model with a map learned from rows that were held out; ``build`` grows model i of those without a fold."""
    fold = assign_folds(training.codes, seed)
    score = "raw_score" if model.head.adds_rounds else "uncalibrated"
    scores = np.empty((len(fold), training.n_targets))
    for number in range(N_FOLDS):
        held = np.flatnonzero(fold == number)
        if len(held):
            without = build(training.take(np.flatnonzero(fold != number)), number)
            scores[held] = training.X[held].ask(without, score, n_threads)[:, -training.n_targets :]
    return replace(model, calibration=learn_maps(scores, training, method))


def learn_maps(scores: NDArray[np.float64], training: Training, method: str) -> Calibration:
    """One map per target, from the scores of rows and their classes."""
    learn = _learn_sigmoid if method == "sigmoid" else _learn_isotonic
    first = len(training.classes) - training.n_targets
    weight = np.ones(len(scores)) if training.weight is None else training.weight
    knots = [
        learn(scores[:, target], training.codes == first + target, weight)
        for target in range(training.n_targets)
    ]
    return Calibration.of(method, knots)


def _learn_isotonic(
    score: NDArray[np.float64], is_target: NDArray[np.bool_], weight: NDArray[np.float64]
) -> Knots:
    """Return an isotonic map whose steps are shrunk towards the sigmoid and joined at their centres.

    The share of a step of weight w becomes (w·share + a·sigmoid) / (w + a), with a = ``_SIGMOID_WEIGHT`` and the mean
    sigmoid of the step. Steps that are no longer ascending are pooled again. So steps of few rows, above all those at
    the ends, are not certain, and no probability is beyond Platt's targets.
    """
    (slope,), (intercept,) = _learn_sigmoid(score, is_target, weight)
    x, place = np.unique(score, return_inverse=True)
    total, n_target = (np.bincount(place, own).astype(np.float64) for own in (weight, weight * is_target))
    sigmoid = 1.0 / (1.0 + np.exp(-np.clip(slope * x + intercept, -700.0, 700.0)))
    first = _find_steps(n_target / total, total)[0]
    of_step, hits = np.add.reduceat(total, first), np.add.reduceat(n_target, first)
    expected = np.add.reduceat(total * sigmoid, first) / of_step
    shrunk = (hits + _SIGMOID_WEIGHT * expected) / (of_step + _SIGMOID_WEIGHT)
    pooled, share = _find_steps(shrunk, of_step + _SIGMOID_WEIGHT)
    first = first[pooled]
    last = np.append(first[1:], len(x)) - 1
    centre = np.add.reduceat(total * x, first) / np.add.reduceat(total, first)
    centre = np.clip(centre, x[first], x[last])  # rounding must not change their order
    n_hits, n_others = n_target.sum(), (total - n_target).sum()
    return _join(centre, np.clip(share, 1.0 / (n_others + 2.0), (n_hits + 1.0) / (n_hits + 2.0)))


def _find_steps(
    value: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the first place and the value of every step of the isotonic regression."""
    fitted = isotonic_regression(value, sample_weight=weight)
    first = np.flatnonzero(np.diff(fitted, prepend=-1.0))
    return first, fitted[first]


def _join(x: NDArray[np.float64], y: NDArray[np.float64]) -> Knots:
    """Return points on sigmoids between neighbouring corners, at most ``_LONGEST_LINE`` of log-odds apart.

    Lines between distant corners would be far from certain where classes are separable.
    """
    logit = np.log(y / (1.0 - y))
    n_lines = np.maximum(np.ceil(np.diff(logit) / _LONGEST_LINE), 1.0).astype(np.int64)
    places = [corner + np.arange(n) / n for corner, n in enumerate(n_lines)]
    place, corner = np.concatenate([*places, [len(x) - 1.0]]), np.arange(len(x))
    joined = np.interp(place, corner, x)
    probability = np.maximum.accumulate(1.0 / (1.0 + np.exp(-np.interp(place, corner, logit))))
    is_next = np.diff(joined, prepend=-np.inf) > 0.0  # corners may be neighbouring numbers
    return Knots(joined[is_next], probability[is_next])


def _learn_sigmoid(
    score: NDArray[np.float64], is_target: NDArray[np.bool_], weight: NDArray[np.float64]
) -> Knots:
    """Platt's map, with his targets (t + 1) / (t + 2) and 1 / (u + 2), by Newton's method.

    The score is divided by its largest size first, so that steps are of a size whatever its scale.
    """
    n_target, n_other = float(weight[is_target].sum()), float(weight[~is_target].sum())
    wanted = np.where(is_target, (n_target + 1.0) / (n_target + 2.0), 1.0 / (n_other + 2.0))
    scale = float(np.abs(score).max()) or 1.0
    columns = np.stack([score / scale, np.ones(len(score))])
    found = np.array([0.0, np.log((n_target + 1.0) / (n_other + 1.0))])

    def measure(at: NDArray[np.float64]) -> float:
        raw = at @ columns
        return float(np.sum(weight * (np.logaddexp(0.0, raw) - wanted * raw)))

    loss = measure(found)
    for _ in range(_MOST_STEPS):
        share = 1.0 / (1.0 + np.exp(-np.clip(found @ columns, -700.0, 700.0)))
        slope = columns @ (weight * (share - wanted))
        curve = (columns * (weight * share * (1.0 - share))) @ columns.T + 1e-10 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while (new := measure(found - step)) > loss and np.abs(step).max() > 1e-12:
            step = step / 2.0
        if new >= loss:
            break
        found, is_done, loss = found - step, loss - new <= 1e-12 * loss, new
        if is_done:
            break
    return Knots(found[:1] / scale, found[1:])
