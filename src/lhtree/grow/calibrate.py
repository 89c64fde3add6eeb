"""Cross-fitting: calibration (``calibrate="sigmoid"`` or ``"isotonic"``) and prediction intervals (``intervals=True``).

The rows are dealt to five folds. Models of the same settings are grown without each fold and score it; the map from
these scores to classes is learned, and the model itself is grown on all rows. A map is kept only if it lowers the log
loss of folds that it was not learned from by more than two standard errors: calibration must do no harm.
For intervals, the errors on the folds are the widths around predictions of the model grown on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .. import _core
from .._parameters import check_flag, choose, refuse
from ..model.model import Model
from ..model.records import CALIBRATIONS, Calibration, Knots
from .training import Training

N_FOLDS = 5
_MOST_STEPS = 100
_PRIOR = 10.0  # precision of the normal prior of slope (mean 1) and intercepts (mean 0)
_N_ERRORS = 2.0  # standard errors that a more flexible map must gain
_N_WRONG = 1.0  # rows of another class, of all rows, that smoothed labels count
_LEAST = 1e-3  # probabilities of trees and forests are clipped to it before their logarithm is scaled
_LEAST_KEPT = 1e-6  # and to this, if they are kept
_LEAST_ROWS = 1000.0  # for steps: with fewer, they gained nothing or did harm
_SIGMOID_WEIGHT = 30.0  # rows that the sigmoid counts for in every step of an isotonic map
_LONGEST_LINE = 0.5  # of an isotonic map, in log-odds
_CERTAIN = 40.0  # e^-40 + 1 is 1 in double precision


def check_calibrate(method: Any, training: Training, *, continues: bool) -> str | None:
    """Check ``calibrate``: a method, or None."""
    checked: str | None = choose("calibrate", method, (None, *CALIBRATIONS))
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
            scores[held] = training.X[held].score(without, score, n_threads)[:, -training.n_targets :]
    weight = np.ones(len(fold)) if training.weight is None else training.weight
    scored = Scored(scores, training.codes, weight, len(training.classes), model.head.adds_rounds)
    return replace(model, calibration=learn_calibration(scored, fold, method))


@dataclass(frozen=True)
class Scored:
    """Rows that were held out: their scores by target, classes and weights."""

    score: NDArray[np.float64]
    codes: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_classes: int
    is_raw: bool  # raw scores of boosted trees; else probabilities

    def take(self, is_taken: NDArray[np.bool_]) -> Scored:
        """Return some of the rows."""
        return replace(
            self, score=self.score[is_taken], codes=self.codes[is_taken], weight=self.weight[is_taken]
        )

    def is_of(self, target: int) -> NDArray[np.bool_]:
        """Whether rows are of the class of a target."""
        is_of: NDArray[np.bool_] = self.codes == self.n_classes - self.score.shape[1] + target
        return is_of

    @property
    def raw(self) -> NDArray[np.float64]:
        """Raw scores of all classes; of trees and forests, logarithms of probabilities."""
        both = self.score
        if self.n_classes == 2:
            both = np.column_stack([np.zeros(len(both)) if self.is_raw else 1.0 - both[:, 0], both])
        return both if self.is_raw else np.log(np.clip(both, _LEAST, 1.0))


def learn_calibration(rows: Scored, fold: NDArray[np.int64], method: str) -> Calibration:
    """Return the most flexible map that is better than the one before it by more than two standard errors.

    The maps are, from simple to flexible, the identity, a sigmoid and steps; each is tried only if the one before it
    was better, and steps only with 1,000 rows. A row that is predicted with certainty and is of another class costs
    most, and few rows rarely include one. So labels are smoothed: of n rows (the effective number, if they have
    weights), the share 1 / (n + 2) of each label is shared by the other classes.
    """
    total = rows.weight.sum()
    n_effective = total**2 / (rows.weight @ rows.weight)
    has_steps = method == "isotonic" and n_effective >= _LEAST_ROWS
    learners = [_keep, _learn_sigmoid, *([_learn_isotonic] if has_steps else [])]
    losses = np.empty((len(learners), len(fold)))
    smoothing = _N_WRONG / (n_effective + 2.0 * _N_WRONG)
    for number in np.unique(fold):
        is_held = fold == number
        learned, held = rows.take(~is_held), rows.take(is_held)
        for learn, own in zip(learners, losses, strict=True):
            own[is_held] = _measure_losses(learn(learned), held, smoothing)
    chosen = 0
    for simple, flexible in pairwise(losses):
        gains = simple - flexible
        mean = gains @ rows.weight / total
        error = np.sqrt((gains - mean) ** 2 @ rows.weight**2) / total
        if mean <= _N_ERRORS * error:
            break
        chosen += 1
    return learners[chosen](rows)


def _measure_losses(calibration: Calibration, rows: Scored, smoothing: float) -> NDArray[np.float64]:
    """Return the log loss of every row whose label is shared by ``smoothing`` with the other classes."""
    maps = zip(calibration.knots, rows.score.T, strict=True)
    if calibration.kind == "sigmoid":
        own = np.column_stack([_sigmoid(x[0] * score + y[0]) for (x, y), score in maps])
    else:
        own = np.column_stack([np.interp(score, x, y) for (x, y), score in maps])
    proba = own if rows.n_classes > 2 else np.column_stack([1.0 - own, own])
    least = np.finfo(np.float64).tiny
    of_class = -np.log(np.maximum(proba / np.maximum(proba.sum(axis=1, keepdims=True), least), least))
    true = of_class[np.arange(len(proba)), rows.codes]
    others = (of_class.sum(axis=1) - true) / (rows.n_classes - 1)
    losses: NDArray[np.float64] = (1.0 - smoothing) * true + smoothing * others
    return losses


def _sigmoid(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    share: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(raw, -700.0, 700.0)))
    return share


def _keep(rows: Scored) -> Calibration:
    """Return the identity; probabilities of trees and forests are not exactly 0 or 1, though."""
    if rows.is_raw:
        return _scale_raw(rows, 1.0, np.zeros(rows.n_classes))
    ends = np.array([_LEAST_KEPT, 1.0 - _LEAST_KEPT])
    return Calibration.of("lines", [Knots(ends, ends)] * rows.score.shape[1])


def _learn_sigmoid(rows: Scored) -> Calibration:
    """Return a linear map of the raw scores, or of the log-odds of trees and forests."""
    slope, intercepts = _fit_line(rows)
    return (_scale_raw if rows.is_raw else _scale_odds)(rows, slope, intercepts)


def _scale_raw(rows: Scored, slope: float, intercepts: NDArray[np.float64]) -> Calibration:
    """Return sigmoids of slope · raw score + intercept.

    With more than two classes, they are moved to where a sigmoid is an exponential function: divided by their sum,
    they are the softmax.
    """
    if rows.n_classes == 2:
        shifts = np.diff(intercepts)
    else:
        shifts = intercepts - (_CERTAIN + (slope * rows.score + intercepts).max())
    return Calibration.of("sigmoid", [Knots(np.array([slope]), np.array([shift])) for shift in shifts])


def _scale_odds(rows: Scored, slope: float, intercepts: NDArray[np.float64]) -> Calibration:
    """Return the map of probabilities that scales log-odds, or of more than two classes logarithms, as lines."""
    least, step = np.log(_LEAST), _LONGEST_LINE / 2.0
    if rows.n_classes == 2:
        end = np.log1p(-_LEAST) - least
        odds = np.linspace(-end, end, int(np.ceil(2.0 * end / step)) + 1)
        return Calibration.of("lines", [Knots(_sigmoid(odds), _sigmoid(slope * odds + np.diff(intercepts)))])
    logs = np.linspace(least, 0.0, int(np.ceil(-least / step)) + 1)
    shifts = intercepts - intercepts.max()
    return Calibration.of("lines", [Knots(np.exp(logs), np.exp(slope * logs + shift)) for shift in shifts])


def _fit_line(rows: Scored) -> tuple[float, NDArray[np.float64]]:
    """Return the slope (0 or more) and the intercepts of all classes that scale raw scores best."""
    slope, intercepts = _minimise(rows.raw, rows)
    if slope >= 0.0:
        return slope, intercepts
    return 0.0, _minimise(np.zeros((len(rows.codes), rows.n_classes)), rows)[1]


def _minimise(raw: NDArray[np.float64], rows: Scored) -> tuple[float, NDArray[np.float64]]:
    """Return slope and intercepts of least log loss with a prior towards 1 and 0, by Newton's method."""
    identity = np.append(1.0, np.zeros(rows.n_classes))
    at = np.arange(len(raw)), rows.codes

    def score(found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scaled = found[0] * raw + found[1:]
        scaled -= scaled.max(axis=1, keepdims=True)
        power = np.exp(scaled)
        total = power.sum(axis=1)
        loss = float(rows.weight @ (np.log(total) - scaled[at]))
        return loss + 0.5 * _PRIOR * float(((found - identity) ** 2).sum()), power / total[:, None]

    found = identity
    loss, share = score(found)
    for _ in range(_MOST_STEPS):
        excess = share.copy()
        excess[at] -= 1.0
        excess *= rows.weight[:, None]
        slope = np.append((excess * raw).sum(), excess.sum(axis=0)) + _PRIOR * (found - identity)
        weighted, mean = share * rows.weight[:, None], (share * raw).sum(axis=1)
        curve = np.empty((len(found), len(found)))
        curve[0, 0] = (weighted * raw**2).sum() - rows.weight @ mean**2
        curve[0, 1:] = curve[1:, 0] = (weighted * (raw - mean[:, None])).sum(axis=0)
        curve[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ share
        step = np.linalg.solve(curve + _PRIOR * np.eye(len(found)), slope)
        new, new_share = score(found - step)
        while new > loss and np.abs(step).max() > 1e-12:
            step = step / 2.0
            new, new_share = score(found - step)
        if new >= loss:
            break
        is_done = loss - new <= 1e-12 * loss
        found, loss, share = found - step, new, new_share
        if is_done:
            break
    return float(found[0]), found[1:]


def _learn_isotonic(rows: Scored) -> Calibration:
    """Return steps for every target, shrunk towards the sigmoid."""
    slope, intercepts = _fit_line(rows)
    scaled = slope * rows.raw + intercepts
    power = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    n_targets = rows.score.shape[1]
    sigmoid = (power / power.sum(axis=1, keepdims=True))[:, -n_targets:]
    knots = [
        _learn_steps(rows.score[:, target], rows.is_of(target), rows.weight, sigmoid[:, target])
        for target in range(n_targets)
    ]
    return Calibration.of("lines", knots)


def _learn_steps(
    score: NDArray[np.float64],
    is_target: NDArray[np.bool_],
    weight: NDArray[np.float64],
    sigmoid: NDArray[np.float64],
) -> Knots:
    """Return an isotonic map whose steps are shrunk towards the sigmoid and joined at their centres.

    The share of a step of weight w becomes (w·share + a·sigmoid) / (w + a), with a = ``_SIGMOID_WEIGHT`` and the mean
    sigmoid of the step. Steps that are no longer ascending are pooled again. So steps of few rows, above all those at
    the ends, are not certain, and no probability is beyond Platt's targets.
    """
    x, place = np.unique(score, return_inverse=True)
    total, n_target, at_sigmoid = (
        np.bincount(place, own).astype(np.float64) for own in (weight, weight * is_target, weight * sigmoid)
    )
    first = _find_steps(n_target / total, total)[0]
    of_step, hits = np.add.reduceat(total, first), np.add.reduceat(n_target, first)
    expected = np.add.reduceat(at_sigmoid, first) / of_step
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
        predicted = training.X[held].score(without, model.head.predicts, n_threads)
        low, high = (predicted, predicted) if predicted.ndim == 1 else (predicted[:, 0], predicted[:, -1])
        actual = training.response[held]
        residual[held] = np.maximum(low - actual, actual - high)
    order = np.argsort(residual, kind="stable")
    weight = None if training.weight is None else training.weight[order]
    record = replace(model.response, residual=residual[order], residual_weight=weight)
    return replace(model, response=record)
