"""Comparison of models at their defaults, on the same folds and features: ``lhtree bench`` and the benchmarks."""

from __future__ import annotations

import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Measured
from ..tables.learn import learn_encoding
from .folds import ClassTarget, Split, Target, make_target

_MOST_ONE_HOT = 255
_ROW_SECONDS = 0.05  # per fold
_ROW_CALLS = 500


@dataclass(frozen=True)
class Peer:
    """A model to compare: its name, and how to import and build its classifier and regressor."""

    title: str
    path: str  # of the classes, without the ending Classifier or Regressor
    parameters: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None  # exception of the package that is not a ValueError
    options: Mapping[str, Any] = field(default_factory=dict)  # for every call of predict_proba or predict
    has_regressor: bool = True

    @property
    def package(self) -> str:
        """Name of the package to import."""
        return self.path.partition(".")[0]

    @property
    def is_installed(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.package) is not None

    def build(self, ending: str, seed: int, **others: Any) -> Any:
        """Import the class with the ending "Classifier" or "Regressor" and return an estimator."""
        module, _, name = self.path.rpartition(".")
        found = getattr(importlib.import_module(module), name + ending)
        return found(random_state=seed, **{**self.parameters, **others})

    def errors(self) -> tuple[type[BaseException], ...]:
        """Exceptions of the estimator for unsuitable data."""
        if self.error is None:
            return (ValueError,)
        module, _, name = self.error.rpartition(".")
        return (ValueError, getattr(importlib.import_module(module), name))


_ONE_THREAD = {"n_jobs": 1}
_CATBOOST = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
PEERS = {
    "boost": Peer("lhtree: boosted", "lhtree.LHBoost", _ONE_THREAD),
    "ensemble": Peer("lhtree: ensemble", "lhtree.LHEnsemble", _ONE_THREAD),
    "tree": Peer("lhtree: tree", "lhtree.LHT"),
    "compact": Peer("lhtree: compact tree", "lhtree.CompactLHT"),
    "additive": Peer("lhtree: additive model", "lhtree.AdditiveLHT", _ONE_THREAD),
    "forest": Peer("lhtree: forest", "lhtree.LHForest", _ONE_THREAD),
    # The regression forest is mixed by default.
    "mixed": Peer(
        "lhtree: mixed forest", "lhtree.LHForest", {"direction": "mixed", "n_jobs": 1}, has_regressor=False
    ),
    "cart": Peer("CART", "sklearn.tree.DecisionTree"),
    "rf": Peer("RandomForest", "sklearn.ensemble.RandomForest", _ONE_THREAD),
    "hist_gb": Peer("HistGradientBoosting", "sklearn.ensemble.HistGradientBoosting"),
    "xgboost": Peer("XGBoost", "xgboost.XGB", _ONE_THREAD),
    "lightgbm": Peer(
        "LightGBM", "lightgbm.LGBM", {"n_jobs": 1, "verbose": -1}, error="lightgbm.basic.LightGBMError"
    ),
    # A call of CatBoost uses all cores unless it is limited.
    "catboost": Peer(
        "CatBoost", "catboost.CatBoost", _CATBOOST, "catboost.CatBoostError", {"thread_count": 1}
    ),
}


class Result(NamedTuple):
    """Metrics of a model, or the reason of its failure; times are medians over the folds and over single rows."""

    name: str
    measured: Measured | None = None  # on the rows of all folds
    fit_seconds: float = 0.0
    row_seconds: float = 0.0
    failure: str | None = None


def compare_learners(
    names: Sequence[str],
    X: Any,
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    callback: Callable[[str, int], None] = lambda title, n_done: None,
) -> list[Result]:
    """Fit every model on every fold; ``callback`` gets the title of the current model and the number of fits done.

    If ``y`` are floats, they are responses, and the regressors are compared.
    """
    features = encode(X)
    target = make_target(y)
    splits = target.split(n_folds, seed)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some peers print many warnings
        for number, name in enumerate(names):

            def show(n_done: int, number: int = number, title: str = PEERS[name].title) -> None:
                callback(title, number * n_folds + n_done)

            results.append(_measure(name, features, target, splits, seed, show))
    return results


def encode(X: Any) -> NDArray[np.float64]:
    """Encode without the target: numbers as they are, one column per category, NaN for missing values.

    A column with more than 255 categories becomes one column of numbers.
    """
    return learn_encoding(X, "from_dtype", max_one_hot=_MOST_ONE_HOT).encode(X)


def _measure(
    name: str,
    X: NDArray[np.float64],
    target: Target,
    splits: Sequence[Split],
    seed: int,
    callback: Callable[[int], None],
) -> Result:
    from threadpoolctl import threadpool_limits

    peer = PEERS[name]
    ending = "Classifier" if isinstance(target, ClassTarget) else "Regressor"
    if ending == "Regressor" and not peer.has_regressor:
        return Result(name, failure="it has no regressor of its own")
    parts: list[Any] = []
    seconds, row_seconds = [], []
    for number, (train, test) in enumerate(splits):
        callback(number)
        known, trained = np.empty(0), target.take(train)
        if isinstance(target, ClassTarget):  # XGBoost needs classes 0 … K-1 without gaps
            known, trained = np.unique(target.codes[train], return_inverse=True)
        try:
            # HistGradientBoosting has no option for its threads, and linear algebra has threads of its own. A limit
            # applies to libraries that are loaded, so the package is imported first.
            model = peer.build(ending, seed)
            with threadpool_limits(1):
                begin = time.perf_counter()
                model.fit(X[train], trained)
                seconds.append(time.perf_counter() - begin)
                predict = partial(getattr(model, target.method), **peer.options)
                predicted = predict(X[test])
                row_seconds.append(_time_row(predict, X[test]))
        except peer.errors() as error:
            return Result(name, failure=str(error).partition("\n")[0])
        parts.append(target.join(predicted, known, test))
    return Result(name, target.measure(parts), statistics.median(seconds), statistics.median(row_seconds))


def _time_row(predict: Callable[[Any], Any], X: NDArray[np.float64]) -> float:
    """Return the median time of predicting one row; the first call is not counted, because caches are cold."""
    times: list[float] = []
    predict(X[:1].copy())
    end = time.perf_counter() + _ROW_SECONDS
    while len(times) < _ROW_CALLS and (not times or time.perf_counter() < end):
        at = len(times) % len(X)
        row = X[at : at + 1].copy()  # CatBoost makes its input read-only
        begin = time.perf_counter()
        predict(row)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
