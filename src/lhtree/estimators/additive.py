"""Additive models: a curve for every column and surfaces for few pairs, for classes and for numbers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import _core
from .._core import Scorer
from .._parameters import draw_seed, is_real, refuse
from ..describe.curves import Curve, Surface, read_curves, read_surfaces
from ..describe.points import PointsTable, name_scales, round_terms, write_formula
from ..grow.additive import AdditiveSettings, fit_additive
from ..grow.boosting import code_fit, warn_opposed
from ..grow.training import Training
from ..model.profile import Profiler
from ..model.records import AdditiveRecord
from ..model.terms import build_trees
from .base import (
    ALL,
    CLASSIFIER,
    REGRESSOR,
    Classifier,
    Regressor,
    count_threads,
    document,
    normalise,
    record_fit,
)
from .base_boost import LOSS, CodedPredictor
from .edits import Editor

_ADDITIVE = """
interactions : "auto", int or list of pairs
    Surfaces of pairs of columns: a number of pairs, those with the largest gain; or a list of pairs of column names or
    indices. "auto" tries 4, 16, 64 and, if 64 are best, 128 pairs and takes the number with the least held-out loss, if
    it is lower than without pairs by more than its standard error. Surfaces that do not lower the held-out loss at all
    are left out.
max_iter : int
    Maximum number of cycles. A cycle takes a step on every curve; those of surfaces follow when curves are done, at
    most ``100 / learning_rate`` (500) of them.
learning_rate : "auto" or float
    Factor of the first steps of curves; it grows by 1 % of this value in every cycle, up to 1. Steps of surfaces have
    half of it. "auto" is 0.2.
n_bags : int
    Number of bags. Each learns from the rows outside its fold, at least 7/8 of all. All bags stop together, by the
    mean loss of their folds. The model is the mean of the bags.
max_bins : int
    Maximum number of bins of a feature in training; missing values have a bin of their own.
smoothing : float
    Temperature of the steps of curves. A step is the mean of all cuts of the column, weighted by the power
    ``1 / smoothing`` of their likelihoods: small values give sharp steps, large ones smooth curves. The first cycles,
    until they no longer lower the held-out loss and at most half of ``max_iter``, use ten times this value.
min_samples_leaf : int
    Minimum weight of the rows on each side of a cut, and of missing values that get a value of their own.
l2_regularization : "auto" or float
    Added to the sum of the second derivatives of the rows of a side. "auto" boosts the curves with 1, and with 0.1 if
    that lowers the held-out loss of some bags by 2 %; surfaces have 1.
max_steps : "auto", int or None
    Merge neighbouring bins of curves into steps. "auto": to the fewest steps whose held-out loss is within 0.05 % of
    the least, where every bag merges its own values; surfaces are merged, too. An int is the maximum number of steps of
    a curve. None: bins stay as they are.
n_iter_no_change : int
    Cycles without a lower held-out loss after which boosting of curves stops; for surfaces, half as many.
interaction_cst : "pairwise", "no_interactions", list of groups of columns or None
    Columns that may form surfaces, as in HistGradientBoosting: the two columns of a surface are of one group. A group
    lists names or indices; columns in no group are a group of their own. "pairwise" and None allow all pairs,
    "no_interactions" none. For ``interactions`` as a number or "auto".
categorical_features : "from_dtype", None or list
    Categorical columns, whose categories have a value each, up to ``max_one_hot`` categories. "from_dtype": the string
    and categorical columns of a pandas or polars DataFrame. A list gives names, indices or a mask. None: all columns
    are numeric.
"""
_CLASSIFIER = """
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the probability of the second class (or of ``positive``, if given) must not decrease with the column, -1
    where it must not increase, 0 for no constraint; a dict gives them by column name. Such columns have no surfaces.
    Missing values have a value of their own. Two classes only.
"""
_REGRESSOR = """
quantile : float or None
    With ``loss="quantile"``, the quantile to estimate, between 0 and 1; None otherwise.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the prediction must not decrease with the column, -1 where it must not increase, 0 for no constraint; a
    dict gives them by column name. Such columns have no surfaces. Missing values have a value of their own.
