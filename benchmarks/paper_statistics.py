"""Intervals, chances and verdicts over splits that share rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

HOLDS, LUCKY, FAILS = "holds", "holds on lucky splits", "does not hold"
# What is claimed of a split at random should be true of nearly every one.
HOLDS_FROM = 0.95


class Mean(NamedTuple):
    """Mean over splits, half of its 95 % interval, standard deviation, least and most."""

    mean: float
    half: float
    spread: float
    least: float
    most: float

    @property
    def is_level(self) -> bool:
        """Whether a mean of differences is within its interval of 0; what is left of rounding does not count."""
        return abs(self.mean) <= self.half + 1e-12


def summarise(values: Sequence[float], test_share: float = 0.2) -> Mean:
    """Mean over random splits with the interval of Nadeau and Bengio.

    Splits of one data set share rows, so their values are correlated: the variance of the mean is
    (1/J + n_test/n_train) s², not s²/J.
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        value = float(array[0])
        return Mean(value, math.inf, math.nan, value, value)
    spread = float(array.std(ddof=1))
    half = t.ppf(0.975, len(array) - 1) * spread * math.sqrt(1 / len(array) + test_share / (1 - test_share))
    return Mean(float(array.mean()), float(half), spread, float(array.min()), float(array.max()))


def wilson(n_hits: float, n: int) -> tuple[float, float]:
    """95 % interval of a share."""
    z2 = 1.959964**2
    share = n_hits / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def chance_of_at_least(shares: Sequence[float], least: int) -> float:
    """Chance that at least so many of independent events with these chances happen."""
    chances = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return float(chances[least:].sum())


def verdict(share: float) -> str:
    """Return what a share of splits says of a claim made from one of them."""
    if share >= HOLDS_FROM:
        return HOLDS
    return LUCKY if share > 0 else FAILS


def percent(value: float, digits: int = 2) -> str:
    """Return a share as a percentage without its sign."""
    return f"{100 * value:.{digits}f}"


def say_interval(bounds: tuple[float, float]) -> str:
    """Return an interval of shares in %."""
    return f"{100 * bounds[0]:.1f}–{100 * bounds[1]:.1f}"


def say_share(n_hits: int, n: int) -> str:
    """Return a share as a count with its 95 % interval."""
    return f"{n_hits} of {n} ({say_interval(wilson(n_hits, n))} %)"


class Claim(NamedTuple):
    """What the paper says, what was found, over how much, and what that makes of it."""

    said: str
    found: str
    size: str
    verdict: str

    def row(self) -> list[str]:
        """Return the claim as cells."""
        return [self.said, self.found, self.size, f"**{self.verdict}**"]
