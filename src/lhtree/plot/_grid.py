"""Rows over a grid of one or two features, the others held, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from ..explain._explanation import take_row
from ..model.model import Model
from ..tables.frames import refuse_infinity
from ..tables.labels import take_numbers

Floats = NDArray[np.float64]
Ranges = list[tuple[float, float]]
_MOST_ROWS, _FEWEST_ROWS = 100, 10  # over which scores are averaged
_MOST_WALKS = 1e8  # rows × trees


def hold(fitted: Model, model: Any, row: Any) -> Floats:
    """Return the values of the features that do not vary, from a row or from the centres."""
    return fitted.normalisation.centre.copy() if row is None else take_row(fitted, row, model)


def make_grid(
    held: Floats, along: list[int], ranges: Ranges, n_points: int
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return the coordinates of a grid, (n, n) each, and its points as rows for the model."""
    first, second = np.meshgrid(*(np.linspace(*limits, n_points) for limits in ranges))
    X = np.repeat(held[None], n_points * n_points, axis=0)
    X[:, along[0]], X[:, along[1]] = first.ravel(), second.ravel()
    return (first, second), X


def average_scores(
    fitted: Model, X: Floats, along: list[int], ranges: Ranges, n_points: int
) -> tuple[Floats, int]:
    """Return mean probabilities or predictions on a grid over rows of X, shape (n · n, K), and the number of rows.

    The other features have the values of at most 100 rows, drawn with a fixed seed. Large forests use fewer rows, so
    that a plot takes seconds.
    """
    affordable = int(_MOST_WALKS / (n_points * n_points * fitted.trees.n_trees))
    n_rows = min(len(X), max(_FEWEST_ROWS, min(affordable, _MOST_ROWS)))
    total, method = np.zeros((n_points * n_points, fitted.n_outputs)), "proba" if fitted.labels else "value"
    for row in X[np.sort(np.random.default_rng(0).choice(len(X), n_rows, replace=False))]:
        total += fitted.ask(method, make_grid(row, along, ranges, n_points)[1]).reshape(total.shape)
    return total / n_rows, n_rows


def describe_held(fitted: Model, n_drawn: int, row: Any, where: str = "") -> str:
    """Return a title about the features that a plot does not show."""
    where = where or ("at the given row" if row is not None else "at their centres")
    n_held = len(fitted.column_names) - n_drawn
    return f"{n_held} other feature{'s' if n_held > 1 else ''} {where}" if n_held else ""


def take_points(fitted: Model, X: Any, y: Any) -> tuple[Floats | None, NDArray[Any]]:
    """Return the rows of X and the codes of their classes (-1 without y), or their responses (none without y)."""
    if X is None:
        return None, np.array([], dtype=np.int64)
    points = fitted.encode(X).astype(np.float64)
    if np.isinf(points).any():
        refuse_infinity(points)
    if not fitted.labels:
        return points, np.array([]) if y is None else take_numbers(y, len(points))
    if y is None:
        return points, np.full(len(points), -1)
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(f"y has shape {labels.shape}, but X has {len(points)} rows: pass one class per row.")
    known = {label: code for code, label in enumerate(fitted.labels)}
    unknown = [label for label in labels.tolist() if label not in known]
    if unknown:
        raise refuse("y", unknown[0], f"classes of the model: {', '.join(map(repr, fitted.labels[:10]))}")
    return points, np.array([known[label] for label in labels.tolist()])
