"""Features that depend on the responses: target statistics and indicators of missing values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import refuse
from .columns import Category
from .encoders import Levels, Numbers, TargetStatistic, Treatment
from .encoding import Encoding
from .rows import CodedRows, Encoded, expand

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_FOLDS = 5
_ROWS_AT_ONCE = 1 << 20
_SEED = 0x1715609F7C746C69  # of the folds: a model without draws does not depend on its random state


def draw_folds(n_rows: int, first: int = 0) -> Ints:
    """The fold of every row, shape (n,), a function of its number, which begins at ``first``."""
    return (_core.draw_keys(_SEED, _core.Stream.statistic_folds, n_rows, first) % np.uint64(N_FOLDS)).astype(
        np.int64
    )


@dataclass(frozen=True)
class Statistics:
    """The values of the categories of one column, and of its training rows.

    Parameters
    ----------
    values : array of shape (n_targets, n_levels + 1)
        From all rows; the last column is the prior.
    others : array of shape (n_targets, n_levels, N_FOLDS)
        What the rows of a category in a fold get, from the rows of the other folds.
    is_there : bool array of shape (n_levels, N_FOLDS)
        Whether there are such rows.
    prior : array of shape (n_targets,)
        The mean of all rows, which rows of no known category get.
    """

    values: Floats
    others: Floats
    is_there: NDArray[np.bool_]
    prior: Floats

    def place(self, codes: Ints, fold: Ints) -> Floats:
        """The features of training rows, shape (n, n_targets); NaN where the category is missing."""
        n_levels = len(self.is_there)
        features = np.where(codes[:, None] < 0, np.nan, self.prior)
        is_known = (codes >= 0) & (codes < n_levels)
        features[is_known] = self.others[:, codes[is_known], fold[is_known]].T
        return features


class Amounts:
    """What is summed over rows, of one target: weight, weight · response and weight · response², as integers.

    Their units depend on the largest amounts and the number of rows, so sums depend neither on the order of the rows
    nor on how they are split.
    """

    def __init__(self, response: NDArray[np.generic], weight: Floats | None) -> None:
        self._response, self._weight = response, weight
        some = list(_split_rows(len(response)))
        low = min(float(response[part].min()) for part in some)
        high = max(float(response[part].max()) for part in some)
        self.low, self.span = low, (high - low) or 1.0
        largest = np.max([[amount.max() for amount in self._take(part)] for part in some], axis=0)
        exponents = [int(np.frexp(most)[1]) for most in largest]
        self._shifts = [62 - exponent - len(response).bit_length() for exponent in exponents]
        sums = np.sum([[amount.sum() for amount in self.take(part)] for part in some], axis=0)
        n, first, second = (float(each) for each in self.real(sums))
        self.prior, self.variance = first / n, max(0.0, second / n - (first / n) ** 2)

    def _take(self, rows: slice) -> list[Floats]:
        r = (self._response[rows].astype(np.float64) - self.low) / self.span
        w = np.ones(len(r)) if self._weight is None else self._weight[rows]
        return [w, w * r, w * r * r]

    def take(self, rows: slice) -> list[Ints]:
        """The amounts of some rows."""
        amounts = self._take(rows)
        return [
            np.rint(np.ldexp(amount, shift)).astype(np.int64)
            for amount, shift in zip(amounts, self._shifts, strict=True)
        ]

    def real(self, sums: Any) -> list[Floats]:
        """Sums of the three amounts in their units."""
        return [
            np.ldexp(np.asarray(each).astype(np.float64), -shift)
            for each, shift in zip(sums, self._shifts, strict=True)
        ]


class Cells:
    """Sums by category and fold of one column, added up over parts of the rows.

    Values have the shrinkage of scikit-learn's ``TargetEncoder(smooth="auto")``. The value of a category is
    λ · (its mean response) + (1 - λ) · (the mean of all rows), with λ = n v / (n v + w): its weight n, the variance v
    of all responses and w of its own. Rows get the value that the other folds give; the mean and variance of all rows
    are the same for all folds, or they would tell the folds apart.

    Parameters
    ----------
    targets : list of Amounts
        One per target, of all rows.
    n_levels : int
        Number of categories.
    """

    def __init__(self, targets: list[Amounts], n_levels: int) -> None:
        self._targets, self._n_levels = targets, n_levels
        self._sums = np.zeros((len(targets), 3, n_levels * N_FOLDS), dtype=np.int64)
        self._is_there = np.zeros(n_levels * N_FOLDS, dtype=bool)

    def add(self, codes: Ints, fold: Ints, rows: slice) -> None:
        """Add some rows, given their categories (-1: missing, n_levels: none of them) and folds, shape (n,)."""
        is_known = (codes >= 0) & (codes < self._n_levels)
        cell = codes[is_known] * N_FOLDS + fold[is_known]
        self._is_there[cell] = True
        for target, sums in zip(self._targets, self._sums, strict=True):
            for amount, own in zip(target.take(rows), sums, strict=True):
                np.add.at(own, cell, amount[is_known])

    def learn(self) -> Statistics:
        """What the sums of all rows say."""
        n_levels, shape = self._n_levels, (self._n_levels, N_FOLDS)
        values = np.empty((len(self._targets), n_levels + 1))
        others = np.empty((len(self._targets), *shape))
        for number, target in enumerate(self._targets):
            of_cells = list(self._sums[number])
            of_levels = [each.reshape(shape).sum(axis=1) for each in of_cells]
            own = _shrink(target.real(of_levels), target.prior, target.variance)
            without = [np.repeat(of, N_FOLDS) - part for of, part in zip(of_levels, of_cells, strict=True)]
            left = _shrink(target.real(without), target.prior, target.variance)
            values[number] = target.low + target.span * np.append(own, target.prior)
            others[number] = target.low + target.span * left.reshape(shape)
        prior = values[:, -1].copy()
        values[0] = part_values(values[0])
        return Statistics(values, others, self._is_there.reshape(shape), prior)


def _split_rows(n_rows: int) -> Iterator[slice]:
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        yield slice(first, min(first + _ROWS_AT_ONCE, n_rows))


def _shrink(sums: list[Floats], prior: float, variance: float) -> Floats:
    n, first, second = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / n
        share = variance * n / (variance * n + np.maximum(0.0, second / n - mean * mean))
        value = share * mean + (1.0 - share) * prior
    return np.where(np.isnan(value), prior, value)  # no rows, or all of one response


def part_values(values: Floats) -> Floats:
    """The same values, but equal ones moved apart by far less than the core's numbers of 24 bits can tell."""
    most, spread = np.abs(values).max(), np.ptp(values)
    _, exponent = np.frexp(max(np.spacing(most), 2.0**-48 * spread))
    number = np.rint(np.ldexp(values, -int(exponent))).astype(np.int64)
    order = np.argsort(number, kind="stable")
    steps = np.arange(len(order))
    number[order] = np.maximum.accumulate(number[order] - steps) + steps
    return np.ldexp(number.astype(np.float64), int(exponent))


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


