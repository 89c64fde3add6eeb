"""The curve of accuracy against coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import is_real, refuse
from ..model.model import has_wolf

if TYPE_CHECKING:
    import pandas as pd

_NAMES = ("threshold", "n_decided", "coverage", "accuracy")
_N_EVEN = 200  # points of a thinned curve


class Sureness(NamedTuple):
    """Sureness of predictions, shape (n,), and its kind: "wolf" or "proba"."""

    kind: str
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CoverageCurve:
    """Accuracy against coverage: one point per possible threshold, largest first.

    All arrays have shape (n_points,): at ``threshold``, ``n_decided`` rows (the share ``coverage``) are decided with
    this ``accuracy``. The last point decides every row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, coverage_curve
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X[:400], y[:400])
    >>> curve = coverage_curve(model, X[400:], y[400:])
    >>> point = curve.reach(accuracy=0.95)
    >>> round(point["coverage"], 2), round(point["threshold"], 2)
    (0.75, 0.75)
    """

    threshold: NDArray[np.float64]
    n_decided: NDArray[np.int64]
    coverage: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    def __repr__(self) -> str:
        half = self.at(0.5)
        return (
            f"CoverageCurve({len(self.coverage)} points; accuracy {self.accuracy[-1]:.3f} on all rows, "
            f"{half['accuracy']:.3f} at coverage {half['coverage']:.2f})"
        )

    def reach(self, accuracy: float) -> dict[str, float]:
        """The point of largest coverage with at least this accuracy."""
        if not is_real(accuracy) or not 0.0 <= accuracy <= 1.0:
            raise refuse("accuracy", accuracy, "a number from 0 to 1")
        good = np.flatnonzero(self.accuracy >= accuracy)
        if not len(good):
            raise refuse("accuracy", accuracy, f"at most {self.accuracy.max():.4f}, the best on these rows")
        return self._point(good[-1])

    def at(self, coverage: float) -> dict[str, float]:
        """The point of smallest coverage that is not below this one."""
        if not is_real(coverage) or not 0.0 <= coverage <= 1.0:
            raise refuse("coverage", coverage, "a number from 0 to 1")
        return self._point(np.searchsorted(self.coverage, coverage))

    def thin(self) -> CoverageCurve:
        """At most 200 points, whose coverages are evenly spaced."""
        points = np.unique(np.searchsorted(self.coverage, np.arange(1, _N_EVEN + 1) / _N_EVEN))
        return CoverageCurve(*(getattr(self, name)[points] for name in _NAMES))

    def to_dict(self) -> dict[str, list[float]]:
        """The four columns, each a list with one value per point."""
        return {name: getattr(self, name).tolist() for name in _NAMES}

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        columns = {name: getattr(self, name) for name in _NAMES}
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(columns)
        return frame

    def _point(self, point: Any) -> dict[str, float]:
        return {name: getattr(self, name)[point].item() for name in _NAMES}


def find_sureness(model: Any, X: Any, proba: NDArray[np.float64] | None = None) -> Sureness:
    """Return the largest WOLF value of every row; for a model without WOLF, its largest probability."""
    if has_wolf(model):
        return Sureness("wolf", model.predict_wolf(X).max(axis=1))
    return Sureness("proba", (model.predict_proba(X) if proba is None else proba).max(axis=1))


def measure_coverage(
    sureness: NDArray[np.float64], is_right: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
) -> CoverageCurve:
    """Return the curve of rows that are decided in the order of ``sureness``, largest first; arrays of shape (n,)."""
    order = np.argsort(-sureness, kind="stable")
    ordered = sureness[order]
    # Rows of equal sureness are decided together.
    last = np.append(np.flatnonzero(np.diff(ordered) < 0.0), len(order) - 1)
    mass = (np.ones(len(order)) if weight is None else weight)[order]
    decided = np.cumsum(mass)[last]
    right = np.cumsum(mass * is_right[order])[last]
    return CoverageCurve(ordered[last], last + 1, decided / decided[-1], right / decided)
