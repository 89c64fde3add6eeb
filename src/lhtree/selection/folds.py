"""Cross-validation: every row is held back once, and the model of the other rows is measured on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.judge import Part

Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to train on, rows to test on


def split_folds(codes: NDArray[Any], n_folds: int, seed: int) -> list[Split]:
    """Stratified folds; a class may have fewer rows than there are folds. Of responses, the folds are random."""
    if codes.dtype.kind == "f":
        return _deal(np.zeros(len(codes)), n_folds, seed)
    sizes = np.sort(np.unique_counts(codes).counts)
    if len(sizes) < 2 or sizes[-2] < 2:
        raise ValueError(
            "cross-validation needs two classes of at least two rows each: collect more rows, or choose another target"
        )
    return _deal(codes, n_folds, seed)


def _deal(codes: NDArray[Any], n_folds: int, seed: int) -> list[Split]:
    if len(codes) < n_folds:
        raise ValueError(
            f"{len(codes)} rows cannot be split into {n_folds} folds: choose at most {len(codes)} folds"
        )
    # The rows of a class are dealt in a random order to one fold after the other, each class going on where the last
    # one stopped, so that the folds are of the same size and two rows of a class never share a fold needlessly.
    rows = np.random.default_rng(seed).permutation(len(codes))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[rows] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(n_folds)]


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a frame, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def judge_fold(proba: NDArray[np.float64], known: NDArray[Any], codes: NDArray[Any], n_classes: int) -> Part:
    """Judge held-out rows of the classes ``codes``; ``known`` has the codes of the training classes.

    A class without training rows has probability 0.
    """
    full = np.zeros((len(codes), n_classes))
    full[:, known] = proba
    return Part(codes.astype(np.int32), full.argmax(axis=1).astype(np.int32), full, full.max(axis=1))
