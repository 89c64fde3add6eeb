"""Boosted hyperplane trees for classes and for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._extras import show_progress
from .._parameters import REGRESSION_LOSSES, check_count, check_flag, check_verbose, draw_seed
from ..grow.batched import BatchedTable, refuse_parameters
from ..grow.boosting import Boosted, BoostSettings, CodedFit, boost_rounds, code_fit, warn_opposed
from ..grow.calibrate import N_FOLDS, calibrate, check_calibrate
from ..grow.conformal import check_intervals, learn_residuals
from ..grow.holdout import hold_out, take_validation
from ..grow.labels import Progress
from ..grow.sources import MemoryTable, Sample
from ..grow.training import Training, check_continued, prepare, shift
from ..io.passes import Passes, open_passes
from ..model.model import Model
from ..model.profile import Profiler
from ..model.records import BoostRecord
from ..tables.learn import TableSummary
from ..tables.normalise import Normalisation, Span
from .base import (
    ALL,
    CLASSIFIER,
    REGRESSOR,
    Classifier,
    Predictor,
    Regressor,
    count_threads,
    document,
    normalise,
    record_fit,
)

# Settings of trees that the provenance lists with the values in use.
_USED = (
    "growth",
    "max_depth",
    "min_samples_leaf",
    "subsample",
    "max_features",
    "n_directed",
    "l2_regularization",
)
_BOOST = """
learning_rate : "auto" or float
    Factor of every tree. "auto" begins with ``0.08 * min(1, n / 8000)**0.35`` for n rows and 400 rounds, with 0.05
    instead of 0.08 for free trees, 1.5 times as much for trees of all classes and 1.6 times for trees of all
    quantiles; with another ``max_iter``, rate × rounds**0.8 stays the same. With at least 100 rows and 40 rounds, and
    without early stopping, the race (see ``max_depth``) lowers it if that many steps would learn noise, and at most
    doubles it if they would not learn all. For absolute errors and quantiles it only lowers the rate.
growth : {"auto", "symmetric", "free"}
    "symmetric" trees have one cut per level, which all blocks of the level share: a tree is a list of ``max_depth``
    hyperplanes and a table of values. "free" trees have a cut for every block. "auto" is "symmetric", but "free" for
    absolute errors and quantiles: their leaves are quantiles of residuals, which need more rows than the smallest
    leaves of a symmetric tree have.
max_depth : "auto" or int
    Maximum depth of a tree. "auto" is 6 for symmetric trees and 5 for free trees, unless a race on held-out rows
    finds a better value. ``max_depth``, ``subsample``, ``max_features`` and ``leaf`` take part in the race if they are
    "auto", there are at least 1,000 rows (of more than 50,000 a sample) and ``max_iter`` is at least 40; see
    ``chosen_``.
min_samples_leaf : "auto" or int
    Minimum weight of the rows on each side of a hyperplane; in a symmetric tree, of the sides that count for its gain.
    "auto" is 1 for symmetric trees and 20 for free trees.
l2_regularization : float
    Added to the sum of the second derivatives of a block.
subsample : "auto" or float
    Probability with which a row takes part in a round. "auto" is 1 for symmetric trees and 0.7 for free trees, or
    chosen by the race.
max_features : "auto" or float
    Share of the features that a level or block tries as single features, drawn for each. "auto" is 1 for symmetric
    trees and 0.5 for free trees, or chosen by the race.
n_directed : int
    Number of features of a hyperplane, drawn for each; at most all of them. A block of a free tree tries one
    hyperplane, a level of a symmetric tree tries two.
direction : {"mixed", "single"}
    "single" leaves out hyperplanes: all blocks are cut along single features.
shrinkage : float
    Ridge parameter of the hyperplanes, relative to the mean variance.
max_bins : int
    Maximum number of bins of a feature in training; missing values have a bin of their own.
early_stopping : bool
    Stop when the loss on held-out rows has not improved for ``n_iter_no_change`` rounds, and keep the rounds up to
    the best one. A validation set passed to ``fit`` is used even with False.
n_iter_no_change : int
    Rounds without improvement after which to stop.
warm_start : bool
    Keep the trees of the previous fit, its learning rate and bins, and add rounds up to ``max_iter``.
"""
_CLASSIFIER = """
max_iter : int
    Number of rounds. A round grows one tree, or one per class (see ``multi_class``).
