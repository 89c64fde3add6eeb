"""What a fit works on, from a table in parts: labels on the client, features on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..grow.training import Training, settle_rows
from ..tables.encoding import Encoding
from ..tables.frames import refuse_infinity
from ..tables.normalise import Span
from ..tables.rows import CodedRows, Encoded, expand, sample_rows
from ..tables.statistics import (
    Amounts,
    Cells,
    CrossFit,
    Statistics,
    add_statistics,
    draw_folds,
    drop_numbers,
    find_indicators,
    find_telling,
    place_statistics,
    wants_indicators,
)
from ._client import fetch
from ._collections import Part, Table
from ._look import look_at, settle_encoding
from ._rows import Rows, WorkerRows, keep, take


def prepare(estimator: Any, table: Table) -> Training:
    """What ``check_training`` gives for all rows in one place."""
    session, owner = table.session, type(estimator).__name__
    labels = fetch(session, [session.submit(_take_labels, part) for part in table.parts])
    y, weight = (_join_labels([label[i] for label in labels]) for i in (0, 1))
    kept = [None] * len(table.parts) if weight is None else np.split(weight != 0, table.first_row[1:-1])
    looks = [
        session.submit(_look, part, estimator.categorical_features, own, owner)
        for part, own, n_rows in zip(table.parts, kept, table.sizes, strict=True)
        if n_rows
    ]
    encoding = settle_encoding(
        fetch(session, looks),
        max_one_hot=estimator.max_one_hot,
        missing_indicator=wants_indicators(
            getattr(estimator, "missing_indicator", False), estimator.direction
        ),
    )
    parts = [session.submit(_encode, part, encoding, owner) for part in table.parts]
    X: Any = WorkerRows(session, parts, table.first_row, encoding.n_features)
    training = settle_rows(estimator, X, y, weight, encoding)
    return _learn_columns(estimator, training)


def _take_labels(part: Part) -> tuple[Any, Any]:
    return part.y, part.weight


def _join_labels(parts: Sequence[Any]) -> Any:
    """Labels of all rows as they would be in one place; None where there are none."""
    if parts[0] is None:
        return None
    if hasattr(parts[0], "iloc"):
        return import_extra("pandas", "dask").concat(list(parts), ignore_index=True)
    return np.concatenate(list(parts))


def _look(part: Part, categorical_features: Any, is_kept: NDArray[np.bool_] | None, owner: str) -> Any:
    return look_at(part.X, categorical_features, is_kept, owner)


def _encode(part: Part, encoding: Encoding, owner: str) -> Encoded:
    if not len(part.X):
        n_numbers, n_coded = int((encoding.levels == 0).sum()), int((encoding.levels > 0).sum())
        numbers = np.empty((0, n_numbers))
        return CodedRows(numbers, np.empty((0, n_coded), np.int32), encoding.levels) if n_coded else numbers
    return encoding.code(part.X, owner=owner)


def _learn_columns(estimator: Any, training: Training) -> Training:
    """The rest of the encoding, which depends on the responses: as for rows in one place."""
    X: Any = training.X
    responses, encoding = training.raw_responses(), training.encoding
    if encoding.is_indicator.any() and isinstance(estimator.missing_indicator, str):
        indicators = _load_numbers(X, find_indicators(encoding))
        encoding, is_kept = find_telling(encoding, indicators, responses)
        parts = [X.session.submit(drop_numbers, part, is_kept, encoding) for part in X.parts]
        X = WorkerRows(X.session, parts, X.first, encoding.n_features, X.row)
        training = training._replace(encoding=encoding, X=X)
    if not encoding.counted:
        return training
    return _cross_fit(training, responses)


def _cross_fit(training: Training, responses: NDArray[np.generic]) -> Training:
    """Replace numbers of categories by target statistics of the other folds."""
    X: Any = training.X
    numbers = training.encoding
    places = [int(numbers.number_of[numbers.ptr[column]]) for column in numbers.counted]
    levels = np.nan_to_num(_load_numbers(X, places), nan=-1.0).astype(np.int64)
    amounts = [Amounts(response, training.weight) for response in responses]
    fold, learned = draw_folds(len(X)), dict[int, Statistics]()
    for column, own in zip(numbers.counted, levels.T, strict=True):
        cells = Cells(amounts, len(numbers.categories[column] or ()))
        cells.add(own, fold, slice(None))
        learned[column] = cells.learn()
    encoding = add_statistics(numbers, learned, training.target_names())
    given = X.session.submit(keep, (numbers, encoding, learned))
    folds = np.zeros(X.first[-1], dtype=np.int64)  # rows of weight 0 are there, but nobody asks for them
    folds[slice(None) if X.row is None else X.row] = fold
    parts = [
        X.session.submit(_place, part, given, folds[X.first[i] : X.first[i + 1]])
        for i, part in enumerate(X.parts)
    ]
    X = WorkerRows(X.session, parts, X.first, encoding.n_features, X.row)
    crossed = CrossFit(X, encoding, levels.T.astype(np.int32))
    return training._replace(X=X, encoding=encoding, crossed=crossed)


def _load_numbers(X: WorkerRows, places: Sequence[int] | Rows) -> NDArray[np.float64]:
    """Some of the features that are numbers, of all rows, shape (n, n_places)."""
    return np.concatenate(fetch(X.session, X.map(_take_numbers, np.asarray(places))))


def _take_numbers(part: Encoded, rows: Rows | None, places: Rows) -> NDArray[Any]:
    numbers = (part.numbers if isinstance(part, CodedRows) else part)[:, places]
    return numbers if rows is None else numbers[rows]


def _place(
    part: Encoded, given: tuple[Encoding, Encoding, dict[int, Statistics]], fold: NDArray[np.int64]
) -> Encoded:
    numbers, encoding, learned = given
    return place_statistics(numbers, encoding, part, learned, fold)


def find_span(X: Any) -> Span:
    """Ranges of the features of all rows; infinities are refused."""
    span = Span.unknown(X.shape[1])
    for low, high in fetch(X.session, X.map(_find_extremes)):
        span = Span(np.fmin(span.low, low), np.fmax(span.high, high))
    if np.isinf(span.low).any() or np.isinf(span.high).any():
        _refuse_infinity(X)
    return span


def load_sample(X: Any, seed: int) -> tuple[Encoded, Rows]:
    """The rows that scales and bins are learned from, and their numbers."""
    sampled = sample_rows(len(X), seed)
    return (X.load(), np.arange(len(X))) if sampled is None else (X[sampled].load(), sampled)


def _find_extremes(part: Encoded, rows: Rows | None) -> tuple[NDArray[Any], NDArray[Any]]:
    own = take(part, rows)
    return Span.unknown(own.shape[1]).widen(own)


def _refuse_infinity(X: WorkerRows) -> None:
    """Raise the error for the first row with an infinity."""
    for place, row in zip(X.divide(), fetch(X.session, X.map(_find_infinity)), strict=True):
        if row is not None:
            refuse_infinity(row[1][None], np.array([X.first[place[0]] + row[0]]))


def _find_infinity(part: Encoded, rows: Rows | None) -> tuple[int, NDArray[Any]] | None:
    features = expand(take(part, rows))
    found = np.flatnonzero(np.isinf(features).any(axis=1))
    if not len(found):
        return None
    return int(found[0] if rows is None else rows[found[0]]), features[found[0]]
