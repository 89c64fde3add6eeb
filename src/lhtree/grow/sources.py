"""Row sources: training rows in memory or in batches; ``lhtree.dask`` adds rows on Dask workers.

A fit is one recipe over these. A ``TableSource`` is a table whose columns are learned; it becomes a ``RowSource``.
"""

from __future__ import annotations

import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import refuse
from ..io.passes import Batch, Passes, check_room, open_scratch
from ..model.model import Model
from ..tables.encoding import Encoding
from ..tables.frames import refuse_infinity, take_table
from ..tables.labels import check_sample_weight
from ..tables.learn import Kept, PartValues, TableSummary, Wanted, find_kept
from ..tables.normalise import Normalisation, Span, learn_normalisation
from ..tables.rows import EncodedRows, KeyedSample, sample_rows
from ..tables.statistics import (
    Statistics,
    draw_folds,
    drop_numbers,
    place_statistics,
    read_indicators,
    read_levels,
)
from .forest import Draw, ForestPlan, TreeLabels, draw, draw_again, grow_drawn, grow_forest
from .labels import Labelled, check_labels, encode

Levels = dict[int, NDArray[np.int64]]
LeftOut = tuple[int, NDArray[np.bool_]]
Show = Callable[[int | None, str], AbstractContextManager[Any]]  # shows the progress of a task
_ROWS_AT_ONCE = 1 << 20


class Given(NamedTuple):
    """Labels and weights of the rows that have weight."""

    y: NDArray[Any] | Labelled
    weight: NDArray[np.float64] | None
    row: NDArray[np.int64] | None  # original numbers of the rows, if some have no weight
    n_given: int


class Sample(NamedTuple):
    """The rows that scales and bins are learned from; ``rows`` are their numbers, None for all."""

    X: EncodedRows
    rows: NDArray[np.int64] | None

    def take(self, values: NDArray[Any] | None) -> NDArray[Any] | None:
        """The values of the sampled rows."""
        return values if values is None or self.rows is None else values[self.rows]


class AddLeftOut(Protocol):
    """Adds up the predictions of trees for rows that they were not grown from."""

    def __call__(
        self, model: Model, X: EncodedRows, left_out: Iterator[LeftOut] | list[LeftOut]
    ) -> tuple[NDArray[Any], ...]:
        """Return some arrays with a value for every row of X."""


class Hold(Protocol):
    """Adds labels to coded rows."""

    def __call__(self, objective: dict[str, Any], labels: dict[str, Any]) -> Any:
        """Return what ``_core.boost_rows`` takes as rows."""


class RowSource(ABC):
    """Encoded training rows, wherever they are."""

    n_features: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: NDArray[Any]) -> RowSource:
        """Some of the rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self), self.n_features

    @abstractmethod
    def load(self) -> EncodedRows:
        """All rows in memory."""

    @abstractmethod
    def sample(self, seed: int) -> Sample:
        """The rows that scales and bins are learned from."""

    @abstractmethod
    def find_span(self) -> Span:
        """Ranges of all features."""

    def normalise(
        self,
        sample: Sample,
        weight: NDArray[np.float64] | None,
        how: str | None,
        n_threads: int,
        row: NDArray[np.int64] | None,
    ) -> tuple[Normalisation, Span]:
        """Scales from the sample, and ranges of all rows; ``row`` has the original numbers of the rows."""
        span = self.find_span()
        return learn_normalisation(sample.X, sample.take(weight), how, n_threads=n_threads), span

    @abstractmethod
    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """All indicators of missing values, shape (n, n_indicators)."""

    @abstractmethod
    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """The rows without the indicators that only the encoding before has."""

    @abstractmethod
    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Parts of the rows: the number of the first, and the number of every row's category by column."""

    def keep_levels(self, numbers: Encoding) -> Levels | None:
        """Numbers of the categories of all rows by column, where they are in memory."""
        return None

    @abstractmethod
    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """The rows with target statistics of the other folds in place of numbers of categories."""

    @abstractmethod
    def ask(self, model: Model, method: str, n_threads: int) -> Any:
        """The result of a method of the model's scorer."""

    @abstractmethod
    def grow(
        self,
        labels: TreeLabels,
        plan: ForestPlan,
        first_tree: int,
        betas: NDArray[np.float64],
        n_threads: int,
        progress: Callable[[float], None] | None,
    ) -> list[dict[str, Any]]:
        """Grow trees, numbered from ``first_tree``, one per target for each beta."""

    @abstractmethod
    def add_left_out(
        self, add: AddLeftOut, model: Model, codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], ...]:
        """The result of ``add`` for all rows."""

    @abstractmethod
    def code(
        self,
        bins: _core.BoostBins,
        normalisation: Normalisation,
        more: EncodedRows | None,
        n_threads: int,
        show: Show,
        folder: str | None,
    ) -> AbstractContextManager[Hold]:
        """Code the rows by bins, and ``more`` rows of a validation set after them.

        Codes of rows that memory does not hold go to a scratch file in ``folder``.
        """


