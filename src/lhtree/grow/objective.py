"""The loss of a boosted fit, and the unit in which the core takes a response."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import REGRESSION_LOSSES, choose, is_real, refuse
from ..model.model import Model
from ..model.records import scale_down
from .training import Training

Floats = NDArray[np.float64]

_LN_2 = float(np.log(2.0))
_LEAVES = ("auto", "constant", "linear")


class Objective(NamedTuple):
    """The loss of a fit. The core sees a response divided by 2**exponent."""

    loss: str
    quantile: float = 0.5
    exponent: int = 0

    @classmethod
    def of(cls, params: dict[str, Any], training: Training) -> Objective:
        """Return the loss for these parameters, and check that the rows are valid for it."""
        if training.response is None:
            return cls("logistic" if training.n_targets == 1 else "softmax")
        loss, quantile = choose("loss", params["loss"], REGRESSION_LOSSES), params["quantile"]
        info = _core.LOSSES[loss]
        if info.parameter and not (is_real(quantile) and 0.0 < quantile < 1.0):
            raise refuse("quantile", quantile, f"a number between 0 and 1 with loss={loss!r}")
        if not info.parameter and quantile is not None:
            raise refuse("quantile", quantile, f"None with loss={loss!r}, or pass loss='quantile'")
        check_signs(training.response, loss, "y")
        if info.link == "log" and not training.response.any():
            raise ValueError(
                f"y contains only zeros, but loss={loss!r} needs a positive sum of y. Pass rows with a positive y."
            )
        exponent = scale_down(training.response)[1]
        if info.link == "log":
            exponent = max(exponent - info.free_exponent, 0)
        return cls(loss, float(quantile) if info.parameter else 0.5, exponent)

    @property
    def link(self) -> str:
        """The link that turns raw scores into predictions."""
        return str(_core.LOSSES[self.loss].link)

    def settle_leaf(self, leaf: Any) -> str:
        """The kind of leaf for the parameter ``leaf``."""
        choose("leaf", leaf, _LEAVES)
        info = _core.LOSSES[self.loss]
        if leaf == "linear" and info.selects:
            raise refuse("leaf", leaf, f"'constant' or 'auto' with loss={self.loss!r}")
        if leaf == "auto":
            return "constant" if info.is_of_classes or info.selects else "linear"
        return str(leaf)

    def shrink(self, response: Floats) -> Floats:
        """A response in the core's unit; that of a validation set, whose size is not known, within reach of squares."""
        scaled = np.ldexp(response, -self.exponent)
        return np.clip(scaled, -(2.0**500), 2.0**500) if self.link == "identity" else scaled

    def shrink_base(self, base: Floats) -> Floats:
        """The first scores of an earlier model as the core takes them."""
        return base - self.exponent * _LN_2 if self.link == "log" else np.ldexp(base, -self.exponent)

    def shrink_trees(self, earlier: Model) -> dict[str, NDArray[Any]]:
        """The arrays of an earlier model as the core takes them."""
        arrays = earlier.trees.arrays()
        return scale_up(arrays, -self.exponent) if self.link == "identity" else arrays

    def grow_base(self, base: Floats) -> Floats:
        """First scores in units of the response."""
        return base + self.exponent * _LN_2 if self.link == "log" else np.ldexp(base, self.exponent)

    def grow_trees(self, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The arrays of trees in units of the response; gains stay in the core's, in which they cannot overflow."""
        return scale_up(arrays, self.exponent) if self.link == "identity" else arrays

    def grow_losses(self, losses: Floats) -> Floats:
        """Losses in units of the response; the largest number where they are beyond it."""
        exponent = _core.LOSSES[self.loss].degree * self.exponent
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(np.ldexp(losses, exponent), np.finfo(np.float64).max))


def check_signs(response: Floats, loss: str, name: str) -> None:
    """Raise if a loss is for positive numbers, or for numbers of at least 0, and others are given."""
    least, responses = response.min(initial=np.inf), _core.LOSSES[loss].responses
    if responses == "not_negative" and least < 0.0:
        raise ValueError(
            f"{name} contains {least:.6g}, but loss={loss!r} is for numbers of at least 0. "
            "Use loss='squared_error', or drop those rows."
        )
    if responses == "positive" and least <= 0.0:
        raise ValueError(
            f"{name} contains {least:.6g}, but loss={loss!r} is for positive numbers. "
            "Use loss='poisson' if 0 is possible, or loss='squared_error'."
        )


# Arrays of trees in units of the response.
_IN_UNITS = ("n_target", "intercept", "membership_slope", "low", "high")


def scale_up(arrays: dict[str, NDArray[Any]], exponent: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of trees grown from the result of ``scale_down`` in units of the response."""
    n_blocks = len(arrays["left"])
    # If every response is 0, trees are grown like trees of classes, which have no range.
    arrays = {"low": np.zeros(n_blocks), "high": np.zeros(n_blocks)} | arrays
    with np.errstate(over="ignore"):
        arrays |= {name: np.ldexp(arrays[name], exponent) for name in _IN_UNITS if name in arrays}
    slope, intercept = arrays["membership_slope"], arrays["intercept"]
    if not (np.isfinite(slope).all() and np.isfinite(intercept).all()):  # overflow
        block = np.repeat(np.arange(n_blocks), np.diff(arrays["membership_ptr"]))
        is_steep = ~np.isfinite(intercept)
        is_steep[block[~np.isfinite(slope)]] = True
        arrays["membership_slope"] = np.where(is_steep[block], 0.0, slope)
        weight = arrays["weight"]
        mean = np.divide(arrays["n_target"], weight, out=np.zeros(n_blocks), where=weight > 0.0)
        arrays["intercept"] = np.where(is_steep, mean, intercept)
    return arrays