multi_class : {"auto", "one_tree", "one_per_class"}
    Trees of a round for more than two classes. "one_tree": one tree, grown on a random projection of the gradients
    of all K classes, whose leaves add a value to the raw score of every class. "one_per_class": K trees. "auto" is
    "one_tree", unless ``leaf="linear"``.
validation_fraction : float, int or None
    Share or number of training rows to hold out for early stopping, stratified; None uses the training loss.
tol : float
    Smallest decrease of the loss that counts as an improvement.
leaf : {"auto", "constant", "linear"}
    What a leaf adds to the raw score: a value, or a linear function of at most 12 features of the blocks on its
    path, clipped to the range of the Newton steps of its rows. "auto" is "constant" for classification.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the probability of the second class (or of ``positive``, if given) must not decrease with the feature, -1
    where it must not increase, 0 for no constraint; a dict gives them by column name. Two classes only. A constraint
    that opposes the rank correlation of the column with the class gives a warning.
"""
_REGRESSOR = f"""
loss : {{{", ".join(f'"{loss}"' for loss in REGRESSION_LOSSES)}}}
    Loss to minimise. "poisson" and "gamma" fit the logarithm of the mean of y. For "poisson", y must be at least 0
    and not 0 everywhere; for "gamma" it must be positive.
quantile : float, sequence of floats or None
    With ``loss="quantile"``, the quantile to estimate, between 0 and 1, or an ascending list of quantiles: ``predict``
    then has a column per quantile, sorted per row, so that they never cross. None otherwise.
multi_output : {{"auto", "one_tree", "one_per_output"}}
    Trees of a round for several quantiles or several columns of y. "one_tree": one tree, grown on a random projection
    of the gradients of all outputs, whose leaves add a value to each. "one_per_output": a tree each. "auto" is
    "one_tree" for quantiles, which it estimates better, and "one_per_output" for responses, because their trees may
    have linear leaves; one tree for all takes a third of the time.
max_iter : int
    Number of rounds. A round grows one tree, or one per output (see ``multi_output``).
validation_fraction : float, int or None
    Share or number of training rows to hold out for early stopping; None uses the training loss.
tol : float
    Smallest decrease of the loss that counts as an improvement, as a share of the loss before the first round, so
    that it does not depend on the unit of y.
leaf : {{"auto", "constant", "linear"}}
    What a leaf adds: a value, or a linear function of at most 12 features of the blocks on its path, clipped to the
    range of the Newton steps of its rows. "auto" is "linear" or chosen by the race, but "constant" for absolute
    errors and quantiles, whose leaves add the median or quantile of their residuals.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the prediction must not decrease with the feature, -1 where it must not increase, 0 for no constraint; a
    dict gives them by column name. One output only.
intervals : bool
    Fit five further models, each without a fifth of the rows, and keep their errors on these rows for
    ``predict_interval``.
