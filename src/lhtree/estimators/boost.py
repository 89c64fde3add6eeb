"""Boosted hyperplane trees for classes and for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .base import (
    ALL,
    CLASSIFIER,
    REGRESSOR,
    Classifier,
    IntervalRegressor,
    document,
)
from .base_boost import LOSS, BaseBoost

_BOOST = """
learning_rate : "auto" or float
    Factor of every tree. "auto" begins with ``0.08 * min(1, n / 8000)**0.35`` for n rows and 400 rounds, with 0.05
    instead of 0.08 for free trees, 1.5 times as much for trees of all classes and 1.6 times for trees of all
    quantiles; with another ``max_iter``, rate × rounds**0.8 stays the same. With at least 100 rows and 40 rounds, and
    without early stopping, the race (see ``max_depth``) lowers it if that many steps would learn noise, and at most
    doubles it if they would not learn all; below 1,000 rows, shallow trees may have 1.22 (depth 4) or 1.41 times (depth
    3) as much. For absolute errors and quantiles it only lowers the rate.
growth : {"auto", "symmetric", "free"}
    "symmetric" trees have one cut per level, which all blocks of the level share: a tree is a list of ``max_depth``
    hyperplanes and a table of values. "free" trees have a cut for every block. "auto" is "symmetric", but "free" for
    absolute errors and quantiles: their leaves are quantiles of residuals, which need more rows than the smallest
    leaves of a symmetric tree have.
max_depth : "auto" or int
    Maximum depth of a tree. "auto" is 6 for symmetric trees and 5 for free trees, unless a race on held-out rows
    finds a better value. ``max_depth``, ``subsample``, ``max_features`` and ``leaf`` take part in the race if they are
    "auto", there are at least 100 rows (of more than 50,000 a sample) and ``max_iter`` is at least 40; below 1,000 rows
    all but ``leaf``, and only shallow trees race against the defaults. See ``chosen_``.
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
time_limit : float or None
    Seconds after which a fit ends with the rounds it has, at the end of a round; at least one is kept. The race takes
    at most a third of the time, and chooses nothing if that is not enough. The learning rate is that of ``max_iter``
    rounds. A model that reached the limit depends on the speed of the machine.
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
interaction_cst : "pairwise", "no_interactions", list of groups of columns or None
    Columns that may interact, as in HistGradientBoosting: all columns on a path from root to leaf, and so all of a
    hyperplane, are of one group. A group lists names or indices; columns in no group are a group of their own.
    "pairwise" allows pairs of columns, "no_interactions" one column per tree.
"""
_REGRESSOR = """
quantile : float, sequence of floats or None
    With ``loss="quantile"``, the quantile to estimate, between 0 and 1, or an ascending list of quantiles: ``predict``
    then has a column per quantile, sorted per row, so that they never cross. None otherwise.
multi_output : {"auto", "one_tree", "one_per_output"}
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
leaf : {"auto", "constant", "linear"}
    What a leaf adds: a value, or a linear function of at most 12 features of the blocks on its path, clipped to the
    range of the Newton steps of its rows. "auto" is "linear" or chosen by the race, but "constant" for absolute
    errors and quantiles, whose leaves add the median or quantile of their residuals.
monotonic_cst : dict, array-like of shape (m,) or None
    1 where the prediction must not decrease with the feature, -1 where it must not increase, 0 for no constraint; a
    dict gives them by column name. One output only.
interaction_cst : "pairwise", "no_interactions", list of groups of columns or None
    Columns that may interact, as in HistGradientBoosting: all columns on a path from root to leaf, and so all of a
    hyperplane, are of one group. A group lists names or indices; columns in no group are a group of their own.
    "pairwise" allows pairs of columns, "no_interactions" one column per tree.
intervals : bool
    Fit five further models, each without a fifth of the rows, and keep their errors on these rows for
    ``predict_interval``.
