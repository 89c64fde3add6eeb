"""Fitting in passes over a table that memory does not hold: a survey of it, then its rows batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, refuse
from ..io.passes import Batch, Passes
from ..tables.encoding import Encoding
from ..tables.frames import take_table
from ..tables.labels import check_sample_weight
from ..tables.learn import Kept, Survey
from ..tables.normalise import Normalisation, Span, learn_normalisation
from ..tables.rows import CodedRows, Encoded
from ..tables.statistics import (
    Statistics,
    add_statistics,
    draw_folds,
    find_indicators,
    find_telling,
    learn_columns,
    place_statistics,
    wants_indicators,
)
from .training import Labelled, Training, check_labels, encode, label_rows

_ROWS_AT_ONCE = 1 << 20


class Surveyed(NamedTuple):
    """What is known of a table before its rows are read once more."""

    training: Training  # labels of all rows; X has the rows of the sample
    rows: NDArray[np.int64]  # numbers of the sampled rows
    span: Span
    numbers: Encoding  # with numbers of categories in place of their statistics
    statistics: dict[int, Statistics]  # by column
    n_missing: dict[str, int]  # by the name of the column

    def normalise(self, how: str | None, n_threads: int) -> Normalisation:
        """Centre and scale of every feature."""
        weight = self.training.weight
        own = None if weight is None else weight[self.rows]
        return learn_normalisation(self.training.X, own, how, n_threads=n_threads)

    def read(self, passes: Passes, owner: str) -> Iterator[Encoded]:
        """The rows of all batches that have weight, with the features that trees grow from."""
        for X, first in _read_rows(passes, self.numbers, owner):
            if not self.statistics:
                yield X
                continue
            fold = draw_folds(len(X), first)
            yield place_statistics(self.numbers, self.training.encoding, X, self.statistics, fold)


def survey(
    estimator: Any, passes: Passes, seed: int, progress: Callable[[float], None] | None = None
) -> Surveyed:
    """The first pass, and a second one where columns have many categories."""
    owner = type(estimator).__name__
    indicates = wants_indicators(getattr(estimator, "missing_indicator", False), estimator.direction)
    seen = Survey(estimator.categorical_features, seed, passes.as_categories, missing_indicator=indicates)
    labels, weights = _Labels(estimator), []
    for batch in passes:
        X, kept = take_table(batch.X, owner), find_kept(batch)
        labels.add(X, batch.y, kept)
        seen.add(X, kept)
        weights.append(batch.weight)
        if progress is not None:
            progress(seen.n_rows)
    if not weights:
        raise ValueError(f"source gave no rows: {owner} needs at least one.")
    if any(weight is None for weight in weights) != all(weight is None for weight in weights):
        raise ValueError("source gave weights with some batches only: pass them with all, or with none.")
    weight = None if weights[0] is None else np.concatenate([np.asarray(own, np.float64) for own in weights])
    n_given = labels.n_given
    weight = check_sample_weight(weight, n_given)
    row = None if weight is None or weight.all() else np.flatnonzero(weight)
    weight = weight if weight is None or row is None else weight[row]
    numbers = seen.finish(check_count("max_one_hot", estimator.max_one_hot, 0))
    X = seen.sampled(numbers)
    training = label_rows(estimator, X, labels.finish(), weight, row, n_given, numbers)
    if numbers.is_indicator.any() and isinstance(estimator.missing_indicator, str):
        gaps = _read_gaps(passes, numbers, owner, training.n_rows)
        numbers, _ = find_telling(numbers, gaps, training.raw_responses())
        X = seen.sampled(numbers)
        training = training._replace(X=X, encoding=numbers)
    span, rows, learned = seen.span(numbers), seen.sample.rows, dict[int, Statistics]()
    if numbers.counted:
        parts = _read_rows(passes, numbers, owner)
        learned = learn_columns(numbers, parts, training.raw_responses(), training.weight)
        encoding = add_statistics(numbers, learned, training.target_names())
        X = place_statistics(numbers, encoding, X, learned, _find_folds(rows))
        training = training._replace(X=X, encoding=encoding)
        span = _spread(span, numbers, encoding, learned)
    return Surveyed(training, rows, span, numbers, learned, seen.count_missing())


def refuse_parameters(estimator: Any) -> None:
    """Refuse parameters that need all rows in memory."""
    for name, remedy in (("warm_start", "False"), ("calibrate", "None"), ("keep_prototypes", "False")):
        given = getattr(estimator, name, None)
        if given is not None and given is not False:
            raise refuse(name, given, f"{remedy} with fit_batches")


def find_kept(batch: Batch) -> Kept:
    """The rows of a batch that have weight; None for all."""
    if batch.weight is None:
        return None
    weight = np.asarray(batch.weight)
    if weight.shape != (len(batch.y),):
        raise ValueError(
            f"source gave {len(batch.y)} rows and weights of shape {weight.shape}: pass one weight per row."
        )
    return None if weight.all() else np.flatnonzero(weight)


def _read_rows(passes: Passes, numbers: Encoding, owner: str) -> Iterator[tuple[Encoded, int]]:
    """Encoded rows that have weight, and the number of the first of them."""
    first = 0
    for batch in passes:
        X, kept = numbers.code(batch.X, owner=owner), find_kept(batch)
        X = X if kept is None else X[kept]
        if len(X):
            yield X, first
        first += len(X)


def _read_gaps(passes: Passes, numbers: Encoding, owner: str, n_rows: int) -> NDArray[np.bool_]:
    """All indicators of missing values, shape (n, n_indicators)."""
    places = find_indicators(numbers)
    gaps = np.empty((n_rows, len(places)), dtype=bool)
    for X, first in _read_rows(passes, numbers, owner):
        gaps[first : first + len(X)] = split_rows(X)[0][:, places]
    return gaps


class StreamedRows:
    """The rows of a table that is read in batches, as far as fitting needs to know them.

    Taking some of them reads the table once.
    """

    def __init__(self, surveyed: Surveyed, passes: Passes, owner: str) -> None:
        self.surveyed, self._passes, self._owner = surveyed, passes, owner

    def __len__(self) -> int:
        return self.surveyed.training.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self), self.surveyed.training.encoding.n_features

    def batches(self) -> Iterator[tuple[slice, Encoded]]:
        """All rows, and where each batch of them is."""
        first = 0
        for X in self.surveyed.read(self._passes, self._owner):
            yield slice(first, first + len(X)), X
            first += len(X)

    def __getitem__(self, rows: NDArray[np.integer]) -> Encoded:
        """Some rows, in memory."""
        wanted, place = np.unique(np.asarray(rows), return_inverse=True)
        parts = []
        for where, X in self.batches():
            some = slice(*np.searchsorted(wanted, (where.start, where.stop)))
            parts.append(X[wanted[some] - where.start])
        numbers = np.concatenate([split_rows(part)[0] for part in parts])[place]
        if not isinstance(parts[0], CodedRows):
            return numbers
        codes = np.concatenate([part.codes for part in parts if isinstance(part, CodedRows)])[place]
        return CodedRows(numbers, codes, parts[0].levels)


class _Labels:
    """The labels of rows that have weight: numbers, or classes, which are numbered batch by batch."""

    def __init__(self, estimator: Any) -> None:
        self._estimator, self.n_given = estimator, 0
        self._responses: list[NDArray[Any]] = []
        self._coded: list[Labelled] = []

    def add(self, X: Any, y: Any, kept: Kept) -> None:
        checked = check_labels(self._estimator, X, y)
        self.n_given += len(checked)
        checked = checked if kept is None else checked[kept]
        if self._estimator._is_regressor:
            self._responses.append(checked)
        else:
            self._coded.append(encode(checked))

    def finish(self) -> NDArray[Any] | Labelled:
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


def _find_folds(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The folds of some rows, by their numbers in ascending order."""
    folds = []
    for first in range(0, int(rows[-1]) + 1, _ROWS_AT_ONCE):
        own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + _ROWS_AT_ONCE)]
        folds.append(draw_folds(_ROWS_AT_ONCE, first)[own - first])
    return np.concatenate(folds)


def _spread(span: Span, numbers: Encoding, encoding: Encoding, learned: dict[int, Statistics]) -> Span:
    """The ranges with those of statistics, as rows have them."""
    wide = Span.unknown(encoding.n_features)
    for column in range(encoding.n_columns):
        to, own = encoding.features_of(column), learned.get(column)
        if own is None:
            wide.low[to], wide.high[to] = (side[numbers.features_of(column)] for side in span)
        elif own.is_there.any():
            there = own.others[:, own.is_there]
            wide.low[to], wide.high[to] = there.min(axis=1), there.max(axis=1)
    return wide


def split_rows(X: Encoded) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Numbers, and codes where there are any."""
    return (X.numbers, X.codes) if isinstance(X, CodedRows) else (X, None)
