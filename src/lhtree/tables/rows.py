"""Encoded rows, and the sample of rows that scales and bins are learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core

_BATCH_BYTES = 1 << 24


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Encoded rows, a value per column; as features, every level of a column is one of 0 and 1."""

    numbers: NDArray[np.float64]  # columns of numbers, shape (n, n_numbers)
    codes: NDArray[np.int32]  # level of every row in the other columns, -1 where missing, shape (n, n_coded)
    levels: NDArray[np.int32]  # number of levels of every column, 0 for numbers, shape (n_numbers + n_coded,)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> CodedRows:
        """Some rows, by anything that gives an array of them."""
        return CodedRows(self.numbers[rows], np.ascontiguousarray(self.codes[rows]), self.levels)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.numbers), int(np.maximum(self.levels, 1).sum())

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the features."""
        return self.numbers.dtype

    def expand(self) -> NDArray[np.float64]:
        """All features, shape (n, m); NaN in all levels of a column where it is missing."""
        features = np.empty(self.shape)
        for first, values, n_levels in self._columns():
            if n_levels:
                own = features[:, first : first + n_levels]
                is_known = values >= 0
                rows = np.flatnonzero(is_known)
                own[:] = 0.0
                own[rows, values[rows]] = 1.0
                own[~is_known] = np.nan
            else:
                features[:, first] = values
        return features

    def batches(self) -> Iterator[NDArray[np.float64]]:
        """All features of some rows after the other, in little memory."""
        n_rows, n_features = self.shape
        step = max(1, _BATCH_BYTES // (8 * n_features))
        for begin in range(0, n_rows, step):
            yield self[begin : begin + step].expand()

    def score(self, method: Callable[[Any, int], Any], n_threads: int) -> Any:
        """What a method of the core's scorer gives for the rows: an array with a row for each, or some arrays."""
        results = [method(batch, n_threads) for batch in self.batches()]
        if isinstance(results[0], tuple):
            return tuple(map(np.concatenate, zip(*results, strict=True)))
        return np.concatenate(results)

    def transpose(self, some: slice) -> NDArray[np.float64]:
        """Some features of all rows, shape (n_features, n)."""
        transposed = []
        for first, values, n_levels in self._columns():
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
        """Smallest and largest value of every feature; NaN where all are missing."""
        low, high = np.full((2, self.shape[1]), np.nan)
        for first, values, n_levels in self._columns():
            own = slice(first, first + max(n_levels, 1))
            if not n_levels:
                low[own], high[own] = np.fmin.reduce(values), np.fmax.reduce(values)
                continue
            counts = np.bincount(values[values >= 0], minlength=n_levels)
            if counts.any():
                low[own], high[own] = counts == counts.sum(), counts > 0
        return low, high

    def _columns(self) -> Iterator[tuple[int, NDArray[Any], int]]:
        """Of every column the first feature, the numbers or codes, and the number of levels (0: numbers)."""
        first, n_numbers, n_coded = 0, 0, 0
        for n_levels in self.levels.tolist():
            if n_levels:
                yield first, self.codes[:, n_coded], n_levels
                n_coded += 1
            else:
                yield first, self.numbers[:, n_numbers], 0
                n_numbers += 1
            first += max(n_levels, 1)


# Rows that were encoded: an array of the features or, with categories, their codes.
Encoded: TypeAlias = NDArray[Any] | CodedRows


def expand(X: Encoded) -> NDArray[Any]:
    """All features, shape (n, m)."""
    return X if isinstance(X, np.ndarray) else X.expand()


def split_batches(X: Encoded) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield all features of some rows after the other, with the place of these rows."""
    begin = 0
    for batch in (X,) if isinstance(X, np.ndarray) else X.batches():
        yield slice(begin, begin + len(batch)), batch
        begin += len(batch)


def join_rows(parts: Sequence[Encoded]) -> Encoded:
    """The rows of some parts, of which there is at least one, one after the other."""
    first, given = parts[0], list[Any](parts)
    if len(given) == 1:
        return first
    if not isinstance(first, CodedRows):
        return np.concatenate(given)
    numbers, codes = (
        np.concatenate([getattr(part, name) for part in given]) for name in ("numbers", "codes")
    )
    return CodedRows(numbers, codes, first.levels)


def split(X: Encoded, of: str = "") -> dict[str, Any]:
    """The arguments for rows, or those "_val" of them, of the core's functions that grow trees."""
    if not isinstance(X, CodedRows):
        return {f"X{of}": X}
    parts = {f"X{of}": X.numbers, f"codes{of}": X.codes}
    return parts if of else parts | {"levels": X.levels}


MOST_SAMPLED = _core.MOST_SAMPLED


def sample_rows(n_rows: int, seed: int) -> NDArray[np.int64] | None:
    """Ascending numbers of the sampled rows; None where all are taken."""
    return None if n_rows <= MOST_SAMPLED else _core.sample_rows(n_rows, seed, MOST_SAMPLED)


class KeyedSample:
    """The same sample while rows go by: those of the smallest keys so far."""

    def __init__(self, seed: int) -> None:
        self._seed, self._n_seen = seed, 0
        self._keys, self.rows = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        self._limit = np.uint64(2**64 - 1)  # keys above it are out

    def offer(self, n_rows: int) -> NDArray[np.int64]:
        """Which of the next rows may be in the sample; they are added behind those there are."""
        keys = _core.draw_keys(self._seed, _core.Stream.sampled_rows, n_rows, self._n_seen)
        chosen = np.flatnonzero(keys <= self._limit)
        self._keys = np.concatenate([self._keys, keys[chosen]])
        self.rows = np.concatenate([self.rows, self._n_seen + chosen])
        self._n_seen += n_rows
        return chosen

    def prune(self, *, is_last: bool = False) -> NDArray[np.int64] | None:
        """Places of the rows that stay, ascending, where too many were added; None where all stay."""
        if len(self.rows) <= (MOST_SAMPLED if is_last else 2 * MOST_SAMPLED):
            return None
        order = np.lexsort((self.rows, self._keys))[:MOST_SAMPLED]
        self._limit = self._keys[order[-1]]
        stays = np.sort(order)
        self._keys, self.rows = self._keys[stays], self.rows[stays]
        return stays
