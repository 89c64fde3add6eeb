"""Heads: how the outputs of trees become predictions, and the words and numbers that describe them.

A model has one head, chosen by ``make_head``. Views, texts, plots, exports and the report read the head's attributes
instead of testing the kind of a model. The arithmetic of a head is in ``cpp/lhtree/score``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from .numbers import NumberFormat

if TYPE_CHECKING:
    from .records import ResponseRecord
    from .trees import Trees

Floats = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Head:
    """The common interface of heads. ``labels`` are the classes as Python values, empty where numbers are predicted."""

    link: str  # name in the core: one of _core.LINKS
    labels: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()  # of several numbers that are predicted

    # Scores of the core that exist, besides the prediction; each is a method of Scorer.
    scores: ClassVar[tuple[str, ...]] = ()
    # Method of the core's scorer that gives the prediction: codes of classes, or numbers.
    predicts: ClassVar[str] = "predict"
    # Sum that the contributions of an explanation add up to: name in explanations, and in sentences.
    total: ClassVar[str] = "membership"
    total_noun: ClassVar[str] = "membership"
    # Noun for the value from which contributions start.
    start_noun: ClassVar[str] = "share in the training data"
    # Score that plots show along features, and its name at an axis.
    degree: ClassVar[str] = "membership"
    degree_noun: ClassVar[str] = "membership μ"
    # Names of the importance by gain, and of the score whose drop is the importance by permutation.
    gain_noun: ClassVar[str] = "share of the gain, corrected for chance"
    quality_noun: ClassVar[str] = "accuracy"
    # Nouns for the model and for one of several estimators, and the methods that give its scores.
    model_noun: ClassVar[str] = "a tree or forest"
    score_methods: ClassVar[str] = "predict_wolf"
    estimator_noun: ClassVar[str] = "tree"
    # Attributes of explanations, for messages about attributes that do not exist.
    remedy: ClassVar[str] = "membership, or proba for probabilities"
    # Columns of a table of blocks that depend on the head, and columns that only linear leaves need.
    block_columns: ClassVar[tuple[str, ...]] = ("n_target", "offset", "intercept")
    linear_columns: ClassVar[tuple[str, ...]] = ()
    # Whether trees are added to a base score (boosting) instead of averaged.
    adds_rounds: ClassVar[bool] = False
    # Whether a block has one value (a mean response or an addition to a score) instead of a share of its target.
    values_blocks: ClassVar[bool] = False
    # Whether one tree has the shares or values of all classes or outputs.
    shares_classes: ClassVar[bool] = False

    @property
    def outputs(self) -> tuple[Any, ...]:
        """One entry per column of the output: the classes, the names of several numbers, or None for one number."""
        return self.labels or self.names or (None,)

    @property
    def n_outputs(self) -> int:
        """Number of columns of the output."""
        return len(self.outputs)

    @property
    def n_targets(self) -> int:
        """Trees per estimator: two classes share one tree."""
        return self.n_scores

    @property
    def n_scores(self) -> int:
        """Number of raw scores: two classes share one."""
        return 1 if len(self.labels) == 2 else self.n_outputs

    @property
    def predicts_classes(self) -> bool:
        """Whether the prediction is a class."""
        return bool(self.labels)

    @property
    def first_target(self) -> int:
        """Class of the first tree of an estimator; the others follow in order."""
        return int(len(self.labels) == 2)

    def spread(self, of_targets: Floats, mirror: Callable[[Any], Any], axis: int = -1) -> Floats:
        """Return values by class from values by target along an axis: with two classes, the first mirrors the second.

        ``mirror`` gives the value of the other class: 1 - v for memberships, v for confidences, -v for contributions.
        """
        if self.n_targets == self.n_outputs or self.shares_classes:
            return of_targets
        return np.concatenate([mirror(of_targets), of_targets], axis=axis)

    def choose(self, table: Mapping[type[Head], T]) -> T:
        """Return the entry of a table by head for the class of this head, or for its nearest base class."""
        return next(table[kind] for kind in type(self).__mro__ if kind in table)

    def by_output(self, values: Sequence[Any]) -> Any:
        """Return a dict with one entry per class or output, or the single value where one number is predicted."""
        return values[0] if self.outputs == (None,) else dict(zip(self.outputs, values, strict=True))

    def decode(self, predicted: NDArray[Any]) -> list[Any]:
        """Return predictions of the core as Python values: labels, or numbers."""
        return [self.labels[code] for code in predicted.tolist()] if self.labels else predicted.tolist()

    def name_total(self, label: Any) -> str:
        """Return the noun of the total of one class: "raw score of A"; "prediction" where a number is predicted."""
        return f"{self.total_noun} of {label}" if self.labels else self.total_noun

    @property
    def is_log(self) -> bool:
        """Whether the raw score is the logarithm of the prediction."""
        return self.link == "log"

    @property
    def is_sorted(self) -> bool:
        """Whether the outputs of every row are sorted: several quantiles."""
        return self.link == "sorted"

    @property
    def contribution_noun(self) -> str:
        """Noun of the sum to which features contribute."""
        return self.total_noun

    def average(self, total: Any, n_estimators: int) -> Any:
        """Return the sum over all trees as a part of the total: divided by the number of estimators, or as it is."""
        return total if self.adds_rounds else total / n_estimators

    def mirror_total(self, total: Any) -> Any:
        """Return the total of the first of two classes from the total of the second."""
        return 1.0 - total

    @property
    def distinct_scores(self) -> tuple[str, ...]:
        """Scores that differ from the prediction."""
        return self.scores

    def block_format(self, outcome: Floats, response: ResponseRecord | None, decimals: int) -> NumberFormat:
        """Return the number format of the outcomes of a tree's blocks."""
        return NumberFormat(decimals)

    def write_block(self, value: float, number_format: NumberFormat) -> str:
        """Format the outcome of a block: a mean as it is, an addition with its sign."""
        return number_format.sign(value)

    def reference_value(self, outcome: Floats) -> float:
        """Return the value with which the values of other blocks of a tree are compared."""
        return 0.0

    def block_outcome(self, trees: Trees) -> Floats:
        """Return the outcome of every block: the share of its target, clipped like the membership of a leaf.

        A tree of all classes has the share of the majority class.
        """
        share = trees.n_target / trees.weight
        return np.clip(share, trees.low, trees.high) if "low" in trees.arrays() else share

    def amounts(self, response: ResponseRecord | None) -> NumberFormat:
        """Return the number format of contributions and totals."""
        return NumberFormat()