"""


def _draw(term: Curve | Surface, **options: Any) -> Any:
    from ..plot import plot_curve

    return plot_curve(term, **options)


class BaseAdditive(CodedPredictor):
    """The fit of additive models, and their curves and surfaces."""

    direction: ClassVar[str] = "single"  # no indicators: missing values have cells of their own

    def _fit(self, training: Training, seed: int | None = None, scratch_dir: str | None = None) -> Any:
        """Fit the model to checked rows; ``seed`` is drawn unless given."""
        settings = AdditiveSettings.of(self.get_params(deep=False), training)
        n_threads = count_threads(self.n_jobs)
        if seed is None:
            seed = draw_seed(self.random_state)
        sample = training.X.sample(seed)
        warn_opposed(settings.signs, training, sample)
        normalisation, span = normalise(training, "robust", None, n_threads, sample)
        profiler = Profiler(training.encoding, sample.X, training.counts or {})
        of_bins = settings.max_bins, None, normalisation, None
        with (
            code_fit(training, sample, *of_bins, n_threads, self._progress, scratch_dir) as coded,
            self._progress(None, "boosting curves and surfaces"),
        ):
            trees, base, record = fit_additive(
                training, settings, coded, sample, normalisation, seed, n_threads
            )
        facts = {"base": base, "clip": _core.BOOST_CLIP, "additive": record}
        model = training.make_model(trees, normalisation, span, seed, settings.objective.link, **facts)
        used = {"n_bags": settings.n_bags, "max_bins": settings.max_bins}
        self._model = record_fit(model, training, profiler, None, used)
        return self

    @property
    def curves_(self) -> list[Curve]:
        """The curves, one per column, or per class of a column with target statistics."""
        return read_curves(self._read(), _draw)

    @property
    def surfaces_(self) -> list[Surface]:
        """The surfaces of pairs of columns, the largest gain first."""
        return read_surfaces(self._read(), _draw)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Raw scores before all curves, shape (n_scores,): the mean of the raw scores of the training rows."""
        return np.asarray(self._read().base).copy()

    @property
    def edits_(self) -> list[dict[str, Any]]:
        """The edits of the model, in their order."""
        return [dict(edit) for edit in self._read_record().edits]

    @property
    def n_iter_(self) -> int:
        """The number of cycles of the curves."""
        return max(self._read_record().n_iter)

    @property
    def learning_rate_(self) -> float:
        """The learning rate in use."""
        return self._read_record().learning_rate

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the mean absolute values of all curves and surfaces, shape (m,).

        The value of a surface is divided equally between its columns.
        """
        return self.importances().values

    def edit(self, X: Any = None, y: Any = None) -> Editor:
        """Return a builder of an edited model: ``set``, ``flatten``, ``monotonize``, ``smooth``, ``drop``, ``merge``.

        Parameters
        ----------
        X, y : array-like, optional
            Held-out rows, on which the loss before and after every edit is measured.

        Returns
        -------
        Editor
            Its method ``finish()`` returns the edited model; ``edits_`` lists all edits.
        """
        return Editor(self, X, y)

    def to_excel(self, row: int = 2, *, output: str = "prediction") -> str:
        """Return a formula for a spreadsheet whose columns A, B, … are the columns of the model, in their order.

        It is a sum of a LOOKUP per column of numbers, nested IFs per column of categories and an INDEX per surface. Two
        classes or numbers only. Spreadsheets compare 15 digits: a value that differs less from an edge may count as the
        other side of it.

        Parameters
        ----------
        row : int, default=2
            Row of the sheet that the formula refers to; row 1 usually has the names. Copy the formula down for others.
        output : {"prediction", "probability", "raw_score"}, default="prediction"
            The predicted class or number, the probability of the second class, or the sum of all terms.

        Returns
        -------
        str
            The formula with its "=". An empty cell is a missing value.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from lhtree import AdditiveLHTRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = AdditiveLHTRegressor(interactions=0, max_steps=3, random_state=0).fit(X[["bmi"]], y)
        >>> model.to_excel().count("LOOKUP")
        1
        """
        return write_formula(self._read(), row, output)

    def _name_loss(self) -> tuple[str, float]:
        """Return the loss of the fit and its quantile."""
        if not self._is_regressor:
            return ("logistic" if self._read().n_targets == 1 else "softmax"), 0.5
        return self.loss, 0.5 if self.quantile is None else float(self.quantile)

    def _read_record(self) -> AdditiveRecord:
        record: AdditiveRecord = self._read().additive  # type: ignore[assignment]  # of an additive model
        return record


@document(ALL, CLASSIFIER, _ADDITIVE, _CLASSIFIER)
@dataclass(eq=False, repr=False)
class AdditiveLHTClassifier(Classifier, BaseAdditive):
    """An additive model to read: one curve for every column, and surfaces for few pairs.

    The log odds of the second class are ``intercept_`` plus the value of the row on every curve and surface. More than
    two classes have a raw score and a set of curves each, centred over the classes. Curves are boosted in cycles over
    the columns, in several bags of rows, and merged to few steps.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (m,)
        Names of the columns of X, if X had names.
    trees_ : sequence of tree views
        A tree for every curve and surface, whose leaves are its steps.
    n_leaves_ : int
        Number of leaves of all trees.
    depth_ : int
        Maximum depth of the trees.
    feature_importances_ : array of shape (m,)
        Shares of the columns in the mean absolute values of all curves and surfaces; they sum to 1.
    curves_ : list of Curve
        Curves of the columns.
    surfaces_ : list of Surface
        Surfaces of pairs of columns.
    intercept_ : array of shape (n_scores,)
        Raw scores before all curves.
    edits_ : list of dict
        Edits of the model.
    n_iter_ : int
        The number of cycles of the curves.
    learning_rate_ : float
        The learning rate in use.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import AdditiveLHTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveLHTClassifier(random_state=0).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> curve = model.curves_[0]
    >>> curve.name
    'mean radius'
    """

    _links: ClassVar[tuple[str, ...]] = ("logistic", "softmax")

    interactions: int | str | list[Any] = "auto"
    _: KW_ONLY
    max_iter: int = 2000
    learning_rate: float | str = "auto"
    n_bags: int = 8
    max_bins: int = 255
    smoothing: float = 3.0
    min_samples_leaf: int = 5
    l2_regularization: float | str = "auto"
    max_steps: int | str | None = "auto"
    n_iter_no_change: int = 20
    monotonic_cst: Any = None
    interaction_cst: Any = None
    class_weight: dict[Any, float] | str | None = None
    positive: Any = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 100
    unseen: str = "missing"
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def points_table(
        self, pdo: float = 20.0, base: float = 600.0, odds: float = 50.0, *, good: Any = None
    ) -> PointsTable:
        """Return a scorecard: whole points for every step, as banks use them. Two classes only.

        A row has ``base`` points where the odds of the good class are ``odds`` to 1; they double every ``pdo`` points.

        Parameters
        ----------
        pdo : float, default=20
            Points that double the odds.
        base, odds : float, default=600 and 50
            Points of a row with these odds.
        good : class label, optional
            The class whose odds rise with the points; by default the first class or, if ``positive`` is given, the
            other one.

        Returns
        -------
        PointsTable
            ``to_frame()``, ``to_html()`` (a page to print), ``predict(X)`` (points) and ``model``, the model whose
            probabilities follow from the printed points.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lhtree import AdditiveLHTClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> X = X[["worst radius", "worst texture"]]
        >>> table = AdditiveLHTClassifier(0, max_steps=4, random_state=0).fit(X, y).points_table()
        >>> list(table.to_frame().columns)
        ['column', 'step', 'points']
        """
        for name, value in (("pdo", pdo), ("odds", odds)):
            if not is_real(value) or not 0.0 < value < np.inf:
                raise refuse(name, value, "a positive number")
        if not is_real(base) or not np.isfinite(base):
            raise refuse("base", base, "a finite number")
        model = self._read()
        if model.n_targets > 1:
            raise ValueError(f"the model has {model.n_classes} classes, and a scorecard needs two.")
        labels = model.labels
        if good is None:
            good = labels[1 if model.positive == 0 else 0]
        if good not in labels:
            raise refuse("good", good, f"one of the classes {labels[0]!r} and {labels[1]!r}")
        terms, own_base, base_points, points, factor = round_terms(
            model, float(pdo), float(base), float(odds), labels.index(good)
        )
        trees, band = build_trees(terms, model.normalisation, [1], model.n_rows or 0)
        rounded = clone(self)
        rounded._model = replace(
            model,
            trees=trees,
            base=np.array([own_base]),
            additive=replace(self._read_record(), band=band),
        )
        offset = float(base) - factor * float(np.log(odds))
        scales = name_scales(model, terms)
        return PointsTable(base_points, factor, offset, good, scales, tuple(points), rounded)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return raw scores: log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._score(Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]


@document(ALL, REGRESSOR, LOSS, _ADDITIVE, _REGRESSOR)
@dataclass(eq=False, repr=False)
class AdditiveLHTRegressor(Regressor, BaseAdditive):
    """An additive model to read: one curve for every column, and surfaces for few pairs.

    The prediction is ``intercept_`` plus the value of the row on every curve and surface; for the losses "poisson" and
    "gamma", that is its logarithm. Curves are boosted in cycles over the columns, in several bags of rows, and merged
    to few steps.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (m,)
        Names of the columns of X, if X had names.
    trees_ : sequence of tree views
        A tree for every curve and surface, whose leaves are its steps.
    n_leaves_ : int
        Number of leaves of all trees.
    depth_ : int
        Maximum depth of the trees.
    feature_importances_ : array of shape (m,)
        Shares of the columns in the mean absolute values of all curves and surfaces; they sum to 1.
    curves_ : list of Curve
        Curves of the columns.
    surfaces_ : list of Surface
        Surfaces of pairs of columns.
    intercept_ : array of shape (n_scores,)
        Raw scores before all curves.
    edits_ : list of dict
        Edits of the model.
    n_iter_ : int
        The number of cycles of the curves.
    learning_rate_ : float
        The learning rate in use.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import AdditiveLHTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdditiveLHTRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.35
    True
    """

    _links: ClassVar[tuple[str, ...]] = ("identity", "log")

    loss: str = "squared_error"
    _: KW_ONLY
    quantile: float | None = None
    interactions: int | str | list[Any] = "auto"
    max_iter: int = 2000
    learning_rate: float | str = "auto"
    n_bags: int = 8
    max_bins: int = 255
    smoothing: float = 3.0
    min_samples_leaf: int = 2
    l2_regularization: float | str = "auto"
    max_steps: int | str | None = "auto"
    n_iter_no_change: int = 20
    monotonic_cst: Any = None
    interaction_cst: Any = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 100
    unseen: str = "missing"
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
