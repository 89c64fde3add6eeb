"""Predict or abstain: decisions and the coverage curve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import is_real, refuse
from ..model.model import read
from ..tables.labels import encode_known
from .curves import CoverageCurve, find_sureness, measure_coverage

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
    sureness : array of shape (n,)
        Largest WOLF value of the row; for a boosted model or a compact tree, its largest probability.
    threshold : float
        Rows whose ``sureness`` is below it are undecided; pass it again to treat later rows alike. Infinity leaves all
        rows undecided.
    classes : array of shape (K,)
        All classes of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHForestClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> forest = LHForestClassifier(20, random_state=0).fit(X, y)
    >>> decisions = forest.predict_or_abstain(X, coverage=0.8)
    >>> round(decisions.coverage, 2), decisions.labels[0]
    (0.8, 0)
    >>> decisions.score(y)
    1.0
    """

    labels: NDArray[np.object_]
    is_decided: NDArray[np.bool_]
    sureness: NDArray[np.float64]
    threshold: float
    classes: NDArray[Any]
    kind: str = "wolf"  # what the sureness is: "wolf" or "proba"

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
        """One row per row: ``label`` (None where the model abstains), ``is_decided``, and ``wolf`` or ``proba``."""
        columns = {"label": self.labels, "is_decided": self.is_decided, self.kind: self.sureness}
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
        what = "WOLF value" if self.kind == "wolf" else "probability"
        return f"{said}; the others have a {what} below {self.threshold:.4g}"

    __repr__ = __str__


def decide(model: Any, X: Any, threshold: float | None = None, coverage: float | None = None) -> Decisions:
    """Predict the rows that the model is sure enough of; see ``model.predict_or_abstain``."""
    if read(model, takes_numbers=True).is_regression:
        raise TypeError(
            f"{type(model).__name__} predicts a number, with no classes to choose from: use predict_interval of an "
            "LHForestRegressor, whose width shows how far off predictions are."
        )
    if (threshold is None) == (coverage is None):
        both = f"threshold={threshold!r} and coverage={coverage!r}"
        raise ValueError(f"{both} are not valid together: pass exactly one of the two.")
    if coverage is not None and (not is_real(coverage) or not 0.0 <= coverage <= 1.0):
        raise refuse("coverage", coverage, "a number from 0 to 1")
    if threshold is not None and not _is_threshold(threshold):
        raise refuse(
            "threshold", threshold, "a number of at least 0 (with infinity, every row is left undecided)"
        )
    predicted, (kind, sureness) = model.predict(X), find_sureness(model, X)
    if threshold is None:
        assert coverage is not None
        threshold = threshold_for(sureness, coverage)
    is_decided = sureness >= threshold
    labels = np.full(len(sureness), None, dtype=object)
    labels[is_decided] = predicted[is_decided].tolist()
    return Decisions(labels, is_decided, sureness, float(threshold), model.classes_, kind)


def _is_threshold(value: Any) -> bool:
    is_infinite = isinstance(value, Real) and value == math.inf
    return is_infinite or (is_real(value) and value >= 0.0)


def threshold_for(sureness: NDArray[np.float64], coverage: float) -> float:
    """The largest threshold that decides at least this share of the rows; infinity for a share of 0."""
    n_rows = len(sureness)
    n_wanted = math.ceil(coverage * n_rows)
    if n_wanted and (n_wanted - 1) / n_rows >= coverage:  # 0.07 * 100 is a little above 7
        n_wanted -= 1
    return float(np.sort(sureness)[n_rows - n_wanted]) if n_wanted else math.inf


def coverage_curve(model: Any, X: Any, y: Any) -> CoverageCurve:
    """Accuracy at each coverage: on the rows that the model would decide, for every threshold.

    Thresholds are WOLF values; for a boosted model or a compact tree, probabilities.

    Parameters
    ----------
    model : classifier of lhtree
        The fitted model.
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
    predicted, sureness = model.predict(X), find_sureness(model, X).values
    truth = encode_known(y, classes, len(sureness))
    is_right = truth == encode_known(predicted, classes, len(sureness))
    return measure_coverage(sureness, is_right)
