"""Measures of predictions in plain NumPy; ``weight`` is None if every row has weight 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import read
from ..model.numbers import write_share

Weight = NDArray[np.float64] | None
_N_BINS = 10
_LEAST = np.finfo(np.float64).eps  # smallest probability, as in scikit-learn's log_loss


class Bin(NamedTuple):
    """Rows of similar probability: its mean, and the accuracy on them."""

    n_rows: int
    probability: float
    accuracy: float


def join_parts(parts: Sequence[Any]) -> Any:
    """Return the rows of some parts of one kind as one part."""
    first = parts[0]
    if len(parts) == 1:
        return first
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in first._fields
        if isinstance(getattr(first, name), np.ndarray)
    }
    return first._replace(**joined)


def find_interval(accuracy: float, n_rows: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of an accuracy."""
    z = 1.959964
    spare = z * z / n_rows
    centre = (accuracy + spare / 2) / (1 + spare)
    half = z * math.sqrt(accuracy * (1 - accuracy) / n_rows + spare / (4 * n_rows)) / (1 + spare)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return 0.0 if accuracy == 0.0 else low, 1.0 if accuracy == 1.0 else high


def count_rows(n_rows: int, weight: Weight) -> float:
    """Return the effective number of weighted rows (Kish)."""
    if weight is None:
        return n_rows
    share = weight / weight.max()  # whose squares are finite
    return float(share.sum() ** 2 / (share**2).sum())


def count_confusion(
    codes: NDArray[Any], predicted: NDArray[Any], n_classes: int, weight: Weight
) -> NDArray[Any]:
    """Return counts, or sums of weights, by true class (rows) and predicted class (columns), shape (K, K)."""
    pairs = codes.astype(np.int64) * n_classes + predicted
    return np.bincount(pairs, weight, n_classes**2).reshape(n_classes, n_classes)


def find_log_loss(of_truth: NDArray[np.float64], weight: Weight) -> float:
    """Return the mean negative logarithm of the probabilities of the true classes."""
    return float(-np.average(np.log(np.maximum(of_truth, _LEAST)), weights=weight))


def find_brier(squares: NDArray[np.float64], of_truth: NDArray[np.float64], weight: Weight) -> float:
    """Return the mean squared error of probabilities, summed over the classes; ``squares`` are sums of squares."""
    return float(np.average(squares - 2.0 * of_truth + 1.0, weights=weight))


def rank(
    score: NDArray[np.float64], is_class: NDArray[np.bool_], weight: Weight
) -> tuple[float | None, float | None]:
    """Return the ROC AUC and the average precision of a score for one class.

    A value is None if rows of the class, or for ROC AUC of the other classes, are missing.
    """
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(order) - 1)  # equal scores share a threshold
    mass = np.ones(len(order)) if weight is None else (weight / weight.max())[order]  # products are finite
    found = np.cumsum(mass * is_class[order])[last]
    false = np.cumsum(mass * ~is_class[order])[last]
    steps = np.diff(found, prepend=0.0)
    precision = float((steps * found / (found + false)).sum() / found[-1]) if found[-1] else None
    if not (found[-1] and false[-1]):
        return None, precision
    area = (np.diff(false, prepend=0.0) * (found - steps / 2.0)).sum()
    return float(area / found[-1] / false[-1]), precision


def find_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 1 on; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return ranks


def calibrate(
    probability: NDArray[np.float64], is_right: NDArray[np.bool_], weight: Weight
) -> tuple[Bin, ...]:
    """Return probability and accuracy of the predicted class in ten bins of equal width, without empty bins."""
    bin_of = np.minimum((probability * _N_BINS).astype(np.int64), _N_BINS - 1)
    mass = np.ones(len(bin_of)) if weight is None else weight
    n_rows, total, promised, right = (
        np.bincount(bin_of, values, _N_BINS) for values in (None, mass, mass * probability, mass * is_right)
    )
    bins = np.flatnonzero(n_rows)
    columns = (n_rows[bins], promised[bins] / total[bins], right[bins] / total[bins])
    return tuple(map(Bin, *(column.tolist() for column in columns)))


def divide(part: NDArray[Any], whole: NDArray[Any]) -> list[float | None]:
    """Return ratios, None where the denominator is 0."""
    return [float(p / w) if w else None for p, w in zip(part, whole, strict=True)]


def mean(values: list[float | None]) -> float | None:
    """Return the mean, or None if a value is None."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 0) -> list[str]:
    """Return the lines of a table of texts; all columns but the first ``n_left`` are justified to the right."""
    table = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = [str.ljust] * n_left + [str.rjust] * (len(titles) - n_left)
    lines = (
        (side(text, width) for side, text, width in zip(sides, row, widths, strict=True)) for row in table
    )
    return ["  ".join(line).rstrip() for line in lines]


def write_tables(tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]]) -> str:
    """Return some tables, each with a title above it."""
    return "\n\n".join(
        "\n".join([title, *write_table(head, rows, len(head))]) for title, head, rows in tables
    )


def write_percent(share: float | None) -> str:
    """Write a share in percent; None as a dash."""
    return "–" if share is None else write_share(share, 2)


def write_number(value: float) -> str:
    """Write a number with four digits: 214,000 and 0.01234, not 2.14e+05."""
    rounded = float(f"{value:.4g}")
    if rounded == 0.0 or not 1e-4 <= abs(rounded) < 1e12:
        return f"{rounded:.4g}"
    n_decimals = max(0, 3 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{n_decimals}f}"


def predicts_number(model: Any) -> bool:
    """Whether a model of any library is a regressor."""
    if hasattr(type(model), "_is_regressor"):  # an estimator, which need not be fitted
        return bool(model._is_regressor)
    if hasattr(type(model), "_read"):
        return not read(model, takes_numbers=True, takes_several=True).head.predicts_classes
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and tags().estimator_type == "regressor"


def find_quantile(model: Any) -> float | None:
    """Return the quantile that a model predicts; None if it predicts something else."""
    quantile: Any = getattr(model, "quantile", None)
    return None if quantile is None or np.ndim(quantile) else float(quantile)


def find_quantiles(model: Any) -> tuple[float, ...] | None:
    """Return the quantiles that a model predicts, if they are several; else None."""
    quantile: Any = getattr(model, "quantile", None)
    return tuple(map(float, quantile)) if np.ndim(quantile) else None


def name_outputs(model: Any) -> tuple[str, ...]:
    """Return the names of several outputs of a model of lhtree; empty for other models."""
    if not hasattr(type(model), "_read"):
        return ()
    return read(model, takes_numbers=True, takes_several=True).head.names
