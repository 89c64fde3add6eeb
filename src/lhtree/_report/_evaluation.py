"""How well a model does on some rows: figures of the model card, as plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..abstain import CoverageCurve

N_BINS = 10
MAX_POINTS = 200


def evaluate(
    codes: NDArray[np.int64],
    guess: NDArray[np.int64],
    proba: NDArray[np.float64],
    coverage: CoverageCurve,
) -> dict[str, Any]:
    """Accuracy, confusion matrix, calibration and coverage of rows.

    Parameters
    ----------
    codes, guess : arrays of shape (n,)
        True and predicted classes, numbered.
    proba : array of shape (n, K)
        What ``predict_proba`` says.
    coverage : CoverageCurve
        Of the same rows.
    """
    n_rows, n_classes = proba.shape
    row = np.arange(n_rows)
    confusion = np.bincount(codes * n_classes + guess, minlength=n_classes**2).reshape(n_classes, n_classes)
    counts = confusion.sum(axis=1)
    of_truth = proba[row, codes]
    return {
        "n_rows": n_rows,
        "accuracy": float((guess == codes).mean()),
        "baseline": float(counts.max() / n_rows),
        "brier": float(((proba**2).sum(axis=1) - 2.0 * of_truth + 1.0).mean()),
        "log_loss": float(-np.log(np.maximum(of_truth, np.finfo(np.float64).eps)).mean()),
        "confusion": confusion.tolist(),
        "recall": _ratio(confusion.diagonal(), counts),
        "precision": _ratio(confusion.diagonal(), confusion.sum(axis=0)),
        "calibration": calibrate(proba[row, guess], guess == codes),
        "coverage": thin(coverage),
    }


def calibrate(promised: NDArray[np.float64], is_right: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Probability promised for the predicted class against the share that came true, in ten bins."""
    bin_of = np.minimum((promised * N_BINS).astype(np.int64), N_BINS - 1)
    return [
        {
            "n_rows": int(mine.sum()),
            "promised": float(promised[mine].mean()),
            "right": float(is_right[mine].mean()),
        }
        for mine in (bin_of == number for number in range(N_BINS))
        if mine.any()
    ]


def thin(curve: CoverageCurve) -> dict[str, list[float]]:
    """At most 200 evenly spaced points of a curve, both ends among them."""
    n_points = min(MAX_POINTS, len(curve.coverage))
    some = np.linspace(0, len(curve.coverage) - 1, n_points).round().astype(np.int64)
    return {name: getattr(curve, name)[some].tolist() for name in ("threshold", "coverage", "accuracy")}


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> list[float | None]:
    return [float(p / w) if w else None for p, w in zip(part, whole, strict=True)]
