"""One oblique tree: the paper's classifier and a regressor with a linear model in every block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._parameters import Settled, check_number
from ..grow.pruning import Rows, prune
from ..grow.training import Training
from ..model.model import Model
from .base import BaseLHT, Growth, WolfClassifier
from .documentation import ALL, CLASSIFIER, REGRESSOR, document
from .predictor import Regressor, count_threads

TREE = """
alpha : float
    A block ignores features whose variance in it (of normalised values) is not greater than ``alpha``.
beta : "auto" or float
    A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "auto" is 0.
normalize : {"robust", "standard", "minmax", None}
    Scaling of features: median and 5-95 % range, mean and standard deviation, midrange and half-range, or none.
max_depth : int or None
    Maximum depth of a tree; None means no limit.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" and None:
    all of them.
random_state : int, RandomState or None
    Random seed for drawing features and stored rows; without draws, the model does not depend on it.
"""
TREE_CLASSIFIER = """
gamma : int or float
    Minimum number of samples a pure cut must separate; a float in (0, 1) is a share of the training weight.
direction : {"mean_difference", "fisher", "mixed"}
    How weights are computed: difference of the class means (the paper), Fisher's discriminant, or the better of
    Fisher's discriminant and any single feature.
offset : {"auto", "purity", "gini"}
    How the offset is chosen: from the paper's five candidates, or by minimum Gini impurity. "auto" is "purity"
    for the mean difference and "gini" otherwise.
membership : {"marginal", "least_squares", "constant"}
    Membership function of a block: one slope per feature, each fitted separately (the paper), a joint ridge fit, or
    a constant.
confidence : {"auto", "last", "path", None}
    Confidence d(x): distance from the last hyperplane on the path, from the nearest one on the path, or 1 (None);
    at most 1. "auto" is "last" for the mean difference and None otherwise.
min_samples_split : "auto", int or float
    Minimum weight of a branching block. "auto" is ``gamma`` for the mean difference and 2 otherwise.
min_samples_leaf : "auto", int or float
    Minimum weight on each side of a hyperplane; a float in (0, 1) is a share of the training weight. "auto" is 1
    for the mean difference. Otherwise a pilot chooses among 1, 5, 20 and 50: trees are grown on three quarters of
    (at most 10,000) rows, and the size with the least log loss on the others is used for all rows.
smoothing : "auto" or float
    Keeps the memberships of small leaves away from 0 and 1: a leaf of weight n has memberships from a·p / (n + a)
    to (n + a·p) / (n + a), where a is ``smoothing`` and p the prior of the target. "auto" is 0.1 if a pilot
    chooses the leaf size, otherwise 0.
shrinkage : float
    Ridge parameter of Fisher's discriminant and of least-squares memberships, relative to the mean variance.
"""
TREE_REGRESSOR = """
direction : {"mean_difference", "fisher", "mixed"}
    How weights are computed: covariances of features and response, the least-squares direction, or the better of
    the least-squares direction and any single feature. The names are those of :class:`LHTClassifier`: where the
    response is 0 and 1, these are its directions.
membership : {"marginal", "least_squares", "constant"}
    Linear model of a block: one slope per feature, each fitted separately, a joint ridge fit, or a constant.
min_samples_split : int or float
    Minimum weight of a branching block; a float in (0, 1) is a share of the training weight.
min_samples_leaf : int or float
    Minimum weight on each side of a hyperplane.
shrinkage : float
    Ridge parameter of the least-squares direction and of least-squares models, relative to the mean variance.
pruning : float
    Cost of a parameter; larger values give smaller trees, and 0 keeps the tree as it was grown.
"""
# Values of the classifier's parameters that regressors do not have. Where the response is 0 and 1, the cut with the
# least squared error is that with the least Gini impurity.
REGRESSION_SETTINGS: dict[str, Any] = {"offset": "gini", "confidence": None, "gamma": 1, "smoothing": 0}


@document(ALL, CLASSIFIER, TREE, TREE_CLASSIFIER)
class LHTClassifier(WolfClassifier):
    """Learning Hyperplane Tree classifier: an oblique tree with a linear membership function in every leaf.

    Each class gets a tree that separates it from the rest; two classes share one tree. The defaults are the paper's
    method.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
    n_features_in_ : int
    feature_names_in_ : array of shape (m,), if X had names
    trees_ : sequence of tree views: one tree per class, or a single one for two classes
    n_leaves_, depth_ : int
    min_samples_leaf_ : int or float
        The leaf size in use.
    feature_importances_ : array of shape (m,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> LHTClassifier().fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
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
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        return Growth(betas=np.array([settled.beta]))


@document(ALL, REGRESSOR, TREE, TREE_REGRESSOR)
class LHTRegressor(Regressor, BaseLHT):
    """Learning Hyperplane Tree regressor: one small oblique tree with a linear model in every leaf.

    The hyperplane of a block is cut where the squared error is least. The prediction of a leaf is a linear model of its
    rows, or their mean, and never leaves the range of their responses. Subtrees and slopes that explain less than their
    parameters cost are pruned.

    Parameters
    ----------
    {parameters}

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
        return {**REGRESSION_SETTINGS, **self.get_params(deep=False)}

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        check_number("pruning", self.pruning)
        return Growth(betas=np.array([settled.beta]))

    def _finish(self, model: Model, training: Training) -> Model:
        """Prune the tree."""
        if not self.pruning or training.response is None:
            return model
        leaf = training.X.ask(model, "apply", count_threads(self.n_jobs))[:, 0]
        rows = Rows(model.normalise(training.X.load().expand()), training.response, training.weight, leaf)
        return replace(model, trees=prune(model.trees, rows, float(self.pruning)))
