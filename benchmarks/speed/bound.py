"""Limits of the machine: reading, copying, arithmetic, and the cost of a Python call."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..common.results import Result
from ..common.timing import take_turns
from ..runner import Args, Tell

_N_ROWS, _N_FEATURES, _N_SQUARE = 1_000_000, 50, 1024


def measure(tell: Tell, args: Args) -> Result:
    """Bandwidth in GB/s, one pass over a million rows in seconds, float32 GF/s, a call in seconds."""
    tell("memory and arithmetic")
    X = np.random.default_rng(0).standard_normal((_N_ROWS, _N_FEATURES), dtype=np.float32)
    flat, target = X.ravel(), np.empty_like(X)
    weights = np.ones(_N_FEATURES, dtype=np.float32)
    square = X[:_N_SQUARE, :32].repeat(32, axis=1)
    out = np.empty_like(square)
    calls = {
        "read": lambda: flat @ flat,  # a dot product of the data with itself reads it once
        "copy": lambda: np.copyto(target, X),
        "feature_sum": lambda: X @ weights,
        "multiply": lambda: np.matmul(square, square, out=out),
        "call": lambda: None,
        "array": lambda: np.empty((1, 2)),
    }
    with ThreadPoolExecutor(2) as pool:
        halves = tuple(zip(np.array_split(target, 2), np.array_split(X, 2), strict=True))
        calls["copy_two"] = lambda: list(pool.map(lambda half: np.copyto(*half), halves))
        times = take_turns(calls, n_rounds=5 if args.quick else 21, seconds=5 if args.quick else 15)
    return {
        "pass_seconds": times["read"].cpu,
        "read_gb_s": X.nbytes / times["read"].cpu / 1e9,
        "copy_gb_s": 2 * X.nbytes / times["copy"].cpu / 1e9,
        "copy_two_threads": times["copy"].wall / times["copy_two"].wall,
        "feature_sum_seconds": times["feature_sum"].cpu,
        "gflops": 2 * _N_SQUARE**3 / times["multiply"].cpu / 1e9,
        "call_seconds": times["call"].cpu,
        "array_seconds": times["array"].cpu,
    }