@dataclass(frozen=True)
class WolfHead(Head):
    """WOLF: the mean of d·μ over the trees of a class, divided by the sum over the classes. The paper's head."""

    scores: ClassVar[tuple[str, ...]] = ("wolf", "membership", "confidence")


class _JointTrees:
    """Properties of heads whose trees serve all classes or outputs."""

    shares_classes: ClassVar[bool] = True

    @property
    def n_targets(self) -> int:
        """One tree per estimator or round."""
        return 1

    @property
    def first_target(self) -> int:
        """-1: the tree has no class of its own."""
        return -1


@dataclass(frozen=True)
class SharesHead(_JointTrees, WolfHead):
    """Class shares: one tree for all classes, with the share of every class in every block."""


@dataclass(frozen=True)
class MeanHead(Head):
    """The mean of the estimates of all trees: a regression tree, forest or compact tree."""

    predicts: ClassVar[str] = "value"
    model_noun: ClassVar[str] = "a regression"
    score_methods: ClassVar[str] = "predict"
    total: ClassVar[str] = "prediction"
    total_noun: ClassVar[str] = "prediction"
    start_noun: ClassVar[str] = "mean response"
    remedy: ClassVar[str] = "prediction, or base and contributions, which add up to it"
    block_columns: ClassVar[tuple[str, ...]] = ("offset", "value")
    linear_columns: ClassVar[tuple[str, ...]] = ("intercept", "low", "high")
    degree: ClassVar[str] = "value"
    degree_noun: ClassVar[str] = "prediction"
    quality_noun: ClassVar[str] = "R²"
    values_blocks: ClassVar[bool] = True

    def block_format(self, outcome: Floats, response: ResponseRecord | None, decimals: int) -> NumberFormat:
        """Return the number format of predictions."""
        return self.amounts(response)

    def write_block(self, value: float, number_format: NumberFormat) -> str:
        """Format a mean response."""
        return number_format.write(value)

    def reference_value(self, outcome: Floats) -> float:
        """Return the mean response of the root."""
        return float(outcome[0])

    def block_outcome(self, trees: Trees) -> Floats:
        """Return the mean response of every block."""
        return trees.values

    def amounts(self, response: ResponseRecord | None) -> NumberFormat:
        """Return a number format for the range of the response."""
        return NumberFormat() if response is None else NumberFormat.over(response.low, response.high)


