"""How well a model does on rows whose classes are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


class Judged(NamedTuple):
    """Rows with what is true and what the model says of them; arrays of shape (n,)."""

    codes: NDArray[np.int64]  # number of the true class
    guess: NDArray[np.int64]  # of the predicted one
    proba: NDArray[np.float64]  # of the true one
    wolf: NDArray[np.float64]  # WOLF value of the predicted one


def judge(model: Any, X: Any, codes: NDArray[np.int64], **options: Any) -> Judged:
    """Ask an estimator or a Scorer about rows of the classes ``codes``."""
    place = {label: number for number, label in enumerate(model.classes_.tolist())}
    guess = np.array([place[label] for label in model.predict(X, **options).tolist()], dtype=np.int64)
    proba = model.predict_proba(X, **options)[np.arange(len(codes)), codes]
    return Judged(codes, guess, proba, model.predict_wolf(X, **options).max(axis=1))


def join(parts: Sequence[Judged]) -> Judged:
    """Parts of a table below each other."""
    return Judged(*map(np.concatenate, zip(*parts, strict=True)))


def measure(judged: Judged, classes: Sequence[Any]) -> dict[str, Any]:
    """Accuracy and what belongs to it, fit for JSON; None where there is nothing to divide by."""
    codes, guess = judged.codes, judged.guess
    n_rows, n_classes = len(codes), len(classes)
    confusion = np.bincount(codes * n_classes + guess, minlength=n_classes**2).reshape(n_classes, n_classes)
    right, counts, guessed = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    recall = [_divide(*pair) for pair in zip(right, counts, strict=True)]
    known = [share for share in recall if share is not None]
    low, high = find_interval(int(right.sum()), n_rows)
    return {
        "n_rows": n_rows,
        "accuracy": float(right.sum() / n_rows),
        "accuracy_low": low,
        "accuracy_high": high,
        "most_frequent": float(counts.max() / n_rows),
        "balanced_accuracy": sum(known) / len(known),
        "log_loss": float(-np.log(np.maximum(judged.proba, np.finfo(np.float64).eps)).mean()),
        "classes": [
            {
                "class": label,
                "n_rows": int(counts[number]),
                "n_predicted": int(guessed[number]),
                "precision": _divide(right[number], guessed[number]),
                "recall": recall[number],
            }
            for number, label in enumerate(classes)
        ],
        "confusion": confusion.tolist(),
        "coverage": [_cover(judged, threshold) for threshold in THRESHOLDS],
    }


def list_figures(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The main figures, as names and values."""
    interval = f"{100 * facts['accuracy_low']:.2f} to {100 * facts['accuracy_high']:.2f}"
    return [
        ("rows", f"{facts['n_rows']:,}"),
        ("accuracy", f"{100 * facts['accuracy']:.2f} % (95 % interval {interval})"),
        ("most frequent class", write_percent(facts["most_frequent"])),
        ("balanced accuracy", write_percent(facts["balanced_accuracy"])),
        ("log loss", f"{facts['log_loss']:.4f}"),
    ]


def write_percent(share: float | None) -> str:
    """A share in percent; None is a dash."""
    return "–" if share is None else f"{100 * share:.2f} %"


def find_interval(n_right: int, n_rows: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, which stays within 0 and 1."""
    z = 1.959964
    share, spare = n_right / n_rows, z * z / n_rows
    centre = (share + spare / 2) / (1 + spare)
    half = z * math.sqrt(share * (1 - share) / n_rows + spare / (4 * n_rows)) / (1 + spare)
    return max(0.0, centre - half), min(1.0, centre + half)


def _cover(judged: Judged, threshold: float) -> dict[str, Any]:
    """What is gained if rows below a WOLF value are left to somebody else."""
    is_decided = judged.wolf >= threshold
    n_decided = int(is_decided.sum())
    n_right = int((judged.codes == judged.guess)[is_decided].sum())
    return {
        "threshold": threshold,
        "n_decided": n_decided,
        "coverage": n_decided / len(is_decided),
        "accuracy": _divide(n_right, n_decided),
    }


def _divide(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None