class TableSource(ABC):
    """A training table whose columns are not yet learned."""

    as_categories: set[str] | None = None  # of a file: the columns that hold categories
    parts = ""  # what messages call parts of the table

    @abstractmethod
    def summarise(self, wanted: Wanted) -> TableSummary:
        """Learn the columns."""

    @abstractmethod
    def encode(self, encoding: Encoding) -> tuple[RowSource, Given]:
        """Encode the rows, and check their labels."""


def drop_rows(estimator: Any, X: RowSource, y: Any, sample_weight: Any) -> tuple[RowSource, Given]:
    """Check labels and weights, and drop rows of weight 0."""
    y, n_given = check_labels(estimator, X, y), len(X)
    weight = check_sample_weight(sample_weight, n_given)
    if weight is None or weight.all():
        return X, Given(y, weight, None, n_given)
    row = np.flatnonzero(weight)
    return X[row], Given(y[row], weight[row], row, n_given)


class MemoryTable(TableSource):
    """A table in memory, of any library."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._owner = type(estimator).__name__
        self._table = take_table(X, self._owner)
        self._estimator, self._y, self._weight = estimator, y, sample_weight
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
        """The rows."""
        return self.rows

    def sample(self, seed: int) -> Sample:
        """All rows, or some of many."""
        rows = sample_rows(len(self), seed)
        return Sample(self.rows if rows is None else self.rows[rows], rows)

    def find_span(self) -> Span:
        """Ranges of all features."""
        return Span.unknown(self.n_features).widen(self.rows)

    def normalise(
        self,
        sample: Sample,
        weight: NDArray[np.float64] | None,
        how: str | None,
        n_threads: int,
        row: NDArray[np.int64] | None,
    ) -> tuple[Normalisation, Span]:
        """Scales from the sample, and ranges of all rows; infinities are refused."""
        if sample.rows is None:  # ranges are found on the way
            span = Span.unknown(self.n_features)
            return learn_normalisation(self.rows, weight, how, row, n_threads, span), span
        normalisation, span = super().normalise(sample, weight, how, n_threads, row)
        if span.is_infinite():
            refuse_infinity(self.rows.expand(), row)
        return normalisation, span

    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """All indicators of missing values."""
        return read_indicators(encoding, self.rows)

    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """The rows without some indicators."""
        return MemoryRows(drop_numbers(before, after, self.rows))

    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """All rows as one part."""
        yield 0, read_levels(numbers, self.rows)

    def keep_levels(self, numbers: Encoding) -> Levels | None:
        """Numbers of the categories of all rows."""
        return read_levels(numbers, self.rows)

    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """The rows with target statistics."""
        fold = draw_folds(len(self))
        return MemoryRows(place_statistics(numbers, encoding, self.rows, learned, fold))

    def ask(self, model: Model, method: str, n_threads: int) -> Any:
        """The result of a method of the model's scorer."""
        return self.rows.score(getattr(model.scorer, method), n_threads)

    def grow(
        self,
        labels: TreeLabels,
        plan: ForestPlan,
        first_tree: int,
        betas: NDArray[np.float64],
        n_threads: int,
        progress: Callable[[float], None] | None,
    ) -> list[dict[str, Any]]:
        """Grow all trees in one call of the core."""
        return [grow_forest(self.rows, labels, plan, first_tree, betas, n_threads, progress)]

    def add_left_out(
        self, add: AddLeftOut, model: Model, codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], ...]:
        """The result of ``add`` for all rows."""
        return add(model, self.rows, find_left_out(model, codes))

    @contextmanager
    def code(
        self,
        bins: _core.BoostBins,
        normalisation: Normalisation,
        more: EncodedRows | None,
        n_threads: int,
        show: Show,
        folder: str | None,
    ) -> Iterator[Hold]:
        """Code the rows in memory."""
        codes = code_rows(bins, self.rows, n_threads)
        if more is not None:
            codes = np.concatenate([codes, code_rows(bins, more, n_threads)])
        yield hold_codes(codes, bins)


