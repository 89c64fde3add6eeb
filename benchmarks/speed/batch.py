"""How many rows a second batches reach, and what accuracy a microsecond per row buys."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.models import MODELS, one_thread
from ..common.results import Result
from ..common.scores import accuracy
from ..common.timing import keep, take_turns
from ..runner import Args, Tell
from .models import COMPARED, DATA, fit

SIZES = (1, 100, 10_000, 200_000)
STEPS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)
_FRONTIER_ROWS = 20_000
# The parameter that counts trees, and how many: one point each.
_FRONTIER: dict[str, tuple[str, tuple[int, ...]]] = {
    "paper_tree": ("", (1,)),
    "readable_tree": ("", (1,)),
    "paper_forest": ("n_estimators", (3, 10, 30, 100)),
    "fisher_forest": ("n_estimators", (3, 10, 30, 100)),
    "mixed_forest": ("n_estimators", (1, 3, 10, 30, 100)),
    "cart": ("", (1,)),
    "rf": ("n_estimators", (3, 10, 30, 100)),
    "hist_gb": ("max_iter", (10, 30, 100, 300)),
    "lightgbm": ("n_estimators", (3, 10, 30, 100, 300)),
    "xgboost": ("n_estimators", (3, 10, 30, 100, 300)),
    "catboost": ("iterations", (30, 100, 300)),
}
_QUICK_COUNTS = (1, 10, 100)


def find_equal(name: str, *, n_splits: int) -> Result:
    """Fewest mixed trees, by steps, that reach XGBoost's accuracy on held-out rows, mean over splits."""
    ours, theirs = np.zeros((n_splits, len(STEPS))), np.zeros(n_splits)
    for seed in range(n_splits):
        part = datasets.split(datasets.load(name), seed)
        theirs[seed] = accuracy(fit("xgboost", part.X, part.y), part.X_test, part.y_test)
        # A warm start grows the forest in steps, so a smaller forest is its first part.
        forest = MODELS["mixed_forest"].build(0, warm_start=True)
        for i, n_trees in enumerate(STEPS):
            forest.set_params(n_estimators=n_trees).fit(part.X, part.y)
            ours[seed, i] = accuracy(forest, part.X_test, part.y_test)
    reached = np.flatnonzero(ours.mean(axis=0) >= theirs.mean())
    return {
        "n_trees": STEPS[reached[0]] if len(reached) else None,
        "steps": dict(zip(map(str, STEPS), ours.mean(axis=0).tolist(), strict=True)),
        "xgboost": float(theirs.mean()),
        "n_splits": n_splits,
    }


def measure(tell: Tell, args: Args) -> Result:
    """Return times of ``predict_proba`` by data set, model and number of rows."""
    result: Result = {}
    for name in DATA[: 1 if args.quick else None]:
        tell(f"{name}: mixed trees for XGBoost's accuracy")
        equal = find_equal(name, n_splits=1 if args.quick else 3)
        data = datasets.load(name)
        calls_of = {}
        for key in COMPARED:
            tell(f"{name}: fit {key}")
            calls_of[key] = one_thread(key, fit(key, data.X, data.y))
        n_trees = equal["n_trees"] or STEPS[-1]
        calls_of["mixed_equal"] = fit("mixed_forest", data.X, data.y, n_estimators=n_trees).predict_proba
        for call in calls_of.values():
            call(data.X[:1])  # the first call builds the scorer
        times = {}
        for size in SIZES[:-1] if args.quick else SIZES:
            tell(f"{name}: {size:,} rows")
            rows = datasets.resample(data.X, size)
            calls = {key: partial(call, rows) for key, call in calls_of.items()}
            n_rounds, seconds = (3, 4) if args.quick else (9, 10)
            times[str(size)] = keep(take_turns(calls, n_rounds=n_rounds, seconds=seconds, least=0.002))
        result[name] = {"times": times, "equal": equal, "n_features": data.X.shape[1]}
    return result


def measure_frontier(tell: Tell, args: Args) -> Result:
    """Held-out accuracy and microseconds per row of a batch, for several numbers of trees of every model."""
    result: Result = {"n_rows": _FRONTIER_ROWS, "n_splits": 1 if args.quick else 2, "data": {}}
    for name in DATA[: 1 if args.quick else None]:
        rows = datasets.resample(datasets.load(name).X, _FRONTIER_ROWS)
        found: dict[str, list[float]] = {}
        calls: dict[str, Callable[[], Any]] = {}
        for seed in range(result["n_splits"]):
            part = datasets.split(datasets.load(name), seed)
            for key, (parameter, counts) in _FRONTIER.items():
                tell(f"{name}: {key}, split {seed + 1} of {result['n_splits']}")
                for count in counts:
                    if args.quick and count not in _QUICK_COUNTS:
                        continue
                    model = fit(key, part.X, part.y, **{parameter: count} if parameter else {})
                    point = f"{key}|{count}"
                    found.setdefault(point, []).append(accuracy(model, part.X_test, part.y_test))
                    if seed == 0:
                        calls[point] = partial(one_thread(key, model), rows)
        tell(f"{name}: {_FRONTIER_ROWS:,} rows through {len(calls)} models")
        timings = take_turns(calls, n_rounds=3 if args.quick else 7, seconds=5 if args.quick else 15)
        points = {
            point: {"accuracy": float(np.mean(found[point])), **timing._asdict()}
            for point, timing in timings.items()
        }
        result["data"][name] = points
    return result
