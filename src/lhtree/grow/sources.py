"""Row sources: training rows in memory; ``grow.batched`` adds rows in batches, ``lhtree.dask`` rows on workers.

A fit is one recipe over these. A ``TableSource`` is a table whose columns are learned; it becomes a ``RowSource``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.model import Model
from ..tables.encoding import Encoding
from ..tables.frames import refuse_infinity, take_table
from ..tables.labels import check_sample_weight
from ..tables.learn import PartValues, TableSummary, Wanted, find_kept
from ..tables.normalise import Normalisation, Span, learn_normalisation
from ..tables.rows import EncodedRows, find_whole, sample_rows
from ..tables.statistics import (
    Statistics,
    draw_folds,
    drop_numbers,
    place_statistics,
    read_indicators,
    read_levels,
)
from .forest import ForestPlan, draw_again, grow_forest
from .labels import Labelled, Progress, check_labels, name_responses

_ROWS_HASHED = 1 << 14  # at once, so that a copy in the order of rows stays small
Floats = NDArray[np.float64]
Levels = dict[int, NDArray[np.int64]]
LeftOut = tuple[int, NDArray[np.bool_]]
LeftOutSums = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
Show = Callable[[int | None, str], AbstractContextManager[Any]]  # shows the progress of a task


class Given(NamedTuple):
    """Labels and weights of the rows that have weight."""

    y: NDArray[Any] | Labelled
    weight: NDArray[np.float64] | None
    row: NDArray[np.int64] | None  # original numbers of the rows, if some have no weight
    n_given: int
    response_names: tuple[str, ...] = ()  # of several responses


class Sample(NamedTuple):
    """The rows that scales and bins are learned from; ``rows`` are their numbers, None for all."""

    X: EncodedRows
    rows: NDArray[np.int64] | None

    def take(self, values: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return the values of the sampled rows."""
        return values if values is None or self.rows is None else values[self.rows]


class Hold(Protocol):
    """Adds labels to coded rows."""

    def __call__(self, objective: dict[str, Any], labels: dict[str, Any]) -> Any:
        """Return what ``_core.boost_rows`` takes as rows."""


class Coding(NamedTuple):
    """How the rows of a boosted fit are coded."""

    bins: _core.BoostBins
    normalisation: Normalisation
    more: EncodedRows | None  # rows of a validation set
    n_threads: int
    show: Show
    folder: str | None  # of the scratch file with the codes of rows that memory does not hold


class RowSource(ABC):
    """Encoded training rows, wherever they are."""

    n_features: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: NDArray[Any]) -> RowSource:
        """Return some of the rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self), self.n_features

    @abstractmethod
    def load(self) -> EncodedRows:
        """Return all rows in memory."""

    @abstractmethod
    def sample(self, seed: int) -> Sample:
        """Return the rows that scales and bins are learned from."""

    @abstractmethod
    def find_span(self) -> Span:
        """Return ranges of all features."""

    def normalise(
        self,
        sample: Sample,
        weight: NDArray[np.float64] | None,
        how: str | None,
        n_threads: int,
        row: NDArray[np.int64] | None,
    ) -> tuple[Normalisation, Span]:
        """Return scales from the sample, and ranges of all rows; ``row`` has the original numbers of the rows."""
        span = self.find_span()
        return learn_normalisation(sample.X, sample.take(weight), how, n_threads=n_threads), span

    @abstractmethod
    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """Return all indicators of missing values, shape (n, n_indicators)."""

    @abstractmethod
    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """Return the rows without the indicators that only the encoding before has."""

    @abstractmethod
    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Return parts of the rows: the number of the first, and the number of every row's category by column."""

    def keep_levels(self, numbers: Encoding) -> Levels | None:
        """Return numbers of the categories of all rows by column, where they are in memory."""
        return None

    def find_fingerprint(self, labels: NDArray[Any]) -> str | None:
        """Return the hash of rows and labels, where they are in memory."""
        return None

    @abstractmethod
    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """Return the rows with target statistics of the other folds in place of numbers of categories."""

    @abstractmethod
    def score(self, model: Model, method: str, n_threads: int) -> Any:
        """Return the result of a method of the model's scorer."""

    @abstractmethod
    def grow(
        self, plan: ForestPlan, first_tree: int, betas: Floats, n_threads: int, progress: Progress
    ) -> list[dict[str, Any]]:
        """Grow trees, numbered from ``first_tree``, one per target for each beta."""

    @abstractmethod
    def sum_left_out(
        self, model: Model, codes: NDArray[np.int32], n_threads: int, mean: float = 0.0, unit: float = 1.0
    ) -> LeftOutSums:
        """Return the result of ``Model.sum_left_out`` for all rows of a forest."""

    @abstractmethod
    def code(self, how: Coding) -> AbstractContextManager[Hold]:
        """Code the rows, and rows of a validation set after them."""


