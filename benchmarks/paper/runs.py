"""Fits of the paper's tables: accuracy on training and test rows, times, and the paper's way to count them.

Times are wall times of models on one thread. CPU times of fits are kept beside them: where they differ, other work had
the core.
"""

import functools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common import data as datasets
from ..common.models import MODELS, one_thread
from ..common.results import Result, Results, Task
from ..common.timing import take_turns, time_both
from .printed import PEERS, SIZES

OURS = ("paper_tree", "paper_forest", "mixed_forest")
COLUMNS = (*PEERS, *OURS)
DISTINCT = "skin_distinct"  # every row of skin once
_N_SINGLE = 8  # test rows that are scored one by one
_N_TRIES = 3  # of each single tree; the best counts, or the slowest would be the one that was disturbed most
_FEW_ROWS = 4000
# Share of the training rows that one tree sees; RandomForest draws as many as there are, with replacement.
_SHARES = {"paper_tree": 1.0, "paper_forest": 0.8, "mixed_forest": 1.0, "rf": 1.0}


class Found(NamedTuple):
    """Fits of this question and of the accuracy page, and the studies of single claims."""

    fits: Results
    accuracy: Results
    studies: dict[str, Result]


@functools.lru_cache(maxsize=2)
def load(name: str) -> datasets.Data:
    """Read one of the nine data sets, or the distinct rows of skin."""
    return datasets.drop_copies(datasets.load("skin")) if name == DISTINCT else datasets.load(name)


def n_splits(name: str) -> int:
    """Return the number of splits of a set: small sets vary more and cost less."""
    if name.startswith("skin"):
        return 5
    return 20 if SIZES[name][0] < _FEW_ROWS else 10


def plan(names: Sequence[str], most_splits: int = sys.maxsize) -> list[Task]:
    """Return all fits; all sets advance alike, so that a run cut short has fewer splits of each."""
    splits = [(name, seed) for name in names for seed in range(min(n_splits(name), most_splits))]
    splits.sort(key=lambda split: (split[1] + 1) / n_splits(split[0]))
    return [Task("paper", name, model, seed) for name, seed in splits for model in COLUMNS]


def add_accuracies(found: Results, accuracy: Results) -> Results:
    """Add test accuracies of splits that only ``python -m benchmarks accuracy`` has."""
    joined = {key: dict(splits) for key, splits in found.items()}
    for (name, model), splits in accuracy.items():
        for seed, result in splits.items() if model in COLUMNS else ():
            joined.setdefault((name, model), {}).setdefault(seed, {"accuracy": result["accuracy"]})
    return joined


def count_equal(found: Results, accuracy: Results) -> tuple[int, int]:
    """Return how many fits both runs made, and of how many the test accuracies are equal."""
    pairs = [
        (result["accuracy"], accuracy[key][seed]["accuracy"])
        for key, splits in found.items()
        for seed, result in splits.items()
        if seed in accuracy.get(key, {})
    ]
    return len(pairs), sum(one == other for one, other in pairs)


def find_seen(X: NDArray[np.float64], X_test: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each test row is among the training rows too."""
    seen = {row.tobytes() for row in X + 0.0}  # -0 is 0
    return np.array([row.tobytes() in seen for row in X_test + 0.0])


def time_row(predict: Callable[[Any], Any], X: NDArray[np.float64], n_rounds: int = 5) -> float:
    """Return the seconds of one row with warm caches: the median over rounds."""
    rows = [row[None].copy() for row in X[:_N_SINGLE]]

    def score_each() -> None:
        for row in rows:
            predict(row)

    timing = take_turns({"rows": score_each}, n_rounds=n_rounds, seconds=2, least=0.002)["rows"]
    return timing.wall / len(rows)


def time_slowest_tree(name: str, model: Any, part: datasets.Split) -> dict[str, float]:
    """Fit and score every tree by itself and return the longest times, as the paper does for a forest."""
    from sklearn.base import clone

    random = np.random.default_rng(0)
    trees = getattr(model, "estimators_", [model])
    targets = [part.y]
    if name in OURS and len(np.unique(part.y)) > 2:  # one tree per class
        targets = [part.y == code for code in np.unique(part.y)]
    fits, rows = [], []
    n_drawn = round(_SHARES[name] * len(part.y))
    for tree in trees:
        drawn = random.choice(len(part.y), size=n_drawn, replace=name == "rf")
        for target in targets:
            X, y = part.X[drawn], target[drawn]
            times = []
            for _ in range(_N_TRIES):
                single = clone(tree)
                begin = time.perf_counter()
                single.fit(X, y)
                times.append(time.perf_counter() - begin)
            fits.append(min(times))
            rows.append(min(time_row(single.predict, part.X_test, n_rounds=1) for _ in range(_N_TRIES)))
    return {"tree_fit_seconds": max(fits), "tree_row_seconds": max(rows)}


def measure(task: Task) -> Result:
    """Fit and score one model on one split."""
    part = datasets.split(load(task.data), task.seed)
    estimator = MODELS[task.model].build(task.seed)
    fit = time_both(lambda: estimator.fit(part.X, part.y))
    predict = one_thread(task.model, estimator, "predict")
    is_right = np.ravel(predict(part.X_test)) == part.y_test
    batch = time_both(lambda: predict(part.X_test))
    is_seen = find_seen(part.X, part.X_test)
    result = {
        "train": float((np.ravel(predict(part.X)) == part.y).mean()),
        "accuracy": float(is_right.mean()),
        "unseen": float(is_right[~is_seen].mean()),
        "seen_share": float(is_seen.mean()),
        "fit_seconds": fit.wall,
        "fit_cpu_seconds": fit.cpu,
        "row_seconds": time_row(predict, part.X_test),
        "batch_seconds": batch.wall / len(is_right),  # per row, all test rows in one call
    }
    if task.seed == 0 and task.model in _SHARES:
        result |= time_slowest_tree(task.model, estimator, part)
    return result
