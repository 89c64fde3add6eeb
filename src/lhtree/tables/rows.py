"""Encoded rows, and the sample of rows that scales and bins are learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .frames import refuse_infinity

MOST_SAMPLED = _core.MOST_SAMPLED
_BATCH_BYTES = 1 << 24
_VALUES_AT_ONCE = 1024  # of joined rows
_CHECKED_AT_ONCE = 1 << 15  # values that are compared with whole numbers
_ROWS_AT_ONCE = 2048  # few enough to stay in cache while their features are taken one by one


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows: columns of numbers, and the levels of one-hot columns as codes.

    As features, every level of a column is one of 0 and 1. Arrays of numbers are used as they are, without a copy.
    """

    numbers: NDArray[Any]  # float64 or float32, shape (n, n_numbers)
    codes: NDArray[
        np.int32
    ]  # level of every row in the one-hot columns, -1 where missing, shape (n, n_coded)
    levels: NDArray[np.int32]  # number of levels of every column, 0 for numbers, shape (n_numbers + n_coded,)

    @classmethod
    def plain(cls, numbers: NDArray[Any]) -> EncodedRows:
        """Return rows of numbers only."""
        n_rows, n_numbers = numbers.shape
        return cls(numbers, np.empty((n_rows, 0), dtype=np.int32), np.zeros(n_numbers, dtype=np.int32))

    @classmethod
    def join(cls, parts: Sequence[EncodedRows]) -> EncodedRows:
        """Return the rows of some parts, at least one, one after the other."""
        if len(parts) == 1:
            return parts[0]
        numbers = np.concatenate([part.numbers for part in parts])
        return cls(numbers, np.concatenate([part.codes for part in parts]), parts[0].levels)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> EncodedRows:
        """Return some rows, by anything that gives an array of them."""
        # take is several times faster than indexing with an array of row numbers
        is_listed = isinstance(rows, np.ndarray) and rows.dtype.kind in "iu"
        numbers = self.numbers.take(rows, axis=0) if is_listed else self.numbers[rows]
        return EncodedRows(numbers, np.ascontiguousarray(self.codes[rows]), self.levels)

    def thin(self, most: int, *, copy: bool = False) -> EncodedRows:
        """Return at most some rows, at equal distances; with ``copy``, they share no memory with the others."""
        if len(self) <= most:
            return EncodedRows(self.numbers.copy(), self.codes.copy(), self.levels) if copy else self
        return self[np.linspace(0, len(self) - 1, most).round().astype(np.int64)]

    def with_numbers(self, numbers: NDArray[Any], levels: NDArray[np.int32]) -> EncodedRows:
        """Return the rows with other numbers."""
        return EncodedRows(numbers, self.codes, levels)

    @property
    def has_codes(self) -> bool:
        """Whether there are one-hot columns."""
        return bool(self.codes.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.numbers), int(np.maximum(self.levels, 1).sum())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.numbers.dtype

    def arguments(self) -> dict[str, Any]:
        """Return the arguments for these rows of the core's functions."""
        if not self.has_codes:
            return {"X": self.numbers}
        return {"X": self.numbers, "codes": self.codes, "levels": self.levels}

    def expand(self) -> NDArray[Any]:
        """Return all features, shape (n, m); NaN in all levels of a column where it is missing."""
        if not self.has_codes:
            return self.numbers
        return _core.expand_levels(self.numbers, self.codes, self.levels)

    def score(self, method: Callable[[Any, int], Any], n_threads: int) -> Any:
        """Call a method of the core's scorer; features of one-hot columns are made batch by batch."""
        if not self.has_codes:
            result = method(self.numbers, n_threads)
            if result is None:
                refuse_infinity(self.numbers)
            return result
        return join_results([method(batch, n_threads) for _, batch in self.batches()])

    def batches(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield all features, batch by batch where there are one-hot columns, and the rows of each batch."""
        n_rows, n_features = self.shape
        step = max(1, _BATCH_BYTES // (8 * n_features)) if self.has_codes else max(1, n_rows)
        for first in range(0, n_rows, step):
            some = slice(first, min(first + step, n_rows))
            yield some, self[some].expand()

    def transpose(self, some: slice) -> NDArray[np.float64]:
        """Return some features of all rows, shape (n_features, n), so that passes run along memory."""
        if not self.has_codes:
            numbers = self.numbers[:, some]
            columns = np.empty(numbers.shape[::-1])
            for begin in range(0, len(numbers), _ROWS_AT_ONCE):
                rows = slice(begin, begin + _ROWS_AT_ONCE)
                columns[:, rows] = numbers[rows].T
            return columns
        transposed = []
        for first, values, n_levels in self.columns():
            if n_levels:
                is_missing = values < 0
                for level in range(max(some.start - first, 0), min(some.stop - first, n_levels)):
                    feature = (values == level).astype(np.float64)
                    feature[is_missing] = np.nan
                    transposed.append(feature)
            elif some.start <= first < some.stop:
                transposed.append(values)
        return np.array(transposed)

    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return smallest and largest value of every feature; NaN where all are missing."""
        if not self.has_codes:
            return _reduce_rows(np.fmin, self.numbers), _reduce_rows(np.fmax, self.numbers)
        low, high = np.full((2, self.shape[1]), np.nan)
        for first, values, n_levels in self.columns():
            own = slice(first, first + max(n_levels, 1))
            if not n_levels:
                low[own], high[own] = np.fmin.reduce(values), np.fmax.reduce(values)
                continue
            counts = np.bincount(values[values >= 0], minlength=n_levels)
            if counts.any():
                low[own], high[own] = counts == counts.sum(), counts > 0
        return low, high

    def are_whole(self) -> NDArray[np.bool_]:
        """Whether all values of every feature are whole numbers; missing values do not count."""
        width = np.maximum(self.levels, 1)
        first = np.cumsum(width) - width
        is_whole = np.ones(self.shape[1], dtype=bool)  # levels are 0 or 1
        is_whole[first[self.levels == 0]] = find_whole(self.numbers)
        return is_whole

    def columns(self) -> Iterator[tuple[int, NDArray[Any], int]]:
        """Yield the first feature, the values and the number of levels (0: numbers) of every column."""
        first, n_numbers, n_coded = 0, 0, 0
        for n_levels in self.levels.tolist():
            if n_levels:
                yield first, self.codes[:, n_coded], n_levels
                n_coded += 1
            else:
                yield first, self.numbers[:, n_numbers], 0
                n_numbers += 1
            first += max(n_levels, 1)


def find_whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns of values, shape (n, m), hold only whole numbers; missing values do not count."""
    is_whole = np.ones(values.shape[1], dtype=bool)
    step = max(1, _CHECKED_AT_ONCE // max(1, values.shape[1]))
    for begin in range(0, len(values), step):
        rows, known = values[begin : begin + step], np.flatnonzero(is_whole)
        if not len(known):
            break
        own = rows if len(known) == len(is_whole) else rows[:, known]
        differs = own != np.floor(own)
        if differs.any():  # or missing
            is_whole[known] = ~(differs & ~np.isnan(own)).any(axis=0)
    return is_whole


def _reduce_rows(how: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
    """Reduce the rows of an array, at least one; short rows are joined, because NumPy is slow along short ones."""
    n_joined = _VALUES_AT_ONCE // max(1, numbers.shape[1])
    if n_joined < 2 or len(numbers) < n_joined or not numbers.flags.c_contiguous:
        return how.reduce(numbers, axis=0)  # type: ignore[no-any-return]
    whole = numbers[: len(numbers) - len(numbers) % n_joined]
    joined = how.reduce(whole.reshape(-1, n_joined * numbers.shape[1]), axis=0)
    rest = numbers[len(whole) :]
    return how.reduce(np.concatenate([joined.reshape(n_joined, -1), rest]), axis=0)  # type: ignore[no-any-return]


def join_results(parts: Sequence[Any]) -> Any:
    """Return results of the core for parts of the rows, an array or a tuple of arrays each, as one."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(map(np.concatenate, zip(*parts, strict=True)))
    return np.concatenate(list(parts))


def sample_rows(n_rows: int, seed: int) -> NDArray[np.int64] | None:
    """Return ascending numbers of the sampled rows, a function of their numbers only; None where all are taken."""
    return None if n_rows <= MOST_SAMPLED else _core.sample_rows(n_rows, seed, MOST_SAMPLED)


class KeyedSample:
    """The sample of ``sample_rows`` for rows that are read in batches: rows with the smallest keys so far."""

    def __init__(self, seed: int) -> None:
        self._seed, self._n_seen = seed, 0
        self._keys, self.rows = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        self._limit = np.uint64(2**64 - 1)  # rows with larger keys are not in the sample

    def offer(self, n_rows: int) -> NDArray[np.int64]:
        """Append the next rows that may be in the sample, and return their places."""
        keys = _core.draw_keys(self._seed, _core.Stream.sampled_rows, n_rows, self._n_seen)
        chosen = np.flatnonzero(keys <= self._limit)
        self._keys = np.concatenate([self._keys, keys[chosen]])
        self.rows = np.concatenate([self.rows, self._n_seen + chosen])
        self._n_seen += n_rows
        return chosen

    def prune(self, *, is_last: bool = False) -> NDArray[np.int64] | None:
        """Drop rows where there are too many; return the places of the other rows, or None if all stay."""
        if len(self.rows) <= (MOST_SAMPLED if is_last else 2 * MOST_SAMPLED):
            return None
        order = np.lexsort((self.rows, self._keys))[:MOST_SAMPLED]
        self._limit = self._keys[order[-1]]
        stays = np.sort(order)
        self._keys, self.rows = self._keys[stays], self.rows[stays]
        return stays
