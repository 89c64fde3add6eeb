"""What one tree and a forest have in common: the walk from X and y to flat arrays, and from those to predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._compact import pack, unpack
from ._core import Scorer
from ._fitted import Fitted
from ._forest_data import ForestData, TreeViews
from ._interpret import Interpretable
from ._parameters import Settled, check_flag, draw_seed, refuse
from ._prototypes import count_kept, keep_rows
from ._validate import Training, check_continued, check_rows, check_training
from .tables.encoding import Encoding
from .tables.frames import refuse_infinity
from .tables.normalise import Span, learn_normalisation

# Below this many rows a prediction asks nobody about threads; the scorer would not use them.
_FEW_ROWS = 64


@dataclass(frozen=True)
class Growth:
    """What a fit grows: for every beta one tree per target, from some rows of each class (None: all rows)."""

    betas: NDArray[np.float64]
    first_tree: int = 0
    counts: NDArray[np.int64] | None = None
    bootstrap: bool = False
    balances: bool = False


class BaseLHT(Interpretable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Fitting and predicting, for any number of trees per class."""

    _is_forest = False

    @abstractmethod
    def _plan(self, settled: Settled, training: Training, earlier: BaseLHT | None) -> Growth:
        """What to grow; ``earlier`` has the trees to keep."""

    def _progress(self, n_tasks: int) -> Any:
        """Context in which trees are grown; gives a function to report progress to, or None."""
        return nullcontext()

    def _finish(self, training: Training) -> None:
        """What is left to learn from the training data when the trees are there."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Numbers, and text or categories in a frame of pandas or polars or a table of Arrow (see
            ``categorical_features``). NaN, None and null count as missing.
        y : array-like of shape (n,)
            Classes, two or more.
        sample_weight : array-like of shape (n,), optional
            Integer weights equal repetition of rows; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        # Everything is learned by a double, so that a fit that fails leaves the estimator as it was.
        params = self.get_params(deep=False)
        fitted = type(self)(**params)
        continues = check_flag("warm_start", params.get("warm_start", False))
        earlier = self if continues and "_forest" in self.__dict__ else None
        training = check_training(
            X,
            y,
            sample_weight,
            self.class_weight,
            categorical_features=self.categorical_features,
            owner=type(self).__name__,
            is_forest=self._is_forest,
            encoding=None if earlier is None else earlier._encoding,
        )
        fitted._set_encoding(training.encoding)
        settled = Settled(params, training.X.shape[1], is_forest=self._is_forest)
        if earlier is not None:
            check_continued(earlier, training)
        growth = fitted._plan(settled, training, earlier)
        n_threads = count_threads(self.n_jobs)
        n_kept = count_kept(self.keep_prototypes, training)

        if earlier is None:
            fitted._span = Span.unknown(training.X.shape[1])
            fitted._normalisation = learn_normalisation(
                training.X, training.weight, settled.normalize, training.row, n_threads, fitted._span
            )
            fitted._seed = draw_seed(self.random_state)
        else:
            fitted._seed, fitted._normalisation = earlier._seed, earlier._normalisation
            fitted._span = earlier._span.widen(training.X)
        fitted.classes_ = training.classes
        fitted._prior = training.prior
        fitted._confidence = settled.confidence
        forest = fitted._grow(training, settled, growth, n_threads)
        fitted._forest = forest if earlier is None else earlier._forest + forest
        fitted._build_scorer()
        fitted._finish(training)
        fitted._prototypes = keep_rows(n_kept, training, fitted._seed)
        for name in [name for name in self.__dict__ if name.endswith("_") and not name.startswith("_")]:
            del self.__dict__[name]  # of an earlier fit
        self.__dict__.update(fitted.__dict__)
        return self

    def _set_encoding(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self.n_features_in_ = encoding.n_columns
        if encoding.has_names:
            self.feature_names_in_ = np.array(encoding.names, dtype=object)

    def _grow(self, training: Training, settled: Settled, growth: Growth, n_threads: int) -> ForestData:
        n_classes = len(training.classes)
        targets = np.arange(n_classes - training.n_targets, n_classes, dtype=np.int32)
        with self._progress(len(growth.betas) * len(targets)) as progress:
            arrays = _core.grow_forest(
                training.X,
                centre=self._normalisation.centre,
                scale=self._normalisation.scale,
                responses=(training.codes == targets[:, None]).astype(np.uint8),
                targets=targets,
                weight=training.weight,
                options=settled.options,
                betas=growth.betas,
                seed=self._seed,
                first_tree=growth.first_tree,
                strata=training.codes,
                counts=growth.counts,
                bootstrap=growth.bootstrap,
                balances=growth.balances,
                n_threads=n_threads,
                progress=progress,
            )
        if arrays is None:
            refuse_infinity(training.X, training.row)
        return ForestData(**arrays)

    def _take(self, other: BaseLHT, forest: ForestData) -> None:
        """Become fitted with some trees of another model."""
        for name in (
            "n_features_in_",
            "feature_names_in_",
            "classes_",
            "_encoding",
            "_seed",
            "_normalisation",
            "_span",
            "_prior",
            "_confidence",
            "_prototypes",
        ):
            if name in other.__dict__:
                setattr(self, name, getattr(other, name))
        self._forest = forest
        self._build_scorer()

    def _build_scorer(self) -> None:
        self._scorer = self._forest.scorer(self._normalisation, self._prior, self._confidence)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__().copy()
        if state.pop("_scorer", None) is not None:
            state["_forest"] = pack(self._forest, len(self._normalisation.centre))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_forest" in self.__dict__:
            self._forest = unpack(state["_forest"], len(self._normalisation.centre))
            self._build_scorer()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _ask(self, method: Callable[[Scorer, Any, int], Any], X: Any) -> Any:
        """Call a method of the scorer with rows in any form; exact arrays go straight to it."""
        scorer: Any = self.__dict__.get("_scorer")
        if scorer is None or not self._encoding.takes_arrays or not scorer.takes(X):
            check_is_fitted(self)
            X = check_rows(self, X)
        n_threads = 1 if len(X) < _FEW_ROWS else count_threads(self.n_jobs)
        result = method(scorer, X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the largest WOLF value of every row of X, shape (n,)."""
        codes = self._ask(Scorer.predict, X)
        return self.classes_[codes]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """WOLF values divided by their sum, shape (n, K).

        Rows whose values are all 0 take the mean memberships instead, then the shares of the classes.
        """
        return self._ask(Scorer.proba, X)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Natural logarithm of ``predict_proba``, shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_wolf(self, X: Any) -> NDArray[np.float64]:
        """Mean corrected membership d·μ of every row and class, shape (n, K) (eq. 14)."""
        return self._ask(Scorer.wolf, X)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any) -> NDArray[np.float64]:
        """Mean membership μ of every row and class, shape (n, K)."""
        return self._ask(Scorer.membership, X)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """Mean confidence d of every row and class, shape (n, K)."""
        return self._ask(Scorer.confidence, X)  # type: ignore[no-any-return]

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf of every row in every tree, shape (n, n_trees), numbered within the tree."""
        return self._ask(Scorer.apply, X)  # type: ignore[no-any-return]

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Blocks that every row passes, as in scikit-learn's forests.

        Returns
        -------
        indicator : csr_matrix of shape (n, n_blocks)
            1 where a row passes a block; the blocks of all trees side by side.
        block_ptr : array of shape (n_trees + 1,)
            The blocks of tree i are columns block_ptr[i] to block_ptr[i + 1] - 1.
        """
        leaves = self.apply(X)
        forest = self._forest
        root = np.repeat(forest.block_ptr[:-1], np.diff(forest.block_ptr))
        parent = np.full(forest.n_blocks, -1, dtype=np.int64)
        branching = np.flatnonzero(forest.left >= 0)
        left = root[branching] + forest.left[branching]
        parent[left] = parent[left + 1] = branching
        row, block = (
            np.repeat(np.arange(len(leaves)), leaves.shape[1]),
            (leaves + forest.block_ptr[:-1]).ravel(),
        )
        rows, blocks = [], []
        while len(block):
            rows.append(row)
            blocks.append(block)
            up = parent[block]
            row, block = row[up >= 0], up[up >= 0]
        path = (np.concatenate(rows), np.concatenate(blocks))
        ones = np.ones(len(path[0]), dtype=np.int64)
        return csr_matrix((ones, path), shape=(len(leaves), forest.n_blocks)), forest.block_ptr.copy()

    @property
    def trees_(self) -> TreeViews:
        """Views of all trees, one per column of ``apply``."""
        check_is_fitted(self)
        return TreeViews(self._forest, self.classes_, self._encoding.feature_names)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of all trees."""
        check_is_fitted(self)
        return int((self._forest.left < 0).sum())

    @property
    def depth_(self) -> int:
        """Depth of the deepest tree; a tree that is a single leaf has 0."""
        check_is_fitted(self)
        return int(self._forest.depths().max())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of |weight| over the branching blocks, weighted by their samples, shape (m,).

        That of a column of categories is the sum over its categories.
        """
        fitted = self._fitted
        return fitted.encoding.sum_columns(fitted.forest.importances(fitted.n_features))

    @property
    def _fitted(self) -> Fitted:
        """All that was learned, for those who read it (see ``_fitted.read``)."""
        check_is_fitted(self)
        return Fitted(
            forest=self._forest,
            normalisation=self._normalisation,
            classes=self.classes_,
            prior=self._prior,
            confidence=self._confidence,
            low=self._span.low,
            high=self._span.high,
            prototypes=self._prototypes,
            scorer=self._scorer,
            encoding=self._encoding,
        )


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``, as joblib counts them: None is 1 outside a joblib context, -1 all cores."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0
    ):
        raise refuse("n_jobs", n_jobs, "None, a positive number of threads, or -1 for all cores")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))
