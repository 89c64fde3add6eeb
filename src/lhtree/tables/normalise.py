"""Learn the centre and scale of every feature, once, on the training data."""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .frames import refuse_infinity
from .rows import EncodedRows, find_whole

Columns: TypeAlias = NDArray[np.float64]
Weight: TypeAlias = NDArray[np.float64] | None

# p95 - p5 of a normal feature is 3.29 σ.
_ROBUST_SPAN = 3.29
_BYTES_AT_ONCE = 1 << 20  # few enough to stay in cache
_FEATURES_AT_ONCE = 8  # at least: the values of a row that share a cache line
_MANY_ROWS = 1 << 16
_TINY = np.finfo(np.float64).tiny  # a scale below the normal numbers counts as 0


class Normalisation(NamedTuple):
    """The affine map z = (x - centre) / scale."""

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]


class Span(NamedTuple):
    """The values of every feature in original units: smallest and largest (NaN if all are missing), and their kind."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_whole: NDArray[np.bool_]  # whether all of them are whole numbers

    @classmethod
    def unknown(cls, n_features: int) -> Span:
        """Return a span to be filled in."""
        low, high = np.full((2, n_features), np.nan)
        return cls(low, high, np.ones(n_features, dtype=bool))

    def widen(self, X: EncodedRows) -> Span:
        """Return the span widened by the rows of X."""
        low, high = X.extremes()
        return Span(np.fmin(self.low, low), np.fmax(self.high, high), self.is_whole & X.are_whole())

    def is_infinite(self) -> bool:
        """Whether a value is infinite."""
        return bool(np.isinf(self.low).any() or np.isinf(self.high).any())


def learn_normalisation(
    X: EncodedRows,
    weight: Weight,
    normalize: str | None,
    row: NDArray[np.int64] | None = None,
    n_threads: int = 1,
    span: Span | None = None,
) -> Normalisation:
    """Return centre and scale of every feature, without missing values.

    Infinities are refused; ``row`` holds the original row numbers for the message. Statistics are those of the feature
    divided by the power of two of its largest value, so that nothing overflows. The ranges are written into ``span``.
    """
    n_rows, n_features = X.shape
    centre, scale = np.zeros(n_features), np.ones(n_features)
    learn = {"robust": _robust, "standard": _standard, "minmax": _minmax, None: _nothing}[normalize]
    step = max(_FEATURES_AT_ONCE, _BYTES_AT_ONCE // (8 * n_rows))

    def learn_some(begin: int) -> None:
        some = slice(begin, begin + step)
        columns = X.transpose(some)
        low, high = columns.min(axis=1), columns.max(axis=1)
        has_missing = bool(np.isnan(low).any())
        if np.isinf(low).any() or np.isinf(high).any() or (has_missing and np.isinf(columns).any()):
            refuse_infinity(X.expand(), row)
        if span is not None:
            if has_missing:
                low, high = np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
            span.low[some], span.high[some], span.is_whole[some] = low, high, find_whole(columns.T)
        if not has_missing:
            centre[some], scale[some] = learn(columns, weight)
            return
        for feature, column in enumerate(columns, begin):  # features miss different rows
            keep = ~np.isnan(column)
            if keep.any():
                own_weight = None if weight is None else weight[keep]
                own = slice(feature, feature + 1)
                centre[own], scale[own] = learn(column[None, keep], own_weight)

    begins = range(0, n_features, step)
    if n_threads == 1 or len(begins) == 1:
        for begin in begins:
            learn_some(begin)
    else:  # NumPy sorts and reduces without the GIL
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(learn_some, begins))
    scale[scale < _TINY] = 1.0
    return Normalisation(centre, scale)


def _exponents(columns: Columns) -> NDArray[np.int32]:
    exponents: NDArray[np.int32] = np.frexp(np.maximum(columns.max(axis=1), -columns.min(axis=1)))[1]
    return exponents


def _robust(columns: Columns, weight: Weight) -> tuple[Any, Any]:
    exponent = _exponents(columns)
    low, middle, high = _quantiles(columns, weight, (0.05, 0.5, 0.95))
    span = np.ldexp((np.ldexp(high, -exponent) - np.ldexp(low, -exponent)) / _ROBUST_SPAN, exponent)
    is_narrow = span < _TINY
    if is_narrow.any():
        span[is_narrow] = _standard(columns[is_narrow], weight)[1]
    return middle, span


def _standard(columns: Columns, weight: Weight) -> tuple[Any, Any]:
    exponent = _exponents(columns)
    columns = np.ldexp(columns, -exponent[:, None])
    mean = np.average(columns, axis=1, weights=weight)
    variance = np.average((columns - mean[:, None]) ** 2, axis=1, weights=weight)
    is_constant = columns.min(axis=1) == columns.max(axis=1)  # the mean of a constant may be rounded
    deviation = np.where(is_constant, 0.0, np.sqrt(variance))
    return np.ldexp(mean, exponent), np.ldexp(deviation, exponent)


def _nothing(columns: Columns, weight: Weight) -> tuple[Any, Any]:
    return 0.0, 1.0


def _minmax(columns: Columns, weight: Weight) -> tuple[Any, Any]:
    exponent = _exponents(columns)
    low, high = np.ldexp(columns.min(axis=1), -exponent), np.ldexp(columns.max(axis=1), -exponent)
    return np.ldexp((low + high) / 2.0, exponent), np.ldexp((high - low) / 2.0, exponent)


def _quantiles(columns: Columns, weight: Weight, shares: tuple[float, ...]) -> list[NDArray[np.float64]]:
    """Return weighted inverted-CDF quantiles: the least value at which the cumulative weight reaches the share."""
    n_rows = columns.shape[1]
    if weight is None:
        at = _find_places(n_rows, shares)
        if n_rows >= _MANY_ROWS:
            return list(np.array([_select(column, at) for column in columns]).T)
        parted = np.partition(columns, sorted(set(at)), axis=1)
        return [parted[:, i] for i in at]
    feature = np.arange(len(columns))
    order = np.argsort(columns, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1)
    first = [np.argmax(reached / reached[:, -1:] >= share, axis=1) for share in shares]
    return [columns[feature, order[feature, at]] for at in first]


@lru_cache(maxsize=8)
def _find_places(n_rows: int, shares: tuple[float, ...]) -> list[int]:
    """Return the places of quantiles among sorted values without weights."""
    return [bisect_left(range(n_rows), share, key=lambda place: (place + 1) / n_rows) for share in shares]


def _select(column: NDArray[np.float64], at: list[int]) -> list[np.float64]:
    """Return the values at places ``at`` of the sorted column: a sample narrows the range to search for each."""
    n_rows, n_zeros = len(column), int(np.count_nonzero(column == 0.0))
    if n_zeros + np.count_nonzero(column == 1.0) == n_rows:
        return [np.float64(place >= n_zeros) for place in at]
    sample = np.sort(column[:: n_rows >> 14])
    margin = 2 * int(np.sqrt(len(sample)))  # four standard deviations of a place in the sample
    found = []
    for place in at:
        middle = place * len(sample) // n_rows
        low = sample[max(middle - margin, 0)]
        high = sample[min(middle + margin, len(sample) - 1)]
        first = int(np.count_nonzero(column < low))
        is_inside = first <= place < int(np.count_nonzero(column <= high))
        if is_inside and low == high:
            found.append(low)
            continue
        if is_inside:
            between = column[(column >= low) & (column <= high)]
        else:  # the order of the rows misled the sample
            first, between = 0, column
        found.append(np.partition(between, place - first)[place - first])
    return found