def code_rows(bins: _core.BoostBins, X: EncodedRows, n_threads: int = 1, first: int = 0) -> NDArray[np.uint8]:
    """Codes of rows, a byte per slot of the bins; ``first`` is the number of the first row, for errors."""
    codes = bins.encode(X.numbers, X.codes if X.has_codes else None, n_threads)
    if codes is None:
        refuse_infinity(X.expand(), np.arange(first, first + len(X)))
    return codes


def hold_codes(codes: NDArray[np.uint8], bins: _core.BoostBins) -> Hold:
    """Coded rows of this process."""

    def hold(objective: dict[str, Any], labels: dict[str, Any]) -> Any:
        return _core.BoostRows(codes, bins, **objective, **labels)

    return hold


def find_left_out(model: Model, codes: NDArray[np.int32]) -> Iterator[LeftOut]:
    """Number of every estimator that left rows out, and which rows it did not see, shape (n,)."""
    for number, rows in draw_again(model, codes):
        left_out = np.ones(len(codes), dtype=bool)
        left_out[rows] = False
        yield number, left_out


class BatchedTable(TableSource):
    """A table that is read in batches; learning the columns is the first pass over it.

    Rows of the sample are kept in memory, categories and gaps of all rows in a scratch file. If the sample is the whole
    table, it is not read again.
    """

    parts = "batches"

    def __init__(
        self,
        estimator: Any,
        passes: Passes,
        seed: int,
        progress: Callable[[float], None] | None = None,
        folder: str | None = None,
        *,
        reads_again: bool = False,
    ) -> None:
        self._estimator, self._passes, self._progress = estimator, passes, progress
        self._sample, self._parts, self._store = KeyedSample(seed), list[PartValues](), _PartStore(folder)
        self._reads_again = reads_again
        self._labels, self._weights = _BatchLabels(estimator), list[Any]()
        self.as_categories = passes.as_categories
        self.summary = TableSummary(Wanted(None))

    def summarise(self, wanted: Wanted) -> TableSummary:
        """Read the table once."""
        owner = type(self._estimator).__name__
        self.summary, n_given = TableSummary(wanted), 0
        for batch in self._passes:
            table, kept = take_table(batch.X, owner), find_weighted(batch)
            self._labels.add(table, batch.y, kept)
            values = self.summary.add(table, kept, n_given)
            values = values if kept is None else values.take(kept)
            n_given += len(table)
            self._store.add(values, has_gaps=wanted.missing_indicator)
            self._parts.append(values.take(self._sample.offer(values.n_rows)))
            self._prune()
            self._weights.append(batch.weight)
            if self._progress is not None:
                self._progress(self.summary.n_rows)
        if not self._weights:
            raise ValueError(f"source gave no rows: {owner} needs at least one.")
        self._prune(is_last=True)
        return self.summary

    def _prune(self, *, is_last: bool = False) -> None:
        stays = self._sample.prune(is_last=is_last)
        if stays is not None:
            self._parts = [PartValues.join(self._parts).take(stays)]

    def encode(self, encoding: Encoding) -> tuple[RowSource, Given]:
        """Encode the rows of the sample, and check all labels."""
        weights, n_given = self._weights, self._labels.n_given
        if any(weight is None for weight in weights) != all(weight is None for weight in weights):
            raise ValueError("source gave weights with some batches only: pass them with all, or with none.")
        given = None if weights[0] is None else np.concatenate([np.asarray(w, np.float64) for w in weights])
        weight, row = check_sample_weight(given, n_given), None
        if weight is not None and not weight.all():
            row = np.flatnonzero(weight)
            weight = weight[row]
        X: RowSource
        sampled = self.summary.encode(encoding, PartValues.join(self._parts))
        if len(sampled) == self.summary.n_rows:
            X = MemoryRows(sampled)
        else:
            owner = type(self._estimator).__name__
            X = BatchedRows(
                self._passes,
                owner,
                self.summary,
                self._store,
                self._sample.rows,
                sampled,
                encoding,
                reads_again=self._reads_again,
            )
        return X, Given(self._labels.finish(), weight, row, n_given)


