"""Number formats for people: values as they are, results with as many digits as their range needs; labels for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import exp, floor, log10
from typing import Any

import numpy as np

ALL_DIGITS = 17  # of a float64
_STEPS = 300.0  # least number of distinguishable values in a range
_MOST_DECIMALS, _LARGEST = 6, 1e15  # numbers beyond are formatted with exponents
_LARGEST_EXPONENT = 709.0
_NARROWEST = 1e-300
LONGEST = 12  # digits of a value that a person or an instrument wrote down
_SMALLEST = 1e-4  # smaller values are formatted with exponents
_GROUPED = 1e4  # values from 10,000 have separators between thousands; years have none


@dataclass(frozen=True)
class NumberFormat:
    """Format of numbers: rounded to ``decimals``, to thousands if it is -3.

    With ``is_log``, numbers are logarithms: a value is formatted as its exponential, a change as a factor.
    """

    decimals: int = 2
    is_log: bool = False

    @classmethod
    def over(cls, low: float, high: float, *, is_log: bool = False) -> NumberFormat:
        """Return the format with which a range has some hundred distinguishable values."""
        width = high - low
        if not width > 0.0:
            width = abs(high) or 1.0
        if width < _NARROWEST:  # width / _STEPS would lose digits, or be 0
            return cls(-floor(log10(width) - log10(_STEPS)), is_log)
        return cls(-floor(log10(width / _STEPS)), is_log)

    def plain(self) -> NumberFormat:
        """Return the format for numbers that are not logarithms."""
        return NumberFormat(self.decimals)

    def is_seen(self, change: float) -> bool:
        """Return whether a change is not rounded to zero."""
        return abs(change) >= (0.005 if self.is_log else 0.5 * 10.0**-self.decimals)

    def write(self, value: float) -> str:
        """Format a value, with separators between thousands: 214,000."""
        if self.is_log:
            value = exp(min(value, _LARGEST_EXPONENT))
        if self.decimals > _MOST_DECIMALS or abs(value) >= _LARGEST:
            return f"{value:.4g}"
        return f"{round(value, self.decimals) + 0.0:,.{max(self.decimals, 0)}f}"

    def sign(self, change: float) -> str:
        """Format a change with its sign; the change of a logarithm as a factor."""
        if self.is_log:
            factor = exp(min(change, _LARGEST_EXPONENT))
            return f"×{factor:.2f}" if 0.1 <= factor < 1e4 else f"×{factor:.3g}"
        if self.decimals > _MOST_DECIMALS or abs(change) >= _LARGEST:
            return f"{change:+.3g}"
        return f"{round(change, self.decimals) + 0.0:+,.{max(self.decimals, 0)}f}"

    def add_up(self, start: float, parts: Sequence[float], end: float) -> list[float]:
        """Return parts rounded so that, as printed, they lead from the start to the end.

        Each is rounded to the nearest number first. Units that are then missing go to the parts that rounding changed
        most. Factors, and numbers that are printed with exponents, stay as they are.
        """
        largest = max(map(abs, (start, end, *parts)))
        if self.is_log or not parts or self.decimals > _MOST_DECIMALS or not largest < _LARGEST:
            return list(parts)
        exact = [Decimal(part).scaleb(self.decimals) for part in parts]
        units = [round(part) for part in exact]
        first, last = (
            round(Decimal(round(each, self.decimals)).scaleb(self.decimals)) for each in (start, end)
        )
        missing = last - first - sum(units)
        step = 1 if missing > 0 else -1
        order = sorted(range(len(parts)), key=lambda i: step * (units[i] - exact[i]))
        for number in range(abs(missing)):
            units[order[number % len(order)]] += step
        return [float(Decimal(unit).scaleb(-self.decimals)) for unit in units]


def write_value(value: float, longest: int = LONGEST) -> str:
    """Format a value of a row as it is: 66,008, 0.1 or 2e-07.

    A value with more digits than ``longest`` was computed: it is rounded to six, and has three decimals at least.
    """
    shortest, size = _find_shortest(value, longest), abs(value)
    is_long = len(shortest.as_tuple().digits) > longest and value != floor(value)
    if size and not _SMALLEST <= size < _LARGEST:
        n_digits = 6 if is_long else len(shortest.as_tuple().digits)
        return f"{shortest:.{n_digits - 1}e}"
    if is_long:
        shortest = round(shortest, max(3, 5 - shortest.adjusted())).normalize()
    return f"{shortest:,f}" if size >= _GROUPED else f"{shortest:f}"


def _find_shortest(value: float, longest: int) -> Decimal:
    """Return the shortest decimal number that is read as the value; of a float32, as the value in that type."""
    shortest = Decimal(repr(float(value) + 0.0)).normalize()
    if len(shortest.as_tuple().digits) > longest:
        with np.errstate(over="ignore", under="ignore"):
            single = np.float32(value)
        if float(single) == value:
            return Decimal(str(single)).normalize()
    return shortest


def make_plain(fact: Any) -> Any:
    """Return a value for JSON; a date or another object becomes text."""
    return fact if fact is None or isinstance(fact, (str, int, float)) else str(fact)


def write_count(number: float) -> str:
    """Format a number of rows, or their weight: 123,456 or 12.346."""
    return f"{round(float(number), 3):,.15g}"


def write_share(share: float, decimals: int = 1) -> str:
    """Format a share in per cent, never rounded to all or nothing: >99.9 %, <0.1 %."""
    return f"{_round_share(share, 100.0, decimals)} %"


def write_shares(low: float, high: float, decimals: int = 1) -> str:
    """Format the ends of an interval of shares in per cent: 98.2 to >99.9."""
    return f"{_round_share(low, 100.0, decimals)} to {_round_share(high, 100.0, decimals)}"


def write_probability(share: float) -> str:
    """Format a probability with two decimals, never rounded to 1 or 0: >0.99, <0.01."""
    return _round_share(share, 1.0, 2)


def _round_share(share: float, whole: float, decimals: int) -> str:
    text, least = f"{whole * share:.{decimals}f}", 10.0**-decimals
    if float(text) == 0.0 and share > 0.0:
        return f"<{least:.{decimals}f}"
    return f">{whole - least:.{decimals}f}" if float(text) == whole and share < 1.0 else text
