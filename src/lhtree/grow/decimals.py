"""Numbers in few decimal digits: what is printed is what is used."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def round_significant(values: Floats, digits: int) -> Floats:
    """Every value rounded to so many significant digits."""
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])


def shorten_between(low: float, high: float) -> float:
    """The number of fewest decimals in (low, high], the one nearest to the middle."""
    exact_low, exact_high = Decimal(low), Decimal(high)
    middle = (exact_low + exact_high) / 2
    for place in range((exact_high - exact_low).adjusted() + 1, -400, -1):
        found = float(middle.quantize(Decimal((0, (1,), place))) if _fits(middle, place) else middle)
        if low < found <= high:
            return found + 0.0  # not -0
    return high


def round_to_scale(values: Floats, scale: Floats | float, digits: int) -> Floats:
    """Every value rounded to so many digits of its scale: 3 digits of 77 are tenths."""
    rounded = values.copy()
    for place, (value, unit) in enumerate(np.broadcast(values, scale)):
        exact, last = Decimal(value), math.floor(math.log10(unit)) - digits + 1
        if _fits(exact, last):
            rounded[place] = float(exact.quantize(Decimal((0, (1,), last)))) + 0.0  # not -0
    return rounded


def _fits(value: Decimal, place: int) -> bool:
    """Whether a value can be rounded to a power of ten within the digits that decimals have."""
    return value.adjusted() - place < 27
