"""One fit, its time and its memory: ``python -m benchmarks.scale.child way rows columns rounds``.

Rows are made in batches by a function of their number, so that a table of any size needs no disk and no memory.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BATCH_ROWS = 1 << 18
_STATUS = Path("/proc/self/status")


def make_batch(number: int, n_rows: int, n_columns: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Rows and their classes, which depend on hyperplanes and on single columns."""
    random = np.random.default_rng([7, number])
    X = random.random((n_rows, n_columns), dtype=np.float32)
    raw = 4 * (X[:, 0] + X[:, 1] - X[:, 2]) + 3 * (X[:, 3] > 0.7) + 6 * X[:, 4] * X[:, 5] - 4.5
    return X, (random.random(n_rows, dtype=np.float32) < 1 / (1 + np.exp(-raw))).astype(np.int8)


class Table:
    """A table that is generated on every read, and the processor time of generating it."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.n_rows, self._n_columns = n_rows, n_columns
        self.seconds, self.ended = 0.0, 0.0

    def __call__(self) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int8]]]:
        """All rows in batches."""
        for number, first in enumerate(range(0, self.n_rows, _BATCH_ROWS)):
            begin = time.process_time()
            batch = make_batch(number, min(_BATCH_ROWS, self.n_rows - first), self._n_columns)
            self.seconds += time.process_time() - begin
            yield batch
        self.ended = time.process_time()

    def read(self) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """All rows at once."""
        X, y = (
            np.empty((self.n_rows, self._n_columns), dtype=np.float32),
            np.empty(self.n_rows, dtype=np.int8),
        )
        first = 0
        for rows, classes in self():
            X[first : first + len(rows)], y[first : first + len(rows)] = rows, classes
            first += len(rows)
        return X, y


class AnonymousMemory:
    """The peak of this process's anonymous memory; pages of mapped files are not part of it."""

    def __init__(self) -> None:
        self._is_done = threading.Event()
        self._before = self.peak = self._read()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    @staticmethod
    def _read() -> int:
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("RssAnon:"))
        return int(line.split()[1]) * 1024

    def _watch(self) -> None:
        while not self._is_done.wait(0.05):
            self.peak = max(self.peak, self._read())

    def finish(self) -> int:
        """Bytes at the peak beyond those at the start."""
        self._is_done.set()
        self._thread.join()
        return self.peak - self._before


def fit(way: str, n_rows: int, n_columns: int, n_rounds: int) -> dict[str, Any]:
    """Fit one model; a fit of one round measures the work before the first round."""
    table = Table(n_rows, n_columns)
    if way == "lightgbm":
        return _fit_lightgbm(table, n_rounds)
    from lhtree import LHBoostClassifier

    def make(rounds: int) -> LHBoostClassifier:
        return LHBoostClassifier(
            max_iter=rounds, learning_rate=0.1, early_stopping=False, random_state=0, n_jobs=1
        )

    memory = AnonymousMemory()
    if way == "batches":
        begin = time.process_time()
        make(n_rounds).fit_batches(table)
        end = time.process_time()
        rounds = end - table.ended  # time after the last row is read
        prepare = end - begin - rounds - table.seconds
    else:
        X, y = table.read()
        make(1).fit(X[:1000], y[:1000])  # warm
        begin = time.process_time()
        make(1).fit(X, y)
        middle = time.process_time()
        make(1 + n_rounds).fit(X, y)
        end = time.process_time()
        rounds = (end - middle) - (middle - begin)
        prepare = (middle - begin) - rounds / n_rounds
    return {
        "prepare_seconds": prepare,
        "round_seconds": rounds / n_rounds,
        "n_bytes": memory.finish(),
        "n_bytes_scratch": n_rows * n_columns if way == "batches" else 0,
    }


def _fit_lightgbm(table: Table, n_rounds: int) -> dict[str, Any]:
    """LightGBM on the same rows with as many leaves; its histograms are of single features only."""
    import lightgbm

    memory = AnonymousMemory()
    X, y = table.read()
    begin = time.process_time()
    params = {
        "objective": "binary",
        "num_leaves": 31,
        "num_threads": 1,
        "verbosity": -1,
        "learning_rate": 0.1,
    }
    data = lightgbm.Dataset(X, y, params=params).construct()
    middle = time.process_time()
    lightgbm.train(params, data, n_rounds)
    end = time.process_time()
    return {
        "prepare_seconds": middle - begin,
        "round_seconds": (end - middle) / n_rounds,
        "n_bytes": memory.finish(),
        "n_bytes_scratch": 0,
    }


if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1], *map(int, sys.argv[2:]))))
