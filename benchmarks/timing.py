"""Times of calls that take turns, so that whatever disturbs the machine disturbs all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def time_call(call: Callable[[], Any], n_calls: int = 1) -> float:
    """CPU seconds of a call. Each model has one thread, so other work on the machine does not count."""
    begin = time.process_time()
    for _ in range(n_calls):
        call()
    return (time.process_time() - begin) / n_calls


def interleave(
    calls: Mapping[str, Callable[[], Any]], *, n_rounds: int, seconds: float, least: float = 0.005
) -> dict[str, float]:
    """Median CPU seconds of calls that take turns.

    No new round begins once ``seconds`` of wall time have gone by, but every call has at least one; within a round
    a call is repeated until it fills about ``least`` seconds.
    """
    end = time.perf_counter() + seconds
    first = {name: time_call(call) for name, call in calls.items()}
    repeats = {name: min(100_000, max(1, round(least / max(first[name], 1e-7)))) for name in calls}
    # What took long enough in the first round counts; what was short was also cold.
    times: dict[str, list[float]] = {name: [first[name]] if first[name] > 0.5 else [] for name in calls}
    for _ in range(n_rounds):
        if time.perf_counter() > end and all(times.values()):
            break
        for name, call in calls.items():
            times[name].append(time_call(call, repeats[name]))
    return {name: statistics.median(values) for name, values in times.items()}
