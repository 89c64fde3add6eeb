"""Gain of a second thread, on a quiet machine and with other work on every core."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from ..common import data as datasets
from ..common.results import Result
from ..common.timing import keep, take_turns
from ..runner import Args, Tell
from .models import fit

_COUNTS = (1, 2)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy with another process meanwhile."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def _set_threads(model: Any, n_threads: int, rows: Any) -> None:
    model.n_jobs = n_threads
    model.predict_proba(rows)


def make_calls(args: Args) -> dict[str, Callable[[int], Any]]:
    """Return work that takes a number of threads."""
    X, y = datasets.make_rows(50_000 if args.quick else 500_000, 50)
    data = datasets.load("magic")
    rows = datasets.resample(data.X, 20_000 if args.quick else 200_000)
    n_trees = 10 if args.quick else 40
    grow = partial(fit, X=data.X, y=data.y, n_estimators=n_trees)
    tree, forest = fit("paper_tree", data.X, data.y), grow("mixed_forest")
    return {
        f"fit, one tree, {len(X):,} × 50": lambda k: fit("paper_tree", X, y, n_jobs=k),
        f"fit, paper forest ({n_trees}), MAGIC": lambda k: grow("paper_forest", n_jobs=k),
        f"fit, mixed forest ({n_trees}), MAGIC": lambda k: grow("mixed_forest", n_jobs=k),
        f"batch, one tree, {len(rows):,} rows": lambda k: _set_threads(tree, k, rows),
        f"batch, mixed forest ({n_trees}), {len(rows):,} rows": lambda k: _set_threads(forest, k, rows),
    }


def measure_threads(tell: Tell, args: Args) -> Result:
    """Wall seconds with one and two threads, quiet and busy."""
    result: Result = {"load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None, "work": {}}
    for what, call in make_calls(args).items():
        kept = result["work"][what] = {}
        for state in ("quiet", "busy"):
            tell(f"threads, {state}: {what}")
            calls = {str(k): partial(call, k) for k in _COUNTS}
            limits = (
                {"n_rounds": 3, "seconds": 1, "least": 0.05} if args.quick else {"n_rounds": 9, "seconds": 3}
            )
            with busy_cores() if state == "busy" else nullcontext():
                kept[state] = keep(take_turns(calls, **limits))
    return result
