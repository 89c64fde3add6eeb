"""Tuning: the default settings and random ones, compared fold by fold within a time limit."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._extras import import_extra, show_progress
from .._parameters import check_count, is_integer, is_real, refuse
from ..evaluation import Measured, RegressionEvaluation, find_quantile, find_quantiles, predicts_number
from ..evaluation.measures import write_number
from ..grow.deadline import OutOfTimeError
from ..grow.labels import encode
from ..tables.labels import take_numbers
from .folds import ClassTarget, NumberTarget, Split, Target, take_rows
from .settings import Setting, draw_settings

if TYPE_CHECKING:
    import pandas as pd

METRICS = {  # 1 where larger is better
    "accuracy": 1,
    "balanced_accuracy": 1,
    "log_loss": -1,
    "brier": -1,
    "roc_auc": 1,
    "average_precision": 1,
}
NUMBER_METRICS = {"r2": 1, "rmse": -1, "mae": -1, "pinball": -1}  # for regressors
METRIC_NAMES = {  # names in texts, where they differ
    "roc_auc": "ROC AUC",
    "brier": "Brier score",
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "MAE",
    "pinball": "pinball loss",
}
_SIGNS = METRICS | NUMBER_METRICS
_N_DEFAULTS = 2  # settings that take turns
_MOST_SHOWN = 10


@dataclass(eq=False)
class Candidate:
    """A setting, and for every fold a score, an evaluation and the seconds of the fit."""

    params: Setting
    scores: list[float] = field(default_factory=list)
    evaluations: list[Measured] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    is_behind: bool = False  # abandoned before its last fold

    def copy(self) -> Candidate:
        """Return a snapshot that later measurements do not change."""
        return replace(self, scores=[*self.scores], evaluations=[*self.evaluations], seconds=[*self.seconds])

    def cut(self, n_folds: int) -> None:
        """Forget all folds but the first ones."""
        del self.scores[n_folds:], self.evaluations[n_folds:], self.seconds[n_folds:]

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
        """Measure shown beside the metric: the log loss, or the RMSE of a regressor."""
        return "rmse" if isinstance(self.evaluations[0], RegressionEvaluation) else "log_loss"

    @property
    def loss(self) -> float:
        """Mean log loss or RMSE over the folds so far."""
        return float(statistics.mean(getattr(measured, self.loss_name) for measured in self.evaluations))

    @property
    def fit_seconds(self) -> float:
        """Mean time of a fit."""
        return statistics.mean(self.seconds)

    def rank(self, metric: str) -> tuple[float, ...]:
        """Return a key that sorts the best first: by number of folds, then score, then log loss or RMSE."""
        return -len(self.scores), -_SIGNS[metric] * self.score, self.loss


class Search(NamedTuple):
    """A search task: how to build estimators, the rows and their target, the folds and the metric."""

    build: Callable[[Setting], Any]
    X: Any
    target: Target
    splits: Sequence[Split]
    metric: str
    refit: float = 0.0  # time of the last fit, on all rows, relative to that of a fold; 0 without refit

    def run(
        self,
        settings: Iterator[Setting],
        seconds: float,
        callback: Callable[[Sequence[Candidate]], None] = lambda found: None,
    ) -> list[Candidate]:
        """Measure settings until there are no more or the time is over, which ends the current fit.

        The time is over when the rest of it is needed to fit the best setting on all rows.

        The defaults take turns, fold by fold, so that they can be compared even without time for more. Each of the
        others goes through its folds until it is done or behind. The first fold of the first setting is always
        finished. ``callback`` is called after every fold.
        """
        end = time.monotonic() + seconds
        defaults = [Candidate(setting) for setting in islice(settings, _N_DEFAULTS)]
        found: list[Candidate] = []

        def measure(candidate: Candidate, split: Split) -> None:
            begin = time.monotonic()
            best = max(min(found, key=lambda one: one.rank(self.metric)).seconds) if found else None

            def is_over() -> bool:
                now = time.monotonic()
                return best is not None and now + self.refit * max(best, now - begin) >= end

            self._measure(candidate, split, is_over)
            if candidate not in found:
                found.append(candidate)

        try:
            for split in self.splits:
                for candidate in defaults:
                    measure(candidate, split)
                    callback(found)
            for setting in settings:
                leader = min(found, key=lambda one: one.rank(self.metric))
                candidate = Candidate(setting)
                for split in self.splits:
                    measure(candidate, split)
                    candidate.is_behind = _is_behind(candidate, leader, _SIGNS[self.metric])
                    callback(found)
                    if candidate.is_behind:
                        break
        except OutOfTimeError:  # compare the defaults on the folds that both have
            n_folds = min(len(candidate.scores) for candidate in found[:_N_DEFAULTS])
            for candidate in found[:_N_DEFAULTS]:
                candidate.cut(n_folds)
        return found

    def _measure(self, candidate: Candidate, split: Split, is_over: Callable[[], bool]) -> None:
        """Fit on the training rows of a fold and measure on the others."""
        train, test = split
        model = _make_stoppable(self.build(candidate.params), is_over)
        if is_over():
            raise OutOfTimeError
        begin = time.monotonic()
        model.fit(take_rows(self.X, train), self.target.take(train))
        seconds = time.monotonic() - begin
        predicted = getattr(model, self.target.method)(take_rows(self.X, test))
        known = None
        if isinstance(self.target, ClassTarget):
            known = np.searchsorted(self.target.classes, model.classes_)
        measured = self.target.measure([self.target.join(predicted, known, test)])
        candidate.seconds.append(seconds)
        candidate.evaluations.append(measured)
        candidate.scores.append(self.target.score(measured, self.metric))


def _is_behind(candidate: Candidate, leader: Candidate, sign: int) -> bool:
    """Whether a candidate is behind by more than the standard error of the leader, on the folds that both have."""
    n_folds = len(candidate.scores)
    if n_folds >= len(leader.scores):
        return False
    gap = sign * (statistics.mean(leader.scores[:n_folds]) - candidate.score)
    return gap > leader.spread / math.sqrt(n_folds)


def _make_stoppable(model: Any, is_over: Callable[[], bool]) -> Any:
    """Return a copy of an estimator whose fit raises OutOfTimeError once the time is over."""

    def check(n_done: int) -> None:
        if is_over():
            raise OutOfTimeError

    # A fit clones the estimator, so the check is a method of a subclass.
    class Stoppable(type(model)):  # type: ignore[misc]
        def _progress(self, n_tasks: int | None, what: str = "") -> Any:
            return nullcontext(check)

    return Stoppable(**model.get_params(deep=False))


@dataclass(frozen=True, eq=False)
class Tuning:
    """Result of ``lhtree.tune``.

    Attributes
    ----------
    best_params_ : dict
        Best values of the searched parameters.
    best_score_ : float
        Their mean score over the folds. It is optimistic, because it was selected from several noisy estimates.
    best_estimator_ : estimator or None
        The estimator with these parameters, fitted on all rows; None without ``refit``.
    candidates : tuple of Candidate
        All settings that were tried, best first: ``params``, mean ``score``, its standard deviation ``spread``,
        ``scores`` and ``evaluations`` of every fold, ``fit_seconds`` and ``is_behind``.
    metric : str
    n_folds : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import tune
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> tuned = tune("tree", X, y, n_candidates=3, cv=3)
    >>> tuned.best_params_["direction"], round(tuned.best_score_, 2)
    ('mixed', 0.99)
    >>> len(tuned.candidates)
    3
    """

    best_params_: Setting
    best_score_: float
    best_estimator_: Any
    candidates: tuple[Candidate, ...]
    metric: str
    n_folds: int
    defaults: Setting  # of the estimator's class

    @property
    def n_done(self) -> float:
        """Number of candidates that are done; the current one counts by its share of folds."""
        shares = (
            len(candidate.scores) / self.n_folds for candidate in self.candidates if not candidate.is_behind
        )
        return sum(shares) + sum(candidate.is_behind for candidate in self.candidates)

    def describe_state(self, candidate: Candidate) -> str:
        """Return "done" after all folds, "behind" if abandoned early, or "stopped" by the time limit."""
        if len(candidate.scores) == self.n_folds:
            return "done"
        return "behind" if candidate.is_behind else "stopped"

    def find_changes(self, candidate: Candidate) -> Setting:
        """Return the parameters of a candidate that differ from the defaults."""
        return {name: value for name, value in candidate.params.items() if value != self.defaults[name]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the estimator, as values that can be written as JSON."""
        return {
            "metric": self.metric,
            "n_folds": self.n_folds,
            "best": self.best_params_,
            "best_score": self.best_score_,
            "candidates": [
                {
                    "parameters": candidate.params,
                    "score": candidate.score,
                    "spread": candidate.spread,
                    candidate.loss_name: candidate.loss,
                    "fit_seconds": candidate.fit_seconds,
                    "folds": candidate.scores,
                    "state": self.describe_state(candidate),
                }
                for candidate in self.candidates
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, best first: parameters and scores."""
        loss = self.candidates[0].loss_name
        rows = [
            candidate["parameters"]
            | {name: candidate[name] for name in ("score", "spread", loss, "fit_seconds", "state")}
            | {"n_folds": len(candidate["folds"])}
            for candidate in self.to_dict()["candidates"]
        ]
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(rows)
        return frame

    def __str__(self) -> str:
        name = METRIC_NAMES.get(self.metric, self.metric.replace("_", " "))
        lines = [
            f"Best {name} over {self.n_folds} folds: {_write(self.best_score_)}",
            "",
            f"{name:>17}  {'fit':>8}  folds     parameters that differ from the defaults",
        ]
        for candidate in self.candidates[:_MOST_SHOWN]:
            changes = ", ".join(f"{key}={value!r}" for key, value in self.find_changes(candidate).items())
            state = self.describe_state(candidate)
            lines.append(
                f"{_write(candidate.score):>8} ± {_write(candidate.spread)}  {candidate.fit_seconds:6.2f} s  "
                f"{len(candidate.scores)} {'' if state == 'done' else state:<7} {changes or '–'}"
            )
        n_more = len(self.candidates) - _MOST_SHOWN
        return "\n".join([*lines, *([f"… and {n_more} more"] if n_more > 0 else [])])

    __repr__ = __str__


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    seconds: float = 60.0,
    n_candidates: int = 30,
    cv: Any = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    refit: bool = True,
    callback: Callable[[Tuning], None] | None = None,
    verbose: int = 0,
) -> Tuning:
    """Search for the best settings of an estimator by cross-validation, within a time limit.

    The estimator as passed and another direction are tried first, then random settings. The parameters searched are

    - for trees and forests: direction, beta, gamma, min_samples_leaf, membership, max_depth, n_estimators and pruning,
      as far as the estimator has them;
    - for boosted trees: direction, growth, max_iter, learning_rate, max_depth, min_samples_leaf, l2_regularization and
      n_directed;
    - for ensembles: max_iter and n_estimators;
    - for compact trees: max_leaf_nodes, max_terms, penalty and min_samples_leaf;
    - for additive models: interactions, smoothing, min_samples_leaf and l2_regularization.

    A setting that is significantly worse than the best is abandoned early. The same ``random_state`` gives the same
    result unless the time limit is reached.

    Parameters
    ----------
    estimator : {"tree", "forest", "boost", "ensemble", "compact", "additive"} or estimator
        ``LHTClassifier()``, ``LHForestClassifier()``, ``LHBoostClassifier()``, ``LHEnsembleClassifier()``,
        ``CompactLHTClassifier()`` or ``AdditiveLHTClassifier()``; or any estimator of lhtree, regressors included,
        whose other parameters are kept.
    X : array-like of shape (n, m)
        Samples: an array or a table with text, categories and missing values.
    y : array-like of shape (n,)
        Their class labels, or responses.
    metric : str, optional
        Metric to optimise: "accuracy" (the default), "balanced_accuracy", "roc_auc", "average_precision", "log_loss" or
        "brier". For a regressor: "r2" (the default), "rmse", "mae", or, of one that predicts a quantile, "pinball" (its
        default). See ``lhtree.evaluate``.
    seconds : float, default=60
        Time limit, including the fit on all rows (``refit``), whose time is estimated from the longest fold of the best
        setting. The first fit and that on all rows are never stopped, so that there is always a model: they may exceed
        the limit, the latter for example where the machine is busier than before.
    n_candidates : int, default=30
        Maximum number of settings to try.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds, stratified for classes, or folds as in scikit-learn.
    random_state : int, default=0
        Random seed of folds, settings and models.
    n_jobs : int, optional
        Number of threads of every fit; results do not depend on it. Default: as in the estimator.
    refit : bool, default=True
        Whether to fit the best setting on all rows.
    callback : callable, optional
        Called with the ``Tuning`` so far after every fold.
    verbose : int, default=0
        1 shows a progress bar in terminals and notebooks.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import tune
    >>> tuned = tune("tree", *load_wine(return_X_y=True), n_candidates=3, cv=3)
    >>> len(tuned.candidates)
    3
    >>> sorted(tuned.best_params_)
    ['beta', 'direction', 'gamma', 'max_depth', 'membership', 'min_samples_leaf']
    """
    begin = time.monotonic()
    estimator = _find_estimator(estimator)
    metric = _choose_metric(metric, estimator)
    if seconds != math.inf and (not is_real(seconds) or seconds < 0):
        raise refuse("seconds", seconds, "a number of at least 0 (infinity sets no limit)")
    n_candidates = check_count("n_candidates", n_candidates, 1)
    seed = check_count("random_state", random_state, 0)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    target = _read_target(estimator, y, n_rows)
    splits = _split(cv, X, target, seed)
    _check_ranked(metric, target, splits)

    own = {"random_state": seed} if n_jobs is None else {"random_state": seed, "n_jobs": n_jobs}
    params = estimator.get_params(deep=False)

    def build(setting: Setting) -> Any:
        return clone(estimator).set_params(**setting, **own)

    def sum_up(found: Sequence[Candidate]) -> Tuning:
        ranked = sorted((one.copy() for one in found), key=lambda one: one.rank(metric))
        defaults = type(estimator)().get_params(deep=False)
        return Tuning(ranked[0].params, ranked[0].score, None, tuple(ranked), metric, len(splits), defaults)

    bar: Any = show_progress(n_candidates, "tuning") if verbose else nullcontext()
    with bar as progress:

        def report(found: Sequence[Candidate]) -> None:
            so_far = sum_up(found)
            if progress is not None:
                progress(so_far.n_done)
            if callback is not None:
                callback(so_far)

        settings = draw_settings(params, n_rows, n_candidates, seed)
        n_trained = statistics.mean(len(train) for train, _ in splits)
        search = Search(build, X, target, splits, metric, n_rows / n_trained if refit else 0.0)
        found = search.run(settings, seconds - (time.monotonic() - begin), report)
    result = sum_up(found)
    if not refit:
        return result
    best = build(result.best_params_).fit(X, y).set_params(n_jobs=params["n_jobs"])
    return replace(result, best_estimator_=best)


def _choose_metric(metric: str | None, estimator: Any) -> str:
    if find_quantiles(estimator) is not None:
        raise refuse(
            "quantile",
            estimator.quantile,
            "one quantile to tune, and fit several with the parameters it finds",
        )
    allowed = list(NUMBER_METRICS if predicts_number(estimator) else METRICS)
    if find_quantile(estimator) is None:
        allowed = [name for name in allowed if name != "pinball"]
    if metric is None:
        return "pinball" if "pinball" in allowed else allowed[0]
    if metric not in allowed:
        raise refuse("metric", metric, f"one of {', '.join(map(repr, allowed))}")
    return metric


def _read_target(estimator: Any, y: Any, n_rows: int) -> Target:
    if predicts_number(estimator):
        return NumberTarget(take_numbers(y, n_rows), find_quantile(estimator))
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape} and X has {n_rows} rows: pass one class per row.")
    return ClassTarget(*encode(labels))


def _write(score: float) -> str:
    """Write a score; errors of large responses have no decimals."""
    return f"{score:.4f}" if abs(score) < 1e4 else write_number(score)


def _find_estimator(estimator: Any) -> Any:
    import lhtree

    named = {
        "tree": "LHT",
        "forest": "LHForest",
        "boost": "LHBoost",
        "ensemble": "LHEnsemble",
        "compact": "CompactLHT",
        "additive": "AdditiveLHT",
    }
    if isinstance(estimator, str) and estimator in named:
        return getattr(lhtree, f"{named[estimator]}Classifier")()
    kinds = [f"{name}{task}" for name in named.values() for task in ("Classifier", "Regressor")]
    if not isinstance(estimator, tuple(getattr(lhtree, kind) for kind in kinds)):
        raise refuse("estimator", estimator, f"one of {', '.join([*map(repr, named), *kinds])}")
    return estimator


def _split(cv: Any, X: Any, target: Target, seed: int) -> list[Split]:
    if is_integer(cv):
        return target.split(check_count("cv", cv, 2), seed)
    if not hasattr(cv, "split") and not hasattr(cv, "__iter__"):
        raise refuse("cv", cv, "a number of folds, a splitter of scikit-learn or pairs (train, test)")
    y = target.codes if isinstance(target, ClassTarget) else target.values
    pairs = cv.split(X, y) if hasattr(cv, "split") else cv
    splits = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
    if not splits:
        raise refuse("cv", cv, "at least one pair (train, test)")
    return splits


def _check_ranked(metric: str, target: Target, splits: Sequence[Split]) -> None:
    """Reject a metric that cannot be computed on a fold without rows of a class."""
    if metric not in ("roc_auc", "average_precision") or not isinstance(target, ClassTarget):
        return
    for _, test in splits:
        absent = np.setdiff1d(np.arange(len(target.classes)), target.codes[test])
        if len(absent):
            label = target.classes.tolist()[absent[0]]
            raise ValueError(
                f"metric={metric!r} needs rows of every class in every fold, and one has none of the class {label!r}: "
                "choose fewer folds or another metric."
            )
