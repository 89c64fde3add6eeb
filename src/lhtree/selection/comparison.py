"""The comparison of ``lhtree bench``: the models, each at its defaults, and the same folds and features for all."""

from __future__ import annotations

import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation
from ..evaluation.judge import Part
from ..tables.learn import learn_encoding
from .folds import Split, judge_fold

_ROW_SECONDS = 0.05  # of a fold
_ROW_CALLS = 500


class Peer(NamedTuple):
    """A model to compare: how to build it from a seed, and its name."""

    title: str
    package: str
    build: Callable[[int], Any]
    error: str | None = None  # the package's own exception, where it is no ValueError
    options: Mapping[str, Any] = MappingProxyType({})  # of every call of predict_proba

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


def _build(path: str, **parameters: Any) -> Callable[[int], Any]:
    """Import a class when it is needed and make one with a seed."""

    def build(seed: int) -> Any:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)(random_state=seed, **parameters)

    return build


PEERS = {
    "boost": Peer("lhtree: boosted", "lhtree", _build("lhtree.LHBoostClassifier", n_jobs=1)),
    "tree": Peer("lhtree: tree", "lhtree", _build("lhtree.LHTClassifier")),
    "forest": Peer("lhtree: forest", "lhtree", _build("lhtree.LHForestClassifier", n_jobs=1)),
    "mixed": Peer(
        "lhtree: mixed forest", "lhtree", _build("lhtree.LHForestClassifier", direction="mixed", n_jobs=1)
    ),
    "cart": Peer("CART", "sklearn", _build("sklearn.tree.DecisionTreeClassifier")),
    "rf": Peer("RandomForest", "sklearn", _build("sklearn.ensemble.RandomForestClassifier", n_jobs=1)),
    "hist_gb": Peer(
        "HistGradientBoosting", "sklearn", _build("sklearn.ensemble.HistGradientBoostingClassifier")
    ),
    "xgboost": Peer("XGBoost", "xgboost", _build("xgboost.XGBClassifier", n_jobs=1)),
    "lightgbm": Peer(
        "LightGBM",
        "lightgbm",
        _build("lightgbm.LGBMClassifier", n_jobs=1, verbose=-1),
        error="lightgbm.basic.LightGBMError",
    ),
    "catboost": Peer(
        "CatBoost",
        "catboost",
        _build("catboost.CatBoostClassifier", thread_count=1, verbose=False, allow_writing_files=False),
        error="catboost.CatBoostError",
        options=MappingProxyType({"thread_count": 1}),  # a call uses all cores unless it limits itself
    ),
}


class Result(NamedTuple):
    """How well a model did, or why it failed; times are medians over the folds and over single rows."""

    name: str
    measured: Evaluation | None = None  # on the rows of all folds
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
    """Fit every model on every fold; ``tell`` is called with the model at work and the number of fits done."""
    features = encode(X)
    classes, codes = np.unique(y, return_inverse=True)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers have much to say about themselves
        for number, name in enumerate(names):
            first = number * len(splits)
            heard = _after(first, PEERS[name], tell)
            results.append(_measure(name, features, codes, classes.tolist(), splits, seed, heard))
    return results


def encode(X: Any) -> NDArray[np.float64]:
    """The features that lhtree makes of a table: numbers as they are, a column per category, NaN where missing."""
    return learn_encoding(X, "from_dtype").encode(X)


def _after(first: int, peer: Peer, tell: Callable[[str, int], None]) -> Callable[[int], None]:
    return lambda n_done: tell(peer.title, first + n_done)


def _measure(
    name: str,
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    labels: Sequence[Any],
    splits: Sequence[Split],
    seed: int,
    tell: Callable[[int], None],
) -> Result:
    from threadpoolctl import threadpool_limits

    peer = PEERS[name]
    parts: list[Part] = []
    seconds, row_seconds = [], []
    for number, (train, test) in enumerate(splits):
        tell(number)
        # XGBoost wants the classes of its training rows numbered without gaps.
        known, numbered = np.unique(codes[train], return_inverse=True)
        try:
            # HistGradientBoosting has no option for its threads, and linear algebra has threads of its own. A limit
            # holds for libraries that are loaded, so the package comes first.
            model = peer.build(seed)
            with threadpool_limits(1):
                begin = time.perf_counter()
                model.fit(X[train], numbered)
                seconds.append(time.perf_counter() - begin)
                proba = model.predict_proba(X[test], **peer.options)
                row_seconds.append(_time_row(model, X[test], peer.options))
        except peer.errors() as error:
            return Result(name, failure=str(error).partition("\n")[0])
        parts.append(judge_fold(proba, known, codes[test], len(labels)))
    measured = Evaluation.from_parts(parts, labels)
    return Result(name, measured, statistics.median(seconds), statistics.median(row_seconds))


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
