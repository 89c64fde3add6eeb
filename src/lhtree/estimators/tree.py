"""One oblique tree, as a classifier and a regressor, and the fit of trees and forests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Scorer
from .._parameters import Settled, check_flag, check_number, draw_seed
from ..grow.automatic import Pilot, scale_draws
from ..grow.calibrate import N_FOLDS, calibrate, check_calibrate
from ..grow.deadline import Deadline, grow_until, start_deadline
from ..grow.forest import ForestPlan, Growth, TreeLabels, count_kept, keep_rows, smooth_leaves
from ..grow.labels import Progress
from ..grow.objective import scale_up
from ..grow.pruning import PrunedRows, prune
from ..grow.sources import TableSource
from ..grow.training import Training, check_continued, prepare, shift
from ..model.model import Model
from ..model.profile import Profiler
from ..model.trees import Trees, join_trees
from ..tables.normalise import Normalisation
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

TREE = """
alpha : float
    A block ignores features whose variance in it (of normalised values) is not greater than ``alpha``.
beta : "auto" or float
    A hyperplane drops features with ``|weight| <= beta``; in [0, 1). "auto" is 0.
normalize : {"robust", "standard", "minmax", None}
    Scaling of features: median and 5-95 % range, mean and standard deviation, midrange and half-range, or none.
max_depth : int or None
    Maximum depth of a tree; None means no limit.
max_features : "auto", "sqrt", None, int or float
    Number of features drawn at random for each block, among those that ``alpha`` does not exclude. "auto" and None:
    all of them.
random_state : int, RandomState or None
    Random seed for drawing features and stored rows; without draws, the model does not depend on it.
"""
TREE_CLASSIFIER = """
gamma : int or float
    Minimum number of samples a pure cut must separate; a float in (0, 1) is a share of the training weight.
direction : {"mean_difference", "fisher", "mixed"}
    How weights are computed: difference of the class means (the paper), Fisher's discriminant, or the better of
    Fisher's discriminant and any single feature.
offset : {"auto", "purity", "gini"}
    How the offset is chosen: from the paper's five candidates, or by minimum Gini impurity. "auto" is "purity"
    for the mean difference and "gini" otherwise.
membership : {"marginal", "least_squares", "constant"}
    Membership function of a block: one slope per feature, each fitted separately (the paper), a joint ridge fit, or
    a constant.
confidence : {"auto", "last", "path", None}
    Confidence d(x): distance from the last hyperplane on the path, from the nearest one on the path, or 1 (None);
    at most 1. "auto" is "last" for the mean difference and None otherwise.
min_samples_split : "auto", int or float
    Minimum weight of a branching block. "auto" is ``gamma`` for the mean difference and 2 otherwise.
min_samples_leaf : "auto", int or float
    Minimum weight on each side of a hyperplane; a float in (0, 1) is a share of the training weight. "auto" is 1
    for the mean difference. Otherwise a pilot chooses among 1, 5, 20 and 50: trees are grown on three quarters of
    (at most 10,000) rows, and the size with the least log loss on the others is used for all rows.
smoothing : "auto" or float
    Keeps the memberships of small leaves away from 0 and 1: a leaf of weight n has memberships from a·p / (n + a)
    to (n + a·p) / (n + a), where a is ``smoothing`` and p the prior of the target. "auto" is 0.1 if a pilot
    chooses the leaf size, otherwise 0.
shrinkage : float
    Ridge parameter of Fisher's discriminant and of least-squares memberships, relative to the mean variance.
"""
TREE_REGRESSOR = """
direction : {"mean_difference", "fisher", "mixed"}
    How weights are computed: covariances of features and response, the least-squares direction, or the better of
    the least-squares direction and any single feature. The names are those of :class:`LHTClassifier`: where the
    response is 0 and 1, these are its directions.
membership : {"marginal", "least_squares", "constant"}
    Linear model of a block: one slope per feature, each fitted separately, a joint ridge fit, or a constant.
min_samples_split : int or float
    Minimum weight of a branching block; a float in (0, 1) is a share of the training weight.
min_samples_leaf : int or float
    Minimum weight on each side of a hyperplane.
shrinkage : float
    Ridge parameter of the least-squares direction and of least-squares models, relative to the mean variance.
pruning : float
    Cost of a parameter; larger values give smaller trees, and 0 keeps the tree as it was grown.