class TableSource(ABC):
    """A training table whose columns are not yet learned."""

    as_categories: set[str] | None = None  # of a file: the columns that hold categories
    target: str | None = None  # name of the response
    parts = ""  # what messages call parts of the table

    @abstractmethod
    def summarise(self, wanted: Wanted) -> TableSummary:
        """Learn the columns."""

    @abstractmethod
    def encode(self, encoding: Encoding) -> tuple[RowSource, Given]:
        """Encode the rows, and check their labels."""


def drop_rows(estimator: Any, X: RowSource, y: Any, sample_weight: Any) -> tuple[RowSource, Given]:
    """Check labels and weights, and drop rows of weight 0."""
    names, n_given = name_responses(y) if estimator._takes_several else (), len(X)
    y = check_labels(estimator, X, y)
    weight = check_sample_weight(sample_weight, n_given)
    if weight is None or weight.all():
        return X, Given(y, weight, None, n_given, names)
    row = np.flatnonzero(weight)
    return X[row], Given(y[row], weight[row], row, n_given, names)


class MemoryTable(TableSource):
    """A table in memory, of any library."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._owner = type(estimator).__name__
        self._table = take_table(X, self._owner)
        self._estimator, self._y, self._weight = estimator, y, sample_weight
        self.target = name if isinstance(name := getattr(y, "name", None), str) else None
        self._learned: tuple[TableSummary, PartValues] | None = None

    def summarise(self, wanted: Wanted) -> TableSummary:
        """Learn the columns, and keep the categories of the rows."""
        summary = TableSummary(wanted)
        values = summary.add(self._table, find_kept(self._weight, len(self._table)))
        self._learned = summary, values
        return summary

    def encode(self, encoding: Encoding) -> tuple[RowSource, Given]:
        """Encode the rows, and check their labels."""
        if self._learned is None:
            rows = encoding.code(self._table, owner=self._owner)
        else:
            summary, values = self._learned
            rows = summary.encode(encoding, values, self._table)
            self._learned = None
        return drop_rows(self._estimator, MemoryRows(rows), self._y, self._weight)


class MemoryRows(RowSource):
    """Rows in memory."""

    def __init__(self, rows: EncodedRows) -> None:
        self.rows, self.n_features = rows, rows.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[Any]) -> MemoryRows:
        return MemoryRows(self.rows[rows])

    def load(self) -> EncodedRows:
        """Return the rows."""
        return self.rows

    def find_fingerprint(self, labels: NDArray[Any]) -> str | None:
        """Return the hash of the bytes of all encoded rows and labels, row by row."""
        hashed = _core.Hash()
        for part in (self.rows.numbers, self.rows.codes, labels.reshape(len(labels), -1)):
            for first in range(0, len(part) if part.shape[1] else 0, _ROWS_HASHED):
                hashed.add(np.ascontiguousarray(part[first : first + _ROWS_HASHED]))
        return "".join(f"{half:016x}" for half in hashed.finish())

    def sample(self, seed: int) -> Sample:
        """Return all rows, or some of many."""
        rows = sample_rows(len(self), seed)
        return Sample(self.rows if rows is None else self.rows[rows], rows)

    def find_span(self) -> Span:
        """Return ranges of all features."""
        return Span.unknown(self.n_features).widen(self.rows)

    def normalise(
        self,
        sample: Sample,
        weight: NDArray[np.float64] | None,
        how: str | None,
        n_threads: int,
        row: NDArray[np.int64] | None,
    ) -> tuple[Normalisation, Span]:
        """Return scales from the sample, and ranges of all rows; infinities are refused."""
        if sample.rows is None:  # ranges are found on the way
            span = Span.unknown(self.n_features)
            return learn_normalisation(self.rows, weight, how, row, n_threads, span), span
        normalisation, span = super().normalise(sample, weight, how, n_threads, row)
        if span.is_infinite():
            refuse_infinity(self.rows.expand(), row)
        return normalisation, span

    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """Return all indicators of missing values."""
        return read_indicators(encoding, self.rows)

    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """Return the rows without some indicators."""
        return MemoryRows(drop_numbers(before, after, self.rows))

    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Yield all rows as one part."""
        yield 0, read_levels(numbers, self.rows)

    def keep_levels(self, numbers: Encoding) -> Levels | None:
        """Return numbers of the categories of all rows."""
        return read_levels(numbers, self.rows)

    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """Return the rows with target statistics."""
        fold = draw_folds(len(self))
        return MemoryRows(place_statistics(numbers, encoding, self.rows, learned, fold))

    def score(self, model: Model, method: str, n_threads: int) -> Any:
        """Return the result of a method of the model's scorer."""
        return self.rows.score(getattr(model.scorer, method), n_threads)

    def grow(
        self, plan: ForestPlan, first_tree: int, betas: Floats, n_threads: int, progress: Progress
    ) -> list[dict[str, Any]]:
        """Grow all trees in one call of the core."""
        return [grow_forest(self.rows, plan, first_tree, betas, n_threads, progress)]

    def sum_left_out(
        self, model: Model, codes: NDArray[np.int32], n_threads: int, mean: float = 0.0, unit: float = 1.0
    ) -> LeftOutSums:
        """Return sums over the estimators that did not see a row."""
        return model.sum_left_out(self.rows, find_left_out(model, codes), mean, unit, n_threads)

    @contextmanager
    def code(self, how: Coding) -> Iterator[Hold]:
        """Code the rows in memory."""
        codes = code_rows(how.bins, self.rows, how.n_threads)
        if how.more is not None:
            codes = np.concatenate([codes, code_rows(how.bins, how.more, how.n_threads)])
        yield hold_codes(codes, how.bins)


