"""Peak memory of one fit in a process of its own: ``python -m benchmarks.common.memory rows dtype classes model``.

Instead of a number of rows it takes the name of one of the nine data sets.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .results import ROOT

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def _read(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def _reset_peak() -> bool:
    """Forget the peak so far, where the system can: making the data must not hide the fit."""
    try:
        _RESET.write_text("5")
    except OSError:
        return False
    return True


def measure_peak(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return the peak memory of a call in bytes, relative to the memory before it, and its result."""
    if _reset_peak():
        before = _read("VmRSS")
        result = work()
        return _read("VmHWM") - before, result
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, result


def _make(rows: str, dtype: str, n_classes: int) -> tuple[Any, Any]:
    from . import data as datasets

    if rows.isdigit():
        X, y = datasets.make_rows(int(rows), 50, n_classes)
    else:
        _, X, y = datasets.load(rows)
    return X.astype(dtype, copy=False), y


def measure(rows: str, dtype: str, n_classes: int, model: str) -> int:
    """Return the peak memory of a fit in bytes, relative to the memory before it."""
    from .models import fit_100

    X, y = _make(rows, dtype, n_classes)
    few = np.concatenate([np.flatnonzero(y == label)[:300] for label in np.unique(y)])
    fit_100(model, X[few], y[few])  # imports and caches of a first fit
    return measure_peak(lambda: fit_100(model, X, y))[0]


def ask(rows: int | str, dtype: str = "float32", n_classes: int = 2, model: str = "paper_tree") -> int:
    """Peak bytes of a fit in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.common.memory", str(rows), dtype, str(n_classes), model]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    return int(json.loads(done.stdout))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])))
