"""Forests of oblique trees: WOLF values from many trees per class, or the mean of many regression trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from .._parameters import (
    DIRECTIONS,
    Settled,
    check_flag,
    choose,
    draw_seed,
    is_auto,
    is_integer,
    refuse,
    settle_multi_class,
)
from ..grow.batched import BatchedTable, refuse_parameters
from ..grow.forest import Growth, count_rows
from ..grow.training import Training, prepare
from ..io.passes import Passes
from ..model.model import Model
from ..model.records import Drawn, ForestRecord, ResponseRecord
from ..tables.learn import TableSummary
from .base import (
    ALL,
    CLASSIFIER,
    REGRESSOR,
    BatchPredictor,
    IntervalRegressor,
    Predictor,
    count_threads,
    document,
)
from .tree import (
    REGRESSION_SETTINGS,
    TREE,
    TREE_CLASSIFIER,
    TREE_REGRESSOR,
    BaseLHT,
    LHTClassifier,
    LHTRegressor,
    WolfClassifier,
)

_FOREST = """
bootstrap : bool
    Draw rows with replacement.
beta : "auto", "schedule" or float
    A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "schedule": tree i of t uses beta = i/t. "auto" is
    "schedule" for the mean difference and 0 otherwise.
time_limit : float or None
    Seconds after which a fit ends with the trees it has; at least one for every thread is grown. The pilot of
    ``min_samples_leaf="auto"`` takes at most a third of the time, and the size is 5 if that is not enough. A model that
    reached the limit depends on the speed of the machine, and its schedule of ``beta`` is incomplete.
warm_start : bool
    Reuse the trees of the previous fit and add more.
random_state : int, RandomState or None
    Random seed for drawing rows and features.
"""
_CLASSIFIER = """
n_estimators : int
    Number of trees per class or, with trees of all classes, the number of trees (see ``multi_class``).
max_samples : "auto", int or float
    Rows drawn for each tree, stratified: a count or a share. "auto" is 0.8 for the mean difference. For the other
    directions it is 1.0 (all rows), unless every block considers all features: then 0.8, to make the trees differ.
min_samples_leaf : "auto", int or float
    Minimum weight on each side of a hyperplane; a float in (0, 1) is a share of the training weight. "auto" is 1
    for the mean difference. Otherwise a pilot chooses among 1, 5, 20 and 50 by the log loss on held-out rows; it grows
    at most 30 trees per class and leaf size, 10 above 3,000 rows, and so many even for fewer estimators with
    ``warm_start=True``, because more trees are to come. With at least 10 trees, it tries 5 first and follows
    the falling loss. A warm start keeps the size that was chosen.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
    for the mean difference, otherwise ``max(2, min(7, ceil(m/2)), floor(sqrt(m)))``.
class_weight : "balanced", "balanced_subsample", dict or None
    Class weights, multiplied with ``sample_weight``. "balanced_subsample" balances the rows that each tree draws.
multi_class : {"auto", "one_tree", "one_per_class"}
    Trees for more than two classes. "one_per_class": every estimator has a tree for each class, which separates it
    from the rest. "one_tree", for ``direction="mixed"`` only: every estimator is one tree of all K classes, so the
    forest has 1/K as many trees. The direction of a block separates two classes drawn at random, its offset
    minimises the Gini impurity over all classes, and memberships are the shares of the classes in a leaf
    (``membership`` does not apply). "auto" is "one_tree" for ``direction="mixed"`` and more than 50,000 rows,
    unless ``membership="least_squares"``, otherwise "one_per_class".
oob_score : bool
    Compute the out-of-bag score.
"""
_REGRESSOR = """
n_estimators : int
    Number of trees.
max_samples : int or float
    Rows drawn for each tree: a count or a share. Rows that trees do not see give the out-of-bag score and the
    prediction intervals; with 1.0 there are none.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" is all
    for the mean difference, otherwise half of them, and at least two.
shrinkage : float
    Ridge parameter of the least-squares direction and of least-squares models, relative to the mean variance; linear
    models of small leaves need a larger one than a single tree.
