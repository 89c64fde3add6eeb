"""LHForestClassifier: many Learning Hyperplane Trees per class, overlapped into WOLF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._parameters import Settled, check_flag, check_verbose, is_integer, refuse
from ._progress import show_progress
from ._validate import Training
from .base import BaseLHT, Growth
from .model import Drawn, ForestRecord, Model
from .sampling import count_rows
from .tree import LHTClassifier


class LHForestClassifier(BaseLHT):
    """Forest of Learning Hyperplane Trees; their corrected memberships are averaged (WOLF).

    The defaults are the paper's method; ``direction="mixed"`` is the most accurate setting.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees per class.
    max_samples : "auto", int or float, default="auto"
        Rows drawn for each tree, stratified: a count or a share. "auto" is 0.8 for the mean difference. For the other
        directions it is 1.0 (all rows), unless every block considers all features: then 0.8, to make the trees differ.
    bootstrap : bool, default=False
        Draw rows with replacement.
    alpha, gamma, offset, membership, confidence, normalize, min_samples_split, min_samples_leaf, max_depth, shrinkage
        As for :class:`LHTClassifier`.
    beta : "auto", "schedule" or float, default="auto"
        "schedule": tree i of t uses beta = i/t. "auto" is "schedule" for the mean difference and 0 otherwise.
    direction : {"mean_difference", "fisher", "mixed"}, default="mean_difference"
        As for :class:`LHTClassifier`.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Number of active features drawn at random for each block. "auto" is all for the mean difference, otherwise
        ``max(2, min(7, ceil(m/2)), floor(sqrt(m)))``.
    class_weight : "balanced", "balanced_subsample", dict or None, default=None
        Class weights, multiplied with ``sample_weight``.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        As for :class:`LHTClassifier`.
    unseen : {"missing", "error"}, default="missing"
        How to treat a category not seen in fit: as missing, or as an error.
    keep_prototypes : bool or int, default=False
        Store the training rows, or at most this many of them (stratified), so that explanations can show similar rows.
    oob_score : bool, default=False
        Compute the out-of-bag score.
    warm_start : bool, default=False
        Reuse the trees of the previous fit and add more.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed for drawing rows and features.
    verbose : int, default=0
        1 shows a progress bar in terminals and notebooks.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTClassifier`; ``trees_`` has K trees for each estimator (one for two classes).
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

    _is_forest = True

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
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        max_features: float | str | None = "auto",
        shrinkage: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
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
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        first = 0 if earlier is None else earlier.n_estimators
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise refuse("n_estimators", self.n_estimators, "an integer of at least 1")
        if self.n_estimators < first:
            raise refuse(
                "n_estimators",
                self.n_estimators,
                f"at least {first}, the number of trees already fitted, with warm_start=True",
            )
        if self.warm_start and settled.beta is None:
            raise refuse(
                "warm_start",
                True,
                "a fixed beta as well, because the schedule i/t changes every tree when the number of trees changes",
            )
        check_verbose(self.verbose)
        trees = np.arange(first, self.n_estimators)
        betas = trees / self.n_estimators if settled.beta is None else np.full(len(trees), settled.beta)
        sizes = np.bincount(training.codes)
        bootstrap = check_flag("bootstrap", self.bootstrap)
        counts = count_rows(self.max_samples, sizes, auto=settled.max_samples, bootstrap=bootstrap)
        if check_flag("oob_score", self.oob_score) and counts is None:
            raise refuse(
                "oob_score",
                True,
                "max_samples < 1 or bootstrap=True as well, because otherwise no row is out of bag",
            )
        record = None if earlier is None else earlier.forest
        if self.oob_score and record is not None and not np.array_equal(record.sizes, sizes):
            raise refuse(
                "oob_score",
                True,
                f"the same {record.sizes.sum()} rows as in the earlier fit, or warm_start=False: for other rows it is "
                "unknown which trees were trained on them",
            )
        balances = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        if balances and counts is None:  # the sample is all rows
            counts = sizes
        drawn = (Drawn(len(trees), counts, bootstrap),) if len(trees) else ()
        record = ForestRecord(
            betas=betas if record is None else np.concatenate([record.betas, betas]),
            tree_parameters=settled.tree_params(),
            sizes=sizes,
            draws=drawn if record is None else record.draws + drawn,
        )
        return Growth(betas, first, counts, bootstrap, balances, record)

    def _progress(self, n_tasks: int) -> Any:
        return show_progress(n_tasks) if self.verbose else super()._progress(n_tasks)

    def _finish(self, model: Model, training: Training) -> Model:
        """Score the rows that trees did not see."""
        return score_out_of_bag(model, training) if self.oob_score else model

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

    @property
    def estimators_(self) -> Estimators:
        """The trees of the forest as fitted LHTClassifiers, created on access."""
        return Estimators(self._read(), self.get_params(deep=False))


class Estimators(Sequence[LHTClassifier]):
    """Estimator i holds the i-th tree of every class."""

    def __init__(self, model: Model, params: dict[str, Any]) -> None:
        self._model, self._params = model, params

    def __len__(self) -> int:
        return self._model.n_estimators

    @overload
    def __getitem__(self, index: int) -> LHTClassifier: ...
    @overload
    def __getitem__(self, index: slice) -> list[LHTClassifier]: ...
    def __getitem__(self, index: int | slice) -> LHTClassifier | list[LHTClassifier]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        own = self._model.estimator(index)
        record: ForestRecord = self._model.forest  # type: ignore[assignment]  # it is a forest
        names = LHTClassifier._get_param_names()
        params = {name: value for name, value in self._params.items() if name in names}
        params |= record.tree_parameters | {"beta": float(record.betas[index])}
        if isinstance(params["class_weight"], str):  # what it means depends on the rows the tree saw
            params["class_weight"] = None
        tree = LHTClassifier(**params)
        tree._model = own
        return tree


def score_out_of_bag(model: Model, training: Training) -> Model:
    """The model with its out-of-bag scores: every row is scored by the trees that did not see it."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    n_classes, n_rows = model.n_classes, len(training.X)
    wolf, membership = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
    n_left_out = np.zeros(n_rows)
    number = 0
    for drawn in record.draws:
        for _ in range(drawn.n_estimators):
            if drawn.counts is not None:  # else the tree saw every row
                left_out = np.ones(n_rows, dtype=bool)
                seen = _core.draw_rows(training.codes, drawn.counts, drawn.bootstrap, model.seed, number)
                left_out[seen] = False
                of_trees, d = model.estimator(number).per_tree(training.X[left_out])
                wolf[left_out] += (d * of_trees)[:, 0]
                membership[left_out] += of_trees[:, 0]
                n_left_out += left_out
            number += 1
    is_scored = n_left_out > 0
    score = model.scorer.settle(wolf, membership)
    guess = score.argmax(axis=1) == training.codes
    given = slice(None) if training.row is None else training.row
    decision = np.full((training.n_given, n_classes), np.nan)
    decision[given] = np.where(is_scored[:, None], score, np.nan)
    accuracy = float(guess[is_scored].mean()) if is_scored.any() else None
    return replace(model, forest=replace(record, oob_score=accuracy, oob_decision_function=decision))
