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

_MOST_ROWS, _FEWEST_ROWS = 100, 10  # over which scores are averaged
_MOST_WALKS = 1e8  # rows × trees


def hold(fitted: Model, model: Any, row: Any) -> NDArray[np.float64]:
    """Values at which the features that are not drawn are held: the row given, or the centre."""
    return fitted.normalisation.centre.copy() if row is None else take_row(fitted, row, model)


def make_grid(
    held: NDArray[np.float64], along: list[int], ranges: list[tuple[float, float]], n_points: int
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """Coordinates of a grid, (n, n) each, and its points as rows for the model."""
    first, second = np.meshgrid(*(np.linspace(*limits, n_points) for limits in ranges))
    X = np.repeat(held[None], n_points * n_points, axis=0)
    X[:, along[0]], X[:, along[1]] = first.ravel(), second.ravel()
    return (first, second), X


def ask_scores(fitted: Model, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of rows, shape (n, K); predicted numbers, shape (n, 1)."""
    scores: NDArray[np.float64] = fitted.ask("value" if fitted.is_regression else "proba", X)
    return scores.reshape(len(X), fitted.n_outputs)


def average_scores(
    fitted: Model, X: NDArray[np.float64], along: list[int], ranges: list[tuple[float, float]], n_points: int
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64], int]:
    """Coordinates of a grid, the mean scores there over rows of X, (n · n, K), and how many rows these are.

    The other features have the values of at most 100 rows, drawn with a fixed seed; of large forests fewer, so that
    a picture takes seconds.
    """
    affordable = int(_MOST_WALKS / (n_points * n_points * fitted.trees.n_trees))
    n_rows = min(len(X), max(_FEWEST_ROWS, min(affordable, _MOST_ROWS)))
    total = np.zeros((n_points * n_points, fitted.n_outputs))
    for row in X[np.sort(np.random.default_rng(0).choice(len(X), n_rows, replace=False))]:
        grids, points = make_grid(row, along, ranges, n_points)
        total += ask_scores(fitted, points)
    return grids, total / n_rows, n_rows


def say_held(fitted: Model, n_drawn: int, where: str) -> str:
    """Title about the features that a plot does not show."""
    n_held = len(fitted.column_names) - n_drawn
    return f"{n_held} other feature{'s' if n_held > 1 else ''} {where}" if n_held else ""


def take_points(fitted: Model, X: Any, y: Any) -> tuple[NDArray[np.float64] | None, NDArray[Any]]:
    """Rows to draw and the codes of their classes, -1 without classes; of a regression their responses or none."""
    if X is None:
        return None, np.array([], dtype=np.int64)
    points = fitted.encode(X).astype(np.float64)
    if np.isinf(points).any():
        refuse_infinity(points)
    if fitted.is_regression:
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
