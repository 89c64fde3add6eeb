"""How long fits take: the nine data sets, and a million rows."""

import math
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from ..common import data as datasets
from ..common.results import ROOT, Result
from ..common.scores import accuracy
from ..common.timing import keep, take_turns
from ..runner import Args, Tell
from .models import fit

TREES = ("paper_tree", "cart")
FORESTS = ("paper_forest", "fisher_forest", "mixed_forest", "rf")
_QUICK_DATA = ("wine", "banknote", "spambase")
_N_FEATURES = 50
_N_TEST = 100_000
_CART_CAP = 240  # CPU seconds after which CART is ended: on a million rows it needs many minutes
_MAX_SAMPLES = 100_000


def mean_depth(model: Any) -> float:
    """Depth of the leaves of one tree, each counted by its rows: how often a row is read while the tree grows."""
    tree = model.trees_[0]
    return float(np.average(tree.depth[tree.is_leaf], weights=tree.n_samples[tree.is_leaf]))


def _measure_nine(tell: Tell, args: Args) -> Result:
    result = {}
    for name in _QUICK_DATA if args.quick else datasets.NAMES:
        tell(name)
        data = datasets.load(name)
        timings = {}
        for models, seconds in ((TREES, 3), (FORESTS, 6)):
            calls = {key: partial(fit, key, data.X, data.y) for key in models}
            timings |= take_turns(
                calls, n_rounds=3 if args.quick else 9, seconds=1 if args.quick else seconds
            )
        result[name] = {"times": keep(timings), "shape": data.X.shape}
    return result


def time_cart(n_rows: int, cap: int) -> None:
    """Print the CPU seconds of a fit of CART; the system ends the process that needs more than ``cap``."""
    X, y = datasets.make_rows(n_rows, _N_FEATURES)
    fit("cart", X[:100], y[:100])  # imports
    begin = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(begin + cap), resource.RLIM_INFINITY))
    fit("cart", X, y)
    print(time.process_time() - begin)


def _cap_cart(n_rows: int) -> Result:
    """CPU seconds of CART in a process of its own, or those after which it was ended without a result."""
    code = f"from benchmarks.speed.fit import time_cart; time_cart({n_rows}, {_CART_CAP})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode == -signal.SIGXCPU:
        return {"seconds": _CART_CAP, "is_done": False}
    done.check_returncode()
    return {"seconds": float(done.stdout), "is_done": True}


def _measure_tree(tell: Tell, n_rows: int) -> Result:
    """One tree on many rows, several times; CART once, up to a limit of CPU time."""
    tell(f"{n_rows:,} × {_N_FEATURES}: CART")
    cart = _cap_cart(n_rows)
    tell(f"{n_rows:,} × {_N_FEATURES}: one tree")
    X, y = datasets.make_rows(n_rows, _N_FEATURES)
    timings = take_turns({"paper_tree": partial(fit, "paper_tree", X, y)}, n_rounds=4, seconds=15)
    return {"cart": cart, "times": keep(timings), "mean_depth": mean_depth(fit("paper_tree", X, y))}


def _measure_forest(tell: Tell, n_rows: int) -> Result:
    """Mixed forest on samples of many rows beside LightGBM, with both accuracies."""
    X, y = datasets.make_rows(n_rows, _N_FEATURES)
    X_test, y_test = datasets.make_rows(_N_TEST, _N_FEATURES, seed=1)
    times, accuracies = {}, {}
    max_samples = min(_MAX_SAMPLES, n_rows // 2)
    for key, params in (("mixed_forest", {"max_samples": max_samples}), ("lightgbm", {})):
        tell(f"{n_rows:,} × {_N_FEATURES}: {key}")
        fitted: list[Any] = []
        call = partial(
            lambda kept, *args, **more: kept.append(fit(*args, **more)), fitted, key, X, y, **params
        )
        times |= take_turns({key: call}, n_rounds=1, seconds=0)
        accuracies[key] = accuracy(fitted.pop(), X_test, y_test)
    return {"times": keep(times), "accuracy": accuracies, "max_samples": max_samples, "n_rows": n_rows}


def measure(tell: Tell, args: Args) -> Result:
    """Fit times by data set and model, and of large synthetic sets."""
    result: Result = {"nine": _measure_nine(tell, args), "large": {}}
    for n_rows in (20_000,) if args.quick else (100_000, 1_000_000):
        result["large"][str(n_rows)] = _measure_tree(tell, n_rows)
    result["forest"] = _measure_forest(tell, 20_000 if args.quick else 1_000_000)
    return result