"""
_PILOT_SHARE = 1 / 3  # of a time limit
# Values of the classifier's parameters that regressors do not have. Where the response is 0 and 1, the cut with the
# least squared error is that with the least Gini impurity.
REGRESSION_SETTINGS: dict[str, Any] = {"offset": "gini", "confidence": None, "gamma": 1, "smoothing": 0}


class BaseLHT(Predictor):
    """The fit of trees and forests, with any number of trees per target."""

    def _fill(self, n_features: int) -> dict[str, Any]:
        """Return the parameters, with values for the parameters that only other estimators have."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params

    @abstractmethod
    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        """Return the trees to grow; ``earlier`` has the trees to keep."""

    def _finish(self, model: Model, training: Training) -> Model:
        """Return the model after post-processing that needs the training data (out-of-bag scores, pruning)."""
        return model

    def _fit_table(self, table: TableSource) -> Any:
        continues = check_flag("warm_start", getattr(self, "warm_start", False))
        earlier = self._model if continues else None
        deadline = start_deadline(getattr(self, "time_limit", None))
        return self._fit(prepare(self, table, earlier), earlier, deadline=deadline)

    def _fit(
        self,
        training: Training,
        earlier: Model | None = None,
        seed: int | None = None,
        deadline: Deadline | None = None,
    ) -> Any:
        """Fit the model to checked rows; ``earlier`` has the trees to keep, ``seed`` is drawn unless given."""
        end = Deadline(None) if deadline is None else deadline
        continues = earlier is not None or getattr(self, "warm_start", False)
        n_features = training.X.shape[1]
        params = self._fill(n_features)
        settled = Settled(params, n_features, is_forest=self._is_forest, is_regressor=self._is_regressor)
        if earlier is not None:
            check_continued(earlier, training)
        growth = self._plan(settled, training, earlier)
        method = check_calibrate(params.get("calibrate"), training, continues=continues)
        n_threads = count_threads(self.n_jobs)
        n_kept = count_kept(self.keep_prototypes, training)
        if seed is None:
            seed = draw_seed(self.random_state) if earlier is None else earlier.seed
        key = seed if self._is_forest else 0  # without draws, a tree must not depend on its seed
        sample = training.X.sample(key)
        normalisation, span = normalise(training, settled.normalize, earlier, n_threads, sample)
        profiler = Profiler(training.encoding, sample.X, training.counts or {})
        del sample  # memory is free for growing

        def build(
            training: Training, settled: Settled, growth: Growth, progress: Progress, end: Deadline
        ) -> Model:
            trees = self._grow(training, settled, growth, normalisation, seed, n_threads, progress, end)
            return training.make_model(
                trees if earlier is None else earlier.trees + trees,
                normalisation,
                span,
                seed,
                self._links[0],
                confidence=settled.confidence,
                min_samples_leaf=settled.min_samples_leaf,
            )

        pilot = None
        if settled.chooses_leaf_size and earlier is None:
            pilot = Pilot(training, growth, key, continues=continues)
        n_before = 0 if pilot is None else pilot.n_trees
        n_trees = growth.count_trees(training.n_targets)
        with self._progress(n_before + n_trees * (N_FOLDS + 1 if method else 1)) as progress:
            if pilot is not None:
                own_end = end.take_share(_PILOT_SHARE)
                size = pilot.choose(settled, partial(build, end=own_end), progress, n_threads, own_end)
                settled = settled.with_leaf_size(size)
            elif settled.chooses_leaf_size and earlier is not None and earlier.min_samples_leaf is not None:
                settled = settled.with_leaf_size(earlier.min_samples_leaf)
            own_end = end.take_share(1 / (N_FOLDS + 1) if method else 1)
            model = build(training, settled, growth, shift(progress, n_before), own_end)
            growth = growth.keep(model.n_estimators - (0 if earlier is None else earlier.n_estimators))
            if method is not None:

                def build_part(part: Training, number: int) -> Model:
                    own = scale_draws(growth, training, part, len(growth.betas))
                    n_done = n_before + (number + 1) * n_trees
                    own_end = end.take_share(1 / (N_FOLDS - number))
                    return build(part, settled, own, shift(progress, n_done), own_end)

                model = calibrate(model, training, method, build_part, n_threads, key)
        forest = growth.record
        if forest is not None:
            names = self._tree._get_param_names()
            own = {name: value for name, value in settled.tree_params().items() if name in names}
            forest = replace(forest, tree_parameters=own)
        model = replace(model, prototypes=keep_rows(n_kept, training, seed), forest=forest)
        used = settled.tree_params() | {"n_estimators": model.n_estimators}
        self._model = record_fit(self._finish(model, training), training, profiler, earlier, used)
        return self

    def _grow(
        self,
        training: Training,
        settled: Settled,
        growth: Growth,
        normalisation: Normalisation,
        seed: int,
        n_threads: int,
        progress: Progress,
        end: Deadline,
    ) -> Trees:
        response, exponent = None, 0
        if training.response is not None:
            (response,), exponent = training.responses()
        plan = ForestPlan(
            TreeLabels(training.codes, training.weight, response, training.targets),
            settled,
            normalisation,
            seed,
            growth.counts,
            growth.bootstrap,
            growth.balances,
            growth.shares_classes,
        )
        grow = partial(training.X.grow, plan, n_threads=n_threads)
        if end.end is None:
            grown = grow(growth.first_tree, growth.betas, progress=progress)
        else:
            n_each = growth.count_trees(training.n_targets) // max(1, len(growth.betas))
            grown = grow_until(end, grow, growth.first_tree, growth.betas, n_threads, n_each, progress)
        return self._settle_trees(grown, training, settled, exponent)

    def _settle_trees(
        self, grown: Sequence[dict[str, Any]], training: Training, settled: Settled, exponent: int
    ) -> Trees:
        """Return the trees of the core, given in parts, in units of the response and with smoothed leaves."""
        parts = [Trees(**(scale_up(arrays, exponent) if self._is_regressor else arrays)) for arrays in grown]
        trees = join_trees(parts)
        return trees if self._is_regressor else smooth_leaves(trees, training.prior, settled.smoothing)

    @property
    def min_samples_leaf_(self) -> float:
        """The leaf size in use: ``min_samples_leaf``, or the choice of "auto"."""
        return self._read().min_samples_leaf  # type: ignore[return-value]  # only boosted models have none