"""


@document(ALL, CLASSIFIER, _BOOST, _CLASSIFIER)
@dataclass(eq=False, repr=False)
class LHBoostClassifier(Classifier, BaseBoost):
    """Boosted trees, the first model to try: good predictions and probabilities with little effort.

    Trees are added in rounds, each a Newton step on the log loss of the rounds before it. Every level of a tree is cut
    along a single feature or along a hyperplane over a few of them, whichever gains more. All blocks of a level share
    its cut, unless ``growth="free"``. Parameters that scikit-learn's ``HistGradientBoostingClassifier`` also has mean
    the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    {attributes}
    trees_ : sequence of tree views
        One tree per round, or K with ``multi_class="one_per_class"`` and K > 2 classes.
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

    max_iter: int = 400
    _: KW_ONLY
    learning_rate: float | str = "auto"
    growth: str = "auto"
    multi_class: str = "auto"
    max_depth: int | str = "auto"
    min_samples_leaf: int | str = "auto"
    l2_regularization: float = 1.0
    subsample: float | str = "auto"
    max_features: float | str = "auto"
    n_directed: int = 4
    direction: str = "mixed"
    shrinkage: float = 0.01
    max_bins: int = 255
    early_stopping: bool = False
    validation_fraction: float | None = 0.1
    n_iter_no_change: int = 20
    tol: float = 1e-7
    leaf: str = "auto"
    monotonic_cst: Any = None
    interaction_cst: Any = None
    class_weight: dict[Any, float] | str | None = None
    positive: Any = None
    calibrate: str | None = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    unseen: str = "missing"
    time_limit: float | None = None
    warm_start: bool = False
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return raw scores: log odds of the second of two classes, shape (n,), else one per class, shape (n, K)."""
        raw = self._score(_core.Scorer.raw_score, X, self._model)
        return raw[:, 0] if raw.shape[1] == 1 else raw  # type: ignore[no-any-return]

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield raw scores after each round, with the shape of ``decision_function``."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield raw_score[:, 0] if model.head.n_scores == 1 else raw_score

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities after each round, shape (n, K) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            yield model.scorer.link(raw_score)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted class of every row after each round, shape (n,) each."""
        model = self._read()
        for raw_score in self._staged(model, X):
            if model.calibration is not None:
                raw_score = model.scorer.link(raw_score)
            elif model.head.n_scores == 1:
                raw_score = np.concatenate([np.zeros_like(raw_score), raw_score], axis=1)
            yield model.classes[raw_score.argmax(axis=1)]


@document(ALL, REGRESSOR, LOSS, _BOOST, _REGRESSOR)
@dataclass(eq=False, repr=False)
class LHBoostRegressor(IntervalRegressor, BaseBoost):
    """Boosted trees that predict a number, the first model to try.

    Trees are added in rounds, each a Newton step on the loss of the rounds before it. Every level of a tree is cut
    along a single feature or along a hyperplane over a few of them, whichever gains more. All blocks of a level share
    its cut, unless ``growth="free"``. Parameters that scikit-learn's ``HistGradientBoostingRegressor`` also has mean
    the same, unless noted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    trees_ : sequence of tree views
        One tree per round, or one per output with ``multi_output="one_per_output"``.
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

    loss: str = "squared_error"
    _: KW_ONLY
    quantile: float | Sequence[float] | None = None
    multi_output: str = "auto"
    max_iter: int = 400
    learning_rate: float | str = "auto"
    growth: str = "auto"
    max_depth: int | str = "auto"
    min_samples_leaf: int | str = "auto"
    l2_regularization: float = 1.0
    subsample: float | str = "auto"
    max_features: float | str = "auto"
    n_directed: int = 4
    direction: str = "mixed"
    shrinkage: float = 0.01
    max_bins: int = 255
    early_stopping: bool = False
    validation_fraction: float | None = 0.1
    n_iter_no_change: int = 20
    tol: float = 1e-7
    leaf: str = "auto"
    monotonic_cst: Any = None
    interaction_cst: Any = None
    intervals: bool = False
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    unseen: str = "missing"
    time_limit: float | None = None
    warm_start: bool = False
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

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

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the predicted response of every row after each round, with the shape of ``predict``."""
        model = self._read()
        for raw_score in self._staged(model, X):
            predicted = model.scorer.link(raw_score)
            yield predicted if model.outputs else predicted[:, 0]
