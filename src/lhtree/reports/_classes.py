"""Facts of a report that only classes have: what every threshold would do, and the most frequent confusions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation
from ..evaluation.classification import find_rarer
from ._rows import space

MOST_IN_MATRIX = 12  # classes
_MOST_POINTS = 200
_MOST_CONFUSIONS = 40


def describe_thresholds(
    codes: NDArray[np.int64], proba: NDArray[np.float64], measured: Evaluation
) -> dict[str, Any] | None:
    """Of two classes, for each: the rows found at every threshold, and the areas; None if there is just one."""
    if proba.shape[1] != 2 or len(np.unique(codes)) != 2:
        return None
    curves = [_follow(proba[:, cls], codes == cls) for cls in (0, 1)]
    for curve, scores in zip(curves, measured.classes, strict=True):
        curve |= {"roc_auc": scores.roc_auc, "average_precision": scores.average_precision}
    return {"first": find_rarer(measured.confusion), "classes": curves}


def _follow(score: NDArray[np.float64], is_own: NDArray[np.bool_]) -> dict[str, Any]:
    """Rows whose probability is at least a threshold, those of the class and others, from no row to all of them.

    At most 200 thresholds, among them 0.5 and the best by balanced accuracy and by F1.
    """
    threshold = np.unique(np.append(score, 0.5))[::-1]
    own, others = np.sort(score[is_own]), np.sort(score[~is_own])
    right = len(own) - np.searchsorted(own, threshold)
    wrong = len(others) - np.searchsorted(others, threshold)
    best = {
        "balanced": int((right / len(own) - wrong / len(others)).argmax()),
        "f1": int((2.0 * right / (right + wrong + len(own))).argmax()),
        "half": int(np.flatnonzero(threshold == 0.5)[0]),
    }
    kept = space(len(threshold), min(len(threshold), _MOST_POINTS))
    kept = np.unique(np.append(kept, list(best.values())))
    return {
        "n_own": len(own),
        "n_others": len(others),
        "threshold": threshold[kept].tolist(),
        "right": right[kept].tolist(),
        "wrong": wrong[kept].tolist(),
        **{name: int(np.searchsorted(kept, place)) for name, place in best.items()},
    }


def describe_confusions(measured: Evaluation) -> dict[str, Any] | None:
    """The most frequent confusions, for more classes than a matrix can show; None for fewer."""
    if len(measured.classes) <= MOST_IN_MATRIX:
        return None
    wrong = measured.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSIONS]
    true, predicted = np.unravel_index(order, wrong.shape)
    pairs = zip(true.tolist(), predicted.tolist(), wrong[true, predicted].tolist(), strict=True)
    return {
        "n_wrong": int(wrong.sum()),
        "n_pairs": int(np.count_nonzero(wrong)),
        "pairs": [{"true": row, "predicted": column, "n_rows": n} for row, column, n in pairs if n],
    }