oob_score : bool
    Keep the out-of-bag score and predictions.
"""


class BaseForest(BaseLHT, BatchPredictor):
    """The fit of forests."""

    _is_forest = True
    _oob: ClassVar[str]  # result of out-of-bag scores in the record

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
        class_weight = getattr(self, "class_weight", None)
        balances = isinstance(class_weight, str) and class_weight == "balanced_subsample"
        if balances and counts is None:  # the sample is all rows
            counts = sizes
        drawn = (Drawn(len(trees), counts, bootstrap),) if len(trees) else ()
        record = ForestRecord(
            betas=betas if record is None else np.concatenate([record.betas, betas]),
            tree_parameters={},
            sizes=sizes,
            draws=drawn if record is None else record.draws + drawn,
        )
        return Growth(betas, first, counts, bootstrap, balances, record)

    def _fit_passes(self, passes: Passes, scratch_dir: str | None) -> TableSummary:
        if not is_integer(self.max_samples):
            raise refuse("max_samples", self.max_samples, "a number of rows per tree with fit_batches")
        refuse_parameters(self)
        refuse_limit(self, "fit_batches")
        seed = draw_seed(self.random_state)
        reads_again = self._is_regressor or bool(self.oob_score) or self.min_samples_leaf == "auto"
        table = BatchedTable(self, passes, seed, folder=scratch_dir, reads_again=reads_again)
        self._fit(prepare(self, table), seed=seed)
        return table.summary

    @property
    def estimators_(self) -> Estimators:
        """The trees of the forest as fitted estimators, created on access."""
        return Estimators(self._read(), self._tree, self.get_params(deep=False))

    @property
    def oob_score_(self) -> float:
        """Accuracy, or R² of a regressor, over the rows that some tree did not see."""
        score = self._read_oob().oob_score
        return np.nan if score is None else score

    def _read_oob(self) -> ForestRecord:
        record = self._read().forest
        if record is None or getattr(record, self._oob) is None:
            raise AttributeError("there are no out-of-bag scores: fit with oob_score=True.")
        return record


def refuse_limit(forest: Any, where: str) -> None:
    """Refuse a time limit where all trees are grown in one pass over the table."""
    if forest.time_limit is not None:
        raise refuse("time_limit", forest.time_limit, f"None with {where}")


class Estimators(Sequence[Any]):
    """The trees of a forest as fitted estimators: estimator i has the i-th tree of every class, or of all classes."""

    def __init__(self, model: Model, kind: type[Predictor], params: dict[str, Any]) -> None:
        self._model, self._kind, self._params = model, kind, params

    def __len__(self) -> int:
        return self._model.n_estimators

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        own = self._model.estimator(index)
        record: ForestRecord = self._model.forest  # type: ignore[assignment]  # of a forest
        names = self._kind._get_param_names()
        params = {name: value for name, value in self._params.items() if name in names}
        params |= record.tree_parameters | {"beta": float(record.betas[index])}
        if isinstance(params.get("class_weight"), str):  # weights by name depend on the rows of the tree
            params["class_weight"] = None
        tree = self._kind(**params)
        tree._model = own
        return tree


@document(ALL, CLASSIFIER, TREE, TREE_CLASSIFIER, _FOREST, _CLASSIFIER)
@dataclass(eq=False, repr=False)
class LHForestClassifier(WolfClassifier, BaseForest):
    """Forest of Learning Hyperplane Trees; their corrected memberships are averaged (WOLF).

    The defaults are the paper's method. For accuracy, use ``LHForestClassifier(direction="mixed")`` or
    :class:`LHBoostClassifier`, which also has the best probabilities.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    {attributes}
    trees_ : sequence of tree views
        K trees for each estimator, or one for two classes and for trees of all classes.
    min_samples_leaf_ : int or float
        The leaf size in use.
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
    _oob = "oob_decision_function"

    n_estimators: int = 100
    _: KW_ONLY
    max_samples: float | str = "auto"
    bootstrap: bool = False
    alpha: float = 0.0
    beta: float | str = "auto"
    gamma: float = 10
    direction: str = "mean_difference"
    offset: str = "auto"
    membership: str = "marginal"
    confidence: str | None = "auto"
    normalize: str | None = "robust"
    min_samples_split: float | str = "auto"
    min_samples_leaf: float | str = "auto"
    smoothing: float | str = "auto"
    max_depth: int | None = None
    max_features: float | str | None = "auto"
    shrinkage: float = 1e-3
    class_weight: dict[Any, float] | str | None = None
    positive: Any = None
    calibrate: str | None = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    keep_prototypes: bool | int = False
    multi_class: str = "auto"
    oob_score: bool = False
    time_limit: float | None = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        shared = None if earlier is None else earlier.head.shares_classes
        params, n_classes = self.get_params(deep=False), len(training.classes)
        shares_classes = settle_multi_class(params, n_classes, len(training.X), earlier=shared)
        if shared is not None and shared != shares_classes:
            kind = "one_tree" if shared else "one_per_class"
            raise refuse(
                "multi_class", self.multi_class, f"{kind!r}, as in the earlier fit, with warm_start=True"
            )
        return replace(super()._plan(settled, training, earlier), shares_classes=shares_classes)

    def _finish(self, model: Model, training: Training) -> Model:
        """Compute out-of-bag scores."""
        if not self.oob_score:
            return model
        sums = training.X.sum_left_out(model, training.codes, count_threads(self.n_jobs))
        return _score_out_of_bag(model, training, *sums)

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Probabilities of rows that some tree did not see, shape (n, K); NaN for the others."""
        return self._read_oob().oob_decision_function  # type: ignore[return-value]  # checked


@document(ALL, REGRESSOR, TREE, TREE_REGRESSOR, _FOREST, _REGRESSOR)
@dataclass(eq=False, repr=False)
class LHForestRegressor(IntervalRegressor, BaseForest):
    """Forest of Learning Hyperplane Trees that predict a number: the mean of their estimates.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    trees_ : sequence of tree views
        One tree per estimator.
    estimators_ : sequence of fitted LHTRegressor, one per tree
    oob_score_ : float
        Out-of-bag R²; with ``oob_score=True`` only.
    oob_prediction_ : array of shape (n,)
        Out-of-bag predictions; NaN for rows that were drawn for every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = LHForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict_interval(X[:1], coverage=0.9).round()
    array([[107., 285.]])
    """

    _tree = LHTRegressor
    _oob = "oob_prediction"

    n_estimators: int = 100
    _: KW_ONLY
    max_samples: float = 0.8
    bootstrap: bool = False
    alpha: float = 0.0
    beta: float | str = "auto"
    direction: str = "mixed"
    membership: str = "least_squares"
    normalize: str | None = "robust"
    min_samples_split: float = 2
    min_samples_leaf: float = 10
    max_depth: int | None = None
    max_features: float | str | None = "auto"
    shrinkage: float = 0.1
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    keep_prototypes: bool | int = False
    oob_score: bool = False
    time_limit: float | None = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def _fill(self, n_features: int) -> dict[str, Any]:
        params = {**REGRESSION_SETTINGS, **self.get_params(deep=False)}
        direction = choose("direction", params["direction"], DIRECTIONS)
        if (
            is_auto(params["max_features"]) and direction != "mean_difference"
        ):  # an oblique hyperplane needs two
            params["max_features"] = max(2, (n_features + 1) // 2)
        return params

    def _finish(self, model: Model, training: Training) -> Model:
        """Compute out-of-bag errors."""
        earlier = self._model if self.warm_start else None
        if _has_lost_draws(earlier, model) or training.response is None or model.response is None:
            return model
        unit = float(np.abs(training.response).max()) or 1.0  # squares of 1e300 would overflow
        n_threads, mean = count_threads(self.n_jobs), model.response.mean
        sums = training.X.sum_left_out(model, training.codes, n_threads, mean, unit)
        return _measure_out_of_bag(model, training, self.oob_score, unit, *sums)

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Predictions for rows that some tree did not see, shape (n,); NaN for the others."""
        return self._read_oob().oob_prediction  # type: ignore[return-value]  # checked


