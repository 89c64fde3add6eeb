"""The rows that bins and scales are learned from: all, or a sample that depends on their numbers only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core

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
