"""Boosted fits on Dask: workers against threads, bytes sent, and LightGBM on the same workers."""

import importlib
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ..common.models import version_key
from ..common.results import read_json, write_json
from ..runner import Args, Tell
from .child import make_batch

N_COLUMNS, N_ROUNDS, DEPTH = 20, 20, 5
SIZES = (1_000_000, 5_000_000, 20_000_000)
QUICK = 20_000
_PARTITIONS = 4
_BITS_OF_A_ROW = 8  # of a gradient, and of a hessian: chosen to fit 200,000 rows


class DaskFit(NamedTuple):
    """A fit, of one thread per worker."""

    way: str  # "local", "dask" or "lightgbm.dask"
    n_rows: int
    n_workers: int
    seconds: float  # elapsed
    processor_seconds: float  # of the busiest worker, or of the whole process
    n_exchanges: int = 0
    n_bytes: int = 0  # that a worker sends, per level of a tree
    n_bytes_predicted: int = 0


def count_bytes(n_rows: int, n_bins: int) -> float:
    """Return the bytes that a worker sends for a feature of a block, given its rows there.

    Numbers take seven bits to a byte; of the last byte half is wasted on average.
    """
    bits = np.log2(max(n_rows / n_bins, 1.0))
    return float(n_bins * (bits / 7 + 1.0 + 2 * ((bits + _BITS_OF_A_ROW) / 7 + 0.5)))


def predict_bytes(n_rows: int, n_workers: int, n_features: int = N_COLUMNS, n_bins: int = 255) -> int:
    """Bytes that a worker sends per level, on average over the levels of a tree: the cost model.

    A level has histograms of all features in its smaller children, and one of feature sums in every block.
    """
    own = 0.7 * n_rows / n_workers  # rows that take part in a round
    total = 0.0
    for level in range(DEPTH):
        n_blocks = 2**level
        n_counted = max(1, n_blocks // 2)
        total += n_counted * n_features * count_bytes(int(own / n_blocks), n_bins)
        total += n_blocks * count_bytes(int(own / n_blocks), 255)
    return round(total / DEPTH)


def choose_sizes(args: Args) -> tuple[int, ...]:
    """Rows of the tables."""
    return (QUICK,) if args.quick else tuple(args.dask_rows or SIZES)


def measure_dask(tell: Tell, args: Args, folder: str) -> list[Any]:
    """Fits of one table in memory and on one and two workers.

    Every size is kept when it is done. A run measures the sizes that this build has no results of, and those that are
    named, and returns all.
    """
    build = version_key("paper_tree")
    found: list[Any] = []
    for n_rows in sorted({*choose_sizes(args), *(() if args.quick else SIZES)}):
        name = f"{folder}/dask/{n_rows}"
        kept = read_json(name)
        is_named = n_rows in (args.dask_rows or ())
        is_kept = kept is not None and kept["build"] == build
        if n_rows in choose_sizes(args) and (is_named or not is_kept):
            kept = {"build": build, "found": _measure(tell, n_rows)}
            write_json(name, kept)
            is_kept = True
        found += kept["found"] if is_kept else []
    return found


def _measure(tell: Tell, n_rows: int) -> list[DaskFit]:
    from lhtree import LHBoostClassifier

    settings: dict[str, Any] = {
        "max_iter": N_ROUNDS,
        "max_depth": DEPTH,
        "learning_rate": 0.1,
        "early_stopping": False,
        "random_state": 0,
    }
    size = n_rows // _PARTITIONS
    X, y = np.empty((_PARTITIONS * size, N_COLUMNS), dtype=np.float32), np.empty(_PARTITIONS * size, np.int8)
    for number in range(_PARTITIONS):
        some = slice(number * size, (number + 1) * size)
        X[some], y[some] = make_batch(number, size, N_COLUMNS)
    fits, local = [], LHBoostClassifier(**settings).fit(X[:1000], y[:1000])  # warm
    for n_threads in (1, 2):
        tell(f"{n_rows:,} rows, {n_threads} threads")
        begin, used = time.perf_counter(), time.process_time()
        local = LHBoostClassifier(n_jobs=n_threads, **settings).fit(X, y)
        seconds = time.perf_counter() - begin
        fits.append(DaskFit("local", n_rows, n_threads, seconds, time.process_time() - used))
    expected = local.predict_proba(X[:1000])
    del X, y
    for n_workers in (1, 2):
        fits += _measure_workers(tell, n_rows, n_workers, settings, expected)
    return fits


def _measure_workers(
    tell: Tell, n_rows: int, n_workers: int, settings: dict[str, Any], expected: Any
) -> list[DaskFit]:
    import dask
    import dask.array as da
    import lightgbm
    from distributed import Client, LocalCluster, wait

    from lhtree.dask import DaskLHBoostClassifier

    size = n_rows // _PARTITIONS
    made = [dask.delayed(make_batch, nout=2)(number, size, N_COLUMNS) for number in range(_PARTITIONS)]
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        X = da.concatenate([da.from_delayed(part[0], (size, N_COLUMNS), np.float32) for part in made])
        y = da.concatenate([da.from_delayed(part[1], (size,), np.int8) for part in made])
        X, y = client.persist([X, y])
        wait([X, y])
        for module in ("lhtree.dask", "lightgbm"):
            client.run(importlib.import_module, module)
        tell(f"{n_rows:,} rows, {n_workers} workers")
        with _counting() as counted:
            times = _Times(client)
            model = DaskLHBoostClassifier(**settings).fit(X, y, client=client)
            seconds = times.read()
        if not np.array_equal(model.predict_proba(X[:1000]).compute(), expected):
            raise RuntimeError("the model on Dask is not that of one machine")
        ours = DaskFit(
            "dask",
            n_rows,
            n_workers,
            *seconds,
            counted["exchanges"],
            round(counted["bytes"] / (N_ROUNDS * DEPTH * n_workers)),
            predict_bytes(n_rows, n_workers),
        )
        tell(f"{n_rows:,} rows, {n_workers} workers, lightgbm.dask")
        times = _Times(client)
        lightgbm.DaskLGBMClassifier(
            client=client, n_estimators=N_ROUNDS, num_leaves=2**DEPTH - 1, learning_rate=0.1, verbosity=-1
        ).fit(X, y)
        return [ours, DaskFit("lightgbm.dask", n_rows, n_workers, *times.read())]


class _Times:
    """Elapsed seconds, and processor seconds of the busiest worker."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._used = client.run(time.process_time)
        self._begin = time.perf_counter()

    def read(self) -> tuple[float, float]:
        """Both since the start."""
        seconds = time.perf_counter() - self._begin
        used = self._client.run(time.process_time)
        return seconds, max(used[worker] - self._used[worker] for worker in used)


class _counting:  # noqa: N801  # a context
    """Counts exchanges, and the bytes of all answers."""

    def __enter__(self) -> Counter[str]:
        from lhtree.dask import _exchange

        self._exchange, self._call = _exchange.Exchange, _exchange.Exchange.__call__
        counted: Counter[str] = Counter()

        def call(exchange: Any, requests: list[bytes]) -> list[list[bytes]]:
            answers = self._call(exchange, requests)
            counted["exchanges"] += 1
            counted["bytes"] += sum(len(answer) for part in answers for answer in part)
            return answers

        self._exchange.__call__ = call  # type: ignore[method-assign]
        return counted

    def __exit__(self, *error: Any) -> None:
        self._exchange.__call__ = self._call  # type: ignore[method-assign]
