"""The features of training rows whose categories are encoded by their responses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .coded import CodedRows, Encoded, expand
from .columns import Category
from .encoding import Encoding
from .levels import Levels
from .statistics import Amounts, Cells, Statistics, draw_folds
from .treatments import TargetStatistic, Treatment


class CrossFit(NamedTuple):
    """What fit grows from, and what it keeps."""

    X: Encoded  # every row with statistics of the other folds, shape (n, n_features)
    encoding: Encoding  # with the statistics of all rows
    levels: NDArray[np.int32]  # number of every row's category, shape (n_counted, n)

    def predict_rows(self, X: Encoded, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Some rows of ``X`` as predictions encode them, with statistics of all rows; they give categories back."""
        taken: NDArray[np.float64] = expand(X[rows])
        for levels, column in zip(self.levels, self.encoding.counted, strict=True):
            treatment = self.encoding.treatments[column]
            assert isinstance(treatment, TargetStatistic)
            taken[:, self.encoding.features_of(column)] = treatment.place(levels[rows])
        return taken


def cross_fit(
    numbers: Encoding,
    X: Encoded,
    responses: NDArray[np.generic],
    weight: NDArray[np.float64] | None,
    targets: Sequence[str] = (),
    earlier: Encoding | None = None,
) -> CrossFit:
    """Replace numbers of categories by target statistics.

    Parameters
    ----------
    numbers : Encoding
        That of ``X``, with ``LevelNumbers`` (see ``Encoding.to_numbers``).
    X : array of shape (n, m), or CodedRows
        The training rows in it.
    responses : array of shape (n_targets, n)
        0 and 1 for classes, or real numbers.
    weight : array of shape (n,), optional
        None: 1 each.
    targets : sequence of str
        Names of the targets, where there are several.
    earlier : Encoding, optional
        That of the model which is continued; it is kept.
    """
    n_rows, fold = len(X), draw_folds(len(X))
    learned = learn_columns(numbers, [(X, 0)], responses, weight)
    encoding = add_statistics(numbers, learned, targets) if earlier is None else earlier
    levels = [_read_levels(numbers, X, column).astype(np.int32) for column in numbers.counted]
    crossed = place_statistics(numbers, encoding, X, learned, fold)
    return CrossFit(crossed, encoding, np.array(levels).reshape(-1, n_rows))


def learn_columns(
    numbers: Encoding,
    parts: Iterable[tuple[Encoded, int]],
    responses: NDArray[np.generic],
    weight: NDArray[np.float64] | None,
) -> dict[int, Statistics]:
    """The statistics of the columns of many categories.

    ``parts`` are the rows in pieces, in any order, each with the number of its first row; the responses and weights
    are those of all rows.
    """
    amounts = [Amounts(response, weight) for response in responses]
    cells = {column: Cells(amounts, len(_find_levels(numbers, column))) for column in numbers.counted}
    for X, first in parts:
        fold, rows = draw_folds(len(X), first), slice(first, first + len(X))
        for column, own in cells.items():
            own.add(_read_levels(numbers, X, column), fold, rows)
    return {column: own.learn() for column, own in cells.items()}


def add_statistics(numbers: Encoding, learned: dict[int, Statistics], targets: Sequence[str]) -> Encoding:
    """The encoding of a model: with statistics of all rows in place of numbers of categories."""
    settled: dict[int, Treatment] = {
        column: TargetStatistic(_find_levels(numbers, column), own.values, tuple(targets))
        for column, own in learned.items()
    }
    return numbers.replace(settled)


def place_statistics(
    numbers: Encoding, encoding: Encoding, X: Encoded, learned: dict[int, Statistics], fold: NDArray[np.int64]
) -> Encoded:
    """Training rows with the statistics of the other folds in place of numbers of categories."""
    given = X.numbers if isinstance(X, CodedRows) else X
    parts, first = [], 0
    for column, own in learned.items():
        feature = int(numbers.number_of[numbers.ptr[column]])
        parts += [given[:, first:feature], own.place(_read_levels(numbers, X, column), fold)]
        first = feature + 1
    crossed = np.concatenate([*parts, given[:, first:]], axis=1)
    return CodedRows(crossed, X.codes, encoding.levels) if isinstance(X, CodedRows) else crossed


def _find_levels(numbers: Encoding, column: int) -> tuple[Category, ...]:
    known: Levels = numbers.treatments[column]  # type: ignore[assignment]  # it is LevelNumbers
    return known.categories


def _read_levels(numbers: Encoding, X: Encoded, column: int) -> NDArray[np.int64]:
    """Number of every row's category, -1 where it is missing."""
    given = X.numbers if isinstance(X, CodedRows) else X
    feature = int(numbers.number_of[numbers.ptr[column]])
    levels: NDArray[np.int64] = np.nan_to_num(given[:, feature], nan=-1.0).astype(np.int64)
    return levels
