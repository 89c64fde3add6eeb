"""LHForestClassifier: many Learning Hyperplane Trees per class, overlapped into WOLF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import BaseLHT, Growth
from ._parameters import Settled, check_flag, is_integer, is_real, refuse
from ._progress import show_progress
from ._prototypes import spread
from ._tree import LHTClassifier
from ._validate import Training


class LHForestClassifier(BaseLHT):
    """Forest of Learning Hyperplane Trees whose corrected memberships are averaged into WOLF.

    The defaults are the paper's method; ``direction="mixed"`` alone is the most accurate setting.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees per class.
    max_samples : "auto", int or float, default="auto"
        Rows each tree sees, drawn by class: a count or a share. "auto" is 0.8 for the mean difference. For the
        others it is 1.0, every row, unless a block considers all features: then 0.8 makes the trees differ.
    bootstrap : bool, default=False
        Draw rows with replacement.
    alpha, gamma, offset, membership, confidence, normalize, min_samples_split, min_samples_leaf, max_depth, shrinkage
        As for :class:`LHTClassifier`.
    beta : "auto", "schedule" or float, default="auto"
        "schedule" gives tree i of t the beta i/t. "auto" is "schedule" for the mean difference, else 0.
    direction : {"mean_difference", "fisher", "mixed"}, default="mean_difference"
        As for :class:`LHTClassifier`.
    max_features : "auto", "sqrt", None, int or float, default="auto"
        Active features a block considers, drawn at random. "auto" is all for the mean difference, else
        ``max(2, min(7, ceil(m/2)), floor(sqrt(m)))``.
    class_weight : "balanced", "balanced_subsample", dict or None, default=None
        Weights of classes, multiplied into ``sample_weight``.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        As for :class:`LHTClassifier`.
    unseen : {"missing", "error"}, default="missing"
        What becomes of a category that was not there in fit: it counts as missing, or prediction raises an error.
    keep_prototypes : bool or int, default=False
        Keep the training rows, or at most so many drawn by class, so that explanations can show similar ones.
    oob_score : bool, default=False
        Score every row with the trees that did not see it.
    warm_start : bool, default=False
        Keep the trees of the last fit and add the missing ones.
    n_jobs : int or None, default=None
        Threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of row and feature draws.
    verbose : int, default=0
        1 shows a progress bar in terminals and notebooks.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTClassifier`; ``trees_`` has K trees for each estimator (one for two classes).
    estimators_ : sequence of fitted LHTClassifier, one per estimator
    oob_score_ : float
        Accuracy over the rows that some tree did not see, with ``oob_score=True``.
    oob_decision_function_ : array of shape (n, K)
        Their probabilities; NaN for rows that every tree saw.

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

    def _plan(self, settled: Settled, training: Training, earlier: BaseLHT | None) -> Growth:
        first = 0 if earlier is None else earlier._forest.n_trees // training.n_targets
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise refuse("n_estimators", self.n_estimators, "an integer of at least 1")
        if self.n_estimators < first:
            raise refuse(
                "n_estimators",
                self.n_estimators,
                f"at least {first}, the trees there are, with warm_start=True",
            )
        if self.warm_start and settled.beta is None:
            raise refuse(
                "warm_start",
                True,
                "a fixed beta: a schedule i/t changes every tree when the number of trees does",
            )
        if not isinstance(self.verbose, bool) and not (is_integer(self.verbose) and self.verbose >= 0):
            raise refuse("verbose", self.verbose, "0 or 1")
        trees = np.arange(first, self.n_estimators)
        betas = trees / self.n_estimators if settled.beta is None else np.full(len(trees), settled.beta)
        sizes = np.bincount(training.codes)
        bootstrap = check_flag("bootstrap", self.bootstrap)
        counts = count_rows(self.max_samples, sizes, auto=settled.max_samples, bootstrap=bootstrap)
        if check_flag("oob_score", self.oob_score) and counts is None:
            raise refuse(
                "oob_score",
                True,
                "max_samples below 1 or bootstrap=True with it: no row is left out of any tree",
            )
        if self.oob_score and earlier is not None and not np.array_equal(earlier._sizes, sizes):
            raise refuse(
                "oob_score",
                True,
                f"the {earlier._sizes.sum()} rows of the earlier fit with it, or warm_start=False: which of other rows "
                "the trees there are did not see is not known",
            )
        self._sizes = sizes
        balances = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        if balances and counts is None:  # the sample is all rows
            counts = sizes
        self._betas = betas if earlier is None else np.concatenate([earlier._betas, betas])
        self._draws = ([] if earlier is None else earlier._draws) + [(counts, bootstrap)] * len(trees)
        self._tree_params = settled.tree_params()
        return Growth(betas, first, counts, bootstrap, balances)

    def _progress(self, n_tasks: int) -> Any:
        return show_progress(n_tasks) if self.verbose else super()._progress(n_tasks)

    def _finish(self, training: Training) -> None:
        """Score the rows that trees did not see (after fit has learned everything else)."""
        if not self.oob_score:
            return
        n_classes, n_rows = len(training.classes), len(training.X)
        wolf, membership = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
        n_unseen = np.zeros(n_rows)
        for number, (counts, bootstrap) in enumerate(self._draws):
            if counts is None:  # the tree saw every row
                continue
            unseen = np.ones(n_rows, dtype=bool)
            seen = _core.draw_rows(training.codes, counts, bootstrap, self._seed, number)
            unseen[seen] = False
            scorer, rows = self.estimators_[number]._scorer, training.X[unseen]
            wolf[unseen] += scorer.wolf(rows)  # type: ignore[arg-type]  # None only for infinities
            membership[unseen] += scorer.membership(rows)  # type: ignore[arg-type]
            n_unseen += unseen
        is_scored = n_unseen > 0
        score = np.where(wolf.any(axis=1, keepdims=True), wolf, membership)
        score = np.where(score.any(axis=1, keepdims=True), score, self._prior)
        guess = score.argmax(axis=1) == training.codes
        self.oob_score_ = float(guess[is_scored].mean()) if is_scored.any() else np.nan
        given = slice(None) if training.row is None else training.row
        self.oob_decision_function_ = np.full((training.n_given, n_classes), np.nan)
        score = score / score.sum(axis=1, keepdims=True)
        self.oob_decision_function_[given] = np.where(is_scored[:, None], score, np.nan)

    @property
    def estimators_(self) -> Estimators:
        """The trees of the forest as fitted LHTClassifiers, made when they are asked for."""
        check_is_fitted(self)
        return Estimators(self)


class Estimators(Sequence[LHTClassifier]):
    """Estimator i holds the i-th tree of every class."""

    def __init__(self, forest: LHForestClassifier) -> None:
        self._model = forest
        self._n_targets = len(np.unique(forest._forest.target))

    def __len__(self) -> int:
        return self._model._forest.n_trees // self._n_targets

    @overload
    def __getitem__(self, index: int) -> LHTClassifier: ...
    @overload
    def __getitem__(self, index: slice) -> list[LHTClassifier]: ...
    def __getitem__(self, index: int | slice) -> LHTClassifier | list[LHTClassifier]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"estimator {index} is not there: the forest has 0 to {len(self) - 1}.")
        number = range(len(self))[index]
        model = self._model
        names = LHTClassifier._get_param_names()
        params = {name: value for name, value in model.get_params(deep=False).items() if name in names}
        params |= model._tree_params | {"beta": float(model._betas[number])}
        if isinstance(params["class_weight"], str):  # what it means depends on the rows the tree saw
            params["class_weight"] = None
        tree = LHTClassifier(**params)
        first = number * self._n_targets
        tree._take(model, model._forest.part(first, first + self._n_targets))
        return tree


def count_rows(
    max_samples: Any, sizes: NDArray[np.int64], *, auto: float, bootstrap: bool
) -> NDArray[np.int64] | None:
    """Rows of each class that a tree sees; None where it sees all."""
    n_rows = int(sizes.sum())
    if isinstance(max_samples, str) and max_samples == "auto":
        share = auto
    elif is_integer(max_samples) and max_samples >= 1:
        if max_samples > (2**31 - 1 if bootstrap else n_rows):
            most = "2**31 - 1" if bootstrap else f"{n_rows}, the number of rows"
            raise refuse("max_samples", max_samples, f"at most {most}, or a share such as 0.8")
        share = max_samples / n_rows
    elif is_real(max_samples) and not is_integer(max_samples) and 0.0 < max_samples <= 1.0:
        share = float(max_samples)
    else:
        raise refuse(
            "max_samples", max_samples, "'auto', an integer of at least 1 or a float above 0 and at most 1"
        )
    return None if share == 1.0 and not bootstrap else spread(share, sizes)