class BatchedRows(RowSource):
    """Rows of a table that is read in batches; taking some of them, or coding all, reads the table once.

    With ``reads_again``, the first of these reads stores the encoded rows in a scratch file for the later ones.
    """

    def __init__(
        self,
        passes: Passes,
        owner: str,
        summary: TableSummary,
        store: _PartStore,
        sampled: NDArray[np.int64],
        sample: EncodedRows,
        numbers: Encoding,
        encoding: Encoding | None = None,
        statistics: dict[int, Statistics] | None = None,
        *,
        reads_again: bool = False,
    ) -> None:
        self._reads_again, self._kept = reads_again, None if not reads_again else _RowStore()
        self._passes, self._owner, self._summary, self._store = passes, owner, summary, store
        self._sampled, self._sample = sampled, sample
        self._numbers, self._encoding = numbers, encoding or numbers
        self._statistics = statistics or {}
        self.n_features = self._encoding.n_features

    def __len__(self) -> int:
        return self._summary.n_rows

    def batches(self) -> Iterator[tuple[int, EncodedRows]]:
        """Read the rows that have weight: the number of the first row of every batch, and its rows."""
        if self._kept is None:
            yield from self._parse()
        elif self._kept.is_complete:
            yield from self._kept.read()
        else:
            for first, X in self._parse():
                self._kept.add(first, X, len(self))
                yield first, X
            self._kept.is_complete = True

    def _parse(self) -> Iterator[tuple[int, EncodedRows]]:
        first = 0
        for batch in self._passes:
            X, kept = self._numbers.code(batch.X, owner=self._owner), find_weighted(batch)
            X = X if kept is None else X[kept]
            if len(X):
                fold = draw_folds(len(X), first) if self._statistics else None
                yield first, self._place(X, fold)
            first += len(X)

    def _place(self, X: EncodedRows, fold: NDArray[np.int64] | None) -> EncodedRows:
        if fold is None:
            return X
        return place_statistics(self._numbers, self._encoding, X, self._statistics, fold)

    def __getitem__(self, rows: NDArray[Any]) -> RowSource:
        wanted, place = np.unique(np.asarray(rows), return_inverse=True)
        parts = []
        for first, X in self.batches():
            some = slice(*np.searchsorted(wanted, (first, first + len(X))))
            parts.append(X[wanted[some] - first])
        return MemoryRows(EncodedRows.join(parts)[place])

    def load(self) -> EncodedRows:
        """All rows in memory."""
        return EncodedRows.join([X for _, X in self.batches()])

    def sample(self, seed: int) -> Sample:
        """The sample of the first pass, which has the same seed."""
        return Sample(self._sample, self._sampled)

    def find_span(self) -> Span:
        """Ranges of all features, from the first pass."""
        return find_summary_span(self._summary, self._numbers, self._encoding, self._statistics)

    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """All indicators of missing values."""
        columns = encoding.column[encoding.is_indicator]
        return self._store.read_gaps([int(column) for column in columns], len(self))

    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """The rows without some indicators."""
        sample = drop_numbers(before, after, self._sample)
        return BatchedRows(
            self._passes,
            self._owner,
            self._summary,
            self._store,
            self._sampled,
            sample,
            after,
            reads_again=self._reads_again,
        )

    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Numbers of categories, batch by batch."""
        return self._store.read_levels(numbers, self._summary)

    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """The rows with target statistics."""
        fold = _find_folds(self._sampled)
        sample = place_statistics(numbers, encoding, self._sample, learned, fold)
        return BatchedRows(
            self._passes,
            self._owner,
            self._summary,
            self._store,
            self._sampled,
            sample,
            numbers,
            encoding,
            learned,
            reads_again=self._reads_again,
        )

    def ask(self, model: Model, method: str, n_threads: int) -> Any:
        """The result of a method of the model's scorer."""
        return MemoryRows(self.load()).ask(model, method, n_threads)

    def grow(
        self,
        labels: TreeLabels,
        plan: ForestPlan,
        first_tree: int,
        betas: NDArray[np.float64],
        n_threads: int,
        progress: Callable[[float], None] | None,
    ) -> list[dict[str, Any]]:
        """Draw the rows of all trees, read them in one pass, and grow the trees from them."""
        draws = [draw(labels, plan, first_tree + number, float(beta)) for number, beta in enumerate(betas)]
        every = np.arange(len(self)) if plan.counts is None else np.empty(0, dtype=np.int64)
        needed = np.unique(np.concatenate([every, *(own.rows for own in draws if own.rows is not None)]))
        rows, n_done = self[needed].load(), count(1)

        def grow(own: Draw) -> dict[str, Any]:
            some = rows if own.rows is None else rows[np.searchsorted(needed, own.rows)]
            arrays = grow_drawn(some, labels, plan, own)
            if progress is not None:
                progress(next(n_done) * len(labels.targets))
            return arrays

        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(grow, draws))

    def add_left_out(
        self, add: AddLeftOut, model: Model, codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], ...]:
        """The result of ``add`` for all rows, batch by batch."""
        drawn = [(number, np.sort(rows)) for number, rows in draw_again(model, codes)]
        parts = []
        for first, batch in self.batches():
            left_out = []
            for number, rows in drawn:
                is_out = np.ones(len(batch), dtype=bool)
                is_out[rows[slice(*np.searchsorted(rows, (first, first + len(batch))))] - first] = False
                left_out.append((number, is_out))
            parts.append(add(model, batch, left_out))
        return tuple(map(np.concatenate, zip(*parts, strict=True)))

    @contextmanager
    def code(
        self,
        bins: _core.BoostBins,
        normalisation: Normalisation,
        more: EncodedRows | None,
        n_threads: int,
        show: Show,
        folder: str | None,
    ) -> Iterator[Hold]:
        """Write the codes of all rows to a scratch file."""
        assert more is None  # a validation set is given with rows in memory only
        with open_scratch(len(self), bins.n_slots, folder) as scratch:
            with show(len(self), scratch.describe(len(self))) as progress:
                for first, X in self.batches():
                    scratch.write(code_rows(bins, X, n_threads, first))
                    if progress is not None:
                        progress(first + len(X))
            yield hold_codes(scratch.read(), bins)


