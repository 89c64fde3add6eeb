"""Measured curves: accuracy against coverage, and accuracy and size against sparsity."""

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


def find_sureness(model: Any, X: Any, proba: NDArray[np.float64] | None = None, **options: Any) -> Sureness:
    """Return the largest WOLF value of every row; for a model without WOLF, its largest probability."""
    if has_wolf(model):
        return Sureness("wolf", model.predict_wolf(X, **options).max(axis=1))
    return Sureness("proba", (model.predict_proba(X, **options) if proba is None else proba).max(axis=1))


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


@dataclass(frozen=True, eq=False, repr=False)
class SparsityCurve:
    """Measurements for every beta and every split; each array has shape (n_betas, n_splits).

    ``accuracy`` is on the held-out rows, ``training_accuracy`` on the others. ``n_features`` is the number of features
    used by any hyperplane, ``features_per_block`` the mean number per branching block (0 if there are none), and
    ``n_blocks`` the number of blocks of all trees.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import sparsity_curve
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> curve = sparsity_curve(X, y, betas=[0, 0.5], cv=3)
    >>> curve.accuracy.mean(axis=1).round(2)
    array([0.9 , 0.94])
    >>> curve.sparsest
    0.5
    """

    betas: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    training_accuracy: NDArray[np.float64]
    n_features: NDArray[np.float64]
    features_per_block: NDArray[np.float64]
    n_blocks: NDArray[np.float64]

    def __repr__(self) -> str:
        n_betas, n_splits = self.accuracy.shape
        best = self.accuracy.mean(axis=1).max()
        return (
            f"SparsityCurve({n_betas} betas on {n_splits} split{'s' * (n_splits != 1)}; best accuracy {best:.3f}, "
            f"sparsest beta {self.sparsest:g})"
        )

    @property
    def sparsest(self) -> float:
        """Largest beta whose mean accuracy is within one standard error of the best."""
        mean = self.accuracy.mean(axis=1)
        best = int(mean.argmax())
        error = _spread(self.accuracy)[best] / np.sqrt(self.accuracy.shape[1])
        return float(self.betas[mean >= mean[best] - error].max())

    def to_dict(self) -> dict[str, list[float]]:
        """Means over the splits: for every column of ``to_frame``, a list with one value per beta."""
        columns = {
            "beta": self.betas,
            "accuracy": self.accuracy.mean(axis=1),
            "spread": _spread(self.accuracy),
            "training_accuracy": self.training_accuracy.mean(axis=1),
            "n_features": self.n_features.mean(axis=1),
            "features_per_block": self.features_per_block.mean(axis=1),
            "n_blocks": self.n_blocks.mean(axis=1),
        }
        return {name: values.tolist() for name, values in columns.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per beta: means over the splits, with the standard deviation of the accuracy as ``spread``."""
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(self.to_dict())
        return frame

    def __str__(self) -> str:
        lines = ["  beta  accuracy ± spread  features  per block  blocks"]
        columns = self.to_dict()
        names = ("beta", "accuracy", "spread", "n_features", "features_per_block", "n_blocks")
        for beta, accuracy, spread, features, per_block, blocks in zip(
            *(columns[name] for name in names), strict=True
        ):
            lines.append(
                f"{beta:6g}    {accuracy:.4f} ± {spread:.4f}  {features:8.1f}  {per_block:9.1f}  {blocks:6.1f}"
            )
        return "\n".join(lines)


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation over the splits; 0 where there is only one."""
    if values.shape[1] == 1:
        return np.zeros(len(values))
    return values.std(axis=1, ddof=1)  # type: ignore[no-any-return]
