"""Rows of a report, encoded once, and their figures: samples, thresholds, confusions, errors and intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation
from ..evaluation.classification import find_rarer
from ..evaluation.regression import NumberPart
from ..model.model import Model, read
from ..tables.frames import refuse_infinity
from ..tables.labels import encode_known, take_numbers

N_WRONG, N_UNSURE, N_SAMPLES = 60, 40, 200
_VALUES_ENOUGH = 100_000  # of a table with very many features, fewer rows
MOST_IN_MATRIX = 12  # classes
_MOST_POINTS = 200
_MOST_CONFUSIONS = 40
_N_POINTS = 400
_N_BARS = 24
_TAIL = 0.99  # errors beyond this quantile are counted in the outermost bars
_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_SHOWN = 0.9


class ReportRows(NamedTuple):
    """Encoded rows in original units and the indices of their classes; a regression has responses, and indices 0."""

    X: NDArray[Any]
    codes: NDArray[np.int64]
    response: NDArray[np.float64] | None = None


def check_labelled(model: Any, X: Any, y: Any, name_y: str) -> ReportRows:
    """Return encoded rows and classes, or raise an error with a remedy."""
    fitted = read(model, takes_numbers=True)
    checked = fitted.encode(X)
    if np.isinf(checked).any():
        refuse_infinity(checked)
    if not fitted.head.labels:
        return ReportRows(
            checked, np.zeros(len(checked), dtype=np.int64), take_numbers(y, len(checked), name_y)
        )
    return ReportRows(checked, encode_known(y, fitted.classes, len(checked), name_y, is_strict=True))


def choose_samples(rows: ReportRows, predicted: NDArray[np.float64]) -> dict[str, NDArray[np.int64]]:
    """Return rows worth a look: the clearest mistakes, the least certain correct ones, and others evenly spaced.

    ``predicted`` are probabilities, or the numbers of a regression, where the clearest mistakes are the largest errors.
    """
    share = min(1.0, _VALUES_ENOUGH / (N_SAMPLES * rows.X.shape[1]))
    n_wrong, n_unsure, n_samples = (max(3, int(share * n)) for n in (N_WRONG, N_UNSURE, N_SAMPLES))
    if rows.response is not None:
        order = np.argsort(-np.abs(rows.response - predicted[:, 0]), kind="stable")
        wrong, unsure, rest = order[:n_wrong], order[:0], np.sort(order[n_wrong:])
    else:
        codes = rows.codes
        right = predicted.argmax(axis=1) == codes
        best = predicted.max(axis=1)
        of_truth = predicted[np.arange(len(codes)), codes]
        wrong = np.flatnonzero(~right)
        wrong = wrong[np.argsort(of_truth[wrong], kind="stable")][:n_wrong]
        unsure = np.flatnonzero(right)
        unsure = unsure[np.argsort(best[unsure], kind="stable")]
        unsure, rest = unsure[:n_unsure], np.sort(unsure[n_unsure:])
    n_rest = max(0, min(len(rest), n_samples - len(wrong) - len(unsure)))
    return {"wrong": wrong, "unsure": unsure, "right": rest[space(len(rest), n_rest)]}


def space(n_rows: int, n_wanted: int) -> NDArray[np.int64]:
    """Return evenly spaced indices of rows."""
    return np.linspace(0, n_rows - 1, n_wanted).round().astype(np.int64)


def describe_thresholds(
    codes: NDArray[np.int64], proba: NDArray[np.float64], measured: Evaluation
) -> dict[str, Any] | None:
    """Return the rows found at every threshold and the areas for each of two classes; None if there are not two."""
    if proba.shape[1] != 2 or len(np.unique(codes)) != 2:
        return None
    curves = [_follow(proba[:, cls], codes == cls) for cls in (0, 1)]
    for curve, scores in zip(curves, measured.classes, strict=True):
        curve |= {"roc_auc": scores.roc_auc, "average_precision": scores.average_precision}
    event, first = measured.event, find_rarer(measured.confusion)
    if event is not None and event.is_declared:
        first = [one.label for one in measured.classes].index(event.positive)
    return {"first": first, "classes": curves}


def _follow(score: NDArray[np.float64], is_own: NDArray[np.bool_]) -> dict[str, Any]:
    """Return counts of rows, of the class and others, whose probability is at least a threshold.

    There are at most 200 thresholds, among them 0.5 and the best by balanced accuracy and by F1.
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
    """Return the most frequent confusions if there are more classes than a matrix can show, otherwise None."""
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


def describe_numbers(fitted: Model, part: NumberPart) -> dict[str, Any]:
    """Return the points of a chart of predictions, a histogram of the errors, and intervals."""
    chosen = space(len(part.actual), min(len(part.actual), _N_POINTS))
    intervals = {
        coverage: ends for coverage in _COVERAGES if (ends := _find_ends(fitted, part, coverage)) is not None
    }
    return {
        "points": {"actual": part.actual[chosen].tolist(), "predicted": part.predicted[chosen].tolist()},
        "residuals": _count_residuals(part.actual - part.predicted),
        "intervals": [_measure(part, coverage, ends) for coverage, ends in intervals.items()],
        "half": float(np.ptp(intervals[_SHOWN][0])) / 2.0 if _SHOWN in intervals else None,
        "coverage": _SHOWN,
    }


def _count_residuals(residual: NDArray[np.float64]) -> dict[str, Any]:
    """Return a histogram whose outermost bars include all values beyond them."""
    most = _round_up(float(np.quantile(np.abs(residual), _TAIL)) or 1.0)
    exponent = int(np.frexp(most)[1])  # numpy.histogram refuses ranges of denormal numbers
    scaled, end = np.ldexp(residual, -exponent), float(np.ldexp(most, -exponent))
    counts, _ = np.histogram(np.clip(scaled, -end, end), bins=_N_BARS, range=(-end, end))
    return {"counts": counts.tolist(), "low": -most, "high": most}


def _round_up(size: float) -> float:
    """Return the next number of two digits, for an axis."""
    unit = 10.0 ** (np.floor(np.log10(size)) - 1.0)
    return float(np.ceil(size / unit) * unit) if unit > 0.0 else size


def _find_ends(fitted: Model, part: NumberPart, coverage: float) -> NDArray[np.float64] | None:
    """Return the ends of the intervals; None if the model has none, or too few rows for this coverage."""
    if fitted.response is None or not fitted.response.reaches(coverage):
        return None
    return fitted.interval(part.predicted, coverage)


def _measure(part: NumberPart, coverage: float, ends: NDArray[np.float64]) -> dict[str, float]:
    low, high = ends.T
    return {
        "coverage": coverage,
        "share": float(np.mean((low <= part.actual) & (part.actual <= high))),
        "width": float(np.mean(high - low)),
    }
