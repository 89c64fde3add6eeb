"""Forests of oblique trees: WOLF values from many trees per class, or the mean of many regression trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from .._parameters import Settled, refuse, settle_multi_class
from ..grow.sources import LeftOut
from ..grow.training import Training
from ..model.model import ForestRecord, Model
from ..model.response import ResponseRecord
from ..tables.rows import EncodedRows
from .base import Growth, WolfClassifier
from .base_forest import BaseForest
from .documentation import ALL, CLASSIFIER, REGRESSOR, document
from .predictor import Regressor
from .tree import REGRESSION_SETTINGS, TREE, TREE_CLASSIFIER, TREE_REGRESSOR, LHTClassifier, LHTRegressor

_FOREST = """
bootstrap : bool
    Draw rows with replacement.
beta : "auto", "schedule" or float
    A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "schedule": tree i of t uses beta = i/t. "auto" is
    "schedule" for the mean difference and 0 otherwise.
warm_start : bool
    Reuse the trees of the previous fit and add more.
random_state : int, RandomState or None
    Random seed for drawing rows and features.
"""
_CLASSIFIER = """
n_estimators : int
    Number of trees per class or, with trees of all classes, the number of trees (see ``multi_class``).
max_samples : "auto", int or float
    Rows drawn for each tree, stratified: a count or a share. "auto" is 0.8 for the mean difference. For the other
    directions it is 1.0 (all rows), unless every block considers all features: then 0.8, to make the trees differ.
min_samples_leaf : "auto", int or float
    Minimum weight on each side of a hyperplane; a float in (0, 1) is a share of the training weight. "auto" is 1
    for the mean difference. Otherwise a pilot chooses among 1, 5, 20 and 50, as for :class:`LHTClassifier`; it grows
    at most 30 trees per class and leaf size, and 30 with ``warm_start=True``, because more trees are to come. A warm
    start keeps the size that was chosen.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
    for the mean difference, otherwise ``max(2, min(7, ceil(m/2)), floor(sqrt(m)))``.
class_weight : "balanced", "balanced_subsample", dict or None
    Class weights, multiplied with ``sample_weight``. "balanced_subsample" balances the rows that each tree draws.
multi_class : {"auto", "one_tree", "one_per_class"}
    Trees for more than two classes. "one_per_class": every estimator has a tree for each class, which separates it
    from the rest. "one_tree", for ``direction="mixed"`` only: every estimator is one tree of all K classes, so the
    forest has 1/K as many trees. The direction of a block separates two classes drawn at random, its offset
    minimises the Gini impurity over all classes, and memberships are the shares of the classes in a leaf
    (``membership`` does not apply). "auto" is "one_tree" for ``direction="mixed"`` and more than 50,000 rows,
    unless ``membership="least_squares"``, otherwise "one_per_class".
oob_score : bool
    Compute the out-of-bag score.
"""
_REGRESSOR = """
n_estimators : int
    Number of trees.
max_samples : int or float
    Rows drawn for each tree: a count or a share. Rows that trees do not see give the out-of-bag score and the
    prediction intervals; with 1.0 there are none.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
    for the mean difference, otherwise half of them, and at least two.
shrinkage : float
    Ridge parameter of the least-squares direction and of least-squares models, relative to the mean variance; linear
    models of small leaves need a larger one than a single tree.
oob_score : bool
    Keep the out-of-bag score and predictions.
