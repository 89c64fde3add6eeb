"""Facts of a report that only a regression has: errors, and how many responses its intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.regression import NumberPart
from ..model.model import Model
from ._rows import space

_N_POINTS = 400
_N_BARS = 24
_TAIL = 0.99  # errors beyond this quantile are counted in the outermost bars
_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_SHOWN = 0.9


def describe_numbers(fitted: Model, part: NumberPart) -> dict[str, Any]:
    """Predictions and responses of some rows, the distribution of the errors, and intervals."""
    chosen = space(len(part.actual), min(len(part.actual), _N_POINTS))
    intervals = {
        coverage: ends for coverage in _COVERAGES if (ends := _find_ends(fitted, part, coverage)) is not None
    }
    return {
        "points": {"actual": part.actual[chosen].tolist(), "predicted": part.predicted[chosen].tolist()},
        "residuals": _count_residuals(part.actual - part.predicted),
        "intervals": [_measure(part, coverage, ends) for coverage, ends in intervals.items()],
        "half": float(np.ptp(intervals[_SHOWN][0])) / 2.0 if _SHOWN in intervals else None,
        "coverage": _SHOWN,
    }


def _count_residuals(residual: NDArray[np.float64]) -> dict[str, Any]:
    """A histogram; its outermost bars hold all that is beyond them."""
    most = _round_up(float(np.quantile(np.abs(residual), _TAIL)) or 1.0)
    counts, edges = np.histogram(np.clip(residual, -most, most), bins=_N_BARS, range=(-most, most))
    return {"counts": counts.tolist(), "low": float(edges[0]), "high": float(edges[-1])}


def _round_up(size: float) -> float:
    """The next number of two digits, which reads well on an axis."""
    unit = 10.0 ** (np.floor(np.log10(size)) - 1.0)
    return float(np.ceil(size / unit) * unit)


def _find_ends(fitted: Model, part: NumberPart, coverage: float) -> NDArray[np.float64] | None:
    """Ends of the intervals; None if the model has none, or too few rows for this coverage."""
    response = fitted.response
    if (
        response is None
        or response.residual is None
        or coverage * (len(response.residual) + 1) > len(response.residual)
    ):
        return None
    return fitted.interval(part.predicted, coverage)


def _measure(part: NumberPart, coverage: float, ends: NDArray[np.float64]) -> dict[str, float]:
    low, high = ends.T
    return {
        "coverage": coverage,
        "share": float(np.mean((low <= part.actual) & (part.actual <= high))),
        "width": float(np.mean(high - low)),
    }
