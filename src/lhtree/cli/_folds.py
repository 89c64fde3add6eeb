"""Cross-validation: every row is held back once, and the model of the other rows is measured on it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._errors import Problem
from ._metrics import find_interval

Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to train on, rows to test on


class Measure(NamedTuple):
    """How well a model did on the rows of a fold."""

    n_rows: int
    n_right: int
    log_loss: float

    @property
    def accuracy(self) -> float:
        """Share of rows whose class was right."""
        return self.n_right / self.n_rows


def split_folds(y: NDArray[Any], n_folds: int, seed: int) -> list[Split]:
    """Folds in each of which the classes have about their shares; a class may have fewer rows than there are folds."""
    codes = np.unique(y, return_inverse=True)[1]
    sizes = np.sort(np.bincount(codes))
    if len(sizes) < 2 or sizes[-2] < 2:
        raise Problem(
            "cross-validation needs two classes of at least two rows each: collect more rows, or name another --target"
        )
    if len(y) < n_folds:
        raise Problem(f"{len(y)} rows cannot make {n_folds} folds: pass a smaller --folds")
    # The rows of a class are dealt in a random order to one fold after the other, each class going on where the last
    # one stopped, so that the folds are of the same size and two rows of a class never share a fold needlessly.
    rows = np.random.default_rng(seed).permutation(len(y))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[rows] = np.arange(len(y)) % n_folds
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(n_folds)]


def measure(proba: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]) -> Measure:
    """Compare the probabilities of rows with their classes; a class that was not trained on has probability 0."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    is_known = classes[place] == y
    given = np.where(is_known, proba[np.arange(len(y)), place], 0.0)
    # As scikit-learn's log_loss: a class that was ruled out costs 36, not infinity.
    loss = -np.log(np.clip(given, np.finfo(np.float64).eps, 1.0)).mean()
    return Measure(len(y), int((classes[proba.argmax(axis=1)] == y).sum()), float(loss))


class Score(NamedTuple):
    """Figures of a model over its folds."""

    accuracy: float
    spread: float
    log_loss: float
    low: float
    high: float


def summarise(folds: Sequence[Measure]) -> Score:
    """Means over the folds, the standard deviation of their accuracy, and an interval for the accuracy of all rows."""
    accuracies = [fold.accuracy for fold in folds]
    low, high = find_interval(sum(fold.n_right for fold in folds), sum(fold.n_rows for fold in folds))
    return Score(
        statistics.mean(accuracies),
        statistics.stdev(accuracies) if len(folds) > 1 else 0.0,
        statistics.mean(fold.log_loss for fold in folds),
        low,
        high,
    )
