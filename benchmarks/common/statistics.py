"""Means, intervals and chances over splits that share rows."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lhtree.evaluation.measures import find_interval

from .results import Results


class Mean(NamedTuple):
    """Mean over splits, half of its 95 % interval, standard deviation, least and most."""

    mean: float
    half: float
    spread: float
    least: float
    most: float

    @property
    def is_level(self) -> bool:
        """Whether a mean of differences is within its interval of 0; rounding errors are ignored."""
        return abs(self.mean) <= self.half + 1e-12


def summarise(values: Sequence[float] | NDArray[np.float64], test_share: float = 0.2) -> Mean:
    """Mean over random splits with the interval of Nadeau and Bengio.

    Splits of one data set share rows, so their values are correlated: the variance of the mean is
    (1/J + n_test/n_train) s², not s²/J. Values that share nothing have ``test_share=0``: the usual t interval.
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        value = float(array[0])
        return Mean(value, math.inf, math.nan, value, value)
    spread = float(array.std(ddof=1))
    half = t.ppf(0.975, len(array) - 1) * spread * math.sqrt(1 / len(array) + test_share / (1 - test_share))
    return Mean(float(array.mean()), float(half), spread, float(array.min()), float(array.max()))


def subtract(
    results: Results, name: str, ours: str, peer: str, metric: str = "accuracy", test_share: float = 0.2
) -> Mean:
    """Paired difference over the splits both models have; positive: ours is better."""
    first, second = results[name, ours], results[name, peer]
    sign = -1 if metric == "log_loss" else 1
    both = [
        seed
        for seed in sorted(first.keys() & second.keys())
        if metric in first[seed] and metric in second[seed]
    ]
    return summarise([sign * (first[seed][metric] - second[seed][metric]) for seed in both], test_share)


def chance_of_at_least(shares: Sequence[float], least: int) -> float:
    """Return the probability that at least this number of independent events happen."""
    chances = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return float(chances[least:].sum())


def percent(value: float, digits: int = 2) -> str:
    """Return a share as a percentage without its sign."""
    return f"{100 * value:.{digits}f}"


def say_interval(bounds: tuple[float, float]) -> str:
    """Return an interval of shares in %."""
    return f"{100 * bounds[0]:.1f}–{100 * bounds[1]:.1f}"


def say_share(n_hits: int, n: int) -> str:
    """Return a share as a count with its 95 % interval."""
    return f"{n_hits} of {n} ({say_interval(find_interval(n_hits / n, n))} %)"
