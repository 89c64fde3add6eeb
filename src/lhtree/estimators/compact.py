"""Compact trees: one small tree of all classes, or for a number, that fits on one page."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._parameters import (
    COMPACT_MEMBERSHIPS,
    UNSEEN,
    check_count,
    check_number,
    choose,
    draw_seed,
    is_auto,
    refuse,
)
from ..grow.compact import CompactPlan, choose_penalty, count_pilots, count_tasks, grow, measure_fit, settle
from ..grow.compact_trees import build_trees
from ..grow.forest import count_kept, keep_rows
from ..grow.rounding import round_to_scale
from ..grow.training import Training, shift
from ..model.profile import Profiler
from ..model.records import CompactRecord
from ..model.trees import bound_values
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

MOST_LEAVES = 256
_CENTRE_DIGITS = 2  # of their scale; more digits would not change predictions noticeably
_COMPACT = """
max_leaf_nodes : int
    Maximum number of leaves, at most 256.
max_terms : int
    Maximum number of features of a hyperplane.
min_samples_leaf : int
    Minimum weight of a leaf.
max_passes : int
    Maximum number of times the whole tree is solved again after each step of growth; 0 is greedy growth.
categorical_features : "from_dtype", None or list
    Categorical columns, each category of which is one term ("colour = red"), up to ``max_one_hot`` categories.
    "from_dtype": the string and categorical columns of a pandas or polars DataFrame. A list gives names, indices
    or a mask. None: all columns are numeric.
random_state : int, RandomState or None
    Random seed for drawing stored rows; nothing else is random, ``penalty="auto"`` included.
"""
_CLASSIFIER = """
penalty : float or "auto"
    Cost of a term or a leaf; larger values give smaller trees. The sum of the Brier scores of all n rows has to
    fall by ``penalty`` · 0.15 · ln(n) for each. "auto" chooses a value from 1 to 10 (``penalty_``): trees grown from
    one half of the rows are pruned and judged on the other half, which about doubles the time of a fit.
membership : {"constant", "linear"}
    What a leaf predicts: the shares of the classes in it or, for two classes only, a linear function of the
    features on its path.
digits : int or None
    Significant digits of the weights; offsets get few digits, too. None: no rounding.
max_one_hot : int
    A categorical column with more categories becomes target statistics: one feature per class (one for two
    classes), the share of the class among the training rows of the category, shrunk towards that of all rows.
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": if the indicator is correlated with a class by more than chance. A missing value is
    replaced by the centre of its feature, which is printed with the tree.
"""
_REGRESSOR = """
penalty : float or "auto"
    Cost of a term or a leaf; larger values give smaller trees. The sum of the squared errors of all n rows has to
    fall by ``penalty`` · 0.3 · ln(n) times the variance of the response for each. "auto" chooses a value from 1 to 10
    (``penalty_``): trees grown from one half of the rows are pruned and judged on the other half, which about doubles
    the time of a fit.
membership : {"constant", "linear"}
    What a leaf predicts: the mean response of its rows, or a linear function of the features on its path, which
    never leaves the range of their responses.
digits : int or None
    Significant digits of the weights, and digits of what leaves predict, counted from the first digit of the
    standard deviation of the response; offsets get few digits, too. None: no rounding.
max_one_hot : int
    A categorical column with more categories becomes one feature, its target statistic: the mean response of the
    training rows of the category, shrunk towards that of all rows.
missing_indicator : bool or "auto"
    Whether a numeric column with at least 5 missing values also gives an indicator feature: 1 where the value is
    missing, else 0. "auto": if the indicator is correlated with the response by more than chance. A missing value
    is replaced by the centre of its feature, which is printed with the tree.
