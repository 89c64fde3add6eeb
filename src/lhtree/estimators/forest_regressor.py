"""LHForestRegressor: the mean of many oblique trees with linear models, and intervals from rows they did not see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from ..grow.training import Training
from ..model.model import ForestRecord, Model
from ..model.response import ResponseRecord
from ..tables.rows import Encoded
from .base_forest import BaseForest, LeftOut
from .predictor import Regressor
from .tree_regressor import FIXED, LHTRegressor


class LHForestRegressor(Regressor, BaseForest):
    """Forest of Learning Hyperplane Trees that predict a number: the mean of their estimates.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : int or float, default=0.8
        Rows drawn for each tree: a count or a share. Rows that trees do not see give the out-of-bag score and the
        prediction intervals; with 1.0 there are none.
    bootstrap : bool, default=False
        Draw rows with replacement.
    alpha, direction, membership, normalize, min_samples_split, max_depth
        As for :class:`LHTRegressor`.
    beta : "auto", "schedule" or float, default="auto"
        "schedule": tree i of t uses beta = i/t. "auto" is "schedule" for the mean difference and 0 otherwise.
    min_samples_leaf : int or float, default=10
        Minimum weight on each side of a hyperplane.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
        for the mean difference, otherwise half of them, and at least two.
    shrinkage : float, default=0.1
        As for :class:`LHTRegressor`; linear models of small leaves need a larger one.
    categorical_features, max_one_hot, missing_indicator, unseen
        As for :class:`LHTRegressor`.
    keep_prototypes : bool or int, default=False
        Store the training rows, or at most this many of them, so that explanations can show similar rows.
    oob_score : bool, default=False
        Keep the out-of-bag score and predictions.
    warm_start : bool, default=False
        Reuse the trees of the previous fit and add more.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed for drawing rows and features.
    verbose : int, default=0
        1 shows a progress bar in terminals and notebooks (needs ``lhtree[progress]``).

    Attributes
    ----------
    n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTRegressor`; ``trees_`` has one tree per estimator.
    estimators_ : sequence of fitted LHTRegressor, one per tree
    oob_score_ : float
        Out-of-bag R²; with ``oob_score=True`` only.
    oob_prediction_ : array of shape (n,)
        Out-of-bag predictions; NaN for rows that were drawn for every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = LHForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict_interval(X[:1], coverage=0.9).round()
    array([[107., 285.]])
    """

    _tree = LHTRegressor

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.8,
        bootstrap: bool = False,
        alpha: float = 0.0,
        beta: float | str = "auto",
        direction: str = "mixed",
        membership: str = "least_squares",
        normalize: str | None = "robust",
        min_samples_split: float = 2,
        min_samples_leaf: float = 10,
        max_depth: int | None = None,
        max_features: float | str | None = "auto",
        shrinkage: float = 0.1,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        unseen: str = "missing",
        keep_prototypes: bool | int = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.alpha = alpha
        self.beta = beta
        self.direction = direction
        self.membership = membership
        self.normalize = normalize
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_features = max_features
        self.shrinkage = shrinkage
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.missing_indicator = missing_indicator
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fill(self, n_features: int) -> dict[str, Any]:
        params = {**FIXED, **self.get_params(deep=False)}
        is_auto = isinstance(params["max_features"], str) and params["max_features"] == "auto"
        if is_auto and params["direction"] != "mean_difference":  # of one feature no hyperplane is oblique
            params["max_features"] = max(2, (n_features + 1) // 2)
        return params

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Intervals that contain the responses of new rows with a given probability.

        All intervals have the same width, which comes from the out-of-bag errors (split-conformal prediction). So the
        coverage holds on average over rows like the training rows, not for every kind of row.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples.
        coverage : float between 0 and 1, default=0.9
            Share of the responses that the intervals should contain.

        Returns
        -------
        array of shape (n, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from lhtree import LHForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> forest = LHForestRegressor(20, random_state=0).fit(X, y)
        >>> forest.predict_interval(X[:2], coverage=0.8).round()
        array([[125., 270.],
               [ 15., 159.]])
        """
        model = self._model or self._read()
        return model.interval(self._ask(Scorer.value, X, model), coverage)

    def _finish(self, model: Model, training: Training) -> Model:
        """Measure the errors on rows that trees did not see."""
        earlier = self._model if self.warm_start else None
        if _has_lost_draws(earlier, model) or training.response is None or model.response is None:
            return model
        unit = float(np.abs(training.response).max()) or 1.0  # squares of 1e300 would overflow
        add = partial(add_values, mean=model.response.mean, unit=unit)
        added = self._add_left_out(add, model, training)
        return measure_out_of_bag(model, training, self.oob_score, unit, *added)

    @property
    def oob_score_(self) -> float:
        """R² over the rows that some tree did not see."""
        score = self._read_oob().oob_score
        return np.nan if score is None else score

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Predictions for those rows, shape (n,); NaN for rows that every tree saw."""
        return self._read_oob().oob_prediction  # type: ignore[return-value]  # it is there

    def _read_oob(self) -> ForestRecord:
        record = self._read().forest
        if record is None or record.oob_prediction is None:
            raise AttributeError("there are no out-of-bag predictions: fit with oob_score=True.")
        return record


def _has_lost_draws(earlier: Model | None, model: Model) -> bool:
    """Whether trees of an earlier fit drew from other rows: it is then unknown which rows they saw."""
    if (
        earlier is None
        or earlier.forest is None
        or all(drawn.counts is None for drawn in earlier.forest.draws)
    ):
        return False
    has_same_rows = model.forest is not None and np.array_equal(earlier.forest.sizes, model.forest.sizes)
    return not has_same_rows or earlier.response is None or earlier.response.residual is None


def add_values(
    model: Model, X: Encoded, left_out: Iterable[LeftOut], mean: float, unit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Predictions of the trees that did not see a row, summed, as squares about the mean, and their number."""
    total, squares, n_trees = np.zeros(len(X)), np.zeros(len(X)), np.zeros(len(X))
    for number, is_out in left_out:
        if is_out.any():
            value = model.estimator(number).ask("value", X[is_out])
            total[is_out] += value
            squares[is_out] += ((value - mean) / unit) ** 2
            n_trees += is_out
    return total, squares, n_trees


def measure_out_of_bag(
    model: Model,
    training: Training,
    keeps_predictions: bool,
    unit: float,
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    n_trees: NDArray[np.float64],
) -> Model:
    """The model with the errors of its trees on the rows that they did not see, from what ``add_values`` gives."""
    response: NDArray[np.float64] = training.response  # type: ignore[assignment]  # it is a regression
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    told: ResponseRecord = model.response  # type: ignore[assignment]  # it is a regression
    row = np.flatnonzero(n_trees)
    kept, score = np.full(training.n_given, np.nan), None
    if len(row):
        n, prediction = n_trees[row], total[row] / n_trees[row]
        spread = squares[row] - n * ((prediction - told.mean) / unit) ** 2
        error = (response[row] - prediction) / unit
        weight = None if training.weight is None else training.weight[row]
        residual = np.abs(error) * _correct(error**2, spread, n, model.n_estimators) * unit
        order = np.argsort(residual, kind="stable")
        told = replace(
            told, residual=residual[order], residual_weight=None if weight is None else weight[order]
        )
        kept[row if training.row is None else training.row[row]] = prediction
        score = _score(response[row] / unit, error)
    if keeps_predictions:
        record = replace(record, oob_score=score, oob_prediction=kept)
    return replace(model, forest=record, response=told)


def _correct(
    error: NDArray[np.float64], spread: NDArray[np.float64], n: NDArray[np.float64], n_trees: int
) -> float:
    """The factor from errors of the few trees that did not see a row to those of all trees.

    Trees whose variance is s² add s² / n to the squared error of the mean of n of them, so that s² (1/n - 1/n_trees) is
    too much. ``spread`` is the sum of squared deviations of the n trees of a row from their mean.
    """
    several = n > 1
    if not several.any() or not error.sum() > 0.0:
        return 1.0
    too_much = np.maximum(spread[several], 0.0) / (n[several] - 1) * (1 / n[several] - 1 / n_trees)
    share = too_much.sum() / max(error[several].sum(), too_much.sum())
    return float(np.sqrt(1.0 - share))


def _score(response: NDArray[np.float64], error: NDArray[np.float64]) -> float:
    """R²; of one number alone, 1 if it is met and 0 if not."""
    spread = ((response - response.mean()) ** 2).sum()
    return float(1.0 - (error**2).sum() / spread) if spread > 0.0 else float(not error.any())