_LEAST = 10.0  # of n · correlation², which exceeds it by chance once in 600 columns


def wants_indicators(missing_indicator: Any, direction: Any) -> bool:
    """Whether columns with missing values get an indicator; by default never in the paper's trees."""
    if isinstance(missing_indicator, str) and missing_indicator == "auto":
        return bool(direction != "mean_difference")
    if not isinstance(missing_indicator, (bool, np.bool_)):
        raise refuse("missing_indicator", missing_indicator, "True, False or 'auto'")
    return bool(missing_indicator)


def keep_telling(encoding: Encoding, X: Encoded, responses: NDArray[np.generic]) -> tuple[Encoding, Encoded]:
    """The encoding and the rows without the indicators that tell nothing of any response.

    An indicator of gaps at random is one more feature of noise: it stays where its correlation with a response,
    one of shape (n,) per target, is more than chance.
    """
    numbers = X.numbers if isinstance(X, CodedRows) else X
    kept, is_kept = find_telling(encoding, numbers[:, find_indicators(encoding)], responses)
    return (encoding, X) if is_kept.all() else (kept, drop_numbers(X, is_kept, kept))


def find_indicators(encoding: Encoding) -> NDArray[np.int64]:
    """Places of the indicators among the features that are numbers."""
    return encoding.number_of[encoding.is_indicator]


def find_telling(
    encoding: Encoding, indicators: NDArray[Any], responses: NDArray[np.generic]
) -> tuple[Encoding, NDArray[np.bool_]]:
    """The encoding without indicators that tell nothing, and which features that are numbers it keeps."""
    is_kept, treatments = np.ones(int((encoding.levels == 0).sum()), dtype=bool), dict[int, Treatment]()
    for feature, values in zip(np.flatnonzero(encoding.is_indicator), indicators.T, strict=True):
        is_missing = values.astype(np.float64)
        if all(_measure(is_missing, response.astype(np.float64)) <= _LEAST for response in responses):
            is_kept[encoding.number_of[feature]] = False
            treatments[int(encoding.column[feature])] = Numbers()
    return encoding.replace(treatments), is_kept


def drop_numbers(X: Encoded, is_kept: NDArray[np.bool_], encoding: Encoding) -> Encoded:
    """The rows without some of the features that are numbers."""
    if isinstance(X, CodedRows):
        return CodedRows(X.numbers[:, is_kept], X.codes, encoding.levels)
    return X[:, is_kept]


def _measure(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """N · correlation²; 0 where one does not vary."""
    b = np.ldexp(b, -int(np.frexp(np.abs(b).max(initial=0.0))[1]))  # exact; squares of 1e300 would overflow
    a, b = a - a.mean(), b - b.mean()
    scale = float((a * a).sum() * (b * b).sum())
    return len(a) * float((a * b).sum()) ** 2 / scale if scale > 0.0 else 0.0