@dataclass(frozen=True)
class RawScoreHead(Head):
    """A base score and the sum of all trees, passed through a link: boosted classifiers."""

    scores: ClassVar[tuple[str, ...]] = ("raw_score",)
    model_noun: ClassVar[str] = "a boosted model"
    score_methods: ClassVar[str] = "decision_function for raw scores, or predict_proba"
    total: ClassVar[str] = "raw_score"
    total_noun: ClassVar[str] = "raw score"
    start_noun: ClassVar[str] = "base"
    estimator_noun: ClassVar[str] = "round"
    remedy: ClassVar[str] = "raw_score, or proba for probabilities"
    block_columns: ClassVar[tuple[str, ...]] = ("offset", "missing", "value")
    linear_columns: ClassVar[tuple[str, ...]] = ("intercept", "low", "high")
    degree: ClassVar[str] = "proba"
    degree_noun: ClassVar[str] = "probability"
    gain_noun: ClassVar[str] = "share of the gain"
    adds_rounds: ClassVar[bool] = True
    values_blocks: ClassVar[bool] = True

    def mirror_total(self, total: Any) -> Any:
        """Return the raw score of the first of two classes."""
        return -total

    def block_outcome(self, trees: Trees) -> Floats:
        """Return the value that every block adds to the raw score."""
        return trees.values


@dataclass(frozen=True)
class JointScoreHead(_JointTrees, RawScoreHead):
    """Raw scores of more than two classes: one tree per round, with a value of every class in every block."""

    def block_outcome(self, trees: Trees) -> Floats:
        """Return the value of the class that every block raises most."""
        return np.maximum.reduceat(trees.value, trees.value_ptr[:-1])


@dataclass(frozen=True)
class NumberScoreHead(RawScoreHead):
    """A raw score with the identity or the logarithm as its link: boosted regressors."""

    predicts: ClassVar[str] = "value"
    model_noun: ClassVar[str] = "a regression"
    score_methods: ClassVar[str] = "predict"
    total_noun: ClassVar[str] = "prediction"
    remedy: ClassVar[str] = MeanHead.remedy
    degree: ClassVar[str] = "value"
    degree_noun: ClassVar[str] = "prediction"
    quality_noun: ClassVar[str] = "R²"

    @property
    def contribution_noun(self) -> str:
        """Noun of the sum: the prediction, or its logarithm."""
        return "log of the prediction" if self.is_log else "prediction"

    @property
    def distinct_scores(self) -> tuple[str, ...]:
        """The raw score, if it is a logarithm."""
        return self.scores if self.is_log else ()

    def block_format(self, outcome: Floats, response: ResponseRecord | None, decimals: int) -> NumberFormat:
        """Return a number format for the range of the values of the tree."""
        return NumberFormat.over(float(outcome.min()), float(outcome.max()))

    def amounts(self, response: ResponseRecord | None) -> NumberFormat:
        """Return a number format for the range of the response; logarithms are shown as factors."""
        return (
            NumberFormat()
            if response is None
            else NumberFormat.over(response.low, response.high, is_log=self.is_log)
        )


