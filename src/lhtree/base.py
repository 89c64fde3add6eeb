"""What all estimators have in common: the walk from a model to predictions; and, for trees and forests, that to it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._core import Scorer
from ._parameters import MOST_THREADS, Settled, check_flag, draw_seed, refuse
from ._validate import Training, check_continued, check_training
from .interpret import Interpretable
from .model import ForestRecord, Model
from .sampling import count_kept, keep_rows
from .tables.frames import refuse_infinity
from .tables.normalise import Normalisation, Span, learn_normalisation
from .trees import Trees
from .views import TreeViews

# Below this many rows a prediction does not look up n_jobs; the scorer would not use threads.
_FEW_ROWS = 64


@dataclass(frozen=True)
class Growth:
    """What to grow: for every beta one tree per target, from some rows of each class (None: all rows)."""

    betas: NDArray[np.float64]
    first_tree: int = 0
    counts: NDArray[np.int64] | None = None
    bootstrap: bool = False
    balances: bool = False
    record: ForestRecord | None = None  # of all estimators, those of an earlier fit included


class Predictor(Interpretable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Predicting, and the attributes of what was learned."""

    _is_forest = False
    _links: ClassVar[tuple[str, ...]] = ("wolf",)  # what its models may have
    # All that was learned. A fit replaces it as its last step, so that a fit that fails changes nothing and other
    # threads see the old model or the new one, never a part of each.
    _model: Model | None = None

    def _progress(self, n_tasks: int) -> Any:
        """Context in which trees are grown; gives a function to report progress to, or None."""
        return nullcontext()

    def _read(self) -> Model:
        """All that was learned, for those who read it (see ``model.read``)."""
        check_is_fitted(self)
        return self._model  # type: ignore[return-value]  # it is fitted

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _ask(self, method: Callable[[Scorer, Any, int], Any], X: Any, model: Model | None) -> Any:
        """Call a method of the model's scorer with rows in any form; exact arrays go straight to it."""
        if model is None or not model.takes(X):
            model = model or self._read()
            X = model.encode(X, self)
        n_threads = 1 if len(X) < _FEW_ROWS else count_threads(self.n_jobs)
        result = method(model.scorer, X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted class of every row, shape (n,): the most probable one."""
        model = self._model or self._read()  # one model for codes and classes, whatever other threads fit
        return model.classes[self._ask(Scorer.predict, X, model)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, shape (n, K)."""
        return self._ask(Scorer.proba, X, self._model)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Natural logarithm of ``predict_proba``, shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Index of the leaf of every row in every tree, shape (n, n_trees)."""
        return self._ask(Scorer.apply, X, self._model)  # type: ignore[no-any-return]

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Blocks on the path of every row, as in scikit-learn's forests.

        Returns
        -------
        indicator : csr_matrix of shape (n, n_blocks)
            1 where a row passes a block; the blocks of all trees side by side.
        block_ptr : array of shape (n_trees + 1,)
            The blocks of tree i are columns block_ptr[i] to block_ptr[i + 1] - 1.
        """
        model = self._model or self._read()
        trees = model.trees
        ptr, block, _ = self._ask(Scorer.trace, X, model)
        first = np.tile(trees.block_ptr[:-1], (len(ptr) - 1) // trees.n_trees)
        columns = block + np.repeat(first, np.diff(ptr))
        shape = ((len(ptr) - 1) // trees.n_trees, trees.n_blocks)
        ones = np.ones(len(columns), dtype=np.int64)
        return csr_matrix((ones, columns, ptr[:: trees.n_trees]), shape=shape), trees.block_ptr.copy()

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in ascending order, shape (K,)."""
        return self._read().classes

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        return self._read().encoding.n_columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns of X, shape (m,); only if X had names."""
        encoding = self._read().encoding
        if not encoding.has_names:
            raise AttributeError(f"this {type(self).__name__} was fitted without feature names.")
        return np.array(encoding.names, dtype=object)

    @property
    def trees_(self) -> TreeViews:
        """Views of all trees, one per column of ``apply``."""
        return TreeViews(self._read())

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of all trees."""
        return int((self._read().trees.left < 0).sum())

    @property
    def depth_(self) -> int:
        """Depth of the deepest tree; a tree that is a single leaf has 0."""
        return int(self._read().trees.depths().max())


class BaseLHT(Predictor):
    """Fitting trees and forests, for any number of trees per class."""

    @abstractmethod
    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        """What to grow; ``earlier`` has the trees to keep."""

    def _finish(self, model: Model, training: Training) -> Model:
        """What is left to learn from the training data once the trees are grown."""
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), optional
            Sample weights. Integer weights are equivalent to repeated rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        continues = check_flag("warm_start", getattr(self, "warm_start", False))
        earlier = self._model if continues else None
        training = check_training(self, X, y, sample_weight, earlier)
        settled = Settled(self.get_params(deep=False), training.X.shape[1], is_forest=self._is_forest)
        if earlier is not None:
            check_continued(earlier, training)
        growth = self._plan(settled, training, earlier)
        n_threads = count_threads(self.n_jobs)
        n_kept = count_kept(self.keep_prototypes, training)
        seed = draw_seed(self.random_state) if earlier is None else earlier.seed
        normalisation, span = normalise(training, settled.normalize, earlier, n_threads)
        trees = self._grow(training, settled, growth, normalisation, seed, n_threads)
        model = Model(
            trees=trees if earlier is None else earlier.trees + trees,
            encoding=training.encoding,
            normalisation=normalisation,
            span=span,
            classes=training.classes,
            prior=training.prior,
            confidence=settled.confidence,
            seed=seed,
            prototypes=keep_rows(n_kept, training, seed),
            forest=growth.record,
        )
        self._model = self._finish(model, training)
        return self

    def _grow(
        self,
        training: Training,
        settled: Settled,
        growth: Growth,
        normalisation: Normalisation,
        seed: int,
        n_threads: int,
    ) -> Trees:
        n_classes = len(training.classes)
        targets = np.arange(n_classes - training.n_targets, n_classes, dtype=np.int32)
        with self._progress(len(growth.betas) * len(targets)) as progress:
            arrays = _core.grow_forest(
                training.X,
                centre=normalisation.centre,
                scale=normalisation.scale,
                responses=(training.codes == targets[:, None]).astype(np.uint8),
                targets=targets,
                weight=training.weight,
                options=settled.options,
                betas=growth.betas,
                seed=seed,
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
        return Trees(**arrays)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: WOLF values divided by their sum, shape (n, K).

        If all WOLF values of a row are 0, the mean memberships are used instead, and if these are 0, the class prior.
        """
        return self._ask(Scorer.proba, X, self._model)  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any) -> NDArray[np.float64]:
        """Mean corrected membership d·μ of every row and class, shape (n, K) (WOLF, eq. 17)."""
        return self._ask(Scorer.wolf, X, self._model)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any) -> NDArray[np.float64]:
        """Mean membership μ of every row and class, shape (n, K) (eq. 15)."""
        return self._ask(Scorer.membership, X, self._model)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """Mean confidence d of every row and class, shape (n, K) (eq. 12)."""
        return self._ask(Scorer.confidence, X, self._model)  # type: ignore[no-any-return]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, shape (m,).

        The gain of a block is the decrease in Gini impurity from the block to its children. It is divided among the
        features of the block in proportion to |weight| × spread and corrected for chance: a feature strongly related
        to the target keeps its share, and one that is no better than the best of as many noise features gets nothing.
        So noise has an importance of about 0. The categories of a column are summed. Models from files of version 1
        have no spreads: their gain is divided by |weight|, without the correction.
        """
        return self.importances().values


def normalise(
    training: Training, how: str | None, earlier: Model | None, n_threads: int
) -> tuple[Normalisation, Span]:
    """Scales and ranges of the features: from the earlier model, with widened ranges, or newly learned."""
    if earlier is not None:
        return earlier.normalisation, earlier.span.widen(training.X)
    span = Span.unknown(training.X.shape[1])
    normalisation = learn_normalisation(training.X, training.weight, how, training.row, n_threads, span)
    return normalisation, span


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``, as joblib counts them: None is 1 outside a joblib context, -1 all cores."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0
    ):
        raise refuse("n_jobs", n_jobs, "None, a positive integer, or -1 for all cores")
    return min(max(1, int(joblib.effective_n_jobs(n_jobs))), MOST_THREADS)
