"""Features that depend on the responses: target statistics and indicators of missing values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import refuse
from .encoders import ColumnEncoder, Numbers, TargetStatistic
from .encoding import Encoding
from .rows import EncodedRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_FOLDS = 5
_ROWS_AT_ONCE = 1 << 20
_FEWEST_GAPS = 5.0  # weight of missing values, and of others, that an indicator needs
_LEAST = 10.0  # of n · correlation², which exceeds it by chance once in 600 columns
_SEED = 0x1715609F7C746C69  # of the folds: a model without draws does not depend on its random state


def draw_folds(n_rows: int, first: int = 0) -> Ints:
    """Return the fold of every row, shape (n,), a function of its number, which begins at ``first``."""
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
        """Return the features of training rows, shape (n, n_targets); NaN where the category is missing."""
        n_levels = len(self.is_there)
        features = np.where(codes[:, None] < 0, np.nan, self.prior)
        is_known = (codes >= 0) & (codes < n_levels)
        features[is_known] = self.others[:, codes[is_known], fold[is_known]].T
        return features


class Moments:
    """Weight, weight · response and weight · response² of every row, of one target, as integers.

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
        """Return the amounts of some rows."""
        amounts = self._take(rows)
        return [
            np.rint(np.ldexp(amount, shift)).astype(np.int64)
            for amount, shift in zip(amounts, self._shifts, strict=True)
        ]

    def real(self, sums: Any) -> list[Floats]:
        """Return sums of the three amounts in their units."""
        return [
            np.ldexp(np.asarray(each).astype(np.float64), -shift)
            for each, shift in zip(sums, self._shifts, strict=True)
        ]


class LevelMoments:
    """Sums by category and fold of one column, added up over parts of the rows.

    Values have the shrinkage of scikit-learn's ``TargetEncoder(smooth="auto")``. The value of a category is
    λ · (its mean response) + (1 - λ) · (the mean of all rows), with λ = n v / (n v + w): its weight n, the variance v
    of all responses and w of its own. Rows get the value that the other folds give; the mean and variance of all rows
    are the same for all folds, or the folds could be told apart.

    Parameters
    ----------
    targets : list of Moments
        One per target, of all rows.
    n_levels : int
        Number of categories.
    """

    def __init__(self, targets: list[Moments], n_levels: int) -> None:
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
        """Return the statistics of all rows."""
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
    """Return values that are all different: equal ones are moved apart by less than the core's 24 bits resolve."""
    most, spread = np.abs(values).max(), np.ptp(values)
    _, exponent = np.frexp(max(np.spacing(most), 2.0**-48 * spread))
    number = np.rint(np.ldexp(values, -int(exponent))).astype(np.int64)
    order = np.argsort(number, kind="stable")
    steps = np.arange(len(order))
    number[order] = np.maximum.accumulate(number[order] - steps) + steps
    return np.ldexp(number.astype(np.float64), int(exponent))


def learn_statistics(
    numbers: Encoding,
    parts: Iterable[tuple[int, dict[int, Ints]]],
    responses: NDArray[np.generic],
    weight: NDArray[np.float64] | None,
) -> dict[int, Statistics]:
    """Return the statistics of the columns of many categories.

    Parameters
    ----------
    numbers : Encoding
        With ``LevelNumbers`` (see ``Encoding.to_numbers``).
    parts : iterable
        Rows in pieces: the number of the first row, and by column the number of every row's category.
    responses : array of shape (n_targets, n)
        0 and 1 for classes, or real numbers, of all rows.
    weight : array of shape (n,), optional
        Weights of all rows.
    """
    moments = [Moments(response, weight) for response in responses]
    sums = {
        column: LevelMoments(moments, len(numbers.categories[column] or ())) for column in numbers.counted
    }
    for first, levels in parts:
        for column, own in sums.items():
            codes = levels[column]
            own.add(codes, draw_folds(len(codes), first), slice(first, first + len(codes)))
    return {column: own.learn() for column, own in sums.items()}


def add_statistics(numbers: Encoding, learned: dict[int, Statistics], targets: Sequence[str]) -> Encoding:
    """Return the encoding of a model, with statistics of all rows in place of numbers of categories."""
    return numbers.replace(
        {
            column: TargetStatistic(numbers.categories[column] or (), own.values, tuple(targets))
            for column, own in learned.items()
        }
    )