class _Pooled:
    """Words for ensembles, which add the scores of boosted trees and of a forest."""

    model_noun: ClassVar[str] = "an ensemble"


@dataclass(frozen=True)
class PoolHead(_Pooled, RawScoreHead):
    """Raw scores of boosted trees and of a forest, passed through a link."""


@dataclass(frozen=True)
class JointPoolHead(_Pooled, JointScoreHead):
    """Ensembles with boosted trees of all classes."""


@dataclass(frozen=True)
class NumberPoolHead(_Pooled, NumberScoreHead):
    """The weighted predictions of boosted trees and of a forest."""


@dataclass(frozen=True)
class AdditiveHead(RawScoreHead):
    """A base score and the values of all curves and surfaces, passed through a link: additive classifiers."""

    model_noun: ClassVar[str] = "an additive model"
    estimator_noun: ClassVar[str] = "term"
    gain_noun: ClassVar[str] = "share of the mean absolute value"


@dataclass(frozen=True)
class AdditiveNumberHead(NumberScoreHead):
    """Additive regressors."""

    estimator_noun: ClassVar[str] = AdditiveHead.estimator_noun
    gain_noun: ClassVar[str] = AdditiveHead.gain_noun


@dataclass(frozen=True)
class NumbersHead(NumberScoreHead):
    """Raw scores of several quantiles, which are sorted, or of several responses: one tree of each per round."""

    predicts: ClassVar[str] = "values"
    model_noun: ClassVar[str] = "a regression with several outputs"


@dataclass(frozen=True)
class JointNumbersHead(_JointTrees, NumbersHead):
    """Raw scores of several quantiles or responses: one tree per round, with a value of each in every block."""

    def block_outcome(self, trees: Trees) -> Floats:
        """Return the value of the output that every block changes most."""
        low, high = (of.reduceat(trees.value, trees.value_ptr[:-1]) for of in (np.minimum, np.maximum))
        return np.where(-low > high, low, high)


_HEADS: dict[str, type[Head]] = {
    "wolf": WolfHead,
    "logistic": RawScoreHead,
    "softmax": RawScoreHead,
    "mean": MeanHead,
    "identity": NumberScoreHead,
    "sorted": NumbersHead,
    "log": NumberScoreHead,
}
_ADDITIVE: dict[type[Head], type[Head]] = {RawScoreHead: AdditiveHead, NumberScoreHead: AdditiveNumberHead}
NUMBER_LINKS = tuple(link for link, head in _HEADS.items() if head.predicts == "value")
SEVERAL_LINKS = ("identity", "sorted")  # of models that predict several numbers


def make_head(
    link: str,
    labels: Sequence[Any],
    names: Sequence[str] = (),
    *,
    shares_classes: bool,
    is_pooled: bool = False,
    is_additive: bool = False,
) -> Head:
    """Return the head of a model from its link, its classes or the names of several outputs, and the kind of its trees.

    ``shares_classes`` is whether one tree has the outcomes of all classes or outputs, ``is_additive`` whether trees are
    curves and surfaces.
    """
    if names:
        return (JointNumbersHead if shares_classes else NumbersHead)(link, (), tuple(names))
    if is_pooled:
        of_classes = JointPoolHead if shares_classes else PoolHead
        return (of_classes if labels else NumberPoolHead)(link, tuple(labels))
    joint = SharesHead if link == "wolf" else JointScoreHead
    kind = joint if shares_classes else _HEADS[link]
    return (_ADDITIVE[kind] if is_additive else kind)(link, tuple(labels))
