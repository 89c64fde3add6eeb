"""What a second thread brings on a quiet machine, and beside other work on every core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from . import data as datasets
from .speed_models import Result, Tell, fit, make_rows, resample
from .timing import take_turns

_COUNTS = (1, 2)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy with another process meanwhile."""
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def _set_threads(model: Any, n_threads: int, rows: Any) -> None:
    model.n_jobs = n_threads
    model.predict_proba(rows)


def make_calls(*, is_quick: bool) -> dict[str, Callable[[int], Any]]:
    """Return work that takes a number of threads."""
    X, y = make_rows(50_000 if is_quick else 500_000, 50)
    data = datasets.load("magic")
    rows = resample(data.X, 20_000 if is_quick else 200_000)
    n_trees = 10 if is_quick else 40
    tree = fit("paper_tree", data.X, data.y)
    forest = fit("mixed_forest", data.X, data.y, n_estimators=n_trees)
    return {
        f"fit, one tree, {len(X):,} × 50": lambda k: fit("paper_tree", X, y, n_jobs=k),
        f"fit, paper forest ({n_trees}), MAGIC": lambda k: fit(
            "paper_forest", data.X, data.y, n_estimators=n_trees, n_jobs=k
        ),
        f"fit, mixed forest ({n_trees}), MAGIC": lambda k: fit(
            "mixed_forest", data.X, data.y, n_estimators=n_trees, n_jobs=k
        ),
        f"batch, one tree, {len(rows):,} rows": lambda k: _set_threads(tree, k, rows),
        f"batch, mixed forest ({n_trees}), {len(rows):,} rows": lambda k: _set_threads(forest, k, rows),
    }


def measure(tell: Tell, *, is_quick: bool) -> Result:
    """Wall seconds with one and two threads, quiet and busy."""
    result: Result = {"load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None, "work": {}}
    for what, call in make_calls(is_quick=is_quick).items():
        kept = result["work"][what] = {}
        for state in ("quiet", "busy"):
            tell(f"threads, {state}: {what}")
            calls = {str(k): partial(call, k) for k in _COUNTS}
            limits = (
                {"n_rounds": 3, "seconds": 1, "least": 0.05} if is_quick else {"n_rounds": 9, "seconds": 3}
            )
            if state == "quiet":
                timings = take_turns(calls, **limits)
            else:
                with busy_cores():
                    timings = take_turns(calls, **limits)
            kept[state] = {k: timing._asdict() for k, timing in timings.items()}
    return result
