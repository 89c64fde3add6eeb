"""LHTClassifier: the paper's single-tree classifier, one tree per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._parameters import Settled
from ._validate import Training
from .base import BaseLHT, Growth
from .model import Model


class LHTClassifier(BaseLHT):
    """Learning Hyperplane Tree: an oblique tree with a piecewise linear membership in every leaf.

    One tree separates each class from the rest; for two classes one tree serves both. The defaults are the paper's
    method.

    Parameters
    ----------
    alpha : float, default=0.0
        Features whose variance in a block (of normalised values) is not above ``alpha`` are left out of it.
    beta : "auto" or float, default="auto"
        Features with ``|weight| <= beta`` are left out of a hyperplane; at least 0 and below 1. "auto" is 0.
    gamma : int or float, default=10
        Least number of samples a pure cut must take off; a float between 0 and 1 is a share of the training weight.
    direction : {"mean_difference", "fisher", "mixed"}, default="mean_difference"
        How weights are found: difference of the class means (the paper), Fisher's discriminant, or the better of
        Fisher's discriminant and any single feature.
    offset : {"auto", "purity", "gini"}, default="auto"
        How the offset is found: the paper's five candidates or the cut of least Gini impurity. "auto" is "purity" for
        the mean difference, else "gini".
    membership : {"marginal", "least_squares", "constant"}, default="marginal"
        Slopes of each feature by itself (the paper), a joint ridge fit, or none.
    confidence : {"auto", "last", "path", None}, default="auto"
        d(x): distance from the last hyperplane on the way, the least on the way, or 1. "auto" is "last" for the mean
        difference, else None.
    normalize : {"robust", "standard", "minmax", None}, default="robust"
        Median and 5-95 % range, mean and standard deviation, midrange and half-range, or nothing.
    min_samples_split : "auto", int or float, default="auto"
        Blocks of less weight are leaves. "auto" is ``gamma`` for the mean difference, else 2.
    min_samples_leaf : int or float, default=1
        Least weight on each side of a hyperplane.
    max_depth : int or None, default=None
        Depth at which blocks are leaves.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Active features a block considers, drawn at random. "auto" and None are all.
    shrinkage : float, default=1e-3
        Ridge of Fisher's discriminant and of least-squares memberships, as a share of the mean variance.
    class_weight : "balanced", dict or None, default=None
        Weights of classes, multiplied into ``sample_weight``.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Columns that hold categories, each of which becomes a feature of its own, 1 or 0. "from_dtype": the columns of
        text and of categorical type of a pandas or polars frame. A list names columns, by name, number or a mask.
        None: all columns are numeric. A missing category abstains.
    unseen : {"missing", "error"}, default="missing"
        What becomes of a category that was not there in fit: it counts as missing, or prediction raises an error.
    keep_prototypes : bool or int, default=False
        Keep the training rows, or at most so many drawn by class, so that explanations can show similar ones.
    n_jobs : int or None, default=None
        Threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the feature draws; without draws the model is the same for every seed.

    Attributes
    ----------
    classes_ : array of shape (K,)
    n_features_in_ : int
    feature_names_in_ : array of shape (m,), if X had names
    trees_ : sequence of views, one per tree: K trees, or one for two classes
    n_leaves_, depth_ : int
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
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        max_features: float | str | None = "auto",
        shrinkage: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
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
        self.max_depth = max_depth
        self.max_features = max_features
        self.shrinkage = shrinkage
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        return Growth(betas=np.array([settled.beta]))
