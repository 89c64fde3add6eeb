"""Times of calls that take turns, so that whatever disturbs the machine disturbs all of them."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Timing(NamedTuple):
    """Seconds of a call over its rounds: median and quartiles of CPU time, median of wall time."""

    cpu: float
    low: float
    high: float
    wall: float
    n_rounds: int

    def divide(self, n: int) -> "Timing":
        """Return the seconds of one of n things that a call does."""
        return Timing(self.cpu / n, self.low / n, self.high / n, self.wall / n, self.n_rounds)


class Seconds(NamedTuple):
    """Times of one call."""

    cpu: float
    wall: float


def time_both(call: Callable[[], Any], n_calls: int = 1) -> Seconds:
    """CPU and wall seconds of a call. Each model has one thread, so CPU time leaves out other work on the machine."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(n_calls):
        call()
    cpu = time.process_time() - cpu
    return Seconds(cpu / n_calls, (time.perf_counter() - wall) / n_calls)


def summarise_rounds(rounds: Sequence[Sequence[float]]) -> Timing:
    """Summarise rounds of CPU and wall seconds."""
    cpu, wall = np.array(rounds).T
    low, median, high = (float(value) for value in np.percentile(cpu, [25, 50, 75]))
    return Timing(median, low, high, float(np.median(wall)), len(rounds))


def take_turns(
    calls: Mapping[str, Callable[[], Any]], *, n_rounds: int, seconds: float, least: float = 0.005
) -> dict[str, Timing]:
    """Time calls that take turns.

    No new round begins once ``seconds`` of wall time have gone by, but every call has at least one; within a round
    a call is repeated until it fills about ``least`` seconds.
    """
    end = time.perf_counter() + seconds
    first = {name: time_both(call) for name, call in calls.items()}
    # The first call is cold: its time does not show how many calls fit into a round.
    warm = {
        name: time_both(call).cpu if first[name].cpu < least else first[name].cpu
        for name, call in calls.items()
    }
    repeats = {name: min(100_000, max(1, round(least / max(warm[name], 1e-7)))) for name in calls}
    # A call that took long enough in the first round is counted.
    rounds = {name: [first[name]] if first[name].cpu > 0.5 else [] for name in calls}
    for _ in range(n_rounds):
        if time.perf_counter() > end and all(rounds.values()):
            break
        for name, call in calls.items():
            rounds[name].append(time_both(call, repeats[name]))
    return {name: summarise_rounds(values) for name, values in rounds.items()}


def time_cpu(calls: Mapping[str, Callable[[], Any]], **limits: Any) -> dict[str, float]:
    """Median CPU seconds of calls that take turns."""
    return {name: timing.cpu for name, timing in take_turns(calls, **limits).items()}


def keep(timings: Mapping[str, Timing]) -> dict[str, Any]:
    """Timings as JSON keeps them."""
    return {name: timing._asdict() for name, timing in timings.items()}
