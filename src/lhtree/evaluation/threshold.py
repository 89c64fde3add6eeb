"""The probability from which the second of two classes is predicted, chosen by a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import choose
from ..tables.labels import check_sample_weight, encode_known
from . import is_regressor

Counts = NDArray[np.float64]
METRICS = ("balanced_accuracy", "f1", "accuracy")


def choose_threshold(
    model: Any, X: Any, y: Any, *, metric: str = "balanced_accuracy", sample_weight: Any = None
) -> float:
    """Find the probability from which to predict the second of two classes.

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
        What is largest at the threshold. "f1" is that of the second class, ``model.classes_[1]``.
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
    choose("metric", metric, METRICS)
    if is_regressor(model):
        raise TypeError("model predicts a number: pass a classifier of two classes.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"model={model!r} is not fitted: call fit first.")
    classes = model.classes_
    if len(classes) != 2:
        raise ValueError(f"the model has {len(classes)} classes: a threshold needs two.")
    proba = np.asarray(model.predict_proba(X))[:, 1]
    codes = encode_known(y, classes, len(proba), is_strict=True)
    weight = check_sample_weight(sample_weight, len(proba))
    mass = np.ones(len(proba)) if weight is None else weight
    totals = np.bincount(codes, mass, 2).astype(np.float64)
    if not totals.all():
        raise ValueError(
            f"y has only rows of {classes.tolist()[int(totals.argmax())]!r}: pass rows of both classes."
        )
    order = np.argsort(proba, kind="stable")
    values, first = np.unique(proba[order], return_index=True)
    is_second = codes[order] == 1
    # Rows below a threshold, which are predicted as the first class: before every distinct probability, and all.
    below = [
        np.append(np.concatenate([[0.0], np.cumsum(mass[order] * one)])[first], total)
        for one, total in ((~is_second, totals[0]), (is_second, totals[1]))
    ]
    score = _score(metric, below[0], totals[1] - below[1], totals)
    between = np.concatenate([[0.0], (values[:-1] + values[1:]) / 2.0, [np.nextafter(values[-1], 2.0)]])
    best = np.flatnonzero(score >= score.max() - 1e-12)
    return float(between[best[np.abs(between[best] - 0.5).argmin()]])


def _score(metric: str, right_first: Counts, right_second: Counts, totals: Counts) -> Counts:
    """The metric at every threshold, from the rows of each class that are predicted correctly."""
    scores: Counts
    if metric == "accuracy":
        scores = (right_first + right_second) / totals.sum()
    elif metric == "balanced_accuracy":
        scores = (right_first / totals[0] + right_second / totals[1]) / 2.0
    else:
        predicted = right_second + (totals[0] - right_first)
        scores = 2.0 * right_second / (predicted + totals[1])
    return scores
