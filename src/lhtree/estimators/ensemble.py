"""Ensembles of boosted trees and a forest."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .. import _core
from .._core import Scorer
from .._parameters import check_count, draw_seed
from ..grow.calibrate import assign_folds
from ..grow.training import Training
from ..model.model import Model, Pool
from ..model.profile import Profiler
from .base import (
    ALL,
    CLASSIFIER,
    REGRESSOR,
    Classifier,
    IntervalRegressor,
    Predictor,
    count_threads,
    document,
    record_fit,
)
from .boost import LHBoostClassifier, LHBoostRegressor
from .forest import LHForestClassifier, LHForestRegressor

Floats = NDArray[np.float64]

# Weights to which few rows are shrunk, and the number of rows that these count for. Chosen by cross-validation on the
# training parts of 25 tables.
_PRIOR = np.array([0.6, 0.5])
_PRIOR_ROWS = 20.0
_ENSEMBLE = """
max_iter : int
    Number of rounds of the boosted trees.
n_estimators : int
    Number of trees of the forest, or of trees per class.
cv : int
    Number of folds whose predictions weight the members. Both members are fitted ``cv + 1`` times.
"""
_SHARED = ("class_weight", "categorical_features", "max_one_hot", "unseen", "n_jobs", "random_state")


class Pooled(NamedTuple):
    """Weights of boosted trees and of the forest, and the score of their sum: minus the log loss, or R²."""

    boost: float
    forest: float
    score: float


def pool_scores(
    raw_score: Floats, membership: Floats, codes: NDArray[np.int32], weight: Floats | None
) -> Pooled:
    """Return the weights of raw scores and log-memberships whose sum has the least log loss.

    Weights are not negative. The loss is convex; a quadratic penalty draws the weights of few rows to the prior.
    """
    members = np.stack([_by_class(raw_score), np.log(np.maximum(membership, _core.LEAST_MEMBERSHIP))])
    own = members[:, np.arange(len(codes)), codes]
    share_of_row = np.ones(len(codes)) if weight is None else weight
    share_of_row = share_of_row / share_of_row.sum()
    pull = _PRIOR_ROWS / len(codes)

    def measure(weights: Floats) -> tuple[float, Floats]:
        total = np.tensordot(weights, members, 1)
        log_sum = np.logaddexp.reduce(total, axis=1)
        share = np.exp(total - log_sum[:, None])
        loss = share_of_row @ (log_sum - weights @ own)
        slope = (np.einsum("mnk,nk->mn", members, share) - own) @ share_of_row
        distance = weights - _PRIOR
        return float(loss + pull * distance @ distance), slope + 2.0 * pull * distance

    found = minimize(measure, _PRIOR, jac=True, bounds=[(0.0, 100.0)] * 2, method="L-BFGS-B")
    boost, forest = (float(f"{one:.4g}") for one in found.x)  # optimisers differ in the last bits
    weights = np.array([boost, forest])
    distance = weights - _PRIOR
    return Pooled(boost, forest, float(pull * distance @ distance) - measure(weights)[0])


def _by_class(raw_score: Floats) -> Floats:
    """Return raw scores by class: with two classes, that of the first is 0."""
    if raw_score.shape[1] > 1:
        return raw_score
    return np.concatenate([np.zeros_like(raw_score), raw_score], axis=1)


def pool_numbers(predicted: Floats, of_forest: Floats, response: Floats, weight: Floats | None) -> Pooled:
    """Return the weights, which add up to 1, of two predictions whose mean has the least squared error."""
    unit = float(np.abs(response).max()) or 1.0  # squares of 1e300 would overflow
    error, step = (response - predicted) / unit, (of_forest - predicted) / unit
    square = np.average(step**2, weights=weight)
    share = np.average(error * step, weights=weight) / square if square > 0.0 else 0.0
    forest = float(f"{np.clip(share, 0.0, 1.0):.4g}")
    left = np.average((error - forest * step) ** 2, weights=weight)
    spread = response / unit - np.average(response / unit, weights=weight)
    total = np.average(spread**2, weights=weight)
    return Pooled(float(f"{1.0 - forest:.4g}"), forest, float(1.0 - left / total) if total > 0.0 else 0.0)


class BaseEnsemble(Predictor):
    """The fit of ensembles."""

    # Columns are encoded as for a forest of mixed directions.
    direction: ClassVar[str] = "mixed"
    _boost: ClassVar[Any]
    _forest: ClassVar[Any]
    _scores: ClassVar[tuple[str, str]]  # of both members, from which the weights are learned

    def _fit(self, training: Training) -> Any:
        """Fit both members and their weights."""
        n_folds = check_count("cv", self.cv, 2)
        seed, n_threads = draw_seed(self.random_state), count_threads(self.n_jobs)
        fold = self._assign_folds(training, seed, n_folds)
        scores: list[NDArray[np.float64]] = []
        with self._progress(2 * (n_folds + 1), "fitting members") as progress:
            report = progress or (lambda n_done: None)
            boost, forest = self._fit_members(training, seed, report, 0)
            for number in range(n_folds):
                held = np.flatnonzero(fold == number)
                if not len(held):
                    continue
                part = training.take(np.flatnonzero(fold != number))
                members = self._fit_members(part, seed, report, 2 * (number + 1))
                for place, (model, score) in enumerate(zip(members, self._scores, strict=True)):
                    found = training.X[held].score(model, score, n_threads)
                    if len(scores) == place:
                        scores.append(np.empty((training.n_rows, *found.shape[1:])))
                    scores[place][held] = found
            report(2 * (n_folds + 1))
        known = np.flatnonzero(fold >= 0)
        forest = replace(forest, summary=None, provenance=None)  # the ensemble has its own
        model = self._join(boost, forest, training.take(known), scores[0][known], scores[1][known])
        profiler = Profiler(training.encoding, training.X.sample(seed).X, training.counts or {})
        pool: Any = model.pool
        used = {"n_iter": model.n_estimators, "boost_weight": pool.boost_weight, "forest_weight": pool.weight}
        self._model = record_fit(model, training, profiler, None, used)
        return self

    @abstractmethod
    def _assign_folds(self, training: Training, seed: int, n_folds: int) -> NDArray[np.int64]:
        """Return the fold of every row; -1 for rows that are never held out."""

    @abstractmethod
    def _join(
        self,
        boost: Model,
        forest: Model,
        held: Training,
        of_boost: NDArray[np.float64],
        of_forest: NDArray[np.float64],
    ) -> Model:
        """Return the ensemble of two members, given their out-of-fold scores."""

    def _fit_members(self, training: Training, seed: int, report: Any, n_done: int) -> tuple[Model, Model]:
        """Fit boosted trees and a forest on encoded rows."""
        models = []
        for number, member in enumerate(self._make_members()):
            report(n_done + number)
            models.append(member._fit(training, seed=seed)._model)
        return models[0], models[1]

    def _make_members(self) -> tuple[Any, Any]:
        params = {name: value for name, value in self.get_params(deep=False).items() if name in _SHARED}
        forest = self._forest(
            self.n_estimators, direction="mixed", missing_indicator=self.missing_indicator, **params
        )
        return self._boost(max_iter=self.max_iter, **params), forest

    def _read_pool(self) -> Pool:
        pool: Pool = self._read().pool  # type: ignore[assignment]  # of an ensemble
        return pool

    @property
    def boost_(self) -> Any:
        """The boosted member; the values of its trees are multiplied by its weight."""
        member = self._make_members()[0]
        member._model = replace(self._read(), pool=None)
        return member

    @property
    def forest_(self) -> Any:
        """The forest."""
        member = self._make_members()[1]
        member._model = self._read_pool().forest
        return member

    @property
    def n_iter_(self) -> int:
        """Number of rounds of the boosted trees."""
        return self._read().n_estimators

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Weights of the boosted trees and of the forest, shape (2,)."""
        pool = self._read_pool()
        return np.array([pool.boost_weight, pool.weight])

    @property
    def cv_score_(self) -> float:
        """Score of out-of-fold predictions: minus the log loss, or R²."""
        return self._read_pool().cv_score


