"""The frozen result of a fit, which predictions, explanations, files and exports read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import is_integer, refuse
from ..tables.encoding import Encoding
from ..tables.frames import refuse_infinity
from ..tables.labels import find_class
from ..tables.normalise import Normalisation, Span
from ..tables.rows import EncodedRows
from .heads import Head, make_head
from .numbers import NumberFormat
from .profile import JointSpread, Summary, TableProfile
from .records import (
    AdditiveRecord,
    BoostRecord,
    Calibration,
    CompactRecord,
    ForestRecord,
    OutputRecord,
    Prototypes,
    Provenance,
    ResponseRecord,
)
from .shares import memberships_at, take_output
from .trees import Trees

# How the sums of trees become predictions. "wolf" is the paper's: the mean of d·μ over the trees of a class. Boosted
# models have raw scores, which become probabilities: "logistic" for two classes, "softmax" for more. A regression takes
# the mean of its trees' estimates ("mean") or, if boosted, its raw score ("identity") or e to its power ("log"); the
# raw scores of several quantiles are sorted ("sorted").
LINKS = _core.LINKS
CLIP = _core.CLIP  # bound of normalised values
_STAGED_VALUES = 1 << 22  # raw scores that are computed at a time


@dataclass(frozen=True, eq=False)
class Model:
    """Everything an estimator has learned; ``read`` returns it."""

    trees: Trees
    encoding: Encoding  # how the columns of a table become features
    normalisation: Normalisation
    span: Span  # least and largest training value of every feature, in the user's units
    classes: NDArray[Any]  # empty for a regression
    prior: NDArray[np.float64]  # share of every class
    confidence: str | None  # "last", "path" or None, never "auto"
    seed: int
    link: str = "wolf"
    # Raw score of every target before the first tree, shape (n_targets,); None unless the model is boosted.
    base: NDArray[np.float64] | None = None
    clip: float = CLIP  # bound of normalised values in blocks of several features and in slopes
    prototypes: Prototypes | None = None
    forest: ForestRecord | None = None  # of forests only
    boost: BoostRecord | None = None  # of boosted models only
    compact: CompactRecord | None = None  # of compact trees only
    additive: AdditiveRecord | None = None  # of additive models only
    calibration: Calibration | None = None
    min_samples_leaf: float | None = None  # in use; None for boosted models
    response: ResponseRecord | None = None  # of regressions only
    positive: int | None = None  # index of the class of interest; None: not declared, or a regression
    outputs: tuple[OutputRecord, ...] = ()  # of boosted regressions with several outputs only
    n_rows: int | None = None  # training rows, including those held out for early stopping; None: unknown
    pool: Pool | None = None  # of ensembles only
    summary: Summary | None = None  # of the training table; None: too many columns
    provenance: Provenance | None = None
    declared: dict[str, list[str]] | None = (
        None  # columns by what counterfactuals may do with them (``DECLARED``)
    )

    @cached_property
    def scorer(self) -> _core.Scorer:
        """The scorer of the core, built on first use; raises ValueError if the arrays are invalid."""
        return _core.Scorer(
            self.trees.arrays(),
            centre=self.normalisation.centre,
            scale=self.normalisation.scale,
            prior=self.prior,
            confidence=self.confidence,
            link=self.link,
            base=self.base,
            clip=self.clip,
            calibration=None if self.calibration is None else self.calibration.parts,
            companion=None if self.pool is None else self.pool.forest.scorer,
            weight=0.0 if self.pool is None else self.pool.weight,
        )

    @cached_property
    def takes(self) -> Callable[[Any], bool]:
        """Whether X is an exact array that goes to the scorer as it is."""
        return self.scorer.takes if self.encoding.takes_arrays else takes_nothing

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @property
    def profile(self) -> TableProfile | None:
        """Distributions of the columns and of the score in the training table."""
        return None if self.summary is None else self.summary.read()[0]

    @property
    def joint(self) -> JointSpread | None:
        """How the training rows spread jointly."""
        return None if self.summary is None else self.summary.read()[1]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, … if X had none."""
        return self.encoding.feature_names

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of X; the same as the features if none is categorical."""
        return list(self.encoding.names)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.encoding.n_features

    def name_values(self, x: NDArray[Any]) -> dict[str, Any]:
        """Return values of a row by column, in original units and categories."""
        return self.encoding.decode(x)

    def encode(self, X: Any, asked: Any = None) -> NDArray[Any]:
        """Return rows of a table as the numbers that the scorer takes, shape (n, m).

        ``asked`` is the estimator or Scorer: messages name it, and it defines how unseen categories are treated.
        """
        return self.code(X, asked).expand()

    def code(self, X: Any, asked: Any = None) -> EncodedRows:
        """Return rows of a table, with codes instead of a feature per category."""
        unseen = getattr(asked, "unseen", "missing")
        return self.encoding.code(
            X, unseen=unseen, owner="the model" if asked is None else type(asked).__name__
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def labels(self) -> list[Any]:
        """The classes as plain Python values."""
        return [label.item() if isinstance(label, np.generic) else label for label in self.classes.tolist()]

    def find_positive(self, positive: Any = None) -> int | None:
        """Return the index of the class of interest: the class passed, else the declared one; None without both."""
        return self.positive if positive is None else find_class(positive, self.labels, "positive")

    @cached_property
    def head(self) -> Head:
        """The object that turns outputs of trees into predictions."""
        return make_head(
            self.link,
            self.labels,
            [output.name for output in self.outputs],
            shares_classes=self.trees.is_joint,
            is_pooled=self.pool is not None,
            is_additive=self.additive is not None,
        )

    @property
    def has_wolf(self) -> bool:
        """Whether trees give memberships and confidences that overlap, as in the paper; a compact tree gives shares."""
        return "wolf" in self.head.scores and not self.trees.has_units

    @property
    def is_clipped(self) -> bool:
        """Whether blocks have values and leaves are linear: their ranges may take a part of estimates away."""
        has_slopes = self.trees.has_slopes or (self.pool is not None and self.pool.forest.is_clipped)
        return self.head.values_blocks and has_slopes

    @cached_property
    def amounts(self) -> NumberFormat:
        """The number format of contributions and totals."""
        return self.head.amounts(self.response)

    @cached_property
    def outcome(self) -> NDArray[np.float64]:
        """The outcome of every block, shape (n_blocks,): the share of its target, its value, or its mean response."""
        return self.head.block_outcome(self.trees)

    def count_class(self, block: int, code: int, share: float) -> float:
        """Return the weight of the rows of a class in a block of a tree of all classes, given its share.

        The leaves of a compact tree hold one row more, dealt to the classes by their prior.
        """
        weight = float(self.trees.weight[block])
        if self.compact is None or self.trees.left[block] >= 0:
            return share * weight
        return round(share * (weight + 1.0) - float(self.prior[code]), 9)

    @cached_property
    def without_calibration(self) -> Model:
        """A copy of the model with uncalibrated probabilities."""
        return self if self.calibration is None else replace(self, calibration=None)

    @property
    def n_outputs(self) -> int:
        """Columns of the output: one per class or number."""
        return self.head.n_outputs

    @property
    def n_targets(self) -> int:
        """Trees per estimator: two classes share one tree, and so do more classes in trees of all classes."""
        return self.head.n_targets

    @property
    def n_estimators(self) -> int:
        """Trees per target."""
        return self.trees.n_trees // self.n_targets

    @property
    def is_counted(self) -> bool:
        """Whether every row weighed 1, so that shares of the weight are shares of the rows.

        The total weight of balanced classes equals the number of rows, so the roots alone do not show it.
        """
        return bool((self.trees.weight == self.trees.n_samples).all())

    def normalise(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """Return normalised values z of rows in original units, shape (n, m); NaN becomes 0."""
        Z = _core.normalise(X, *self.normalisation)
        if Z is None:
            refuse_infinity(X)
        return Z

    def unit_weights(self, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some hyperplane weights per original unit; infinite where a scale is tiny."""
        trees = self.trees
        if trees.has_units:
            return trees.unit_weight[entries]
        return self._per_unit(trees.hyperplane_weight[entries], trees.hyperplane_feature[entries])

    def unit_slopes(self, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some slopes per original unit; infinite where a scale is tiny."""
        trees = self.trees
        if trees.has_units:
            return trees.unit_slope[entries]
        return self._per_unit(trees.membership_slope[entries], trees.membership_feature[entries])

    def _per_unit(self, weight: NDArray[Any], feature: NDArray[Any]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            per_unit: NDArray[np.float64] = weight / self.normalisation.scale[feature]
        return per_unit

    def unit_offsets(
        self, blocks: NDArray[np.int64], unit_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the offsets of some blocks for original units, given their weights, shape (len(blocks), m)."""
        if self.trees.has_units:
            return self.trees.unit_offset[blocks]
        offsets: NDArray[np.float64] = self.trees.offset[blocks] + unit_weights @ self.normalisation.centre
        return offsets

    @property
    def target_of(self) -> NDArray[np.int64]:
        """Index of every tree's target among the targets, shape (n_trees,); 0 for trees of all classes."""
        return self.trees.target - np.int64(self.head.first_target)

    def name_target(self, tree: int) -> Any:
        """Return the class of a tree; None where a number is predicted."""
        return self.labels[int(self.trees.target[tree])] if self.labels else None

    def predict(self, X: Any, n_threads: int = 1) -> list[Any]:
        """Return predictions of rows in original units: labels, or numbers."""
        return self.head.decode(self.score(self.head.predicts, X, n_threads))

    def score(self, method: str, X: NDArray[Any], n_threads: int = 1) -> Any:
        """Return the result of a method of the scorer for rows in original units; infinities are rejected."""
        result = getattr(self.scorer, method)(X, n_threads)
        if result is None:
            refuse_infinity(X)
        return result

    def per_tree(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return membership μ and confidence d of every estimator and class, shape (n, n_estimators, K) each."""
        shape = (len(X), self.n_estimators, self.n_targets)
        membership, confidence = (values.reshape(shape) for values in self.score("per_tree", X))
        if self.head.shares_classes:
            leaves = (self.trees.block_ptr[:-1] + self.score("apply", X)).ravel()
            of_classes = memberships_at(self.trees, leaves, self.prior).reshape(*shape[:2], self.n_classes)
            return of_classes, np.broadcast_to(confidence, of_classes.shape)
        return self.head.spread(membership, lambda v: 1.0 - v), self.head.spread(confidence, lambda v: v)

    def staged_raw_score(self, X: EncodedRows, n_threads: int = 1) -> Iterator[NDArray[np.float64]]:
        """Yield raw scores of a boosted model after every round, shape (n, n_targets) each; the last are its own."""
        if self.base is None:
            raise ValueError("the model is not boosted: it has no raw scores.")
        staged = self.scorer.stage(**X.arguments(), n_threads=n_threads)
        if staged is None:
            refuse_infinity(X.expand())
        n_rounds, step = self.n_estimators, max(1, _STAGED_VALUES // max(len(X) * len(self.base), 1))
        for first in range(0, n_rounds, step):
            yield from staged.next(min(step, n_rounds - first), n_threads)

    def sum_left_out(
        self,
        X: EncodedRows,
        left_out: Iterable[tuple[int, NDArray[np.bool_]]],
        mean: float = 0.0,
        unit: float = 1.0,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return sums over the estimators that did not see a row, in their order, and their number, shape (n,).

        ``left_out`` has the number of an estimator and the rows that it did not see. The sums are those of WOLF values
        and of memberships, shape (n, K) each; with a regression, those of predictions and of
        ``((prediction - mean) / unit)**2``, shape (n, 1) each.
        """
        numbers, rows = [], []
        n_trees = np.zeros(len(X), dtype=np.int64)
        for number, is_out in left_out:
            numbers.append(number)
            rows.append(np.packbits(is_out))
            n_trees += is_out
        packed = np.array(rows, dtype=np.uint8).reshape(len(rows), -(-len(X) // 8))
        own = np.array(numbers, dtype=np.int64), packed
        parts = [
            # Rows that Dask sent to a worker may be unaligned.
            self.scorer.sum_left_out(np.require(batch, None, "A"), *own, where.start, mean, unit, n_threads)
            for where, batch in X.batches()
        ]
        if any(part is None for part in parts):
            refuse_infinity(X.expand())
        first, second = map(np.concatenate, zip(*parts, strict=True))
        return first, second, n_trees

    def interval(self, prediction: NDArray[Any], coverage: float) -> NDArray[np.float64]:
        """Return prediction intervals of a regression, shape (n, 2)."""
        if self.response is None:
            raise AttributeError("only a regression has prediction intervals: use predict_proba.")
        intervals = self.response.interval(prediction, coverage)
        return np.maximum(intervals, 0.0) if self.head.is_log else intervals

    def find_output(self, target: Any) -> int:
        """Return the place of one of several outputs, given its name, its place or, for a quantile, its number."""
        names = [output.name for output in self.outputs]
        if not names:
            raise AttributeError("the model has one output: use it as it is.")
        name = f"{target:.15g}" if isinstance(target, float) else target
        if is_integer(target) and 0 <= target < len(names):
            return int(target)
        if name not in names:
            raise refuse("target", target, f"one of the outputs of the model: {', '.join(map(repr, names))}")
        return names.index(name)

    def output(self, place: int) -> Model:
        """Return the model of one of several outputs alone; a quantile has its raw score, before they are sorted."""
        trees, record = self.trees, self.outputs[place]
        assert self.base is not None
        return replace(
            self,
            trees=take_output(trees, place),
            link="identity",
            base=self.base[place : place + 1],
            response=ResponseRecord(record.low, record.high, record.mean),
            outputs=(),
        )

    def find_place(self, x: NDArray[Any], target: int) -> int:
        """Return the output whose raw score is the prediction of an output for one row: another one if they cross."""
        if not self.head.is_sorted:
            return target
        return int(np.argsort(self.score("raw_score", x)[0], kind="stable")[target])

    def estimator(self, index: int) -> Model:
        """Return the model of estimator ``index`` alone, or of a round of a boosted model: its tree of every target."""
        n = self.n_estimators
        if not is_integer(index):
            raise refuse("index", index, f"an integer from 0 to {n - 1}")
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of range: the model has estimators 0 to {n - 1}.")
        first = range(n)[index] * self.n_targets
        return replace(
            self,
            trees=self.trees.part(first, first + self.n_targets),
            forest=None,
            calibration=None,
            pool=None,
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """The forest of an ensemble, which adds ``weight`` times the logarithm of its memberships to the raw scores.

    In a regression, it adds ``weight`` times its predictions. The trees of the ensemble itself are boosted; their
    values and base are already multiplied by ``boost_weight``.
    """

    forest: Model
    weight: float
    boost_weight: float
    cv_score: float  # minus the log loss, or R², on rows that the members were not fitted on


def has_wolf(model: Any) -> bool:
    """Whether a model of any library has WOLF values."""
    if not hasattr(type(model), "_read"):
        return hasattr(model, "predict_wolf")
    return read(model, takes_numbers=True).has_wolf


def takes_nothing(X: Any) -> bool:
    """Return False: replaces ``Scorer.takes`` if every table must be encoded."""
    return False


def choose_trees(tree: Any, n_trees: int) -> range:
    """Return indices of the trees selected by ``tree``: None for all, or one index."""
    if tree is None:
        return range(n_trees)
    if not is_integer(tree) or not -n_trees <= tree < n_trees:
        raise refuse("tree", tree, f"None (all trees) or an integer from 0 to {n_trees - 1}")
    first = range(n_trees)[tree]
    return range(first, first + 1)


# Attributes of scikit-learn's wrappers that hold the model.
_INSIDE = {
    "Pipeline": ", here its last step, pipeline[-1]; use pickle or joblib to save the whole pipeline",
    "CalibratedClassifierCV": ", here calibrated.calibrated_classifiers_[0].estimator, whose probabilities are not "
    "calibrated; use pickle or joblib to save all of it",
    "GridSearchCV": ", here search.best_estimator_",
    "RandomizedSearchCV": ", here search.best_estimator_",
}


def read(model: Any, *, takes_numbers: bool = False, takes_several: bool = False) -> Model:
    """Return the Model of a fitted estimator or Scorer.

    Regression models are accepted only with ``takes_numbers``, those with several outputs only with ``takes_several``.
    """
    if isinstance(model, Model):
        return _refuse_several(model, takes_several=takes_several)
    if isinstance(model, type) or not hasattr(type(model), "_read"):
        name = type(model).__name__
        kind = f"the class {model.__name__}" if isinstance(model, type) else f"of type {name}"
        raise TypeError(
            f"model is {kind}: pass a fitted {'model' if takes_numbers else 'classifier'} of lhtree"
            f"{_INSIDE.get(name, '')}."
        )
    learned: Model = model._read()
    if not (takes_numbers or learned.head.labels):
        raise TypeError("model predicts a number: pass a classifier.")
    return _refuse_several(learned, takes_several=takes_several)


def _refuse_several(model: Model, *, takes_several: bool) -> Model:
    if model.head.names and not takes_several:
        names = ", ".join(map(repr, model.head.names))
        raise TypeError(f"model has several outputs ({names}): pass model.output(…), a model of one of them.")
    return model


def read_output(model: Any, target: Any) -> Model:
    """Return the Model of a fitted estimator or Scorer or, if it has several outputs, of the output ``target``."""
    learned = read(model, takes_numbers=True, takes_several=True)
    if learned.outputs:
        names = ", ".join(repr(output.name) for output in learned.outputs)
        if target is None:
            raise TypeError(f"target is missing: the model has several outputs, pass one of {names}.")
        return learned.output(learned.find_output(target))
    if target is not None:
        raise refuse("target", target, "None: the model has one output")
    return learned