"""


class CodedPredictor(Predictor):
    """Base class of estimators that learn from codes of rows, in memory or in batches."""

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
        Labels and scores of all rows are kept in memory, about 20 bytes a row; features become codes, a byte each, in
        a scratch file that is deleted afterwards. Tables of up to 200,000 rows are kept in memory and not read a second
        time. ``calibrate`` and ``warm_start`` are not supported.

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
            Where to put the scratch file; by default where temporary files go.

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

    def _fit_passes(self, passes: Passes, scratch_dir: str | None) -> TableSummary:
        """Fit in passes over a table; return the summary of its columns."""
        refuse_parameters(self)
        seed = draw_seed(self.random_state)
        with self._progress(passes.n_rows, "reading the table") as progress:
            table = BatchedTable(self, passes, seed, progress, scratch_dir)
            training = prepare(self, table)
        self._fit(training, seed=seed, scratch_dir=scratch_dir)
        return table.summary

    def _progress(self, n_tasks: int | None, what: str = "growing trees") -> Any:
        return show_progress(n_tasks, what) if check_verbose(self.verbose) else nullcontext()


class BaseBoost(CodedPredictor):
    """The fit of boosted trees."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        **unknown: Any,
    ) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Training samples: an array, a pandas or polars DataFrame or an Arrow table. Text and categories are allowed
            in frames and tables (see ``categorical_features``). NaN, None and null are missing values.
        y : array-like of shape (n,), or (n, k) for a regressor
            Class labels, of at least two classes; for a regressor, finite numbers. Names of the columns of a frame are
            kept as names of the outputs.
        sample_weight : array-like of shape (n,), optional
            Sample weights. Integer weights are equivalent to repeated rows if ``subsample=1``.
        X_val, y_val, sample_weight_val : optional
            A validation set for early stopping, instead of held-out training rows.
        **unknown : not accepted
            For ``eval_set`` of other libraries, the error names X_val and y_val.

        Returns
        -------
        self
        """
        if unknown:
            name = min(unknown, key=lambda name: name != "eval_set")
            remedy = ": pass X_val=… and y_val=… instead" if name == "eval_set" else ""
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}{remedy}.")
        earlier = self._model if check_flag("warm_start", self.warm_start) else None
        training = prepare(self, MemoryTable(self, X, y, sample_weight), earlier)
        return self._fit(training, earlier, validation=(X_val, y_val, sample_weight_val))

    def _fit(
        self,
        training: Training,
        earlier: Model | None = None,
        seed: int | None = None,
        validation: tuple[Any, Any, Any] = (None, None, None),
        scratch_dir: str | None = None,
    ) -> Any:
        """Fit the model to checked rows; ``earlier`` has the rounds to keep, ``seed`` is drawn unless given."""
        if earlier is not None:
            check_continued(earlier, training)
        params = self.get_params(deep=False)
        settings = BoostSettings.of(params, training, earlier)
        method = check_calibrate(params.get("calibrate"), training, continues=self.warm_start)
        has_intervals = check_intervals(params.get("intervals", False), training, continues=self.warm_start)
        n_threads = count_threads(self.n_jobs)
        if seed is None:
            seed = draw_seed(self.random_state) if earlier is None else earlier.seed
        given = take_validation(self, training, *validation)
        sample = training.X.sample(seed)
        normalisation, span = normalise(training, "robust", earlier, n_threads, sample)
        warn_opposed(settings.of_trees["monotonic"], training, sample)
        profiler = Profiler(training.encoding, sample.X, training.counts or {})
        n_trees = settings.n_rounds * settings.n_each

        def code(training: Training, sample: Sample, settings: BoostSettings) -> Any:
            own = given and given._replace(held=np.zeros(training.n_rows, dtype=np.uint8))
            if own is None and settings.stops:
                own = hold_out(training, self.validation_fraction, seed)
            return code_fit(
                training,
                sample,
                settings.max_bins,
                own,
                normalisation,
                earlier,
                n_threads,
                self._progress,
                scratch_dir,
            )

        def build(training: Training, settings: BoostSettings, coded: CodedFit, progress: Progress) -> Model:
            boosted = boost_rounds(training, settings, coded, earlier, seed, n_threads, progress)
            return make_model(boosted, training, settings, normalisation, span, earlier, seed)

        def build_part(part: Training, number: int, **fixed: Any) -> Model:
            own = BoostSettings.of(params | fixed, part, None)
            with code(part, part.X.sample(seed), own) as coded:
                return build(part, own, coded, shift(progress, (number + 1) * n_trees))

        with code(training, sample, settings) as coded:
            del sample  # memory is free for growing
            with self._progress(n_trees * (N_FOLDS + 1 if method or has_intervals else 1)) as progress:
                model = build(training, settings, coded, progress)
                if method is not None:
                    model = calibrate(model, training, method, build_part, n_threads, seed)
                if has_intervals:
                    # With another rate, the models without a fold would have other errors than the model.
                    assert model.boost is not None
                    same = partial(build_part, learning_rate=model.boost.learning_rate)
                    model = learn_residuals(model, training, same, n_threads, seed)
        used = {name: settings.of_trees[name] for name in _USED}
        record: Any = model.boost
        used |= record.settings | {"learning_rate": record.learning_rate, "n_iter": model.n_estimators}
        used["early_stopping"] = settings.stops
        self._model = record_fit(model, training, profiler, earlier, used)
        return self

    def _staged(self, model: Model, X: Any) -> Iterator[NDArray[np.float64]]:
        """Raw scores after each round, shape (n, n_targets) each."""
        return model.staged_raw_score(model.code(X, self), count_threads(self.n_jobs))

    @property
    def n_iter_(self) -> int:
        """Number of rounds that were kept."""
        return self._read().n_estimators

    @property
    def learning_rate_(self) -> float:
        """The learning rate in use."""
        return self._read_record().learning_rate

    @property
    def chosen_(self) -> dict[str, Any]:
        """The settings in use that a race can choose, and the runs of the race (none: an empty list)."""
        return self._read_record().describe()

    @property
    def train_score_(self) -> NDArray[np.float64]:
        """Minus the training loss before the first round and after each; empty without early stopping."""
        return self._read_record().train_score

    @property
    def validation_score_(self) -> NDArray[np.float64]:
        """Minus the loss on held-out rows before the first round and after each; empty without early stopping."""
        return self._read_record().validation_score

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the gain of all blocks, shape (m,).

        The gain of a block is the decrease of the loss by its hyperplane. It is divided among the features of the block
        in proportion to ``|weight|`` × spread. The categories of a column are summed.
        """
        return self.importances().values

    def _read_record(self) -> BoostRecord:
        record: BoostRecord = self._read().boost  # type: ignore[assignment]  # of a boosted model
        return record