def _pool(boost: Model, forest: Model, pooled: Pooled) -> Model:
    """Return the boosted model, multiplied by its weight, with the forest."""
    return replace(
        boost,
        trees=boost.trees.multiply(pooled.boost),
        base=pooled.boost * np.asarray(boost.base),
        pool=Pool(forest, pooled.forest, pooled.boost, pooled.score),
    )


@document(ALL, CLASSIFIER, _ENSEMBLE)
@dataclass(eq=False, repr=False)
class LHEnsembleClassifier(Classifier, BaseEnsemble):
    """Boosted trees and a forest in one model: the best probabilities, at several times the cost.

    The members err differently. Both are fitted on all rows; their log-probabilities are added with weights of at
    least 0 that minimise the log loss of out-of-fold predictions. A fit takes ``cv + 1`` times as long as the fits of
    both members.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (m,)
        Names of the columns of X, if X had names.
    boost_ : LHBoostClassifier
        The boosted member. The values of its trees are multiplied by its weight.
    forest_ : LHForestClassifier
        The forest.
    weights_ : array of shape (2,)
        Weights of the boosted trees and of the forest.
    cv_score_ : float
        Minus the log loss of out-of-fold predictions of the ensemble.
    trees_, n_leaves_, depth_, n_iter_
        Views, leaves, depth and rounds of the boosted trees.
    feature_importances_ : array of shape (m,)
        Mean of the importances of both members, weighted by ``weights_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LHEnsembleClassifier(100, cv=2, random_state=0).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.97
    True
    """

    _links: ClassVar[tuple[str, ...]] = LHBoostClassifier._links
    _boost, _forest = LHBoostClassifier, LHForestClassifier
    _scores = ("raw_score", "membership")

    max_iter: int = 400
    _: KW_ONLY
    n_estimators: int = 100
    cv: int = 5
    class_weight: dict[Any, float] | str | None = None
    positive: Any = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _assign_folds(self, training: Training, seed: int, n_folds: int) -> NDArray[np.int64]:
        is_single = np.bincount(training.codes)[training.codes] == 1
        if is_single.all():
            raise ValueError(
                "every class has a single row, but the weights of an ensemble need rows to hold out: pass more rows, "
                "or fit an LHBoostClassifier."
            )
        return np.where(is_single, -1, assign_folds(training.codes, seed, n_folds))

    def _join(
        self,
        boost: Model,
        forest: Model,
        held: Training,
        of_boost: NDArray[np.float64],
        of_forest: NDArray[np.float64],
    ) -> Model:
        return _pool(boost, forest, pool_scores(of_boost, of_forest, held.codes, held.weight))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return raw scores: log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._score(Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]


