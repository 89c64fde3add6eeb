"""Row sources of tables that are read in batches."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from ..io.passes import Batch, Passes, check_room, open_scratch
from ..model.model import Model
from ..tables.encoding import Encoding
from ..tables.frames import take_table
from ..tables.labels import check_sample_weight
from ..tables.learn import Kept, PartValues, TableSummary, Wanted
from ..tables.normalise import Span
from ..tables.rows import EncodedRows, KeyedSample
from ..tables.statistics import (
    Statistics,
    draw_folds,
    drop_numbers,
    place_statistics,
)
from .forest import Draw, ForestPlan, draw, draw_again, grow_drawn
from .labels import Labelled, Progress, check_labels, encode, name_responses
from .sources import (
    Coding,
    Floats,
    Given,
    Hold,
    LeftOutSums,
    Levels,
    MemoryRows,
    RowSource,
    Sample,
    TableSource,
    code_rows,
    find_summary_span,
    hold_codes,
)

_ROWS_AT_ONCE = 1 << 20


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
        progress: Progress = None,
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
        return X, Given(self._labels.finish(), weight, row, n_given, self._labels.responses)


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
        self._kept = _RowStore(store.folder) if reads_again else None
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
        """Return all rows in memory."""
        return EncodedRows.join([X for _, X in self.batches()])

    def sample(self, seed: int) -> Sample:
        """Return the sample of the first pass, which has the same seed."""
        return Sample(self._sample, self._sampled)

    def find_span(self) -> Span:
        """Return ranges of all features, from the first pass."""
        return find_summary_span(self._summary, self._numbers, self._encoding, self._statistics)

    def read_indicators(self, encoding: Encoding) -> NDArray[Any]:
        """Return all indicators of missing values."""
        columns = encoding.column[encoding.is_indicator]
        return self._store.read_gaps([int(column) for column in columns], len(self))

    def drop_indicators(self, before: Encoding, after: Encoding) -> RowSource:
        """Return the rows without some indicators."""
        return self._change_features(drop_numbers(before, after, self._sample), after)

    def read_levels(self, numbers: Encoding) -> Iterator[tuple[int, Levels]]:
        """Return numbers of categories, batch by batch."""
        return self._store.read_levels(numbers, self._summary)

    def place_statistics(
        self, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]
    ) -> RowSource:
        """Return the rows with target statistics."""
        fold = _find_folds(self._sampled)
        sample = place_statistics(numbers, encoding, self._sample, learned, fold)
        return self._change_features(sample, numbers, encoding, learned)

    def _change_features(self, sample: EncodedRows, *encodings: Any) -> BatchedRows:
        known = self._passes, self._owner, self._summary, self._store, self._sampled
        return BatchedRows(*known, sample, *encodings, reads_again=self._kept is not None)

    def score(self, model: Model, method: str, n_threads: int) -> Any:
        """Return the result of a method of the model's scorer."""
        return MemoryRows(self.load()).score(model, method, n_threads)

    def grow(
        self, plan: ForestPlan, first_tree: int, betas: Floats, n_threads: int, progress: Progress
    ) -> list[dict[str, Any]]:
        """Draw the rows of all trees, read them in one pass, and grow the trees from them."""
        draws = [draw(plan, first_tree + number, float(beta)) for number, beta in enumerate(betas)]
        every = np.arange(len(self)) if plan.counts is None else np.empty(0, dtype=np.int64)
        needed = np.unique(np.concatenate([every, *(own.rows for own in draws if own.rows is not None)]))
        rows, n_done = self[needed].load(), count(1)

        def grow(own: Draw) -> dict[str, Any]:
            some = rows if own.rows is None else rows[np.searchsorted(needed, own.rows)]
            arrays = grow_drawn(some, plan, own)
            if progress is not None:
                progress(next(n_done) * len(plan.labels.targets))
            return arrays

        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(grow, draws))

    def sum_left_out(
        self, model: Model, codes: NDArray[np.int32], n_threads: int, mean: float = 0.0, unit: float = 1.0
    ) -> LeftOutSums:
        """Return sums over the estimators that did not see a row, batch by batch."""
        drawn = [(number, np.sort(rows)) for number, rows in draw_again(model, codes)]
        parts = []
        for first, batch in self.batches():
            left_out = []
            for number, rows in drawn:
                is_out = np.ones(len(batch), dtype=bool)
                is_out[rows[slice(*np.searchsorted(rows, (first, first + len(batch))))] - first] = False
                left_out.append((number, is_out))
            parts.append(model.sum_left_out(batch, left_out, mean, unit, n_threads))
        wolf, membership, n_trees = map(np.concatenate, zip(*parts, strict=True))
        return wolf, membership, n_trees

    @contextmanager
    def code(self, how: Coding) -> Iterator[Hold]:
        """Write the codes of all rows to a scratch file."""
        assert how.more is None  # a validation set is given with rows in memory only
        with open_scratch(len(self), how.bins.n_slots, how.folder) as scratch:
            with how.show(len(self), scratch.describe(len(self))) as progress:
                for first, X in self.batches():
                    scratch.write(code_rows(how.bins, X, how.n_threads, first))
                    if progress is not None:
                        progress(first + len(X))
            yield hold_codes(scratch.read(), how.bins)


