"""Some features vary over a picture, the others are held."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explain._row import take_row
from ..model import Model


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


def say_held(fitted: Model, n_drawn: int, where: str) -> str:
    """What a picture says about the features it does not show."""
    n_held = len(fitted.column_names) - n_drawn
    return f"{n_held} other feature{'s' if n_held > 1 else ''} at {where}" if n_held else ""
