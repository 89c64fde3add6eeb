"""LHTRegressor: one oblique tree with a linear model in every block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._parameters import Settled, check_number
from ..grow.pruning import Rows, prune
from ..grow.training import Training
from ..model.model import Model
from ..tables.rows import expand
from .base import BaseLHT, Growth
from .predictor import Regressor, count_threads

# What regressors have no parameter for: the cut with the least squared error is that of least Gini impurity where the
# response is 0 and 1.
FIXED: dict[str, Any] = {"offset": "gini", "confidence": None, "gamma": 1, "smoothing": 0}


class LHTRegressor(Regressor, BaseLHT):
    """Learning Hyperplane Tree regressor: one small oblique tree with a linear model in every leaf.

    The hyperplane of a block is cut where the squared error is least. The prediction of a leaf is a linear model of its
    rows, or their mean, and never leaves the range of their responses. Subtrees and slopes that explain less than their
    parameters cost are pruned.

    Parameters
    ----------
    alpha : float, default=0.0
        A block ignores features whose variance in it (of normalised values) is not greater than ``alpha``.
    beta : "auto" or float, default="auto"
        A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "auto" is 0.
    direction : {"mean_difference", "fisher", "mixed"}, default="mixed"
        How weights are computed: covariances of features and response, the least-squares direction, or the better of
        the least-squares direction and any single feature. The names are those of :class:`LHTClassifier`: where the
        response is 0 and 1, these are its directions.
    membership : {"marginal", "least_squares", "constant"}, default="least_squares"
        Linear model of a block: one slope per feature, each fitted separately, a joint ridge fit, or a constant.
    normalize : {"robust", "standard", "minmax", None}, default="robust"
        Scaling of features: median and 5-95 % range, mean and standard deviation, midrange and half-range, or none.
    min_samples_split : int or float, default=2
        Minimum weight of a branching block; a float in (0, 1) is a share of the training weight.
    min_samples_leaf : int or float, default=20
        Minimum weight on each side of a hyperplane.
    max_depth : int or None, default=None
        Maximum depth of the tree; None means no limit.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" and None:
        all of them.
    shrinkage : float, default=1e-3
        Ridge parameter of the least-squares direction and of least-squares models, relative to the mean variance.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Categorical columns, which are one-hot encoded up to ``max_one_hot`` categories. "from_dtype": the string and
        categorical columns of a pandas or polars DataFrame. A list gives names, indices or a mask. None: all columns
        are numeric. A missing category has no influence.
    max_one_hot : int, default=20
        A categorical column with more categories becomes one feature, its target statistic: the mean response of the
        training rows of the category, shrunk towards that of all rows. Training rows get the mean of the rows of the
        other folds (of 5).
    missing_indicator : bool or "auto", default="auto"
        Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
        missing, else 0. "auto": not for the mean difference, otherwise if the indicator is correlated with the response
        by more than chance.
    unseen : {"missing", "error"}, default="missing"
        How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
        has the mean response of all rows. "error": raise an error.
    keep_prototypes : bool or int, default=False
        Store the training rows, or at most this many of them, so that explanations can show similar rows.
    pruning : float, default=1.0
        Cost of a parameter; larger values give smaller trees, and 0 keeps the tree as it was grown.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed for drawing features and stored rows; without draws, the model does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of shape (m,), if X had names
    trees_ : sequence of one tree view
    n_leaves_, depth_ : int
    feature_importances_ : array of shape (m,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LHTRegressor().fit(X, y).predict(X[:1]).round(1)
    array([205.8])
    """

    def __init__(
        self,
        *,
        alpha: float = 0.0,
        beta: float | str = "auto",
        direction: str = "mixed",
        membership: str = "least_squares",
        normalize: str | None = "robust",
        min_samples_split: float = 2,
        min_samples_leaf: float = 20,
        max_depth: int | None = None,
        max_features: float | str | None = "auto",
        shrinkage: float = 1e-3,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        pruning: float = 1.0,
        unseen: str = "missing",
        keep_prototypes: bool | int = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
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
        self.pruning = pruning
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fill(self, n_features: int) -> dict[str, Any]:
        return {**FIXED, **self.get_params(deep=False)}

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        check_number("pruning", self.pruning)
        return Growth(betas=np.array([settled.beta]))

    def _finish(self, model: Model, training: Training) -> Model:
        """Prune the tree."""
        if not self.pruning or training.response is None:
            return model
        leaf = model.ask("apply", training.X, count_threads(self.n_jobs))[:, 0]
        rows = Rows(model.normalise(expand(training.X)), training.response, training.weight, leaf)
        return replace(model, trees=prune(model.trees, rows, float(self.pruning)))
