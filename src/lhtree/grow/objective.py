"""The loss of a boosted fit, and the unit in which the core takes a response."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import REGRESSION_LOSSES, choose, is_real, refuse
from ..model.model import Model
from ..model.records import OutputRecord, ResponseRecord, scale_down
from .training import Training

Floats = NDArray[np.float64]

_LN_2 = float(np.log(2.0))
_LEAVES = ("auto", "constant", "linear")


class Objective(NamedTuple):
    """The loss of a fit. The core sees a response divided by 2**exponent."""

    loss: str
    quantiles: tuple[float, ...] = (0.5,)
    exponent: Any = 0  # an array with one per response, if there are several
    outputs: tuple[str, ...] = ()  # names of several quantiles or responses

    @classmethod
    def of(cls, params: dict[str, Any], training: Training) -> Objective:
        """Return the loss for these parameters, and check that the rows are valid for it."""
        if training.response is None:
            return cls("logistic" if training.n_targets == 1 else "softmax")
        loss, quantile = choose("loss", params["loss"], REGRESSION_LOSSES), params["quantile"]
        info = _core.LOSSES[loss]
        quantiles = _take_quantiles(quantile) if info.parameter else (0.5,)
        if not quantiles:
            allowed = "a number between 0 and 1, or an ascending list of at least two of them,"
            raise refuse("quantile", quantile, f"{allowed} with loss={loss!r}")
        if not info.parameter and quantile is not None:
            raise refuse("quantile", quantile, f"None with loss={loss!r}, or pass loss='quantile'")
        names = training.response_names
        if names and loss != "squared_error":
            raise refuse(
                "loss", loss, f"'squared_error' with {len(names)} columns of y, or fit one column each"
            )
        check_signs(training.response, loss, "y")
        if info.link == "log" and not training.response.any():
            raise ValueError(
                f"y contains only zeros, but loss={loss!r} needs a positive sum of y. Pass rows with a positive y."
            )
        exponent = scale_down(training.response)[1]
        if info.link == "log":
            exponent = max(exponent - info.free_exponent, 0)
        if len(quantiles) > 1:
            names = tuple(f"{quantile:.15g}" for quantile in quantiles)
        return cls(loss, quantiles, exponent, names)

    @property
    def link(self) -> str:
        """The link that turns raw scores into predictions."""
        return "sorted" if len(self.quantiles) > 1 else str(_core.LOSSES[self.loss].link)

    def of_core(self, training: Training) -> dict[str, Any]:
        """Return the loss as an argument of the core."""
        return {
            "loss": self.loss,
            "quantiles": list(self.quantiles),
            "n_classes": len(training.classes),
            "n_responses": len(training.response_names) or 1,
        }

    def record_outputs(self, training: Training) -> tuple[OutputRecord, ...]:
        """Return the records of several outputs; empty if there is one."""
        if training.response is None:
            return ()
        several = training.response.ndim == 2
        records = []
        for place, name in enumerate(self.outputs):
            own = ResponseRecord.of(
                training.response[:, place] if several else training.response, training.weight
            )
            records.append(OutputRecord(name, own.low, own.high, own.mean))
        return tuple(records)

    def settle_leaf(self, leaf: Any) -> str:
        """Return the kind of leaf for the parameter ``leaf``."""
        choose("leaf", leaf, _LEAVES)
        info = _core.LOSSES[self.loss]
        if leaf == "linear" and info.selects:
            raise refuse("leaf", leaf, f"'constant' or 'auto' with loss={self.loss!r}")
        if leaf == "auto":
            return "constant" if info.is_of_classes or info.selects else "linear"
        return str(leaf)

    def shrink(self, response: Floats) -> Floats:
        """Return a response in the core's unit; that of a validation set is clipped, so that squares stay finite."""
        scaled = np.ldexp(response, -self.exponent)
        return np.asarray(scaled if self._is_log else np.clip(scaled, -(2.0**500), 2.0**500))

    @property
    def _is_log(self) -> bool:
        return self.link == "log"

    def shrink_base(self, base: Floats) -> Floats:
        """Return the first scores of an earlier model as the core takes them."""
        return np.asarray(base - self.exponent * _LN_2 if self._is_log else np.ldexp(base, -self.exponent))

    def shrink_trees(self, earlier: Model) -> dict[str, NDArray[Any]]:
        """Return the arrays of an earlier model as the core takes them."""
        arrays = earlier.trees.arrays()
        return self._scale(arrays, -self.exponent)

    def grow_base(self, base: Floats) -> Floats:
        """Return first scores in units of the response."""
        return np.asarray(base + self.exponent * _LN_2 if self._is_log else np.ldexp(base, self.exponent))

    def grow_trees(self, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the arrays of trees in units of the response; gains stay in the core's unit and cannot overflow."""
        return self._scale(arrays, self.exponent)

    def _scale(self, arrays: dict[str, NDArray[Any]], exponent: Any) -> dict[str, NDArray[Any]]:
        """Multiply the values of trees by 2**exponent, of the response of each; scores of classes have no unit."""
        if self.link not in ("identity", "sorted"):
            return arrays
        if np.ndim(exponent) == 0:
            return scale_up(arrays, exponent)
        target = np.repeat(arrays["target"], np.diff(arrays["block_ptr"]))
        return scale_up(
            arrays, exponent[np.maximum(target, 0)], exponent[arrays.get("value_class", target[:0])]
        )

    def grow_losses(self, losses: Floats) -> Floats:
        """Return losses in units of the response; the largest number where they are beyond it.

        Those of several responses have no common unit: they are relative to the losses of the means.
        """
        if np.ndim(self.exponent):
            return losses
        exponent = _core.LOSSES[self.loss].degree * self.exponent
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(np.ldexp(losses, exponent), np.finfo(np.float64).max))


def _take_quantiles(quantile: Any) -> tuple[float, ...]:
    """Return the quantiles to estimate; empty if they are not valid."""
    if isinstance(quantile, (list, tuple, np.ndarray)):
        some = list(quantile)
        is_valid = len(some) > 1 and all(is_real(one) and 0.0 < one < 1.0 for one in some)
        return tuple(map(float, some)) if is_valid and all(a < b for a, b in pairwise(some)) else ()
    return (float(quantile),) if is_real(quantile) and 0.0 < quantile < 1.0 else ()


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


# Arrays of trees in units of the response, with a value per block.
_IN_UNITS = ("n_target", "intercept", "low", "high")


def scale_up(
    arrays: dict[str, NDArray[Any]], exponent: Any, of_values: Any = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of trees grown from the result of ``scale_down`` in units of the response.

    With several responses, ``exponent`` has one per block, and ``of_values`` one per value of a tree of all responses.
    """
    n_blocks = len(arrays["left"])
    # If every response is 0, trees are grown like trees of classes, which have no range.
    arrays = {"low": np.zeros(n_blocks), "high": np.zeros(n_blocks)} | arrays
    of_slopes = np.repeat(exponent, np.diff(arrays["membership_ptr"])) if np.ndim(exponent) else exponent
    with np.errstate(over="ignore"):
        arrays |= {name: np.ldexp(arrays[name], exponent) for name in _IN_UNITS if name in arrays}
        if "membership_slope" in arrays:
            arrays["membership_slope"] = np.ldexp(arrays["membership_slope"], of_slopes)
        if "value" in arrays:
            arrays["value"] = np.ldexp(arrays["value"], exponent if of_values is None else of_values)
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