"""


class BaseCompact(Predictor):
    """The fit of one compact tree."""

    direction: ClassVar[str] = "mixed"  # how missing values are treated

    def _fit(self, training: Training) -> Any:
        plan = self._settle(training)
        n_kept = count_kept(self.keep_prototypes, training)
        n_threads, seed = count_threads(self.n_jobs), draw_seed(self.random_state)
        sample = training.X.sample(0)  # nothing is random
        normalisation, span = normalise(training, "robust", None, n_threads, sample)
        profiler = Profiler(training.encoding, sample.X, training.counts or {})
        centre = normalisation.centre
        if plan.digits is not None:
            centre = round_to_scale(centre, normalisation.scale, _CENTRE_DIGITS)
        # 1.79e308 is rounded to infinity, but bounded.
        normalisation = Normalisation(bound_values(centre, centre), normalisation.scale)

        chooses = is_auto(self.penalty)
        n_before = count_tasks(plan) * count_pilots(training) if chooses else 0
        with self._progress(n_before + count_tasks(plan), "growing the tree") as progress:
            if chooses:
                plan = choose_penalty(training, plan, normalisation, n_threads, progress)
            grown = grow(training, plan, normalisation, n_threads, shift(progress, n_before))
        tree, leaf = settle(grown, plan, normalisation)
        loss = measure_fit(training, grown.leaf) - measure_fit(training, leaf, plan.digits)
        model = training.make_model(
            build_trees(tree, leaf, grown.rows, training, normalisation, plan),
            normalisation,
            span,
            seed,
            self._links[0],
            min_samples_leaf=int(plan.min_samples_leaf),
            prototypes=keep_rows(n_kept, training, seed),
            compact=CompactRecord(plan.penalty, loss, tuple(grown.arrays["objective"].tolist())),
        )
        used = {name: getattr(plan, name) for name in ("penalty", "max_leaf_nodes", "max_terms", "digits")}
        self._model = record_fit(
            model, training, profiler, None, used | {"min_samples_leaf": plan.min_samples_leaf}
        )
        return self

    def _settle(self, training: Training) -> CompactPlan:
        """Return the checked parameters; the penalty is 1 if it is to be chosen."""
        choose("unseen", self.unseen, UNSEEN)
        membership = choose("membership", self.membership, COMPACT_MEMBERSHIPS)
        if membership == "linear" and len(training.classes) > 2:
            raise refuse(
                "membership",
                membership,
                f"'constant' for {len(training.classes)} classes: linear leaves need two",
            )
        if isinstance(self.penalty, str) and not is_auto(self.penalty):
            raise refuse("penalty", self.penalty, "'auto' or a number of at least 0")
        max_leaf_nodes = check_count("max_leaf_nodes", self.max_leaf_nodes, 2)
        if max_leaf_nodes > MOST_LEAVES:
            raise refuse(
                "max_leaf_nodes",
                max_leaf_nodes,
                f"at most {MOST_LEAVES}, or use LHTClassifier for large trees",
            )
        digits = self.digits
        if digits is not None and (check_count("digits", digits, 1) > 15):
            raise refuse("digits", digits, "None (no rounding) or an integer from 1 to 15")
        return CompactPlan(
            penalty=1.0 if is_auto(self.penalty) else check_number("penalty", self.penalty),
            max_leaf_nodes=max_leaf_nodes,
            max_terms=min(check_count("max_terms", self.max_terms, 1), 2**62),
            min_samples_leaf=float(min(check_count("min_samples_leaf", self.min_samples_leaf, 1), 2**53)),
            max_passes=min(check_count("max_passes", self.max_passes, 0), 2**62),
            digits=None if digits is None else int(digits),
            is_linear=membership == "linear",
        )

    @property
    def penalty_(self) -> float:
        """The penalty in use: ``penalty``, or the choice of "auto"."""
        return self._record.penalty

    @property
    def rounding_loss_(self) -> float:
        """Training accuracy (for a regressor, R²) before rounding to ``digits`` minus that after it."""
        return self._record.rounding_loss

    @property
    def objective_(self) -> NDArray[np.float64]:
        """Objective of every tree that was kept while growing, before rounding; it never rises."""
        return np.array(self._record.objective)

    @property
    def n_terms_(self) -> int:
        """Number of terms of all hyperplanes."""
        return len(self._read().trees.hyperplane_weight)

    @property
    def _record(self) -> CompactRecord:
        return self._read().compact  # type: ignore[return-value]  # all compact trees have it


@document(ALL, CLASSIFIER, _COMPACT, _CLASSIFIER)
@dataclass(eq=False, repr=False)
class CompactLHTClassifier(BaseCompact, Classifier):
    """One small tree for all classes, made to be read: it cuts along weighted sums of columns.

    The tree has at most ``max_leaf_nodes`` leaves and hyperplanes of at most ``max_terms`` features. It is not grown
    greedily: its blocks are solved again and again, each given the subtrees below it, until the Brier score plus a
    penalty for every term and leaf no longer falls. Weights and offsets are then written in the user's units with few
    digits, and the tree predicts with exactly these numbers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The classes in ascending order.
    {attributes}
    trees_ : sequence of tree views
        The tree.
    n_terms_ : int
        Number of terms of all hyperplanes.
    penalty_ : float
        The penalty in use.
    rounding_loss_ : float
        Training accuracy before rounding minus that after it.
    objective_ : array
        Objective of every tree that was kept while growing.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import CompactLHTClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = CompactLHTClassifier().fit(X, y)
    >>> model.n_leaves_, round(model.score(X, y), 3)
    (3, 1.0)
    """

    _: KW_ONLY
    max_leaf_nodes: int = 16
    max_terms: int = 8
    penalty: float | str = "auto"
    min_samples_leaf: int = 5
    membership: str = "constant"
    max_passes: int = 20
    digits: int | None = 3
    class_weight: dict[Any, float] | str | None = None
    positive: Any = None
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    keep_prototypes: bool | int = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0


@document(ALL, REGRESSOR, _COMPACT, _REGRESSOR)
@dataclass(eq=False, repr=False)
class CompactLHTRegressor(BaseCompact, Regressor):
    """One small tree that predicts a number, made to be read: it cuts along weighted sums of columns.

    The tree has at most ``max_leaf_nodes`` leaves and hyperplanes of at most ``max_terms`` features. It is not grown
    greedily: its blocks are solved again and again, each given the subtrees below it, until the squared error plus
    a penalty for every term and leaf no longer falls. Weights and offsets are then written in the user's units with few
    digits, and the tree predicts with exactly these numbers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    trees_ : sequence of tree views
        The tree.
    n_terms_ : int
        Number of terms of all hyperplanes.
    penalty_ : float
        The penalty in use.
    rounding_loss_ : float
        Training R² before rounding minus that after it.
    objective_ : array
        Objective of every tree that was kept while growing.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import CompactLHTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CompactLHTRegressor().fit(X, y)
    >>> model.n_leaves_, round(model.score(X, y), 3)
    (4, 0.546)
    """

    _: KW_ONLY
    max_leaf_nodes: int = 16
    max_terms: int = 8
    penalty: float | str = "auto"
    min_samples_leaf: int = 5
    membership: str = "constant"
    max_passes: int = 20
    digits: int | None = 3
    categorical_features: Any = "from_dtype"
    max_one_hot: int = 20
    missing_indicator: bool | str = "auto"
    unseen: str = "missing"
    keep_prototypes: bool | int = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
