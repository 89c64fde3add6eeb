"""Number formats for people: as many digits as the range of the numbers needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, log10

_STEPS = 300.0  # least number of distinguishable values in a range
_MOST_DECIMALS, _LARGEST = 6, 1e15  # numbers beyond are formatted with exponents
_LARGEST_EXPONENT = 709.0
_SMALLEST = 1e-300


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
        if width < _SMALLEST:  # width / _STEPS would lose digits, or be 0
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