def make_model(
    boosted: Boosted,
    training: Training,
    settings: BoostSettings,
    normalisation: Normalisation,
    span: Span,
    earlier: Model | None,
    seed: int,
) -> Model:
    """Return the model of a boosted fit."""
    return Model(
        trees=boosted.trees if earlier is None else earlier.trees + boosted.trees,
        encoding=training.encoding,
        normalisation=normalisation,
        span=span,
        classes=training.classes,
        prior=training.prior,
        positive=training.positive,
        confidence=None,
        seed=seed,
        link=settings.objective.link,
        response=training.record(),
        outputs=settings.objective.record_outputs(training),
        n_rows=training.n_rows,
        base=boosted.base,
        clip=_core.BOOST_CLIP,
        boost=boosted.record,
    )


@document(ALL, CLASSIFIER, _BOOST, _CLASSIFIER)
class LHBoostClassifier(Classifier, BaseBoost):
    """Boosted hyperplane trees: rounds of small trees, each a Newton step on the log loss of the rounds before it.

    Every level of a tree is cut along a single feature or along a hyperplane over a few of them, whichever gains more.
    All blocks of a level share its cut, unless ``growth="free"``. Parameters
    that scikit-learn's ``HistGradientBoostingClassifier`` also has mean the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTClassifier`; ``trees_`` has one tree per round, or K with
        ``multi_class="one_per_class"`` and K > 2 classes.
    n_iter_ : int
        Number of rounds that were kept.
    learning_rate_ : float
        The learning rate in use.
    chosen_ : dict
        ``settings``, the values in use of the parameters that can be raced, and ``race``, a list of the settings that
        were raced, the defaults first, each with its least loss on held-out rows and the number of rounds up to it.
    train_score_, validation_score_ : arrays of shape (rounds + 1,)
        Minus the loss before the first round and after each round that was tried. Both are empty without early
        stopping; ``validation_score_`` is also empty if no rows were held out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LHBoostClassifier(random_state=0).fit(X[:400], y[:400])
    >>> round(model.score(X[400:], y[400:]), 3)
    0.988
    """

    _links: ClassVar[tuple[str, ...]] = ("logistic", "softmax")

    def __init__(
        self,
        max_iter: int = 400,
        *,
        learning_rate: float | str = "auto",
        growth: str = "auto",
        multi_class: str = "auto",
        max_depth: int | str = "auto",
        min_samples_leaf: int | str = "auto",
        l2_regularization: float = 1.0,
        subsample: float | str = "auto",
        max_features: float | str = "auto",
        n_directed: int = 4,
        direction: str = "mixed",
        shrinkage: float = 0.01,
        max_bins: int = 255,
        early_stopping: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        leaf: str = "auto",
        monotonic_cst: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        positive: Any = None,
        calibrate: str | None = None,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        unseen: str = "missing",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.n_directed = n_directed
        self.direction = direction
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.leaf = leaf
        self.multi_class = multi_class
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.positive = positive
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.unseen = unseen
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Raw scores: the log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._ask(_core.Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Raw scores after each round, with the shape of ``decision_function``."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield raw_score[:, 0] if model.head.n_scores == 1 else raw_score

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Class probabilities after each round, shape (n, K) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield model.scorer.link(raw_score)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predicted class of every row after each round, shape (n,) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            if model.calibration is not None:
                raw_score = model.scorer.link(raw_score)
            elif model.head.n_scores == 1:
                raw_score = np.concatenate([np.zeros_like(raw_score), raw_score], axis=1)
            yield model.classes[raw_score.argmax(axis=1)]


@document(ALL, REGRESSOR, _BOOST, _REGRESSOR)
class LHBoostRegressor(Regressor, BaseBoost):
    """Boosted hyperplane trees: rounds of small trees, each a Newton step on the loss of the rounds before it.

    Every level of a tree is cut along a single feature or along a hyperplane over a few of them, whichever gains more.
    All blocks of a level share its cut, unless ``growth="free"``. Parameters
    that scikit-learn's ``HistGradientBoostingRegressor`` also has mean the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_, trees_, n_leaves_, depth_, feature_importances_
        As for :class:`LHTRegressor`; ``trees_`` has one tree per round.
    n_iter_ : int
        Number of rounds that were kept.
    learning_rate_ : float
        The learning rate in use.
    chosen_ : dict
        ``settings``, the values in use of the parameters that can be raced, and ``race``, a list of the settings that
        were raced, the defaults first, each with its least loss on held-out rows and the number of rounds up to it.
    train_score_, validation_score_ : arrays of shape (rounds + 1,)
        Minus the mean loss before the first round and after each round that was tried. Both are empty without early
        stopping; ``validation_score_`` is also empty if no rows were held out. The losses are half the squared error,
        the absolute error, the pinball loss and half the deviance.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LHBoostRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.4
    True
    """

    _takes_several = True
    _links: ClassVar[tuple[str, ...]] = ("identity", "log", "sorted")

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | Sequence[float] | None = None,
        multi_output: str = "auto",
        max_iter: int = 400,
        learning_rate: float | str = "auto",
        growth: str = "auto",
        max_depth: int | str = "auto",
        min_samples_leaf: int | str = "auto",
        l2_regularization: float = 1.0,
        subsample: float | str = "auto",
        max_features: float | str = "auto",
        n_directed: int = 4,
        direction: str = "mixed",
        shrinkage: float = 0.01,
        max_bins: int = 255,
        early_stopping: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        leaf: str = "auto",
        monotonic_cst: Any = None,
        intervals: bool = False,
        categorical_features: Any = "from_dtype",
        max_one_hot: int = 20,
        unseen: str = "missing",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.multi_output = multi_output
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.n_directed = n_directed
        self.direction = direction
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.leaf = leaf
        self.monotonic_cst = monotonic_cst
        self.intervals = intervals
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot
        self.unseen = unseen
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.loss == "squared_error"
        return tags

    def output(self, target: Any) -> LHBoostRegressor:
        """Return the model of one of several outputs, which plots, reports and texts take.

        Quantiles are those before they are sorted: they differ from ``predict`` where two of them cross.

        Parameters
        ----------
        target : str, float or int
            The name of a response, a quantile, or the place of the output.

        Returns
        -------
        LHBoostRegressor
            Fitted; it predicts the output alone, and has no intervals.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from lhtree import LHBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = LHBoostRegressor("quantile", quantile=[0.1, 0.5, 0.9], max_iter=50, random_state=0).fit(X, y)
        >>> model.predict(X[:2]).round().tolist()
        [[120.0, 191.0, 268.0], [50.0, 75.0, 118.0]]
        >>> bool(model.output(0.9).explain(X.iloc[0]).prediction == model.predict(X[:1])[0, 2])
        True
        """
        model, params = self._read(), self.get_params(deep=False)
        place = model.find_output(target)
        if self.loss == "quantile":
            params["quantile"] = float(self.quantile[place])  # type: ignore[index]  # of several outputs
        alone = LHBoostRegressor(**params | {"intervals": False})
        alone._model = model.output(place)
        return alone

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Intervals that contain the responses of new rows with a given probability; needs ``intervals=True``.

        The errors of five models, each on the fifth of the rows that it was not fitted on, give the width (cross-fitted
        conformal prediction). Around a single prediction, all intervals have the same width. With several quantiles,
        the interval between the least and the largest of them is widened, or narrowed, by the same amount everywhere
        (conformalised quantile regression), so that widths follow the row. The coverage holds on average over rows
        like the training rows.

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

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Predicted response of every row after each round, with the shape of ``predict``."""
        model = self._read()
        for raw_score in self._staged(model, X):
            predicted = model.scorer.link(raw_score)
            yield predicted if model.outputs else predicted[:, 0]
