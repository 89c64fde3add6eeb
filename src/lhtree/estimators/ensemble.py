"""Ensembles of boosted trees and a forest."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from .._extras import show_progress
from .._parameters import check_count, check_verbose, draw_seed
from ..grow.calibrate import assign_folds
from ..grow.pooling import pool_scores
from ..grow.sources import MemoryTable
from ..grow.training import Training, prepare
from ..model.model import Model, Pool
from .base import ALL, CLASSIFIER, Classifier, count_threads, document
from .boost import LHBoostClassifier
from .forest import LHForestClassifier

_ENSEMBLE = """
max_iter : int
    Number of rounds of the boosted trees.
n_estimators : int
    Number of trees per class of the forest.
cv : int
    Number of folds whose predictions weight the members. Both members are fitted ``cv + 1`` times.
"""


@document(ALL, CLASSIFIER, _ENSEMBLE)
class LHEnsembleClassifier(Classifier):
    """Boosted hyperplane trees and a forest of mixed directions in one model: the most accurate probabilities.

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
    # Columns are encoded as for a forest of mixed directions.
    direction: ClassVar[str] = "mixed"

    def __init__(
        self,
        max_iter: int = 400,
        *,
        n_estimators: int = 100,
        cv: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        unseen: str = "missing",
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.n_estimators = n_estimators
        self.cv = cv
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.missing_indicator = missing_indicator
        self.unseen = unseen
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit both members and their weights.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        self
        """
        n_folds = check_count("cv", self.cv, 2)
        training = prepare(self, MemoryTable(self, X, y, sample_weight))
        is_single = np.bincount(training.codes)[training.codes] == 1  # such a row is never held out
        if is_single.all():
            raise ValueError(
                "every class has a single row, but the weights of an ensemble need rows to hold out: pass more rows, "
                "or fit an LHBoostClassifier."
            )
        seed = draw_seed(self.random_state)
        n_threads = count_threads(self.n_jobs)
        fold = np.where(is_single, -1, assign_folds(training.codes, seed, n_folds))
        raw_score = np.empty((training.n_rows, training.n_targets))
        membership = np.empty((training.n_rows, len(training.classes)))
        with self._progress(2 * (n_folds + 1)) as progress:
            report = progress or (lambda n_done: None)
            boost, forest = self._fit_members(training, seed, report, 0)
            for number in range(n_folds):
                held = np.flatnonzero(fold == number)
                if len(held):
                    part = training.take(np.flatnonzero(fold != number))
                    members = self._fit_members(part, seed, report, 2 * (number + 1))
                    raw_score[held] = training.X[held].ask(members[0], "raw_score", n_threads)
                    membership[held] = training.X[held].ask(members[1], "membership", n_threads)
            report(2 * (n_folds + 1))
        known = np.flatnonzero(~is_single)
        weight = None if training.weight is None else training.weight[known]
        pooled = pool_scores(raw_score[known], membership[known], training.codes[known], weight)
        self._model = replace(
            boost,
            trees=boost.trees.multiply(pooled.boost),
            base=pooled.boost * np.asarray(boost.base),
            pool=Pool(forest, pooled.forest, pooled.boost, pooled.score),
        )
        return self

    def _fit_members(self, training: Training, seed: int, report: Any, n_done: int) -> tuple[Model, Model]:
        """Fit boosted trees and a forest on encoded rows."""
        models = []
        for number, member in enumerate(self._members()):
            report(n_done + number)
            models.append(member._fit(training, seed=seed)._model)
        return models[0], models[1]

    def _members(self) -> tuple[LHBoostClassifier, LHForestClassifier]:
        shared = ("class_weight", "categorical_features", "max_one_hot", "unseen", "n_jobs", "random_state")
        params = {name: getattr(self, name) for name in shared}
        return (
            LHBoostClassifier(self.max_iter, **params),
            LHForestClassifier(
                self.n_estimators,
                direction="mixed",
                missing_indicator=self.missing_indicator,
                **params,
            ),
        )

    def _progress(self, n_tasks: int) -> Any:
        return show_progress(n_tasks, "fitting members") if check_verbose(self.verbose) else nullcontext()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Raw scores: the log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._ask(Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]

    def _read_pool(self) -> Pool:
        pool: Pool = self._read().pool  # type: ignore[assignment]  # of an ensemble
        return pool

    @property
    def boost_(self) -> LHBoostClassifier:
        """The boosted member; the values of its trees are multiplied by its weight."""
        member = self._members()[0]
        member._model = replace(self._read(), pool=None)
        return member

    @property
    def forest_(self) -> LHForestClassifier:
        """The forest."""
        member = self._members()[1]
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
        """Minus the log loss of out-of-fold predictions."""
        return self._read_pool().cv_score

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, averaged over the members, shape (m,)."""
        return self.importances().values
