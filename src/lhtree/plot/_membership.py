"""Picture of the membership along one or two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._palette import class_colour
from .._parameters import check_count, refuse
from ..model import Model, read
from ._held import hold, make_grid, say_held
from ._style import INK, NORMAL, SMALL, dashes, fit, fit_all, sequential, strip, take_axes
from ._take import take_class, take_features, take_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 200.0  # points


def plot_membership(
    model: Any,
    features: Any,
    *,
    row: Any = None,
    target: Any = None,
    n_points: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the membership μ along one feature, a line per class, or over two features, as a map of one class.

    Parameters
    ----------
    model : LHTClassifier or LHForestClassifier
        A fitted one.
    features : str, int or sequence of one or two
        Names or numbers.
    row : array-like, dict or Series, optional
        Values of the other features, and a mark where the row is; their centres by default.
    target : class, optional
        Class of the map, or the only one to draw a line for. By default all have lines, and a map shows the class whose
        membership varies most over it; of two classes, which mirror each other, the second.
    n_points : int, optional
        Points along each feature: 1000 for lines and 200 for a map by default.
    ax : Axes, optional
        Drawn into; a new figure by default.

    Returns
    -------
    Axes
    """
    fitted = read(model)
    along = take_features(fitted, features)
    if len(along) not in (1, 2) or len(set(along)) < len(along):
        raise refuse("features", features, "one feature, or two different ones")
    held = hold(fitted, model, row)
    code = None if target is None else take_class(fitted.labels, target)
    points = check_count("n_points", n_points, 2) if n_points is not None else (1000, 200)[len(along) - 1]
    ranges = [take_range(fitted, f, held[f : f + 1]) for f in along]
    names = fit_all([fitted.feature_names[f] for f in along], _LABEL, NORMAL)
    where = "the row given" if row is not None else "their centres"
    if len(along) == 1:
        ax = take_axes(ax, 6.4, 3.6)
        _draw_lines(ax, fitted, along[0], held, ranges[0], points, code, row is not None)
        ax.set_xlabel(names[0], fontsize=NORMAL)
        ax.set_ylabel("membership μ", fontsize=NORMAL)
        ax.set_title(say_held(fitted, 1, where), fontsize=SMALL)
        return ax
    ax = take_axes(ax, 5.6, 4.4)
    grids, X = make_grid(held, along, ranges, points)
    every: Any = fitted.scorer.membership(X)
    code = choose_class(every) if code is None else code
    membership = every[:, code].reshape(points, points)
    image = ax.pcolormesh(
        *grids, membership, cmap=sequential(code), vmin=0.0, vmax=1.0, shading="nearest", rasterized=True
    )
    _draw_levels(ax, grids, membership)
    if row is not None and np.isfinite(held[along]).all():
        ax.plot(*held[along], marker="o", markersize=7, color=INK, markeredgecolor="white", linestyle="")
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(f"membership μ of class {fit(fitted.labels[code], 120.0, SMALL)}", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    ax.set_xlabel(names[0], fontsize=NORMAL)
    ax.set_ylabel(names[1], fontsize=NORMAL)
    ax.set_title(say_held(fitted, 2, where), fontsize=SMALL)
    ax.tick_params(labelsize=SMALL)
    return ax


def choose_class(membership: NDArray[np.float64]) -> int:
    """The class whose membership, a column, varies most; the last of those that vary alike."""
    spread = membership.std(axis=0)
    return int(np.flatnonzero(spread >= spread.max() - 1e-9)[-1])


def _draw_lines(
    ax: Axes,
    fitted: Model,
    feature: int,
    held: NDArray[np.float64],
    limits: tuple[float, float],
    n_points: int,
    code: int | None,
    has_row: bool,
) -> None:
    x = np.linspace(*limits, n_points)
    X = np.repeat(held[None], n_points, axis=0)
    X[:, feature] = x
    membership: Any = fitted.scorer.membership(X)
    codes = range(fitted.n_classes) if code is None else [code]
    labels = fit_all(fitted.labels, 90.0, SMALL)
    for own in codes:
        ax.plot(
            x,
            membership[:, own],
            color=class_colour(own),
            linestyle=dashes(own),
            linewidth=1.8,
            label=labels[own],
        )
    if has_row and np.isfinite(held[feature]):
        ax.axvline(held[feature], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    ax.set(xlim=limits, ylim=(-0.03, 1.03))
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=SMALL,
        handlelength=3.2,
        title="class",
        title_fontsize=SMALL,
    )
    strip(ax)


def _draw_levels(ax: Axes, grids: Any, membership: NDArray[np.float64]) -> None:
    if membership.min() < 0.5 < membership.max():
        ax.contour(*grids, membership, levels=[0.5], colors=INK, linewidths=0.8)
