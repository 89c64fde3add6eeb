"""Predict or abstain: decisions and the coverage curve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._extras import import_extra
from ._parameters import is_real, refuse
from .curves import CoverageCurve, measure_coverage
from .model import read
from .tables.labels import encode_known

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Decisions:
    """Result of ``predict_or_abstain``: a class, or None, for every row.

    It behaves like the array ``labels``, in which None means that the model abstains. scikit-learn's metrics reject
    None, so undecided rows cannot be counted by mistake.

    Attributes
    ----------
    labels : array of shape (n,), dtype object
        Class of every row, None where the model abstains.
    is_decided : boolean array of shape (n,)
    wolf : array of shape (n,)
        WOLF value of the predicted class.
    threshold : float
        Rows whose ``wolf`` is below it are undecided; pass it again to treat later rows alike. Infinity leaves all rows
        undecided.
    classes : array of shape (K,)
        All classes of the model.
    """

    labels: NDArray[np.object_]
    is_decided: NDArray[np.bool_]
    wolf: NDArray[np.float64]
    threshold: float
    classes: NDArray[Any]

    @property
    def coverage(self) -> float:
        """Share of the rows that are decided."""
        return float(self.is_decided.mean())

    def score(self, y: Any) -> float:
        """Accuracy on the decided rows (NaN if there are none); ``y`` contains the true class of every row."""
        truth = encode_known(y, self.classes, len(self))[self.is_decided]
        decided = (
            encode_known(self.labels[self.is_decided], self.classes, len(truth)) if len(truth) else truth
        )
        return float((truth == decided).mean()) if len(truth) else math.nan

    def to_frame(self) -> pd.DataFrame:
        """One row per row: ``label`` (None where the model abstains), ``is_decided`` and ``wolf``."""
        columns = {"label": self.labels, "is_decided": self.is_decided, "wolf": self.wolf}
        frame: pd.DataFrame = import_extra("pandas", "pandas").DataFrame(columns)
        return frame

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __getitem__(self, index: Any) -> Any:
        return self.labels[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.labels, dtype=dtype, copy=copy)

    def __str__(self) -> str:
        n_decided = int(self.is_decided.sum())
        said = f"{n_decided} of {len(self)} rows decided (coverage {self.coverage:.3f})"
        if n_decided == len(self) or self.threshold == math.inf:
            return said
        return f"{said}; the others have a WOLF value below {self.threshold:.4g}"

    __repr__ = __str__


def decide(model: Any, X: Any, threshold: float | None = None, coverage: float | None = None) -> Decisions:
    """Predict rows whose winning WOLF value is at least the threshold; see ``model.predict_or_abstain``."""
    if (threshold is None) == (coverage is None):
        both = f"threshold={threshold!r} and coverage={coverage!r}"
        raise ValueError(f"{both} are not valid together: pass exactly one of the two.")
    if coverage is not None and (not is_real(coverage) or not 0.0 <= coverage <= 1.0):
        raise refuse("coverage", coverage, "a number from 0 to 1")
    if threshold is not None and not _is_threshold(threshold):
        raise refuse(
            "threshold", threshold, "a number of at least 0 (with infinity, every row is left undecided)"
        )
    predicted, wolf = _predict(model, X)
    if threshold is None:
        assert coverage is not None
        threshold = threshold_for(wolf, coverage)
    is_decided = wolf >= threshold
    labels = np.full(len(wolf), None, dtype=object)
    labels[is_decided] = predicted[is_decided].tolist()
    return Decisions(labels, is_decided, wolf, float(threshold), model.classes_)


def _is_threshold(value: Any) -> bool:
    is_infinite = isinstance(value, Real) and value == math.inf
    return is_infinite or (is_real(value) and value >= 0.0)


def threshold_for(wolf: NDArray[np.float64], coverage: float) -> float:
    """The largest threshold that decides at least this share of the rows; infinity for a share of 0."""
    n_rows = len(wolf)
    n_wanted = math.ceil(coverage * n_rows)
    if n_wanted and (n_wanted - 1) / n_rows >= coverage:  # 0.07 * 100 is a little above 7
        n_wanted -= 1
    return float(np.sort(wolf)[n_rows - n_wanted]) if n_wanted else math.inf


def coverage_curve(model: Any, X: Any, y: Any) -> CoverageCurve:
    """Accuracy at each coverage: on the rows that the model would decide, for every threshold.

    Parameters
    ----------
    model : fitted LHTClassifier or LHForestClassifier
        The model.
    X : array-like of shape (n, m)
        Held-out samples.
    y : array-like of shape (n,)
        Their class labels.

    Returns
    -------
    CoverageCurve

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, coverage_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = coverage_curve(LHTClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> float(curve.coverage[-1])
    1.0
    """
    classes = read(model).classes
    predicted, wolf = _predict(model, X)
    truth = encode_known(y, classes, len(wolf))
    is_right = truth == encode_known(predicted, classes, len(wolf))
    return measure_coverage(wolf, is_right)


def _predict(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Class and winning WOLF value of every row."""
    return model.predict(X), model.predict_wolf(X).max(axis=1)
