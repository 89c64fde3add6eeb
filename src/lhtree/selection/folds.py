"""Cross-validation: folds, and the targets of their rows: classes or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation, RegressionEvaluation
from ..evaluation.classification import ClassPart
from ..evaluation.regression import NumberPart

Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to train on, rows to test on


class ClassTarget:
    """Classes of rows: ``codes`` (n,) are indices into ``classes`` (K,)."""

    method = "predict_proba"

    def __init__(self, classes: NDArray[Any], codes: NDArray[Any]) -> None:
        self.classes, self.codes = classes, codes

    def split(self, n_folds: int, seed: int) -> list[Split]:
        """Return stratified folds; a class may have fewer rows than there are folds."""
        sizes = np.sort(np.unique_counts(self.codes).counts)
        if len(sizes) < 2 or sizes[-2] < 2:
            raise ValueError(
                "cross-validation needs two classes of at least two rows each: collect more rows, or choose another "
                "target"
            )
        return _deal(self.codes, n_folds, seed)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the labels of some rows."""
        labels: NDArray[Any] = self.classes[self.codes[rows]]
        return labels

    def join(self, proba: NDArray[np.float64], known: Any, rows: NDArray[np.int64]) -> ClassPart:
        """Join the probabilities of held-out rows with their classes.

        ``known`` has the codes of the training classes; a class without training rows has probability 0.
        """
        full = np.zeros((len(rows), len(self.classes)))
        full[:, known] = proba
        codes = self.codes[rows].astype(np.int32)
        return ClassPart(codes, full.argmax(axis=1).astype(np.int32), full, full.max(axis=1))

    def measure(self, parts: Sequence[Any]) -> Evaluation:
        """Evaluate the rows of all parts."""
        return Evaluation.from_parts(parts, self.classes.tolist())

    def score(self, measured: Any, metric: str) -> float:
        """Return a metric; the average precision of two classes is that of the class that is rarer in all rows."""
        if metric == "average_precision" and len(self.classes) == 2:
            measured = measured.classes[int(2 * self.codes.sum() <= len(self.codes))]
        score = getattr(measured, metric)
        assert score is not None  # every class is in every fold
        return float(score)


class NumberTarget:
    """Responses of rows, shape (n,); ``quantile`` is the quantile to predict, if any."""

    method = "predict"

    def __init__(self, values: NDArray[np.float64], quantile: float | None = None) -> None:
        self.values, self.quantile = values, quantile

    def split(self, n_folds: int, seed: int) -> list[Split]:
        """Return random folds."""
        return _deal(np.zeros(len(self.values)), n_folds, seed)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the responses of some rows."""
        return self.values[rows]

    def join(self, predicted: Any, known: Any, rows: NDArray[np.int64]) -> NumberPart:
        """Join the predictions of held-out rows with their responses."""
        return NumberPart(self.values[rows], np.asarray(predicted, dtype=np.float64))

    def measure(self, parts: Sequence[Any]) -> RegressionEvaluation:
        """Evaluate the rows of all parts."""
        return RegressionEvaluation.from_parts(parts, self.quantile)

    def score(self, measured: Any, metric: str) -> float:
        """Return a metric."""
        return float(measured.quantile.pinball if metric == "pinball" else getattr(measured, metric))


Target = ClassTarget | NumberTarget


def make_target(y: NDArray[Any]) -> Target:
    """Return the responses of floats, or the classes of other labels."""
    if y.dtype.kind == "f":
        return NumberTarget(y)
    return ClassTarget(*np.unique(y, return_inverse=True))


def _deal(codes: NDArray[Any], n_folds: int, seed: int) -> list[Split]:
    if len(codes) < n_folds:
        raise ValueError(
            f"{len(codes)} rows cannot be split into {n_folds} folds: choose at most {len(codes)} folds"
        )
    # Rows in random order, sorted by class, are assigned to the folds in turn. So folds have equal sizes, and two rows
    # of a class share a fold only if the class has more rows than there are folds.
    rows = np.random.default_rng(seed).permutation(len(codes))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[rows] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(n_folds)]


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a frame, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]