def refuse_parameters(estimator: Any) -> None:
    """Refuse parameters that need all rows in memory."""
    for name, remedy in (
        *(("warm_start", "False"), ("calibrate", "None")),
        *(("intervals", "False"), ("keep_prototypes", "False")),
    ):
        given = getattr(estimator, name, None)
        if given is not None and given is not False:
            raise refuse(name, given, f"{remedy} with fit_batches")


def find_weighted(batch: Batch) -> Kept:
    """Return the rows of a batch that have weight; None for all."""
    if batch.weight is None:
        return None
    weight = np.asarray(batch.weight)
    if weight.shape != (len(batch.y),):
        raise ValueError(
            f"source gave {len(batch.y)} rows and weights of shape {weight.shape}: pass one weight per row."
        )
    return None if weight.all() else np.flatnonzero(weight)


def _find_folds(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the folds of some rows, by their numbers in ascending order."""
    folds = []
    for first in range(0, int(rows[-1]) + 1, _ROWS_AT_ONCE):
        own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + _ROWS_AT_ONCE)]
        folds.append(draw_folds(_ROWS_AT_ONCE, first)[own - first])
    return np.concatenate(folds)


class _PartStore:
    """Categories of all rows, and where numbers are missing, in a scratch file without a name."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
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
            self._file = tempfile.TemporaryFile(dir=self.folder, prefix="lhtree-")  # noqa: SIM115
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
        """Yield numbers of the categories of columns that get target statistics."""
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

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._file: Any = None
        self._parts: list[tuple[int, NDArray[np.int32]]] = []  # first row and levels of every batch
        self.is_complete = False

    def add(self, first: int, X: EncodedRows, n_rows: int) -> None:
        """Append the rows of a batch; the first batch starts the file again."""
        if first == 0 or self._file is None:
            n_bytes = (X.numbers.nbytes + X.codes.nbytes) * n_rows // max(1, len(X))
            place = check_room(n_bytes, self._folder)
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
        self.responses: tuple[str, ...] = ()  # names of several responses

    def add(self, X: Any, y: Any, kept: Kept) -> None:
        """Check the labels of a batch, and append them."""
        names = name_responses(y) if self._estimator._takes_several else ()
        if self.n_given and names != self.responses:
            raise ValueError("source gave batches whose y have other columns: give all the same.")
        self.responses = names
        checked = check_labels(self._estimator, X, y)
        self.n_given += len(checked)
        checked = checked if kept is None else checked[kept]
        if self._estimator._is_regressor:
            self._responses.append(checked)
        else:
            self._coded.append(encode(checked))

    def finish(self) -> NDArray[Any] | Labelled:
        """Return labels of all rows."""
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
