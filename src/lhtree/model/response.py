"""The response of a regression: its record in the model, and the units in which trees are grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import is_real, refuse

# Arrays of trees in units of the response.
_IN_UNITS = ("n_target", "intercept", "membership_slope", "low", "high")


@dataclass(frozen=True)
class ResponseRecord:
    """Summary of the training responses, and the errors on rows that trees were not grown from."""

    low: float  # least, largest and weighted mean response
    high: float
    mean: float
    # Errors of a forest on rows that some trees leave out: |response - prediction of these trees|, times a factor for
    # their number, ascending; and the weights of the rows (None: 1 each).
    residual: NDArray[np.float64] | None = None
    residual_weight: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, response: NDArray[np.float64], weight: NDArray[np.float64] | None) -> ResponseRecord:
        """Return the record of training responses."""
        low, high = float(response.min()), float(response.max())
        scaled, exponent = scale_down(response)
        mean = float(np.ldexp(np.average(scaled, weights=weight), exponent))
        return cls(low, high, min(max(mean, low), high))

    def interval(self, prediction: NDArray[np.float64], coverage: Any) -> NDArray[np.float64]:
        """Return intervals around predictions that contain a share ``coverage`` of new responses, shape (n, 2).

        Split-conformal: half of the width is the quantile of the residuals at ``coverage``.
        """
        if self.residual is None:
            raise AttributeError(
                "there are no intervals: fit an LHForestRegressor whose trees leave rows out (max_samples < 1, "
                "and more than two rows)."
            )
        if not is_real(coverage) or not 0.0 < coverage < 1.0:
            raise refuse("coverage", coverage, "a number between 0 and 1")
        n = len(self.residual)
        weight = np.ones(n) if self.residual_weight is None else self.residual_weight
        reached = np.cumsum(weight)
        needed = coverage * (reached[-1] + reached[-1] / n)  # the new row is one of them
        place = int(np.searchsorted(reached, needed * (1.0 - 1e-12)))
        if place == n:
            raise refuse(
                "coverage", coverage, f"at most {n / (n + 1):.4g}, or fit more rows: there are {n} residuals"
            )
        half = self.residual[place]
        return np.column_stack([prediction - half, prediction + half])


def scale_down(response: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Scale the response by a power of two so that its largest value is from 1/2 to 1, and return the exponent.

    So squares of 1e300 do not overflow, and a response times a power of two grows the same trees.
    """
    exponent = int(np.frexp(np.abs(response).max())[1])
    return np.ldexp(response, -exponent), exponent


def scale_up(arrays: dict[str, NDArray[Any]], exponent: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of trees grown from the result of ``scale_down`` in units of the response."""
    n_blocks = len(arrays["left"])
    # If every response is 0, trees are grown like trees of classes, which have no range.
    arrays = {"low": np.zeros(n_blocks), "high": np.zeros(n_blocks)} | arrays
    with np.errstate(over="ignore"):
        arrays |= {name: np.ldexp(arrays[name], exponent) for name in _IN_UNITS}
    slope, intercept = arrays["membership_slope"], arrays["intercept"]
    if not (np.isfinite(slope).all() and np.isfinite(intercept).all()):  # overflow
        block = np.repeat(np.arange(n_blocks), np.diff(arrays["membership_ptr"]))
        is_steep = ~np.isfinite(intercept)
        is_steep[block[~np.isfinite(slope)]] = True
        arrays["membership_slope"] = np.where(is_steep[block], 0.0, slope)
        arrays["intercept"] = np.where(is_steep, arrays["n_target"] / arrays["weight"], intercept)
    return arrays
