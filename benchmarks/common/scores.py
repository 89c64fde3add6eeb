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


def log_loss(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Mean -log of the probability of the true class, clipped to [1e-15, 1 - 1e-15]."""
    own = proba[np.arange(len(y)), y]
    return float(-np.log(np.clip(own, _LOG_LOSS_EPS, 1 - _LOG_LOSS_EPS)).mean())


def calibration_error(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Expected calibration error over 15 equal-width bins of the top-class probability."""
    top = proba.max(axis=1)
    is_right = proba.argmax(axis=1) == y
    bins = np.minimum((top * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, weights=is_right - top, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / len(y))


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
        "log_loss": log_loss(proba, part.y_test),
        "calibration_error": calibration_error(proba, part.y_test),
        "fit_seconds": fit_seconds,
        "proba_seconds": proba_seconds,
    }