def code_rows(bins: _core.BoostBins, X: EncodedRows, n_threads: int = 1, first: int = 0) -> NDArray[np.uint8]:
    """Return codes of rows, a byte per slot of the bins; ``first`` is the number of the first row, for errors."""
    codes = bins.encode(X.numbers, X.codes if X.has_codes else None, n_threads)
    if codes is None:
        refuse_infinity(X.expand(), np.arange(first, first + len(X)))
    return codes


def hold_codes(codes: NDArray[np.uint8], bins: _core.BoostBins) -> Hold:
    """Return coded rows of this process."""

    def hold(objective: dict[str, Any], labels: dict[str, Any]) -> Any:
        return _core.BoostRows(codes, bins, **objective, **labels)

    return hold


def find_left_out(model: Model, codes: NDArray[np.int32]) -> Iterator[LeftOut]:
    """Number of every estimator that left rows out, and which rows it did not see, shape (n,)."""
    for number, rows in draw_again(model, codes):
        left_out = np.ones(len(codes), dtype=bool)
        left_out[rows] = False
        yield number, left_out


def find_summary_span(
    summary: TableSummary, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
) -> Span:
    """Return the ranges of all features: from the summary of the columns and the target statistics of training rows."""
    span = summary.span(numbers)
    if not learned:
        return span
    wide = Span.unknown(encoding.n_features)
    for column in range(encoding.n_columns):
        to, own = encoding.features_of(column), learned.get(column)
        if own is None:
            for side, known in zip(wide, span, strict=True):
                side[to] = known[numbers.features_of(column)]
        elif own.is_there.any():
            there = own.others[:, own.is_there]
            wide.low[to], wide.high[to], wide.is_whole[to] = (
                there.min(axis=1),
                there.max(axis=1),
                find_whole(there.T),
            )
    return wide