def _has_lost_draws(earlier: Model | None, model: Model) -> bool:
    """Whether trees of an earlier fit drew from other rows; the rows that they saw are then unknown."""
    if (
        earlier is None
        or earlier.forest is None
        or all(drawn.counts is None for drawn in earlier.forest.draws)
    ):
        return False
    has_same_rows = model.forest is not None and np.array_equal(earlier.forest.sizes, model.forest.sizes)
    return not has_same_rows or earlier.response is None or earlier.response.residual is None


def _score_out_of_bag(
    model: Model,
    training: Training,
    wolf: NDArray[np.float64],
    membership: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """Return the model with its out-of-bag scores; the arrays are the result of ``sum_left_out``."""
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    is_scored = n_trees > 0
    score = model.scorer.settle(wolf, membership)
    guess = score.argmax(axis=1) == training.codes
    given = slice(None) if training.row is None else training.row
    decision = np.full((training.n_given, model.n_classes), np.nan)
    decision[given] = np.where(is_scored[:, None], score, np.nan)
    accuracy = float(guess[is_scored].mean()) if is_scored.any() else None
    return replace(model, forest=replace(record, oob_score=accuracy, oob_decision_function=decision))


def _measure_out_of_bag(
    model: Model,
    training: Training,
    keeps_predictions: bool,
    unit: float,
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    n_trees: NDArray[np.int64],
) -> Model:
    """Return the model with its out-of-bag errors; the arrays are the result of ``sum_left_out``."""
    response: NDArray[np.float64] = training.response  # type: ignore[assignment]  # it is a regression
    record: ForestRecord = model.forest  # type: ignore[assignment]  # it is a forest
    summary: ResponseRecord = model.response  # type: ignore[assignment]  # it is a regression
    row = np.flatnonzero(n_trees)
    kept, score = np.full(training.n_given, np.nan), None
    if len(row):
        n = n_trees[row].astype(np.float64)
        prediction = total[row, 0] / n
        spread = squares[row, 0] - n * ((prediction - summary.mean) / unit) ** 2
        error = (response[row] - prediction) / unit
        weight = None if training.weight is None else training.weight[row]
        residual = np.abs(error) * _correct(error**2, spread, n, model.n_estimators) * unit
        order = np.argsort(residual, kind="stable")
        summary = replace(
            summary, residual=residual[order], residual_weight=None if weight is None else weight[order]
        )
        kept[row if training.row is None else training.row[row]] = prediction
        score = _find_r2(response[row] / unit, error)
    if keeps_predictions:
        record = replace(record, oob_score=score, oob_prediction=kept)
    return replace(model, forest=record, response=summary)


def _correct(
    error: NDArray[np.float64], spread: NDArray[np.float64], n: NDArray[np.float64], n_trees: int
) -> float:
    """Return the factor from the error of the trees that did not see a row to the error of all trees.

    Trees whose variance is s² add s² / n to the squared error of the mean of n of them, so that s² (1/n - 1/n_trees) is
    too much. ``spread`` is the sum of squared deviations of the n trees of a row from their mean. The squared error is
    at least s² / n, so that the factor is above 0 even if a few rows have smaller errors by chance.
    """
    several = n > 1
    variance = np.maximum(spread[several], 0.0) / (n[several] - 1)
    total = max(float(error[several].sum()), float((variance / n[several]).sum()))
    if not total > 0.0:
        return 1.0
    too_much = float((variance * (1 / n[several] - 1 / n_trees)).sum())
    return float(np.sqrt(1.0 - too_much / total))


def _find_r2(response: NDArray[np.float64], error: NDArray[np.float64]) -> float:
    """Return R²; for a constant response, 1 if all errors are 0, otherwise 0."""
    spread = ((response - response.mean()) ** 2).sum()
    return float(1.0 - (error**2).sum() / spread) if spread > 0.0 else float(not error.any())
