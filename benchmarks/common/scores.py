"""Scores of one fit."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Split

_LOG_LOSS_EPS = 1e-15
_N_BINS = 15


def accuracy(model: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Share of rows whose class is predicted right."""
    return float((np.ravel(model.predict(X)) == y).mean())


def log_losses(proba: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return -log of the probability of the true class of every row, clipped to [1e-15, 1 - 1e-15]."""
    own = proba[np.arange(len(y)), y]
    losses: NDArray[np.float64] = -np.log(np.clip(own, _LOG_LOSS_EPS, 1 - _LOG_LOSS_EPS))
    return losses


def calibration_error(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Expected calibration error over 15 equal-width bins of the top-class probability."""
    top = proba.max(axis=1)
    is_right = proba.argmax(axis=1) == y
    bins = np.minimum((top * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, weights=is_right - top, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def auc(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve; for more than two classes, the one-vs-rest mean."""
    from sklearn.metrics import roc_auc_score

    if proba.shape[1] == 2:
        return float(roc_auc_score(y, proba[:, 1]))
    return float(np.mean([roc_auc_score(y == k, proba[:, k]) for k in np.unique(y)]))


def score(estimator: Any, part: Split) -> dict[str, Any]:
    """Fit an estimator on one split and score it, with CPU times."""
    begin = time.process_time()  # of this one thread: other work on the machine does not count
    estimator.fit(part.X, part.y)
    fit_seconds = time.process_time() - begin
    begin = time.process_time()
    proba = np.asarray(estimator.predict_proba(part.X_test), dtype=np.float64)
    proba_seconds = time.process_time() - begin
    return {
        "accuracy": accuracy(estimator, part.X_test, part.y_test),
        "log_loss": float(log_losses(proba, part.y_test).mean()),
        "auc": auc(proba, part.y_test),
        "calibration_error": calibration_error(proba, part.y_test),
        "fit_seconds": fit_seconds,
        "proba_seconds": proba_seconds,
    }


def score_numbers(estimator: Any, part: Split) -> dict[str, Any]:
    """Fit a regressor on one split and score it, with CPU times."""
    begin = time.process_time()
    estimator.fit(part.X, part.y)
    fit_seconds = time.process_time() - begin
    begin = time.process_time()
    predicted = np.ravel(estimator.predict(part.X_test))
    predict_seconds = time.process_time() - begin
    errors = part.y_test - predicted
    return {
        "r2": float(1.0 - (errors**2).mean() / part.y_test.var()),
        "mae": float(np.abs(errors).mean()),
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
    }