class WolfClassifier(Classifier, BaseLHT):
    """Classifiers that predict by the mean of corrected memberships (WOLF)."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities: WOLF values divided by their sum, shape (n, K).

        If all WOLF values of a row are 0, the mean memberships are used instead, and if these are 0, the class prior.
        """
        return self._score(Scorer.proba, X, self._model)  # type: ignore[no-any-return]

    def predict_wolf(self, X: Any) -> NDArray[np.float64]:
        """Return the mean corrected membership d·μ of every row and class, shape (n, K) (WOLF, eq. 17)."""
        return self._score(Scorer.wolf, X, self._model)  # type: ignore[no-any-return]

    def predict_membership(self, X: Any) -> NDArray[np.float64]:
        """Return the mean membership μ of every row and class, shape (n, K) (eq. 15)."""
        return self._score(Scorer.membership, X, self._model)  # type: ignore[no-any-return]

    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the mean confidence d of every row and class, shape (n, K) (eq. 12)."""
        return self._score(Scorer.confidence, X, self._model)  # type: ignore[no-any-return]


@document(ALL, CLASSIFIER, TREE, TREE_CLASSIFIER)
@dataclass(eq=False, repr=False)
class LHTClassifier(WolfClassifier):
    """Learning Hyperplane Tree classifier: an oblique tree with a linear membership function in every leaf.

    The defaults are the paper's method. For accuracy, use ``LHTClassifier(direction="mixed")`` or, if the model may
    have many trees, :class:`LHBoostClassifier`; for a tree to read, use :class:`CompactLHTClassifier`.

    Each class gets a tree that separates it from the rest; two classes share one tree.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    {attributes}
    trees_ : sequence of tree views
        One tree per class, or a single one for two classes.
    min_samples_leaf_ : int or float
        The leaf size in use.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> LHTClassifier().fit(X, y).score(X, y)
    1.0
    """

    _: KW_ONLY
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
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        return Growth(betas=np.array([settled.beta]))


@document(ALL, REGRESSOR, TREE, TREE_REGRESSOR)
@dataclass(eq=False, repr=False)
class LHTRegressor(Regressor, BaseLHT):
    """Learning Hyperplane Tree regressor: one small oblique tree with a linear model in every leaf.

    The hyperplane of a block is cut where the squared error is least. The prediction of a leaf is a linear model of its
    rows, or their mean, and never leaves the range of their responses. Subtrees and slopes that explain less than their
    parameters cost are pruned.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    trees_ : sequence of tree views
        The tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import LHTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LHTRegressor().fit(X, y).predict(X[:1]).round(1)
    array([205.8])
    """

    _: KW_ONLY
    alpha: float = 0.0
    beta: float | str = "auto"
    direction: str = "mixed"
    membership: str = "least_squares"
    normalize: str | None = "robust"
    min_samples_split: float = 2
    min_samples_leaf: float = 20
    max_depth: int | None = None
    max_features: float | str | None = "auto"
    shrinkage: float = 1e-3
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    pruning: float = 1.0
    unseen: str = "missing"
    keep_prototypes: bool | int = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _fill(self, n_features: int) -> dict[str, Any]:
        return {**REGRESSION_SETTINGS, **self.get_params(deep=False)}

    def _plan(self, settled: Settled, training: Training, earlier: Model | None) -> Growth:
        check_number("pruning", self.pruning)
        return Growth(betas=np.array([settled.beta]))

    def _finish(self, model: Model, training: Training) -> Model:
        """Prune the tree."""
        if not self.pruning or training.response is None:
            return model
        leaf = training.X.score(model, "apply", count_threads(self.n_jobs))[:, 0]
        rows = PrunedRows(
            model.normalise(training.X.load().expand()), training.response, training.weight, leaf
        )
        return replace(model, trees=prune(model.trees, rows, float(self.pruning)))
