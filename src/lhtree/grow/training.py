"""Training data: the first half of every fit, for rows in memory, in batches and on Dask workers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from ..model.profile import CategoryCounts, count_categories
from ..model.records import ResponseRecord, scale_down
from ..model.trees import Trees
from ..tables.encoders import TargetStatistic
from ..tables.encoding import Encoding
from ..tables.labels import find_class
from ..tables.learn import Wanted
from ..tables.normalise import Normalisation, Span
from ..tables.statistics import add_statistics, drop_indicators, learn_statistics, wants_indicators
from .labels import Progress, settle_labels
from .sources import RowSource, TableSource


class Training(NamedTuple):
    """Training rows: encoded features, labels and weights, without rows of weight 0."""

    X: RowSource
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None  # None where every row weighs 1
    prior: NDArray[np.float64]
    row: NDArray[np.int64] | None  # where each row was given, if some are gone
    n_given: int
    encoding: Encoding
    # Responses of a regression, shape (n,) or (n, k); codes are then 0, without classes and prior.
    response: NDArray[np.float64] | None = None
    response_names: tuple[str, ...] = ()  # of several responses
    levels: dict[int, NDArray[np.int64]] | None = None  # categories of columns that have target statistics
    positive: int | None = None  # index of the class of interest
    target: str | None = None  # name of the response
    fingerprint: str | None = None  # hash of rows and responses in memory
    counts: CategoryCounts | None = None  # rows of every category; None with the encoding of an earlier model

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def predict_rows(self, rows: NDArray[np.integer]) -> NDArray[Any]:
        """Return all features of some rows, as predictions encode them: with target statistics of all rows."""
        taken = self.X[rows].load().expand()
        for column, levels in (self.levels or {}).items():
            encoder = self.encoding.encoders[column]
            assert isinstance(encoder, TargetStatistic)
            taken[:, self.encoding.features_of(column)] = encoder.place(levels[rows])
        return taken

    def take(self, rows: NDArray[np.int64]) -> Training:
        """Return some of the rows."""
        return self._replace(
            X=self.X[rows],
            codes=self.codes[rows],
            weight=None if self.weight is None else self.weight[rows],
            row=rows if self.row is None else self.row[rows],
            response=None if self.response is None else self.response[rows],
            levels=None,
        )

    @property
    def n_targets(self) -> int:
        """Trees per estimator: one tree serves two classes."""
        return 1 if len(self.classes) == 2 or self.response is not None else len(self.classes)

    @property
    def targets(self) -> NDArray[np.int32]:
        """The classes that trees separate from the rest; 0 of a regression."""
        n_classes = max(len(self.classes), 1)
        return np.arange(n_classes - self.n_targets, n_classes, dtype=np.int32)

    def responses(self) -> tuple[NDArray[Any], int]:
        """Return responses that trees are grown from, a row per target: 0 and 1, or numbers divided by 2**exponent."""
        if self.response is None:
            return (self.codes == self.targets[:, None]).astype(np.uint8), 0
        scaled, exponent = scale_down(self.response)
        return scaled[None], int(exponent)

    def raw_responses(self) -> NDArray[Any]:
        """Return responses that target statistics are means of, a row per target."""
        if self.response is None:
            is_class: NDArray[np.bool_] = self.codes == self.targets[:, None]
            return is_class
        return self.response[None] if self.response.ndim == 1 else np.ascontiguousarray(self.response.T)

    def target_names(self) -> list[str]:
        """Return names of the targets, where there are several."""
        if self.response_names:
            return list(self.response_names)
        return [str(label) for label in self.classes.tolist()] if self.n_targets > 1 else []

    def record(self) -> ResponseRecord | None:
        """Return the record of the responses in the model of a regression."""
        return None if self.response is None else ResponseRecord.of(self.response, self.weight)

    def make_model(
        self, trees: Trees, normalisation: Normalisation, span: Span, seed: int, link: str, **own: Any
    ) -> Model:
        """Return the model of trees grown from these rows; ``own`` has the facts that not all models have."""
        return Model(
            trees=trees,
            encoding=self.encoding,
            normalisation=normalisation,
            span=span,
            classes=self.classes,
            prior=self.prior,
            positive=self.positive,
            seed=seed,
            link=link,
            response=self.record(),
            n_rows=self.n_rows,
            **{"confidence": None} | own,
        )


def prepare(estimator: Any, table: TableSource, earlier: Model | None = None) -> Training:
    """Learn the columns, encode the rows, check the labels, and add features that depend on the responses.

    With an ``earlier`` model, columns become features as in that model.
    """
    counts = None
    if earlier is None:
        gaps = wants_indicators(getattr(estimator, "missing_indicator", False), estimator.direction)
        wanted = Wanted(estimator.categorical_features, gaps, table.as_categories, table.parts)
        summary = table.summarise(wanted)
        encoding = summary.finish(estimator.max_one_hot)
        counts = count_categories(encoding, summary.columns)
    else:
        encoding = earlier.encoding.to_numbers()
    X, given = table.encode(encoding)
    labels = settle_labels(estimator, given.y, given.weight)
    training = Training(
        X,
        labels.codes,
        labels.classes,
        labels.weight,
        labels.prior,
        given.row,
        given.n_given,
        encoding,
        labels.response,
        given.response_names,
        positive=_find_positive(estimator, labels.classes),
        target=table.target,
        fingerprint=X.find_fingerprint(labels.codes if labels.response is None else labels.response),
        counts=counts,
    )
    if earlier is None and encoding.is_indicator.any():
        training = _drop_indicators(training, if_unrelated=isinstance(estimator.missing_indicator, str))
    return _add_statistics(training, earlier) if training.encoding.counted else training


def _find_positive(estimator: Any, classes: NDArray[Any]) -> int | None:
    """Return the index of the class of interest, if the estimator names one."""
    positive = getattr(estimator, "positive", None)
    return None if positive is None else find_class(positive, classes.tolist(), "positive")


def _drop_indicators(training: Training, *, if_unrelated: bool) -> Training:
    """Drop indicators of few missing values and, if wanted, indicators unrelated to the responses."""
    before, X = training.encoding, training.X
    indicators, responses = X.read_indicators(before), training.raw_responses()
    after = drop_indicators(before, indicators, responses, training.weight, if_unrelated=if_unrelated)
    return (
        training if after == before else training._replace(X=X.drop_indicators(before, after), encoding=after)
    )


def _add_statistics(training: Training, earlier: Model | None) -> Training:
    """Replace numbers of categories by target statistics of the rows in other folds."""
    numbers, X = training.encoding, training.X
    parts = X.read_levels(numbers)
    learned = learn_statistics(numbers, parts, training.raw_responses(), training.weight)
    known = None if earlier is None else earlier.encoding
    encoding = known or add_statistics(numbers, learned, training.target_names())
    placed = X.place_statistics(numbers, encoding, learned)
    return training._replace(X=placed, encoding=encoding, levels=X.keep_levels(numbers))


def check_continued(earlier: Model, training: Training) -> None:
    """Check that the data have the columns and classes of an earlier fit (``warm_start``)."""
    if not np.array_equal(earlier.classes, training.classes):
        raise ValueError(
            f"y has the classes {training.classes.tolist()}, but the model has {earlier.classes.tolist()}: "
            "pass the same classes with warm_start=True, or refit with warm_start=False."
        )


def shift(progress: Progress, n_done: int) -> Progress:
    """Report progress that continues after some trees."""
    if progress is None or n_done == 0:
        return progress
    return lambda n: progress(n_done + n)