"""


@document(ALL, CLASSIFIER, TREE, TREE_CLASSIFIER, _FOREST, _CLASSIFIER)
class LHForestClassifier(WolfClassifier, BaseForest):
    """Forest of Learning Hyperplane Trees; their corrected memberships are averaged (WOLF).

    The defaults are the paper's method; ``direction="mixed"`` is the most accurate setting.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_, min_samples_leaf_
        As for :class:`LHTClassifier`; ``trees_`` has K trees for each estimator, or one for two classes and for trees
        of all classes.
    estimators_ : sequence of fitted LHTClassifier, one per estimator
    oob_score_ : float
        Out-of-bag accuracy; with ``oob_score=True`` only.
    oob_decision_function_ : array of shape (n, K)
        Out-of-bag probabilities; NaN for rows that were drawn for every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> LHForestClassifier(direction="mixed", random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _tree = LHTClassifier

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float | str = "auto",
        bootstrap: bool = False,
        alpha: float = 0.0,
        beta: float | str = "auto",
        gamma: float = 10,
        direction: str = "mean_difference",
        offset: str = "auto",
        membership: str = "marginal",
        confidence: str | None = "auto",
        normalize: str | None = "robust",
        min_samples_split: float | str = "auto",
        min_samples_leaf: float | str = "auto",
        smoothing: float | str = "auto",
        max_depth: int | None = None,
        max_features: float | str | None = "auto",
        shrinkage: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        calibrate: str | None = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        unseen: str = "missing",
        keep_prototypes: bool | int = False,
        multi_class: str = "auto",
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
        self.gamma = gamma
        self.direction = direction
        self.offset = offset
        self.membership = membership
        self.confidence = confidence
        self.normalize = normalize
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.smoothing = smoothing
        self.max_depth = max_depth
        self.max_features = max_features
        self.shrinkage = shrinkage
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.missing_indicator = missing_indicator
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.multi_class = multi_class
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        shared = None if earlier is None else earlier.head.shares_classes
        params, n_classes = self.get_params(deep=False), len(training.classes)
        shares_classes = settle_multi_class(params, n_classes, len(training.X), earlier=shared)
        if shared is not None and shared != shares_classes:
            kind = "one_tree" if shared else "one_per_class"
            raise refuse(
                "multi_class", self.multi_class, f"{kind!r}, as in the earlier fit, with warm_start=True"
            )
        return replace(super()._plan(settled, training, earlier), is_joint=shares_classes)

    def _finish(self, model: Model, training: Training) -> Model:
        """Score the rows that trees did not see."""
        if not self.oob_score:
            return model
        return score_out_of_bag(model, training, *training.X.add_left_out(add_votes, model, training.codes))

    @property
    def oob_score_(self) -> float:
        """Accuracy over the rows that some tree did not see."""
        score = self._read_oob().oob_score
        return np.nan if score is None else score

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Probabilities of those rows, shape (n, K); NaN for rows that every tree saw."""
        return self._read_oob().oob_decision_function  # type: ignore[return-value]  # checked

    def _read_oob(self) -> ForestRecord:
        record = self._read().forest
        if record is None or record.oob_decision_function is None:
            raise AttributeError("there are no out-of-bag scores: fit with oob_score=True.")
        return record


def add_votes(
    model: Model, X: EncodedRows, left_out: Iterable[LeftOut]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return sums of WOLF values and memberships over the trees that did not see a row, and their number."""
    return model.sum_left_out(X, left_out)


def score_out_of_bag(
    model: Model,
    training: Training,
    wolf: NDArray[np.float64],
    membership: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """Return the model with its out-of-bag scores; the arrays are the result of ``add_votes``."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    is_scored = n_trees > 0
    score = model.scorer.settle(wolf, membership)
    guess = score.argmax(axis=1) == training.codes
    given = slice(None) if training.row is None else training.row
    decision = np.full((training.n_given, model.n_classes), np.nan)
    decision[given] = np.where(is_scored[:, None], score, np.nan)
    accuracy = float(guess[is_scored].mean()) if is_scored.any() else None
    return replace(model, forest=replace(record, oob_score=accuracy, oob_decision_function=decision))


@document(ALL, REGRESSOR, TREE, TREE_REGRESSOR, _FOREST, _REGRESSOR)
class LHForestRegressor(Regressor, BaseForest):
    """Forest of Learning Hyperplane Trees that predict a number: the mean of their estimates.

    Parameters
    ----------
    {parameters}

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
        params = {**REGRESSION_SETTINGS, **self.get_params(deep=False)}
        is_auto = isinstance(params["max_features"], str) and params["max_features"] == "auto"
        if is_auto and params["direction"] != "mean_difference":  # an oblique hyperplane needs two
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
        added = training.X.add_left_out(add, model, training.codes)
        return measure_out_of_bag(model, training, self.oob_score, unit, *added)

    @property
    def oob_score_(self) -> float:
        """R² over the rows that some tree did not see."""
        score = self._read_oob().oob_score
        return np.nan if score is None else score

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Predictions for those rows, shape (n,); NaN for rows that every tree saw."""
        return self._read_oob().oob_prediction  # type: ignore[return-value]  # checked

    def _read_oob(self) -> ForestRecord:
        record = self._read().forest
        if record is None or record.oob_prediction is None:
            raise AttributeError("there are no out-of-bag predictions: fit with oob_score=True.")
        return record


def _has_lost_draws(earlier: Model | None, model: Model) -> bool:
    """Whether trees of an earlier fit drew from other rows; the rows that they saw are then unknown."""
    if (
        earlier is None
        or earlier.forest is None
        or all(drawn.counts is None for drawn in earlier.forest.draws)
    ):
        return False
    has_same_rows = model.forest is not None and np.array_equal(earlier.forest.sizes, model.forest.sizes)
    return not has_same_rows or earlier.response is None or earlier.response.residual is None


def add_values(
    model: Model, X: EncodedRows, left_out: Iterable[LeftOut], mean: float, unit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return sums over the trees that did not see a row: predictions, squares about the mean, and 1."""
    total, squares, n_trees = model.sum_left_out(X, left_out, mean, unit)
    return total[:, 0], squares[:, 0], n_trees.astype(np.float64)


def measure_out_of_bag(
    model: Model,
    training: Training,
    keeps_predictions: bool,
    unit: float,
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    n_trees: NDArray[np.float64],
) -> Model:
    """Return the model with its out-of-bag errors; the arrays are the result of ``add_values``."""
    response: NDArray[np.float64] = training.response  # type: ignore[assignment]  # it is a regression
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    summary: ResponseRecord = model.response  # type: ignore[assignment]  # it is a regression
    row = np.flatnonzero(n_trees)
    kept, score = np.full(training.n_given, np.nan), None
    if len(row):
        n, prediction = n_trees[row], total[row] / n_trees[row]
        spread = squares[row] - n * ((prediction - summary.mean) / unit) ** 2
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
    too much. ``spread`` is the sum of squared deviations of the n trees of a row from their mean.
    """
    several = n > 1
    if not several.any() or not error.sum() > 0.0:
        return 1.0
    too_much = np.maximum(spread[several], 0.0) / (n[several] - 1) * (1 / n[several] - 1 / n_trees)
    share = too_much.sum() / max(error[several].sum(), too_much.sum())
    return float(np.sqrt(1.0 - share))


def _score(response: NDArray[np.float64], error: NDArray[np.float64]) -> float:
    """Return R²; for a constant response, 1 if all errors are 0, otherwise 0."""
    spread = ((response - response.mean()) ** 2).sum()
    return float(1.0 - (error**2).sum() / spread) if spread > 0.0 else float(not error.any())
