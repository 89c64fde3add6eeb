"""Peak memory of one fit, measured in a process of its own: ``python -m benchmarks.memory rows dtype classes``."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np

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


def measure(n_rows: int, dtype: str, n_classes: int) -> int:
    """Bytes that a fit on random rows needs at its peak beyond what was there before."""
    from lhtree import LHTClassifier

    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, 50), dtype=np.dtype(dtype))
    y = np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes + 1)[1:-1])
    y ^= random.random(n_rows) < 0.05  # wrong classes, which make trees deep
    y %= n_classes
    LHTClassifier().fit(X[:1000], y[:1000])  # whatever a first fit loads
    if _reset_peak():
        before = _read("VmRSS")
        LHTClassifier().fit(X, y)
        return _read("VmHWM") - before
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    LHTClassifier().fit(X, y)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
