"""A race of settings, fold by fold: who is behind by more than chance is left, and a time limit ends it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation, Measured, RegressionEvaluation
from ..evaluation.judge import NumberPart
from .folds import Split, judge_fold, take_rows
from .settings import Setting

METRICS = {  # 1 where larger is better
    "accuracy": 1,
    "balanced_accuracy": 1,
    "log_loss": -1,
    "brier": -1,
    "roc_auc": 1,
    "average_precision": 1,
}
NUMBER_METRICS = {"r2": 1, "rmse": -1, "mae": -1, "pinball": -1}  # of regressors
_SIGNS = METRICS | NUMBER_METRICS
_N_DEFAULTS = 2  # settings that come first


@dataclass(eq=False)  # a candidate is itself
class Candidate:
    """A setting and what was measured: on every fold a score, an evaluation and the seconds of the fit."""

    params: Setting
    scores: list[float] = field(default_factory=list)
    evaluations: list[Measured] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    is_behind: bool = False  # and was left before its last fold

    def copy(self) -> Candidate:
        """A snapshot that later measurements do not change."""
        return replace(self, scores=[*self.scores], evaluations=[*self.evaluations], seconds=[*self.seconds])

    @property
    def score(self) -> float:
        """Mean score over the folds so far."""
        return statistics.mean(self.scores)

    @property
    def spread(self) -> float:
        """Standard deviation of the scores, 0 after one fold."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0

    @property
    def loss_name(self) -> str:
        """What is measured besides the metric: the log loss, or the RMSE of a regressor."""
        return "rmse" if isinstance(self.evaluations[0], RegressionEvaluation) else "log_loss"

    @property
    def loss(self) -> float:
        """Mean log loss or RMSE over the folds so far."""
        return float(statistics.mean(getattr(measured, self.loss_name) for measured in self.evaluations))

    @property
    def fit_seconds(self) -> float:
        """Mean time of a fit."""
        return statistics.mean(self.seconds)


class OutOfTimeError(Exception):
    """The time limit stopped a fit."""


class Task(NamedTuple):
    """The search task: how to make estimators, the rows, their classes or responses, and the folds."""

    build: Callable[[Setting], Any]
    X: Any
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    splits: Sequence[Split]
    metric: str
    response: NDArray[np.float64] | None = None  # of a regression, which has no classes
    quantile: float | None = None  # if that is what is predicted

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """What some rows have as target."""
        return self.classes[self.codes[rows]] if self.response is None else self.response[rows]

    def measure(self, model: Any, test: NDArray[np.int64]) -> Measured:
        """Measure a fitted model on some rows."""
        X = take_rows(self.X, test)
        if self.response is not None:
            part = NumberPart(self.response[test], model.predict(X))
            return RegressionEvaluation.from_parts([part], self.quantile)
        known = np.searchsorted(self.classes, model.classes_)
        judged = judge_fold(model.predict_proba(X), known, self.codes[test], len(self.classes))
        return Evaluation.from_parts([judged], self.classes.tolist())


def search(
    task: Task,
    settings: Iterator[Setting],
    seconds: float,
    tell: Callable[[Sequence[Candidate]], None] = lambda found: None,
) -> list[Candidate]:
    """Measure settings until there are no more or the time is over, which ends the fit under way.

    The first fold of the first setting is always finished, so that there is a result. ``tell`` is called with
    the candidates so far after every fold.
    """
    end = time.monotonic() + seconds
    found: list[Candidate] = []
    try:
        for candidate in _race(task, settings, end, found):
            if candidate not in found:
                found.append(candidate)
            tell(found)
    except OutOfTimeError:
        _even_out(found)
    return found


def find_rank(candidate: Candidate, metric: str) -> tuple[float, ...]:
    """A key that sorts the best first: by number of folds, then score, then log loss or RMSE."""
    return -len(candidate.scores), -_SIGNS[metric] * candidate.score, candidate.loss


def _race(task: Task, settings: Iterator[Setting], end: float, found: list[Candidate]) -> Iterator[Candidate]:
    """Candidates, each after every one of its folds.

    The defaults take turns, fold by fold, so that they can be compared even if there is no time for more. Those after
    them go through their folds one by one, until they are done or behind.
    """
    defaults = [Candidate(setting) for setting in islice(settings, _N_DEFAULTS)]
    for split in task.splits:
        for candidate in defaults:
            _measure(task, candidate, split, end if found else math.inf)
            yield candidate
    for setting in settings:
        leader = min(found, key=lambda candidate: find_rank(candidate, task.metric))
        candidate = Candidate(setting)
        for split in task.splits:
            _measure(task, candidate, split, end)
            candidate.is_behind = _is_behind(candidate, leader, _SIGNS[task.metric])
            yield candidate
            if candidate.is_behind:
                break


def _even_out(found: Sequence[Candidate]) -> None:
    """Compare the defaults on the folds that both saw, where the time ended between them."""
    defaults = found[:_N_DEFAULTS]
    n_seen = min(len(candidate.scores) for candidate in defaults)
    for candidate in defaults:
        del candidate.scores[n_seen:], candidate.evaluations[n_seen:], candidate.seconds[n_seen:]


def _is_behind(candidate: Candidate, leader: Candidate, sign: int) -> bool:
    """Whether a candidate is behind by more than the leader's folds differ by chance, on the folds both saw."""
    n_folds = len(candidate.scores)
    if n_folds >= len(leader.scores):
        return False
    gap = sign * (statistics.mean(leader.scores[:n_folds]) - candidate.score)
    return gap > leader.spread / math.sqrt(n_folds)


def _measure(task: Task, candidate: Candidate, split: Split, end: float) -> None:
    """Fit on a fold's training rows and measure on the others; the seconds are those of the fit."""
    train, test = split
    model = _make_stoppable(task.build(candidate.params), end)
    begin = time.monotonic()
    if begin >= end:
        raise OutOfTimeError
    model.fit(take_rows(task.X, train), task.take(train))
    seconds = time.monotonic() - begin
    measured = task.measure(model, test)
    candidate.seconds.append(seconds)
    candidate.evaluations.append(measured)
    candidate.scores.append(_find_score(task, measured))


def _find_score(task: Task, measured: Measured) -> float:
    if isinstance(measured, RegressionEvaluation):
        if task.metric == "pinball" and measured.quantile is not None:
            return measured.quantile.pinball
        return float(getattr(measured, task.metric))
    if task.metric == "average_precision" and len(task.classes) == 2:
        # Of the class that is rarer in all rows, even if it is not in the fold.
        rarer = measured.classes[int(2 * task.codes.sum() <= len(task.codes))]
        score = rarer.average_precision
    else:
        score = getattr(measured, task.metric)
    assert score is not None  # every class is in every fold
    return float(score)


def _make_stoppable(model: Any, end: float) -> Any:
    """The same estimator, whose fit ends in OutOfTimeError once the time is over."""

    def check(n_done: int) -> None:
        if time.monotonic() >= end:
            raise OutOfTimeError

    # A fit is made by a double of the estimator's own class, so the check belongs to a class.
    class Stoppable(type(model)):  # type: ignore[misc]
        def _progress(self, n_tasks: int) -> Any:
            return nullcontext(check)

    return Stoppable(**model.get_params(deep=False))