def refuse_parameters(estimator: Any) -> None:
    """Refuse parameters that need all rows in memory."""
    for name, remedy in (("warm_start", "False"), ("calibrate", "None"), ("keep_prototypes", "False")):
        given = getattr(estimator, name, None)
        if given is not None and given is not False:
            raise refuse(name, given, f"{remedy} with fit_batches")


def find_weighted(batch: Batch) -> Kept:
    """The rows of a batch that have weight; None for all."""
    if batch.weight is None:
        return None
    weight = np.asarray(batch.weight)
    if weight.shape != (len(batch.y),):
        raise ValueError(
            f"source gave {len(batch.y)} rows and weights of shape {weight.shape}: pass one weight per row."
        )
    return None if weight.all() else np.flatnonzero(weight)


def find_summary_span(
    summary: TableSummary, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
) -> Span:
    """Ranges of all features from the summary of the columns, and from the target statistics of training rows."""
    span = summary.span(numbers)
    if not learned:
        return span
    wide = Span.unknown(encoding.n_features)
    for column in range(encoding.n_columns):
        to, own = encoding.features_of(column), learned.get(column)
        if own is None:
            wide.low[to], wide.high[to] = (side[numbers.features_of(column)] for side in span)
        elif own.is_there.any():
            there = own.others[:, own.is_there]
            wide.low[to], wide.high[to] = there.min(axis=1), there.max(axis=1)
    return wide