@document(ALL, REGRESSOR, _ENSEMBLE)
@dataclass(eq=False, repr=False)
class LHEnsembleRegressor(IntervalRegressor, BaseEnsemble):
    """Boosted trees and a forest in one model, at several times the cost of boosted trees.

    The members err differently. Both are fitted on all rows; the prediction is their weighted mean, with the weights
    that minimise the squared error of out-of-fold predictions. A fit takes ``cv + 1`` times as long as the fits of both
    members.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (m,)
        Names of the columns of X, if X had names.
    boost_ : LHBoostRegressor
        The boosted member. The values of its trees are multiplied by its weight.
    forest_ : LHForestRegressor
        The forest.
    weights_ : array of shape (2,)
        Weights of the boosted trees and of the forest; they add up to 1.
    cv_score_ : float
        R² of out-of-fold predictions of the ensemble.
    trees_, n_leaves_, depth_, n_iter_
        Views, leaves, depth and rounds of the boosted trees.
    feature_importances_ : array of shape (m,)
        Mean of the importances of both members, weighted by ``weights_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LHEnsembleRegressor(100, cv=2, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.4
    True
    """

    _links: ClassVar[tuple[str, ...]] = ("identity",)
    _boost, _forest = LHBoostRegressor, LHForestRegressor
    _scores = ("value", "value")

    max_iter: int = 400
    _: KW_ONLY
    n_estimators: int = 100
    cv: int = 5
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _assign_folds(self, training: Training, seed: int, n_folds: int) -> NDArray[np.int64]:
        if training.n_rows < 2:
            raise ValueError(
                "X has 1 sample, but an ensemble needs at least 2: pass more rows, or fit an LHBoostRegressor."
            )
        return assign_folds(training.codes, seed, n_folds)

    def _join(
        self,
        boost: Model,
        forest: Model,
        held: Training,
        of_boost: NDArray[np.float64],
        of_forest: NDArray[np.float64],
    ) -> Model:
        response = np.asarray(held.response)
        pooled = pool_numbers(of_boost, of_forest, response, held.weight)
        error = np.abs(response - (pooled.boost * of_boost + pooled.forest * of_forest))
        order = np.argsort(error, kind="stable")
        weight = None if held.weight is None else held.weight[order]
        assert boost.response is not None
        record = replace(boost.response, residual=error[order], residual_weight=weight)
        return replace(_pool(boost, forest, pooled), response=record)
