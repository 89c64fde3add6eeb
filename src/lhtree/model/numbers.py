"""How amounts are written for people, in the unit of what a model predicts."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, log10

_STEPS = 300.0  # in a range, at least
_MOST_DECIMALS, _MANY = 6, 1e15  # numbers beyond are written with exponents
_LARGEST_EXPONENT = 709.0


@dataclass(frozen=True)
class Amounts:
    """How amounts are written: rounded to so many decimals, or to thousands where these are negative.

    The logarithms of a log link are written as what they are the logarithms of, and their sums as factors.
    """

    decimals: int = 2
    is_log: bool = False

    @classmethod
    def over(cls, low: float, high: float, *, is_log: bool = False) -> Amounts:
        """Amounts of which some hundred fit into a range."""
        width = high - low
        if not width > 0.0:
            width = abs(high) or 1.0
        return cls(-floor(log10(width / _STEPS)), is_log)

    def plain(self) -> Amounts:
        """The same for what is no logarithm."""
        return Amounts(self.decimals)

    def is_seen(self, change: float) -> bool:
        """Whether a change is not written as nothing."""
        return abs(change) >= (0.005 if self.is_log else 0.5 * 10.0**-self.decimals)

    def write(self, value: float) -> str:
        """A value, with separators between thousands: 214,000."""
        if self.is_log:
            value = exp(min(value, _LARGEST_EXPONENT))
        if self.decimals > _MOST_DECIMALS or abs(value) >= _MANY:
            return f"{value:.4g}"
        return f"{round(value, self.decimals) + 0.0:,.{max(self.decimals, 0)}f}"

    def sign(self, change: float) -> str:
        """A change with its sign; of logarithms, a factor."""
        if self.is_log:
            factor = exp(min(change, _LARGEST_EXPONENT))
            return f"×{factor:.2f}" if 0.1 <= factor < 1e4 else f"×{factor:.3g}"
        if self.decimals > _MOST_DECIMALS or abs(change) >= _MANY:
            return f"{change:+.3g}"
        return f"{round(change, self.decimals) + 0.0:+,.{max(self.decimals, 0)}f}"
