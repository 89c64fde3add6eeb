"""Base classes of all estimators, and descriptions of the parameters that several estimators share."""

from __future__ import annotations

import inspect
import platform
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import __version__ as sklearn_version
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._core import Scorer
from .._extras import show_progress
from .._parameters import MOST_THREADS, check_count, check_verbose, refuse
from ..files import can_store, pack_bytes, unpack_bytes
from ..grow.sources import MemoryTable, Sample, TableSource
from ..grow.training import Training, prepare
from ..interpret import Interpretable
from ..io.passes import Passes, open_passes
from ..model.model import Model
from ..model.profile import Profiler
from ..model.records import Provenance
from ..model.views import TreeView, TreeViews
from ..tables.frames import refuse_infinity
from ..tables.learn import TableSummary
from ..tables.normalise import Normalisation, Span

# Below this many rows, predictions do not read n_jobs, because the scorer uses no threads.
_FEW_ROWS = 64
_VERSIONS = {
    "lhtree": __version__,
    "numpy": np.__version__,
    "scikit-learn": sklearn_version,
    "python": platform.python_version(),
}


def _draw_trees(views: Sequence[TreeView]) -> str:
    from ..draw.notebook import draw_trees

    return draw_trees(views)


class Predictor(Interpretable, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of all estimators: scores of the model and its attributes.

    Estimators are data classes: their fields are the parameters, of which ``__init__`` stores one each.
    """

    _is_forest = False
    _tree: ClassVar[Any] = None  # class of the trees of a forest
    _is_regressor = False
    _takes_several = False  # responses
    _links: ClassVar[tuple[str, ...]] = ("wolf",)  # links of its models
    # The fitted model. A fit replaces it as its last step, so that a failing fit changes nothing and other threads
    # see the old model or the new one.
    _model: Model | None = None

    _fit: Any  # fits checked rows

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,)
            Class labels, of at least two classes; for a regressor, finite numbers.
        sample_weight : array-like of shape (n,), optional
            Sample weights. Integer weights are equivalent to repeated rows, unless rows are drawn or held out; rows of
            weight 0 are ignored.

        Returns
        -------
        self
        """
        return self._fit_table(MemoryTable(self, X, y, sample_weight))

    def _fit_table(self, table: TableSource) -> Any:
        """Fit the model to a table."""
        return self._fit(prepare(self, table))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn reads the signature in every call, which takes long."""
        names: list[str] = super()._get_param_names()
        return names

    def _progress(self, n_tasks: int | None, what: str = "growing trees") -> Any:
        """Return a context for a task, whose value is a function that reports progress, or None."""
        return show_progress(n_tasks, what) if check_verbose(getattr(self, "verbose", 0)) else nullcontext()

    def _read(self) -> Model:
        """Return the fitted model (see ``model.read``)."""
        check_is_fitted(self)
        return self._model  # type: ignore[return-value]  # checked

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the bytes of the model file in place of the model.

        Pickles, and files of joblib and skops, thus refer to no class but that of the estimator. A model whose classes
        files cannot store, such as dates, stays an object.
        """
        state: dict[str, Any] = super().__getstate__()
        if self._model is None or not can_store(self._model.classes):
            return state
        return state | {"_model": pack_bytes(self._model, type(self).__name__)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = state.get("_model")
        super().__setstate__(
            state | {"_model": unpack_bytes(content)} if isinstance(content, bytes) else state
        )

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """HTML for notebooks: scikit-learn's diagram and, if fitted, a drawing of the model."""
        diagram = super()._repr_html_  # raises AttributeError if scikit-learn displays text
        return lambda: diagram() + self._draw()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._draw()
        return bundle

    def _draw(self) -> str:
        if self._model is None:
            return ""
        from ..draw.notebook import draw_model

        return draw_model(self._model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _score(self, method: Callable[[Scorer, Any, int], Any], X: Any, model: Model | None) -> Any:
        """Call a method of the model's scorer with rows of any type; exact arrays are not encoded."""
        if model is None or not model.takes(X):
            model = model or self._read()
            rows = model.code(X, self)
            n_threads = 1 if len(rows) < _FEW_ROWS else count_threads(self.n_jobs)
            return rows.score(partial(method, model.scorer), n_threads)
        n_threads = 1 if len(X) < _FEW_ROWS else count_threads(self.n_jobs)
        result = method(model.scorer, X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result

    def __call__(self, X: Any) -> NDArray[Any]:
        """Return class probabilities, or predicted numbers: explainers such as ``shap.Explainer`` call a model."""
        return self.predict(X) if self._is_regressor else self.predict_proba(X)  # type: ignore[no-any-return]

    def declare(
        self, *, immutable: Any = None, rising: Any = None, falling: Any = None, whole: Any = None
    ) -> Predictor:
        """Declare what may happen to columns in counterfactuals; model files keep it, and another fit forgets it.

        Parameters
        ----------
        immutable : list of names or numbers, optional
            Columns that nobody can change, such as an age.
        rising, falling : list of names or numbers, optional
            Columns of numbers that may only rise, such as the years in a job, or only fall.
        whole : list of names or numbers, optional
            Columns of numbers that are whole, even if training values are not.

        Returns
        -------
        The fitted estimator itself.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lhtree import LHTClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = LHTClassifier().fit(X, y).declare(immutable=["mean radius"], rising=["mean texture"])
        >>> any("mean radius" in one.changes for one in model.explain(X.iloc[0]).counterfactuals())
        False
        """
        from ..explain._counterfactual import take_limits

        model = self._read()
        given = {"immutable": immutable, "rising": rising, "falling": falling, "whole": whole}
        limits = take_limits(model, given | {name: () for name, own in given.items() if own is None})
        names = np.array(model.column_names, dtype=object)
        columns = {name: np.unique(model.encoding.column[own]) for name, own in limits._asdict().items()}
        self._model = replace(
            model, declared={name: names[own].tolist() for name, own in columns.items() if len(own)} or None
        )
        return self

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the index of the leaf of every row in every tree, shape (n, n_trees)."""
        return self._score(Scorer.apply, X, self._model)  # type: ignore[no-any-return]

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return blocks on the path of every row, as in scikit-learn's forests.

        Returns
        -------
        indicator : csr_matrix of shape (n, n_blocks)
            1 where a row passes a block; the blocks of all trees side by side.
        block_ptr : array of shape (n_trees + 1,)
            The blocks of tree i are columns block_ptr[i] to block_ptr[i + 1] - 1.
        """
        model = self._model or self._read()
        trees = model.trees
        ptr, block, _ = model.score("trace", model.encode(X, self), count_threads(self.n_jobs))
        first = np.tile(trees.block_ptr[:-1], (len(ptr) - 1) // trees.n_trees)
        columns = block + np.repeat(first, np.diff(ptr))
        shape = ((len(ptr) - 1) // trees.n_trees, trees.n_blocks)
        ones = np.ones(len(columns), dtype=np.int64)
        return csr_matrix((ones, columns, ptr[:: trees.n_trees]), shape=shape), trees.block_ptr.copy()

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
        """Sequence of views of the trees, one per column of ``apply``."""
        return TreeViews(self._read(), _draw_trees)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of all trees."""
        return int((self._read().trees.left < 0).sum())

    @property
    def depth_(self) -> int:
        """Depth of the deepest tree; a tree that is a single leaf has 0."""
        return int(self._read().trees.depths().max())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, shape (m,).

        The gain of a block is the decrease in Gini impurity, for a regressor in squared error, and of boosted trees in
        the loss, from the block to its children. It is divided among the features of the block in proportion to
        ``|weight|`` × standard deviation in the block. In trees and forests, it is corrected for chance: a feature that
        is strongly related to the target keeps its share, and one that is no better than the best of as many noise
        features gets nothing. So noise has an importance of about 0. The categories of a column are summed. An ensemble
        has the mean of its members, weighted by ``weights_``.
        """
        return self.importances().values


class BatchPredictor(Predictor):
    """Base class of estimators that also learn from tables in batches."""

    def fit_batches(
        self,
        source: Any,
        *,
        target: str | None = None,
        sample_weight: str | None = None,
        batch_rows: int | None = None,
        scratch_dir: str | None = None,
    ) -> Any:
        """Fit the model on a table larger than memory; the model is the same, to the bit, as that of ``fit``.

        The table is read twice, and a file once more at the start, to find its target and the types of its columns.
        Tables of up to 200,000 rows are kept in memory and not read a second time. Labels of all rows are kept in
        memory. Of the features of larger tables,

        - boosted trees and additive models keep codes, a byte each, in a scratch file, and scores in memory, with the
          labels about 20 bytes a row;
        - forests keep those of the rows that trees draw: ``max_samples`` must be a number of rows. If rows are needed
          again, for the pilot of ``min_samples_leaf="auto"`` or for out-of-bag scores, they are in a scratch file.

        Scratch files are deleted afterwards. ``calibrate``, ``intervals``, ``keep_prototypes``, ``warm_start`` and, for
        forests, ``time_limit`` are not supported.

        Parameters
        ----------
        source : path, pyarrow dataset or table, tuple of arrays, or callable
            The path of a Parquet, Arrow or CSV file, or of a folder of Parquet files, which are read as
            ``lhtree fit`` reads them; a pyarrow dataset or table; arrays (X, y) or (X, y, sample_weight), such as
            ``numpy.memmap``; or a function that returns a fresh iterator of such tuples each time it is called.
        target : str, optional
            The column to predict, of files, datasets and tables.
        sample_weight : str, optional
            The column of sample weights, of files, datasets and tables.
        batch_rows : int, optional
            Rows that are read at once. The model does not depend on it.
        scratch_dir : str, optional
            Where to put scratch files; by default where temporary files go.

        Returns
        -------
        self
        """
        passes = open_passes(
            source,
            target=target,
            sample_weight=sample_weight,
            batch_rows=None if batch_rows is None else check_count("batch_rows", batch_rows, 1),
            task="regression" if self._is_regressor else "classification",
        )
        self._fit_passes(passes, scratch_dir)
        return self

    @abstractmethod
    def _fit_passes(self, passes: Passes, scratch_dir: str | None) -> TableSummary:
        """Fit in passes over a table; return the summary of its columns."""


class Classifier(ClassifierMixin, Predictor):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of classifiers."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of every row, shape (n,): the most probable one."""
        model = self._model or self._read()  # one model for codes and classes, even if another thread fits
        return model.classes[self._score(Scorer.predict, X, model)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities, shape (n, K)."""
        return self._score(Scorer.proba, X, self._model)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the natural logarithm of ``predict_proba``, shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in ascending order, shape (K,)."""
        return self._read().classes


class Regressor(RegressorMixin, Predictor):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of regressors."""

    _is_regressor = True
    _links: ClassVar[tuple[str, ...]] = ("mean",)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted response of every row, shape (n,), or (n, k) of several quantiles or responses."""
        model = self._model or self._read()
        return self._score(Scorer.values if model.outputs else Scorer.value, X, model)  # type: ignore[no-any-return]


class IntervalRegressor(Regressor):
    """Base class of regressors with prediction intervals."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return intervals that contain the responses of new rows with a given probability (conformal prediction).

        Errors on rows that trees were not grown from give the width: out-of-bag errors of a forest, errors of the
        out-of-fold predictions of an ensemble, and for boosted trees, which need ``intervals=True``, the errors of five
        models, each on the fifth of the rows that it was not fitted on. Around a single prediction, all intervals have
        the same width. With several quantiles, the interval between the least and the largest of them is widened, or
        narrowed, by the same amount everywhere (conformalised quantile regression), so that widths follow the row.
        The coverage holds on average over rows like the training rows, not for every kind of row.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Samples.
        coverage : float between 0 and 1, default=0.9
            Share of the responses that the intervals should contain.

        Returns
        -------
        array of shape (n, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from lhtree import LHBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = LHBoostRegressor(max_iter=50, intervals=True, random_state=0).fit(X[:300], y[:300])
        >>> low, high = model.predict_interval(X[300:], coverage=0.8).T
        >>> round(float(((low <= y[300:]) & (y[300:] <= high)).mean()), 2)
        0.82
        """
        return self._read().interval(self.predict(X), coverage)


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``, as in joblib: None is 1 outside a joblib context, -1 all cores."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0
    ):
        raise refuse("n_jobs", n_jobs, "None, a positive integer, or -1 for all cores")
    return min(max(1, int(joblib.effective_n_jobs(n_jobs))), MOST_THREADS)


def record_fit(
    model: Model, training: Training, profiler: Profiler, earlier: Model | None, settings: dict[str, Any]
) -> Model:
    """Return the model with the summary of its training table and its provenance."""
    return replace(
        model,
        summary=profiler.summarise(model) if earlier is None else earlier.summary,
        provenance=Provenance(
            training.target,
            training.fingerprint,
            {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in settings.items()
            },
            dict(_VERSIONS),
        ),
    )


def normalise(
    training: Training, how: str | None, earlier: Model | None, n_threads: int, sample: Sample
) -> tuple[Normalisation, Span]:
    """Return scales and ranges of the features: newly learned, or of the earlier model, with widened ranges."""
    X, row = training.X, training.row
    if earlier is None:
        return X.normalise(sample, training.weight, how, n_threads, row)
    span = earlier.span.widen(X.load())
    if span.is_infinite():
        refuse_infinity(X.load().expand(), row)
    return earlier.normalisation, span


Estimator = TypeVar("Estimator", bound=type)

ALL = """
categorical_features : "from_dtype", None or list
    Categorical columns, which are one-hot encoded up to ``max_one_hot`` categories. "from_dtype": the string and
    categorical columns of a pandas or polars DataFrame. A list gives names, indices or a mask. None: all columns
    are numeric. Boosted and additive models learn the effect of a missing category; in other models it counts as the
    typical one.
n_jobs : int or None
    Number of threads; -1 uses all cores. Results do not depend on it.
random_state : int, RandomState or None
    Random seed for drawing rows and features.
verbose : int
    1 shows a progress bar in terminals and notebooks (needs ``lhtree[progress]``).
"""

CLASSIFIER = """
class_weight : "balanced", dict or None
    Class weights, multiplied with ``sample_weight``.
positive : class label or None
    The class of interest, such as "default": evaluations, explanations, reasons and reports describe it, and
    monotonic constraints refer to its probability. It is stored in the model and does not change predictions.
calibrate : {None, "sigmoid", "isotonic"}
    Calibrate the probabilities, with a sigmoid of log-odds or an isotonic map for each class, learned by 5-fold
    cross-fitting and kept where held-out rows gain by it; fitting takes six times as long. With fewer than 1,000
    rows, "isotonic" uses the sigmoid. ``predict`` returns the class most probable after calibration.
max_one_hot : int
    A categorical column with more categories becomes target statistics: one feature per class (one for two
    classes), the share of the class among the training rows of the category, shrunk towards that of all rows.
    Training rows get the share among the rows of the other folds (of 5).
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": not for the mean difference (the paper), otherwise if the indicator is correlated with
    a class by more than chance.
unseen : {"missing", "error"}
    How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
    has the share of all rows. "error": raise an error.
keep_prototypes : bool or int
    Store the training rows, or at most this many of them (stratified), so that explanations can show similar rows.
"""

ATTRIBUTES = """
n_features_in_ : int
    Number of columns of X.
feature_names_in_ : array of shape (m,)
    Names of the columns of X, if X had names.
n_leaves_ : int
    Number of leaves of all trees.
depth_ : int
    Maximum depth of the trees.
feature_importances_ : array of shape (m,)
    Importances of the columns by gain; they sum to 1.
"""

REGRESSOR = """
max_one_hot : int
    A categorical column with more categories becomes one feature, its target statistic: the mean response of the
    training rows of the category, shrunk towards that of all rows. Training rows get the mean of the rows of the
    other folds (of 5).
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": not for the mean difference, otherwise if the indicator is correlated with the response
    by more than chance.
unseen : {"missing", "error"}
    How to treat a category not seen in fit. "missing": as a missing value; in a column with target statistics, it
    has the mean response of all rows. "error": raise an error.
keep_prototypes : bool or int
    Store the training rows, or at most this many of them, so that explanations can show similar rows.
"""


def document(*texts: str) -> Callable[[Estimator], Estimator]:
    """Replace ``{parameters}`` in the docstring of an estimator by its parameters, in the order of its signature.

    If several texts describe a parameter, the last one is used. ``{attributes}`` becomes ``ATTRIBUTES``.
    """
    entries = {}
    for text in texts:
        for entry in re.split(r"\n(?=\w)", text.strip()):
            name, _, description = entry.partition(" : ")
            entries[name] = description

    def insert(estimator: Estimator) -> Estimator:
        lines = []
        for name, parameter in inspect.signature(estimator).parameters.items():
            kind, _, about = entries[name].partition("\n")
            default = parameter.default
            shown = f'"{default}"' if isinstance(default, str) else repr(default)
            lines.append(f"{name} : {kind}, default={shown}\n{about}")
        text = inspect.cleandoc(estimator.__doc__ or "").replace("{parameters}", "\n".join(lines))
        estimator.__doc__ = text.replace("{attributes}", ATTRIBUTES.strip())
        return estimator

    return insert
