"""Decisions: abstaining, the coverage curve, and the probability threshold of two classes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import choose, is_real, refuse
from ..model.model import read
from ..tables.labels import check_sample_weight, encode_known, find_class
from .classification import CoverageCurve, find_sureness, measure_coverage
from .measures import predicts_number

if TYPE_CHECKING:
    import pandas as pd

Counts = NDArray[np.float64]
THRESHOLD_METRICS = ("balanced_accuracy", "f1", "accuracy")


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
    kind: str = "wolf"  # kind of sureness: "wolf" or "proba"

    @property
    def coverage(self) -> float:
        """Share of the rows that are decided."""
        return float(self.is_decided.mean())

    def score(self, y: Any) -> float:
        """Return the accuracy on the decided rows (NaN without any); ``y`` contains the true class of every row."""
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
        text = f"{n_decided} of {len(self)} rows decided (coverage {self.coverage:.3f})"
        if n_decided == len(self) or self.threshold == math.inf:
            return text
        what = "WOLF value" if self.kind == "wolf" else "probability"
        return f"{text}; the others have a {what} below {self.threshold:.4g}"

    __repr__ = __str__


def decide(model: Any, X: Any, threshold: float | None = None, coverage: float | None = None) -> Decisions:
    """Predict the rows that the model is sure enough of; see ``model.predict_or_abstain``."""
    if not read(model, takes_numbers=True).head.predicts_classes:
        raise TypeError(
            f"{type(model).__name__} predicts a number, with no classes to choose from: use predict_interval, whose "
            "width shows how far off predictions are. LHForestRegressor and LHEnsembleRegressor have it, and "
            "LHBoostRegressor with intervals=True."
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
    """Return the largest threshold that decides at least this share of the rows; infinity for a share of 0."""
    n_rows = len(sureness)
    n_wanted = math.ceil(coverage * n_rows)
    if n_wanted and (n_wanted - 1) / n_rows >= coverage:  # 0.07 * 100 is a little above 7
        n_wanted -= 1
    return float(np.sort(sureness)[n_rows - n_wanted]) if n_wanted else math.inf


def coverage_curve(model: Any, X: Any, y: Any) -> CoverageCurve:
    """Return the accuracy at each coverage: on the rows that the model would decide, for every threshold.

    Thresholds are probabilities; for ``LHTClassifier`` and ``LHForestClassifier``, WOLF values.

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


def choose_threshold(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str = "balanced_accuracy",
    costs: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> float:
    """Find the probability from which to predict the positive, or else the second, of two classes.

    Pass rows that the model was not trained on. The result fits scikit-learn's ``FixedThresholdClassifier``.

    Parameters
    ----------
    model : fitted classifier
        An lhtree estimator, a ``Scorer``, or any scikit-learn classifier with ``predict_proba``; two classes.
    X : array-like of shape (n, m)
        Samples.
    y : array-like of shape (n,)
        Their class labels; both classes are needed.
    metric : {"balanced_accuracy", "f1", "accuracy"}, default="balanced_accuracy"
        What is largest at the threshold. "f1" is that of the positive class.
    costs : array-like of shape (2, 2), optional
        Cost of a row by true class (rows) and predicted class (columns), in the order of ``model.classes_``; the
        threshold has the least total cost, whatever the metric. ``[[0, 1], [5, 0]]``: to miss a row of the second class
        costs five times as much as a false alarm.
    positive : class label, optional
        The class whose probability the threshold is for. Default: that of the model, if it declares one, else the
        second class, ``model.classes_[1]``.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float
        Between two neighbouring probabilities of rows; of equally good thresholds the one closest to 0.5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, choose_threshold
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LHBoostClassifier(max_iter=50, random_state=0).fit(X[::2], y[::2])
    >>> 0.0 < choose_threshold(model, X[1::2], y[1::2]) < 1.0
    True
    """
    choose("metric", metric, THRESHOLD_METRICS)
    if predicts_number(model):
        raise TypeError("model predicts a number: pass a classifier of two classes.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"model={model!r} is not fitted: call fit first.")
    classes = model.classes_
    if len(classes) != 2:
        raise ValueError(f"the model has {len(classes)} classes: a threshold needs two.")
    code = 1 if positive is None else find_class(positive, classes.tolist(), "positive")
    if positive is None and hasattr(type(model), "_read"):
        code = 1 if (declared := read(model).positive) is None else declared
    matrix = None if costs is None else _check_costs(costs)[[1 - code, code]][:, [1 - code, code]]
    proba = np.asarray(model.predict_proba(X))[:, code]
    codes = encode_known(y, classes, len(proba), is_strict=True)
    codes = codes if code == 1 else 1 - codes  # the positive class is the second from here on
    weight = check_sample_weight(sample_weight, len(proba))
    mass = np.ones(len(proba)) if weight is None else weight
    totals = np.bincount(codes, mass, 2).astype(np.float64)
    if not totals.all():
        raise ValueError(
            f"y has only rows of {classes.tolist()[int(totals.argmax() == code)]!r}: pass rows of both classes."
        )
    order = np.argsort(proba, kind="stable")
    values, first = np.unique(proba[order], return_index=True)
    is_second = codes[order] == 1
    # Rows of each class below every threshold, which are predicted as the first class.
    below = [
        np.append(np.concatenate([[0.0], np.cumsum(mass[order] * one)])[first], total)
        for one, total in ((~is_second, totals[0]), (is_second, totals[1]))
    ]
    score = (
        _score(metric, below[0], totals[1] - below[1], totals)
        if matrix is None
        else -_find_cost(matrix, below[0], totals[1] - below[1], totals) / totals.sum()
    )
    between = np.concatenate([[0.0], (values[:-1] + values[1:]) / 2.0, [np.nextafter(values[-1], 2.0)]])
    best = np.flatnonzero(score >= score.max() - 1e-12 * max(1.0, float(np.abs(score).max())))
    return float(between[best[np.abs(between[best] - 0.5).argmin()]])


def _check_costs(costs: Any) -> Counts:
    matrix = np.asarray(costs)
    is_valid = matrix.shape == (2, 2) and matrix.dtype.kind in "iuf" and bool(np.isfinite(matrix).all())
    if not is_valid or (matrix.diagonal() > matrix[[0, 1], [1, 0]]).any():
        raise refuse(
            "costs",
            costs,
            "four numbers [[a, b], [c, d]], by true class and predicted class, in which a mistake costs at least as "
            "much as the right decision",
        )
    return matrix.astype(np.float64)


def _find_cost(costs: Counts, right_first: Counts, right_second: Counts, totals: Counts) -> Counts:
    """Return the cost of all rows at every threshold, from the correctly predicted rows of each class."""
    cost: Counts = (
        costs[0, 0] * right_first
        + costs[0, 1] * (totals[0] - right_first)
        + costs[1, 0] * (totals[1] - right_second)
        + costs[1, 1] * right_second
    )
    return cost


def _score(metric: str, right_first: Counts, right_second: Counts, totals: Counts) -> Counts:
    """Return the metric at every threshold, from the correctly predicted rows of each class."""
    scores: Counts
    if metric == "accuracy":
        scores = (right_first + right_second) / totals.sum()
    elif metric == "balanced_accuracy":
        scores = (right_first / totals[0] + right_second / totals[1]) / 2.0
    else:
        predicted = right_second + (totals[0] - right_first)
        scores = 2.0 * right_second / (predicted + totals[1])
    return scores
