"""The comparison of ``lhtree bench``: the same folds and the same features for every model."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._folds import Measure, Score, Split, measure, summarise
from ._peers import PEERS, Peer

_ROW_SECONDS = 0.05  # of a fold
_ROW_CALLS = 500


class Result(NamedTuple):
    """How a model did, or why it did not; times are medians over the folds and over single rows."""

    name: str
    score: Score | None = None
    fit_seconds: float = 0.0
    row_seconds: float = 0.0
    failure: str | None = None


def compare(
    names: Sequence[str],
    X: Any,
    y: NDArray[Any],
    splits: Sequence[Split],
    seed: int,
    tell: Callable[[str, int], None] = lambda title, n_done: None,
) -> list[Result]:
    """Fit every model on every fold; ``tell`` hears which model is at work and how many fits are done."""
    from threadpoolctl import threadpool_limits

    features = encode(X)
    codes = np.unique(y, return_inverse=True)[1]
    results = []
    # HistGradientBoosting has no option for its threads, and linear algebra has threads of its own.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers have much to say about themselves
        for number, name in enumerate(names):
            first = number * len(splits)
            results.append(_measure(name, features, codes, splits, seed, _after(first, PEERS[name], tell)))
    return results


def encode(X: Any) -> NDArray[np.float64]:
    """The features that lhtree makes of a table: numbers as they are, a column per category, NaN where missing."""
    from lhtree._encode import learn_encoding

    encoding = learn_encoding(X, "from_dtype")
    features: NDArray[np.float64] = (
        X.to_numpy(dtype=np.float64, na_value=np.nan) if encoding is None else encoding.encode(X)
    )
    return features


def _after(first: int, peer: Peer, tell: Callable[[str, int], None]) -> Callable[[int], None]:
    return lambda n_done: tell(peer.title, first + n_done)


def _measure(
    name: str,
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    splits: Sequence[Split],
    seed: int,
    tell: Callable[[int], None],
) -> Result:
    peer = PEERS[name]
    folds: list[Measure] = []
    seconds, row_seconds = [], []
    for number, (train, test) in enumerate(splits):
        tell(number)
        # XGBoost wants the classes of its training rows numbered without gaps.
        classes, known = np.unique(codes[train], return_inverse=True)
        try:
            model = peer.build(seed)
            begin = time.perf_counter()
            model.fit(X[train], known)
            seconds.append(time.perf_counter() - begin)
            proba = model.predict_proba(X[test], **peer.options)
            row_seconds.append(_time_row(model, X[test], peer.options))
        except peer.errors() as error:
            return Result(name, failure=str(error).partition("\n")[0])
        folds.append(measure(proba, classes, codes[test]))
    return Result(name, summarise(folds), statistics.median(seconds), statistics.median(row_seconds))


def _time_row(model: Any, X: NDArray[np.float64], options: Mapping[str, Any]) -> float:
    """Median time of one row, one row after the other; the first call is cold and does not count."""
    times: list[float] = []
    model.predict_proba(X[:1].copy(), **options)
    end = time.perf_counter() + _ROW_SECONDS
    while len(times) < _ROW_CALLS and (not times or time.perf_counter() < end):
        at = len(times) % len(X)
        row = X[at : at + 1].copy()  # CatBoost leaves what it was given read-only
        begin = time.perf_counter()
        model.predict_proba(row, **options)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
