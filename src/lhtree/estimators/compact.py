"""Compact trees: one small tree of all classes, or for a number, that fits on one page."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base_compact import BaseCompact
from .documentation import ALL, CLASSIFIER, REGRESSOR, document
from .predictor import Classifier, Regressor

_COMPACT = """
max_leaf_nodes : int
    Maximum number of leaves, at most 256.
max_terms : int
    Maximum number of features of a hyperplane.
min_samples_leaf : int
    Minimum weight of a leaf.
max_passes : int
    Maximum number of times the whole tree is solved again after each step of growth; 0 is greedy growth.
categorical_features : "from_dtype", None or list
    Categorical columns, each category of which is one term ("colour = red"), up to ``max_one_hot`` categories.
    "from_dtype": the string and categorical columns of a pandas or polars DataFrame. A list gives names, indices
    or a mask. None: all columns are numeric.
random_state : int, RandomState or None
    Random seed of the folds of ``penalty="cv"`` and for drawing stored rows; nothing else is random.
"""
_CLASSIFIER = """
penalty : float or "cv"
    Cost of a term or a leaf; larger values give smaller trees. The sum of the Brier scores of all n rows has to
    fall by ``penalty`` · 0.15 · ln(n) for each. "cv" chooses 0.3, 1, 3 or 10 by 5-fold cross-validation and takes
    about 20 times as long.
membership : {"constant", "linear"}
    What a leaf predicts: the shares of the classes in it or, for two classes only, a linear function of the
    features on its path.
digits : int or None
    Significant digits of the weights; offsets get few digits, too. None: no rounding.
max_one_hot : int
    A categorical column with more categories becomes target statistics: one feature per class (one for two
    classes), the share of the class among the training rows of the category, shrunk towards that of all rows.
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": if the indicator is correlated with a class by more than chance. A missing value is
    replaced by the centre of its feature, which is printed with the tree.
"""
_REGRESSOR = """
penalty : float or "cv"
    Cost of a term or a leaf; larger values give smaller trees. The sum of the squared errors of all n rows has to
    fall by ``penalty`` · 0.3 · ln(n) times the variance of the response for each. "cv" chooses 0.3, 1, 3 or 10 by
    5-fold cross-validation and takes about 20 times as long.
membership : {"constant", "linear"}
    What a leaf predicts: the mean response of its rows, or a linear function of the features on its path, which
    never leaves the range of their responses.
digits : int or None
    Significant digits of the weights, and digits of what leaves predict, counted from the first digit of the
    standard deviation of the response; offsets get few digits, too. None: no rounding.
max_one_hot : int
    A categorical column with more categories becomes one feature, its target statistic: the mean response of the
    training rows of the category, shrunk towards that of all rows.
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": if the indicator is correlated with the response by more than chance. A missing value
    is replaced by the centre of its feature, which is printed with the tree.
"""


@document(ALL, CLASSIFIER, _COMPACT, _CLASSIFIER)
class CompactLHTClassifier(BaseCompact, Classifier):
    """One small oblique tree for all classes, made to be read.

    The tree has at most ``max_leaf_nodes`` leaves and hyperplanes of at most ``max_terms`` features. It is not grown
    greedily: its blocks are solved again and again, each given the subtrees below it, until the Brier score plus a
    penalty for every term and leaf no longer falls. Weights and offsets are then written in the user's units with few
    digits, and the tree predicts with exactly these numbers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
    n_features_in_ : int
    feature_names_in_ : array of shape (m,), if X had names
    trees_ : sequence of one tree view
    n_leaves_, depth_, n_terms_ : int
    penalty_ : float
        The penalty in use.
    rounding_loss_ : float
        Training accuracy before rounding minus that after it.
    objective_ : array
        Objective of every tree that was kept while growing.
    feature_importances_ : array of shape (m,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import CompactLHTClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = CompactLHTClassifier().fit(X, y)
    >>> model.n_leaves_, round(model.score(X, y), 3)
    (3, 1.0)
    """

    def __init__(
        self,
        *,
        max_leaf_nodes: int = 16,
        max_terms: int = 8,
        penalty: float | str = 1.0,
        min_samples_leaf: int = 5,
        membership: str = "constant",
        max_passes: int = 20,
        digits: int | None = 3,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        unseen: str = "missing",
        keep_prototypes: bool | int = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_terms = max_terms
        self.penalty = penalty
        self.min_samples_leaf = min_samples_leaf
        self.membership = membership
        self.max_passes = max_passes
        self.digits = digits
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.missing_indicator = missing_indicator
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@document(ALL, REGRESSOR, _COMPACT, _REGRESSOR)
class CompactLHTRegressor(BaseCompact, Regressor):
    """One small oblique tree for a number, made to be read.

    The tree has at most ``max_leaf_nodes`` leaves and hyperplanes of at most ``max_terms`` features. It is not grown
    greedily: its blocks are solved again and again, each given the subtrees below it, until the squared error plus
    a penalty for every term and leaf no longer falls. Weights and offsets are then written in the user's units with few
    digits, and the tree predicts with exactly these numbers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of shape (m,), if X had names
    trees_ : sequence of one tree view
    n_leaves_, depth_, n_terms_ : int
    penalty_ : float
        The penalty in use.
    rounding_loss_ : float
        Training R² before rounding minus that after it.
    objective_ : array
        Objective of every tree that was kept while growing.
    feature_importances_ : array of shape (m,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import CompactLHTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CompactLHTRegressor().fit(X, y)
    >>> model.n_leaves_, round(model.score(X, y), 3)
    (8, 0.604)
    """

    def __init__(
        self,
        *,
        max_leaf_nodes: int = 16,
        max_terms: int = 8,
        penalty: float | str = 1.0,
        min_samples_leaf: int = 5,
        membership: str = "constant",
        max_passes: int = 20,
        digits: int | None = 3,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        missing_indicator: bool | str = "auto",
        unseen: str = "missing",
        keep_prototypes: bool | int = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_terms = max_terms
        self.penalty = penalty
        self.min_samples_leaf = min_samples_leaf
        self.membership = membership
        self.max_passes = max_passes
        self.digits = digits
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.missing_indicator = missing_indicator
        self.unseen = unseen
        self.keep_prototypes = keep_prototypes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
