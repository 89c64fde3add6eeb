"""Metrics of a model on rows whose classes or responses are known; scikit-learn is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.labels import check_sample_weight, encode_known, take_numbers
from .classification import Evaluation, judge
from .measures import find_quantile, predicts_number
from .regression import RegressionEvaluation, judge_numbers

__all__ = ["Evaluation", "Measured", "RegressionEvaluation", "evaluate", "find_quantile", "predicts_number"]

Measured = Evaluation | RegressionEvaluation


def evaluate(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, coverage: float | None = None
) -> Measured:
    """Evaluate a model on rows with known classes or responses, normally rows not used for training.

    Parameters
    ----------
    model : fitted classifier or regressor
        An lhtree estimator, a ``Scorer``, or any scikit-learn regressor, or classifier with ``predict_proba``.
    X : array-like of shape (n, m)
        Samples.
    y : array-like of shape (n,)
        Their class labels, all known to the model; for a regressor, their responses.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; rows of weight 0 are ignored.
    coverage : float between 0 and 1, optional
        Coverage of the prediction intervals to check, if the model has them (``LHForestRegressor``). Default: 0.9, or
        no check if the trees leave out too few rows for it (fewer than nine).

    Returns
    -------
    Evaluation or RegressionEvaluation

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, evaluate
    >>> X, y = load_wine(return_X_y=True)
    >>> measured = evaluate(LHTClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> measured.n_rows
    89
    >>> measured.confusion.shape
    (3, 3)
    """
    n_rows = len(X) if hasattr(X, "__len__") else np.shape(X)[0]
    if predicts_number(model):
        actual = take_numbers(y, n_rows)
        number_part = judge_numbers(model, X, actual, check_sample_weight(sample_weight, n_rows), coverage)
        return RegressionEvaluation.from_parts([number_part], find_quantile(model))
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"model={model!r} has no predict_proba: pass a classifier that has one, for example "
            "this one wrapped in sklearn.calibration.CalibratedClassifierCV, or a regressor."
        )
    if not hasattr(model, "classes_"):
        raise ValueError(f"model={model!r} is not fitted: call fit first.")
    codes = encode_known(y, model.classes_, n_rows, is_strict=True)
    part = judge(model, X, codes, check_sample_weight(sample_weight, n_rows))
    return Evaluation.from_parts([part], model.classes_.tolist())
