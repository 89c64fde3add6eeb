"""LHTClassifier: the paper's single-tree classifier, one tree per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import Settled
from ..grow.training import Training
from ..model.model import Model
from .base import Growth, WolfClassifier


class LHTClassifier(WolfClassifier):
    """Learning Hyperplane Tree classifier: an oblique tree with a linear membership function in every leaf.

    Each class gets a tree that separates it from the rest; two classes share one tree. The defaults are the paper's
    method.

    Parameters
    ----------
    alpha : float, default=0.0
        A block ignores features whose variance in it (of normalised values) is not greater than ``alpha``.
    beta : "auto" or float, default="auto"
        A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "auto" is 0.
    gamma : int or float, default=10
        Minimum number of samples a pure cut must separate; a float in (0, 1) is a share of the training weight.
    direction : {"mean_difference", "fisher", "mixed"}, default="mean_difference"
        How weights are computed: difference of the class means (the paper), Fisher's discriminant, or the better of
        Fisher's discriminant and any single feature.
    offset : {"auto", "purity", "gini"}, default="auto"
        How the offset is chosen: from the paper's five candidates, or by minimum Gini impurity. "auto" is "purity"
        for the mean difference and "gini" otherwise.
    membership : {"marginal", "least_squares", "constant"}, default="marginal"
        Membership function of a block: one slope per feature, each fitted separately (the paper), a joint ridge fit, or
        a constant.
    confidence : {"auto", "last", "path", None}, default="auto"
        Confidence d(x): distance from the last hyperplane on the path, from the nearest one on the path, or 1 (None);
        at most 1. "auto" is "last" for the mean difference and None otherwise.
    normalize : {"robust", "standard", "minmax", None}, default="robust"
        Scaling of features: median and 5-95 % range, mean and standard deviation, midrange and half-range, or none.
    min_samples_split : "auto", int or float, default="auto"
        Minimum weight of a branching block. "auto" is ``gamma`` for the mean difference and 2 otherwise.
    min_samples_leaf : "auto", int or float, default="auto"
        Minimum weight on each side of a hyperplane; a float in (0, 1) is a share of the training weight. "auto" is 1
        for the mean difference. Otherwise a pilot chooses among 1, 5, 20 and 50: trees are grown on three quarters of
        (at most 10,000) rows, and the size with the least log loss on the others is used for all rows.
    smoothing : "auto" or float, default="auto"
        Keeps the memberships of small leaves away from 0 and 1: a leaf of weight n has memberships from a·p / (n + a)
        to (n + a·p) / (n + a), where a is ``smoothing`` and p the prior of the target. "auto" is 0.1 if a pilot
        chooses the leaf size, otherwise 0.
    max_depth : int or None, default=None
        Maximum depth of a tree; None means no limit.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" and None:
        all of them.
    shrinkage : float, default=1e-3
        Ridge parameter of Fisher's discriminant and of least-squares memberships, relative to the mean variance.
    class_weight : "balanced", dict or None, default=None
        Class weights, multiplied with ``sample_weight``.
    calibrate : {None, "sigmoid", "isotonic"}, default=None
        Calibrate the probabilities, with a sigmoid (Platt) or an isotonic map for each class, learned by 5-fold
        cross-fitting; fitting takes six times as long. ``predict`` returns the class most probable after calibration.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Categorical columns, which are one-hot encoded up to ``max_one_hot`` categories. "from_dtype": the string and
        categorical columns of a pandas or polars DataFrame. A list gives names, indices or a mask. None: all columns
        are numeric. A missing category has no influence.
    max_one_hot : int, default=20
        A categorical column with more categories becomes target statistics: one feature per class (one for two
        classes), the share of the class among the training rows of the category, shrunk towards that of all rows.
        Training rows get the share among the rows of the other folds (of 5).
    missing_indicator : bool or "auto", default="auto"
        Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
        missing, else 0. "auto": not for the mean difference (the paper), otherwise if the indicator is correlated with
        a class by more than chance.
    unseen : {"missing", "error"}, default="missing"
        How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
        has the share of all rows. "error": raise an error.
    keep_prototypes : bool or int, default=False
        Store the training rows, or at most this many of them (stratified), so that explanations can show similar rows.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed for drawing features and stored rows; without draws, the model does not depend on it.

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
