"""LHForestClassifier: many Learning Hyperplane Trees per class, overlapped into WOLF."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import Settled, refuse, settle_multi_class
from ..grow.training import Training
from ..model.model import ForestRecord, Model
from ..tables.rows import Encoded
from .base import Growth, WolfClassifier
from .base_forest import BaseForest, LeftOut
from .tree import LHTClassifier


class LHForestClassifier(WolfClassifier, BaseForest):
    """Forest of Learning Hyperplane Trees; their corrected memberships are averaged (WOLF).

    The defaults are the paper's method; ``direction="mixed"`` is the most accurate setting.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees per class or, with trees of all classes, the number of trees (see ``multi_class``).
    max_samples : "auto", int or float, default="auto"
        Rows drawn for each tree, stratified: a count or a share. "auto" is 0.8 for the mean difference. For the other
        directions it is 1.0 (all rows), unless every block considers all features: then 0.8, to make the trees differ.
    bootstrap : bool, default=False
        Draw rows with replacement.
    alpha, gamma, offset, membership, confidence, normalize, min_samples_split, max_depth, shrinkage, smoothing
        As for :class:`LHTClassifier`.
    min_samples_leaf : "auto", int or float, default="auto"
        As for :class:`LHTClassifier`; the pilot grows at most 30 trees per class and leaf size, and 30 with
        ``warm_start=True``, because more trees are to come. A warm start keeps the size that was chosen.
    beta : "auto", "schedule" or float, default="auto"
        "schedule": tree i of t uses beta = i/t. "auto" is "schedule" for the mean difference and 0 otherwise.
    direction : {"mean_difference", "fisher", "mixed"}, default="mean_difference"
        As for :class:`LHTClassifier`.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
        for the mean difference, otherwise ``max(2, min(7, ceil(m/2)), floor(sqrt(m)))``.
    class_weight : "balanced", "balanced_subsample", dict or None, default=None
        Class weights, multiplied with ``sample_weight``. "balanced_subsample" balances the rows that each tree draws.
    calibrate : {None, "sigmoid", "isotonic"}, default=None
        Calibrate the probabilities, with a sigmoid (Platt) or an isotonic map for each class, learned by 5-fold
        cross-fitting; fitting takes six times as long. ``predict`` returns the class most probable after calibration.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        As for :class:`LHTClassifier`.
    max_one_hot, missing_indicator, unseen
        As for :class:`LHTClassifier`.
    keep_prototypes : bool or int, default=False
        Store the training rows, or at most this many of them (stratified), so that explanations can show similar rows.
    multi_class : {"auto", "one_tree", "one_per_class"}, default="auto"
        Trees for more than two classes. "one_per_class": every estimator has a tree for each class, which separates it
        from the rest. "one_tree", for ``direction="mixed"`` only: every estimator is one tree of all K classes, so the
        forest has 1/K as many trees. The direction of a block separates two classes drawn at random, its offset
        minimises the Gini impurity over all classes, and memberships are the shares of the classes in a leaf
        (``membership`` does not apply). "auto" is "one_tree" for ``direction="mixed"`` and more than 50,000 rows,
        unless ``membership="least_squares"``, otherwise "one_per_class".
    oob_score : bool, default=False
        Compute the out-of-bag score.
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
        was_joint = None if earlier is None else earlier.is_joint
        params, n_classes = self.get_params(deep=False), len(training.classes)
        is_joint = settle_multi_class(params, n_classes, len(training.X), earlier=was_joint)
        if was_joint is not None and was_joint != is_joint:
            kind = "one_tree" if was_joint else "one_per_class"
            raise refuse(
                "multi_class", self.multi_class, f"{kind!r}, as in the earlier fit, with warm_start=True"
            )
        return replace(super()._plan(settled, training, earlier), is_joint=is_joint)

    def _finish(self, model: Model, training: Training) -> Model:
        """Score the rows that trees did not see."""
        if not self.oob_score:
            return model
        return score_out_of_bag(model, training, *self._add_left_out(add_votes, model, training))

    @property
    def oob_score_(self) -> float:
        """Accuracy over the rows that some tree did not see."""
        score = self._read_oob().oob_score
        return np.nan if score is None else score

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Probabilities of those rows, shape (n, K); NaN for rows that every tree saw."""
        return self._read_oob().oob_decision_function  # type: ignore[return-value]  # it is there

    def _read_oob(self) -> ForestRecord:
        record = self._read().forest
        if record is None or record.oob_decision_function is None:
            raise AttributeError("there are no out-of-bag scores: fit with oob_score=True.")
        return record


def add_votes(
    model: Model, X: Encoded, left_out: Iterable[LeftOut]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """WOLF values and memberships of the trees that did not see a row, summed, and their number."""
    n_rows, n_classes = len(X), model.n_classes
    wolf, membership = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
    n_trees = np.zeros(n_rows, dtype=np.int64)
    for number, is_out in left_out:
        if is_out.any():
            of_trees, d = model.estimator(number).per_tree(X[is_out])
            wolf[is_out] += (d * of_trees)[:, 0]
            membership[is_out] += of_trees[:, 0]
            n_trees += is_out
    return wolf, membership, n_trees


def score_out_of_bag(
    model: Model,
    training: Training,
    wolf: NDArray[np.float64],
    membership: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """The model with its out-of-bag scores, from what ``add_votes`` gives."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    is_scored = n_trees > 0
    score = model.scorer.settle(wolf, membership)
    guess = score.argmax(axis=1) == training.codes
    given = slice(None) if training.row is None else training.row
    decision = np.full((training.n_given, model.n_classes), np.nan)
    decision[given] = np.where(is_scored[:, None], score, np.nan)
    accuracy = float(guess[is_scored].mean()) if is_scored.any() else None
    return replace(model, forest=replace(record, oob_score=accuracy, oob_decision_function=decision))
