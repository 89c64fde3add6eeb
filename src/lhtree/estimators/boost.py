"""Boosted hyperplane trees for classes and for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from .._parameters import REGRESSION_LOSSES
from .base_boost import BaseBoost
from .documentation import ALL, CLASSIFIER, REGRESSOR, document
from .predictor import Classifier, Regressor

_BOOST = """
learning_rate : "auto" or float
    Factor of every tree. "auto" is ``0.05 * min(1, n / 8000)**0.35`` for n rows and 400 rounds; with another
    ``max_iter``, rate × rounds**0.8 stays the same. With 100 to 50,000 rows, at least 40 rounds and no early
    stopping, a pilot on held-out rows lowers it if that many steps would learn noise.
max_depth : int
    Maximum depth of a tree.
min_samples_leaf : int
    Minimum weight of the rows on each side of a hyperplane.
l2_regularization : float
    Added to the sum of the second derivatives of a block.
subsample : float
    Probability with which a row takes part in a round.
max_features : float
    Share of the features that a block tries as single features, drawn for each block.
n_directed : int
    Number of features of a block's hyperplane, drawn for each block; at most all of them.
direction : {"mixed", "single"}
    "single" leaves out hyperplanes: all blocks are cut along single features.
shrinkage : float
    Ridge parameter of the hyperplanes, relative to the mean variance.
max_bins : int
    Maximum number of bins of a feature in training; missing values have a bin of their own.
early_stopping : bool or "auto"
    Stop when the loss on held-out rows has not improved for ``n_iter_no_change`` rounds, and keep the rounds up to
    the best one. "auto" does so above 10,000 rows. A validation set passed to ``fit`` is used even with False.
n_iter_no_change : int
    Rounds without improvement after which to stop.
warm_start : bool
    Keep the trees of the previous fit, its learning rate and bins, and add rounds up to ``max_iter``.
"""
_CLASSIFIER = """
max_iter : int
    Number of rounds. A round grows one tree, or one per class if there are more than two.
validation_fraction : float, int or None
    Share or number of training rows to hold out for early stopping, stratified; None uses the training loss.
tol : float
    Smallest decrease of the loss that counts as an improvement.
leaf : {"auto", "constant", "linear"}
    What a leaf adds to the raw score: a value, or a linear function of at most 12 features of the blocks on its
    path, clipped to the range of the Newton steps of its rows. "auto" is "constant" for classification.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the probability of the second class must not decrease with the feature, -1 where it must not increase,
    0 for no constraint; a dict gives them by column name. Two classes only.
"""
_REGRESSOR = f"""
loss : {{{", ".join(f'"{loss}"' for loss in REGRESSION_LOSSES)}}}
    Loss to minimise. "poisson" and "gamma" fit the logarithm of the mean of y. For "poisson", y must be at least 0
    and not 0 everywhere; for "gamma" it must be positive.
quantile : float or None
    With ``loss="quantile"``, the quantile to estimate, between 0 and 1; None otherwise.
max_iter : int
    Number of rounds; each grows one tree.
validation_fraction : float, int or None
    Share or number of training rows to hold out for early stopping; None uses the training loss.
tol : float
    Smallest decrease of the loss that counts as an improvement, as a share of the loss before the first round, so
    that it does not depend on the unit of y.
leaf : {{"auto", "constant", "linear"}}
    What a leaf adds: a value, or a linear function of at most 12 features of the blocks on its path, clipped to the
    range of the Newton steps of its rows. "auto" is "linear", but "constant" for absolute errors and quantiles,
    whose leaves add the median or quantile of their residuals.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the prediction must not decrease with the feature, -1 where it must not increase, 0 for no constraint; a
    dict gives them by column name.
"""


@document(ALL, CLASSIFIER, _BOOST, _CLASSIFIER)
class LHBoostClassifier(Classifier, BaseBoost):
    """Boosted hyperplane trees: rounds of small trees, each a Newton step on the log loss of the rounds before it.

    Every block is cut along a single feature or along a hyperplane over a few of them, whichever gains more. Parameters
    that scikit-learn's ``HistGradientBoostingClassifier`` also has mean the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTClassifier`; ``trees_`` has one tree per round, or K for K > 2 classes.
    n_iter_ : int
        Number of rounds that were kept.
    learning_rate_ : float
        The learning rate in use.
    train_score_, validation_score_ : arrays of shape (rounds + 1,)
        Minus the loss before the first round and after each round that was tried. Both are empty without early
        stopping; ``validation_score_`` is also empty if no rows were held out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LHBoostClassifier(random_state=0).fit(X[:400], y[:400])
    >>> round(model.score(X[400:], y[400:]), 3)
    0.988
    """

    _links: ClassVar[tuple[str, ...]] = ("logistic", "softmax")

    def __init__(
        self,
        max_iter: int = 400,
        *,
        learning_rate: float | str = "auto",
        max_depth: int = 5,
        min_samples_leaf: int = 20,
        l2_regularization: float = 1.0,
        subsample: float = 0.7,
        max_features: float = 0.5,
        n_directed: int = 4,
        direction: str = "mixed",
        shrinkage: float = 0.01,
        max_bins: int = 255,
        early_stopping: bool | str = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        leaf: str = "auto",
        monotonic_cst: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        calibrate: str | None = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        unseen: str = "missing",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.n_directed = n_directed
        self.direction = direction
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.leaf = leaf
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.unseen = unseen
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Raw scores: the log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._ask(Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Raw scores after each round, with the shape of ``decision_function``."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield raw_score[:, 0] if model.n_targets == 1 else raw_score

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Class probabilities after each round, shape (n, K) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield model.scorer.link(raw_score)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predicted class of every row after each round, shape (n,) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            if model.calibration is not None:
                raw_score = model.scorer.link(raw_score)
            elif model.n_targets == 1:
                raw_score = np.concatenate([np.zeros_like(raw_score), raw_score], axis=1)
            yield model.classes[raw_score.argmax(axis=1)]


@document(ALL, REGRESSOR, _BOOST, _REGRESSOR)
class LHBoostRegressor(Regressor, BaseBoost):
    """Boosted hyperplane trees: rounds of small trees, each a Newton step on the loss of the rounds before it.

    Every block is cut along a single feature or along a hyperplane over a few of them, whichever gains more. Parameters
    that scikit-learn's ``HistGradientBoostingRegressor`` also has mean the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTRegressor`; ``trees_`` has one tree per round.
    n_iter_ : int
        Number of rounds that were kept.
    learning_rate_ : float
        The learning rate in use.
    train_score_, validation_score_ : arrays of shape (rounds + 1,)
        Minus the mean loss before the first round and after each round that was tried. Both are empty without early
        stopping; ``validation_score_`` is also empty if no rows were held out. The losses are half the squared error,
        the absolute error, the pinball loss and half the deviance.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LHBoostRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.4
    True
    """

    _links: ClassVar[tuple[str, ...]] = ("identity", "log")

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        max_iter: int = 400,
        learning_rate: float | str = "auto",
        max_depth: int = 5,
        min_samples_leaf: int = 20,
        l2_regularization: float = 1.0,
        subsample: float = 0.7,
        max_features: float = 0.5,
        n_directed: int = 4,
        direction: str = "mixed",
        shrinkage: float = 0.01,
        max_bins: int = 255,
        early_stopping: bool | str = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        leaf: str = "auto",
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        unseen: str = "missing",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.n_directed = n_directed
        self.direction = direction
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.leaf = leaf
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.unseen = unseen
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Predicted response of every row after each round, shape (n,) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield model.scorer.link(raw_score)[:, 0]
