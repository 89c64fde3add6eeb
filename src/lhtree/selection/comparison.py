"""The comparison of ``lhtree bench``: the models, each at its defaults, and the same folds and features for all."""

from __future__ import annotations

import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation, Measured, RegressionEvaluation
from ..evaluation.judge import NumberPart, Part
from ..tables.learn import learn_encoding
from .folds import Split, judge_fold

_MOST_ONE_HOT = 255
_ROW_SECONDS = 0.05  # of a fold
_ROW_CALLS = 500


class Peer(NamedTuple):
    """A model to compare: how to build it from a seed, and its name."""

    title: str
    package: str
    build: Callable[[int], Any]
    error: str | None = None  # the package's own exception, where it is no ValueError
    options: Mapping[str, Any] = MappingProxyType({})  # of every call of predict_proba or predict
    build_regressor: Callable[[int], Any] | None = None  # None: it has none, or no other

    @property
    def is_there(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.package) is not None

    def errors(self) -> tuple[type[BaseException], ...]:
        """Errors of the estimator for unsuitable data."""
        if self.error is None:
            return (ValueError,)
        module, _, name = self.error.rpartition(".")
        return (ValueError, getattr(importlib.import_module(module), name))


def _build(path: str, parameters: Mapping[str, Any]) -> Callable[[int], Any]:
    """Import a class when it is needed and make one with a seed."""

    def build(seed: int) -> Any:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)(random_state=seed, **parameters)

    return build


def _peer(title: str, path: str, error: str | None = None, options: Any = None, **parameters: Any) -> Peer:
    """A model whose classifier and regressor have the same name but for the ending."""
    return Peer(
        title,
        path.partition(".")[0],
        _build(f"{path}Classifier", parameters),
        error,
        MappingProxyType(options or {}),
        _build(f"{path}Regressor", parameters),
    )


PEERS = {
    "boost": _peer("lhtree: boosted", "lhtree.LHBoost", n_jobs=1),
    "tree": _peer("lhtree: tree", "lhtree.LHT"),
    "compact": _peer("lhtree: compact tree", "lhtree.CompactLHT"),
    "forest": _peer("lhtree: forest", "lhtree.LHForest", n_jobs=1),
    # A regression forest is mixed already.
    "mixed": _peer("lhtree: mixed forest", "lhtree.LHForest", direction="mixed", n_jobs=1)._replace(
        build_regressor=None
    ),
    "cart": _peer("CART", "sklearn.tree.DecisionTree"),
    "rf": _peer("RandomForest", "sklearn.ensemble.RandomForest", n_jobs=1),
    "hist_gb": _peer("HistGradientBoosting", "sklearn.ensemble.HistGradientBoosting"),
    "xgboost": _peer("XGBoost", "xgboost.XGB", n_jobs=1),
    "lightgbm": _peer("LightGBM", "lightgbm.LGBM", "lightgbm.basic.LightGBMError", n_jobs=1, verbose=-1),
    "catboost": _peer(
        "CatBoost",
        "catboost.CatBoost",
        "catboost.CatBoostError",
        {"thread_count": 1},  # a call uses all cores unless it limits itself
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    ),
}


class Result(NamedTuple):
    """How well a model did, or why it failed; times are medians over the folds and over single rows."""

    name: str
    measured: Measured | None = None  # on the rows of all folds
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
    """Fit every model on every fold; ``tell`` is called with the model at work and the number of fits done.

    If ``y`` are floats, they are responses, and the regressors are compared.
    """
    features = encode(X)
    truth = _Truth.of(y)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers have much to say about themselves
        for number, name in enumerate(names):
            first = number * len(splits)
            heard = _after(first, PEERS[name], tell)
            results.append(_measure(name, features, truth, splits, seed, heard))
    return results


class _Truth(NamedTuple):
    """What the rows have as target: numbers of classes, with these labels, or responses."""

    values: NDArray[Any]
    labels: list[Any] | None

    @classmethod
    def of(cls, y: NDArray[Any]) -> _Truth:
        if y.dtype.kind == "f":
            return cls(y, None)
        classes, codes = np.unique(y, return_inverse=True)
        return cls(codes, classes.tolist())

    @property
    def method(self) -> str:
        """What to ask models for."""
        return "predict" if self.labels is None else "predict_proba"

    def measure(self, parts: list[Any]) -> Measured:
        """Measure the rows of all folds."""
        if self.labels is None:
            return RegressionEvaluation.from_parts(parts)
        return Evaluation.from_parts(parts, self.labels)


def encode(X: Any) -> NDArray[np.float64]:
    """Features without the classes' help: numbers as they are, a column per category, NaN where missing.

    Of more than 255 categories they are numbered, one column for all.
    """
    return learn_encoding(X, "from_dtype", max_one_hot=_MOST_ONE_HOT).encode(X)


def _after(first: int, peer: Peer, tell: Callable[[str, int], None]) -> Callable[[int], None]:
    return lambda n_done: tell(peer.title, first + n_done)


def _measure(
    name: str,
    X: NDArray[np.float64],
    truth: _Truth,
    splits: Sequence[Split],
    seed: int,
    tell: Callable[[int], None],
) -> Result:
    from threadpoolctl import threadpool_limits

    peer = PEERS[name]
    build = peer.build if truth.labels is not None else peer.build_regressor
    if build is None:
        return Result(name, failure="it has no regressor of its own")
    parts: list[Part | NumberPart] = []
    seconds, row_seconds = [], []
    for number, (train, test) in enumerate(splits):
        tell(number)
        known, trained = np.empty(0), truth.values[train]
        if truth.labels is not None:  # XGBoost wants the classes of its training rows numbered without gaps
            known, trained = np.unique(trained, return_inverse=True)
        try:
            # HistGradientBoosting has no option for its threads, and linear algebra has threads of its own. A limit
            # holds for libraries that are loaded, so the package comes first.
            model = build(seed)
            with threadpool_limits(1):
                begin = time.perf_counter()
                model.fit(X[train], trained)
                seconds.append(time.perf_counter() - begin)
                ask = partial(getattr(model, truth.method), **peer.options)
                predicted = ask(X[test])
                row_seconds.append(_time_row(ask, X[test]))
        except peer.errors() as error:
            return Result(name, failure=str(error).partition("\n")[0])
        parts.append(
            NumberPart(truth.values[test], np.asarray(predicted, dtype=np.float64))
            if truth.labels is None
            else judge_fold(predicted, known, truth.values[test], len(truth.labels))
        )
    return Result(name, truth.measure(parts), statistics.median(seconds), statistics.median(row_seconds))


def _time_row(ask: Callable[[Any], Any], X: NDArray[np.float64]) -> float:
    """Median time of one row, one row after the other; the first call is cold and does not count."""
    times: list[float] = []
    ask(X[:1].copy())
    end = time.perf_counter() + _ROW_SECONDS
    while len(times) < _ROW_CALLS and (not times or time.perf_counter() < end):
        at = len(times) % len(X)
        row = X[at : at + 1].copy()  # CatBoost leaves what it was given read-only
        begin = time.perf_counter()
        ask(row)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