def _find_folds(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The folds of some rows, by their numbers in ascending order."""
    folds = []
    for first in range(0, int(rows[-1]) + 1, _ROWS_AT_ONCE):
        own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + _ROWS_AT_ONCE)]
        folds.append(draw_folds(_ROWS_AT_ONCE, first)[own - first])
    return np.concatenate(folds)


class _PartStore:
    """Categories of all rows, and where numbers are missing, in a scratch file without a name."""

    def __init__(self, folder: str | None) -> None:
        self._folder: str | None = folder
        self._file: Any = None
        self._parts: list[tuple[int, list[int], list[int]]] = []  # rows, columns of categories and with gaps

    def add(self, values: PartValues, *, has_gaps: bool) -> None:
        """Append the rows of a batch."""
        columns = list(enumerate(values.columns if values.array is None else values.array.T))
        codes = {number: column for number, column in columns if column.dtype.kind == "i"}
        gaps = {n: np.isnan(column) for n, column in columns if has_gaps and n not in codes}
        gaps = {number: is_missing for number, is_missing in gaps.items() if is_missing.any()}
        self._parts.append((values.n_rows, list(codes), list(gaps)))
        for some in (list(codes.values()), [np.packbits(is_missing) for is_missing in gaps.values()]):
            if some:
                np.save(self._open(), np.array(some), allow_pickle=False)

    def _open(self) -> Any:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, prefix="lhtree-")  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        return self._file

    def _read(self) -> Iterator[tuple[int, int, dict[int, Any], dict[int, Any]]]:
        """Number of the first row, number of rows, and categories and packed gaps by column, of every batch."""
        if self._file is not None:
            self._file.seek(0)
        first = 0
        for n_rows, *kinds in self._parts:
            codes, gaps = (
                dict(zip(some, np.load(self._open(), allow_pickle=False), strict=True)) if some else {}
                for some in kinds
            )
            yield first, n_rows, codes, gaps
            first += n_rows

    def read_levels(self, numbers: Encoding, summary: TableSummary) -> Iterator[tuple[int, Levels]]:
        """Numbers of the categories of columns that get target statistics."""
        for first, n_rows, codes, _ in self._read():
            levels = {}
            for column in numbers.counted:
                own = codes.get(column, np.full(n_rows, -1))  # a batch may have missing values only
                encoder: Any = numbers.encoders[column]
                levels[column] = summary.columns[column].renumber(encoder, own)
            yield first, levels

    def read_gaps(self, columns: list[int], n_rows: int) -> NDArray[np.bool_]:
        """Whether the numbers of some columns are missing, shape (n, n_columns)."""
        is_missing = np.zeros((n_rows, len(columns)), dtype=bool)
        for first, n, _, gaps in self._read():
            for place, column in enumerate(columns):
                if column in gaps:
                    is_missing[first : first + n, place] = np.unpackbits(gaps[column], count=n)
        return is_missing


class _RowStore:
    """Encoded rows of all batches in a scratch file without a name."""

    def __init__(self) -> None:
        self._file: Any = None
        self._parts: list[tuple[int, NDArray[np.int32]]] = []  # first row and levels of every batch
        self.is_complete = False

    def add(self, first: int, X: EncodedRows, n_rows: int) -> None:
        """Append the rows of a batch; the first batch starts the file again."""
        if first == 0 or self._file is None:
            n_bytes = (X.numbers.nbytes + X.codes.nbytes) * n_rows // max(1, len(X))
            place = check_room(n_bytes, None, "set TMPDIR to a folder on a larger disk")
            self._file = tempfile.TemporaryFile(dir=place, prefix="lhtree-")  # noqa: SIM115
            weakref.finalize(self, self._file.close)
            self._parts = []
        self._parts.append((first, X.levels))
        for values in (X.numbers, X.codes):
            np.save(self._file, values, allow_pickle=False)

    def read(self) -> Iterator[tuple[int, EncodedRows]]:
        """Read the stored batches: the number of the first row, and the rows."""
        self._file.seek(0)
        for first, levels in self._parts:
            numbers, codes = (np.load(self._file, allow_pickle=False) for _ in range(2))
            yield first, EncodedRows(numbers, codes, levels)


class _BatchLabels:
    """Labels of rows that have weight: numbers, or classes, which are numbered batch by batch."""

    def __init__(self, estimator: Any) -> None:
        self._estimator, self.n_given = estimator, 0
        self._responses: list[NDArray[Any]] = []
        self._coded: list[Labelled] = []

    def add(self, X: Any, y: Any, kept: Kept) -> None:
        """Check the labels of a batch, and append them."""
        checked = check_labels(self._estimator, X, y)
        self.n_given += len(checked)
        checked = checked if kept is None else checked[kept]
        if self._estimator._is_regressor:
            self._responses.append(checked)
        else:
            self._coded.append(encode(checked))

    def finish(self) -> NDArray[Any] | Labelled:
        """Labels of all rows."""
        if self._estimator._is_regressor:
            return np.concatenate(self._responses)
        classes, place = encode(np.concatenate([coded.classes for coded in self._coded]))
        codes, first = np.empty(sum(len(coded.codes) for coded in self._coded), dtype=np.int32), 0
        n_classes = 0
        for coded in self._coded:
            own = place[n_classes : n_classes + len(coded.classes)]
            codes[first : first + len(coded.codes)] = own[coded.codes]
            n_classes, first = n_classes + len(coded.classes), first + len(coded.codes)
        return Labelled(classes, codes)