def place_statistics(
    numbers: Encoding, encoding: Encoding, X: EncodedRows, learned: dict[int, Statistics], fold: Ints
) -> EncodedRows:
    """Return training rows with the statistics of the other folds in place of numbers of categories."""
    levels = read_levels(numbers, X)
    parts, first = [], 0
    for column, own in learned.items():
        feature = _find_place(numbers, column)
        parts += [X.numbers[:, first:feature], own.place(levels[column], fold)]
        first = feature + 1
    return X.with_numbers(np.concatenate([*parts, X.numbers[:, first:]], axis=1), encoding.levels)


def read_levels(numbers: Encoding, X: EncodedRows) -> dict[int, Ints]:
    """Return the number of every row's category by column, -1 where it is missing."""
    places = {column: _find_place(numbers, column) for column in numbers.counted}
    return {
        column: np.nan_to_num(X.numbers[:, place], nan=-1.0).astype(np.int64)
        for column, place in places.items()
    }


def _find_place(numbers: Encoding, column: int) -> int:
    """Place of a column among the features that are numbers."""
    return int(numbers.number_of[numbers.ptr[column]])


def wants_indicators(missing_indicator: Any, direction: Any) -> bool:
    """Whether columns with missing values get an indicator; by default never in the paper's trees."""
    if isinstance(missing_indicator, str) and missing_indicator == "auto":
        return not (isinstance(direction, str) and direction == "mean_difference")
    if not isinstance(missing_indicator, (bool, np.bool_)):
        raise refuse("missing_indicator", missing_indicator, "True, False or 'auto'")
    return bool(missing_indicator)


def read_indicators(encoding: Encoding, X: EncodedRows) -> NDArray[Any]:
    """Return the indicators of missing values, shape (n, n_indicators)."""
    return X.numbers[:, encoding.number_of[encoding.is_indicator]]


def drop_indicators(
    encoding: Encoding,
    indicators: NDArray[Any],
    responses: NDArray[np.generic],
    weight: Floats | None,
    *,
    if_unrelated: bool,
) -> Encoding:
    """Return the encoding without the indicators for which too little weight is missing, or not missing.

    If values are missing at random, an indicator is one more feature of noise: with ``if_unrelated`` it stays only
    where its correlation with a response, shape (n,) each, is larger than by chance.
    """
    encoders = dict[int, ColumnEncoder]()
    for feature, values in zip(np.flatnonzero(encoding.is_indicator), indicators.T, strict=True):
        is_missing = values.astype(np.float64)
        weights = np.bincount(values.astype(np.int64), weights=weight, minlength=2)
        if weights.min() < _FEWEST_GAPS or (
            if_unrelated
            and all(
                _measure(is_missing, response.astype(np.float64), weight) <= _LEAST for response in responses
            )
        ):
            encoders[int(encoding.column[feature])] = Numbers()
    return encoding.replace(encoders)


def drop_numbers(before: Encoding, after: Encoding, X: EncodedRows) -> EncodedRows:
    """Return the rows without the indicators that only the encoding before has."""
    is_kept = np.ones(X.numbers.shape[1], dtype=bool)
    for feature in np.flatnonzero(before.is_indicator):
        column = before.column[feature]
        is_kept[before.number_of[feature]] = after.encoders[column].n_features > 1
    return X.with_numbers(X.numbers[:, is_kept], after.levels)


def _measure(a: Floats, b: Floats, weight: Floats | None) -> float:
    """Return total weight · correlation²; 0 where one does not vary."""
    b = np.ldexp(b, -int(np.frexp(np.abs(b).max(initial=0.0))[1]))  # exact; squares of 1e300 would overflow
    total, w = float(len(a)), np.ones(1)
    if weight is not None:
        total, w = float(weight.sum()), weight / weight.max()
    a, b = a - np.average(a, weights=weight), b - np.average(b, weights=weight)
    scale = float((w * a * a).sum() * (w * b * b).sum())
    return total * float((w * a * b).sum()) ** 2 / scale if scale > 0.0 else 0.0
