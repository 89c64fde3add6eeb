"""Plot of the membership, the probability or the predicted number along one or two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, refuse
from ..describe.palette import ACCENT, REST, class_colour
from ..draw.figure import fit, fit_all
from ..draw.scene import INK
from ..explain._explanation import take_row
from ..model.model import Model, read
from ..tables.encoders import Levels
from ..tables.frames import refuse_infinity
from ._axes import (
    NORMAL,
    SMALL,
    check_drawable,
    dashes,
    sequential,
    strip,
    take_axes,
    take_class,
    write_thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_LABEL = 200.0  # points
_MOST_CATEGORIES = 30


def plot_membership(
    model: Any,
    features: Any,
    *,
    row: Any = None,
    target: Any = None,
    X: Any = None,
    n_points: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the membership μ along one feature, a line per class, or over two features, as a map for one class.

    A categorical column is drawn as bars, one per category and class. For a boosted model, which has no
    memberships, probabilities are drawn, and for a regression the prediction.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    features : str, int or sequence of one or two
        Names or indices of features.
    row : array-like, dict or Series, optional
        Values for the other features, and the point to mark; by default their centres.
    target : class, optional
        Class to draw. By default there is a line for every class, and a map shows the class whose membership varies
        most (for two classes, which mirror each other, the second). A regression has none.
    X : array-like of shape (n, m), optional
        Rows, for example the training data. Their distribution is drawn as a histogram below the lines, or as counts
        of the categories.
    n_points : int, optional
        Grid points per feature; by default 1000 for lines and 200 for a map.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_membership
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> ax = plot_membership(model, "proline", row=X.iloc[0], X=X)
    """
    fitted = read(model, takes_numbers=True)
    rows = None if X is None else _encode(fitted, X)
    columns = _find_columns(fitted, features)
    code = None if target is None else take_class(fitted.labels, target)
    held = fitted.normalisation.centre.copy() if row is None else take_row(fitted, row, model)
    outputs = (_Classes if fitted.labels else _Numbers)(fitted)
    if len(columns) == 1 and fitted.encoding.categories[columns[0]] is not None:
        ax = _draw_categories(outputs, columns[0], held, row, rows, code, ax)
        ax.set_title(_describe_held(fitted, 1, row), fontsize=SMALL)
        return ax
    along = [_take_feature(fitted, column) for column in columns]
    points = check_count("n_points", n_points, 2) if n_points is not None else (1000, 200)[len(along) - 1]
    ranges = [_find_range(fitted, f, float(held[f])) for f in along]
    names = fit_all([fitted.feature_names[f] for f in along], _LABEL, NORMAL)
    if len(along) == 1:
        ax = take_axes(ax, 6.4, 3.6)
        _draw_lines(ax, outputs, along[0], held, np.linspace(*ranges[0], points), code)
        if row is not None and np.isfinite(held[along[0]]):
            ax.axvline(held[along[0]], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
        if rows is not None:
            _draw_density(ax, rows[:, along[0]], ranges[0])
    else:
        ax = take_axes(ax, 5.6, 4.4)
        grids, X = _make_grid(held, along, ranges, points)
        outputs.draw_map(ax, grids, code, outputs.compute(X))
        if row is not None and np.isfinite(held[along]).all():
            ax.plot(*held[along], marker="o", markersize=7, color=INK, markeredgecolor="white", linestyle="")
    ax.set_xlabel(names[0], fontsize=NORMAL)
    ax.set_ylabel([*names, outputs.noun][1], fontsize=NORMAL)
    ax.set_title(_describe_held(fitted, len(along), row), fontsize=SMALL)
    ax.tick_params(labelsize=SMALL)
    return ax


def _encode(fitted: Model, X: Any) -> Floats:
    rows = fitted.encode(X).astype(np.float64)
    if np.isinf(rows).any():
        refuse_infinity(rows)
    return rows


def _make_grid(
    held: Floats, along: list[int], ranges: list[tuple[float, float]], n_points: int
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return the coordinates of a grid, (n, n) each, and its points as rows for the model."""
    first, second = np.meshgrid(*(np.linspace(*limits, n_points) for limits in ranges))
    X = np.repeat(held[None], n_points * n_points, axis=0)
    X[:, along[0]], X[:, along[1]] = first.ravel(), second.ravel()
    return (first, second), X


def _describe_held(fitted: Model, n_drawn: int, row: Any) -> str:
    """Return a title about the features that a plot does not show."""
    where = "at the given row" if row is not None else "at their centres"
    n_held = len(fitted.column_names) - n_drawn
    return f"{n_held} other feature{'s' if n_held > 1 else ''} {where}" if n_held else ""


class _Classes:
    """Memberships or probabilities of the classes, from 0 to 1."""

    def __init__(self, fitted: Model) -> None:
        self.fitted, self.noun = fitted, fitted.head.degree_noun

    def compute(self, X: Floats) -> Floats:
        """Return one column per class, or one with numbers."""
        degree: Floats = self.fitted.score(self.fitted.head.degree, X)
        return degree.reshape(len(X), self.fitted.n_outputs)

    def style(self, code: int) -> dict[str, Any]:
        return {"color": class_colour(code), "label": fit_all(self.fitted.labels, 90.0, SMALL)[code]}

    def finish(self, ax: Axes, low: float, high: float, air: float) -> None:
        """Set the limits of an axis for values from low to high, and add a legend."""
        ax.set_ylim(-air, 1.03)
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
        ax.legend(fontsize=SMALL, title="class", title_fontsize=SMALL, handlelength=3.2, **place)
        strip(ax)

    def draw_map(self, ax: Axes, grids: tuple[Floats, Floats], code: int | None, degree: Floats) -> None:
        code = choose_class(degree) if code is None else code
        values = degree[:, code].reshape(grids[0].shape)
        bar = _draw_mesh(ax, grids, values, cmap=sequential(code), vmin=0.0, vmax=1.0)
        if values.min() < 0.5 < values.max():
            ax.contour(*grids, values, levels=[0.5], colors=INK, linewidths=0.8)
        label = fit(self.fitted.labels[code], 120.0, SMALL)
        bar.set_label(f"{self.noun} of class {label}", fontsize=SMALL)


class _Numbers(_Classes):
    """Predicted numbers."""

    def style(self, code: int) -> dict[str, Any]:
        return {"color": ACCENT}

    def finish(self, ax: Axes, low: float, high: float, air: float) -> None:
        if air:  # bars start at 0
            room = 0.25 * (high - low) or abs(high) or 1.0  # for the rows below the line
            ax.set_ylim(low - room, high + 0.3 * room)
        write_thousands(ax.yaxis)
        strip(ax)

    def draw_map(self, ax: Axes, grids: tuple[Floats, Floats], code: int | None, degree: Floats) -> None:
        bar = _draw_mesh(ax, grids, degree.reshape(grids[0].shape), cmap=sequential(None))
        write_thousands(bar.ax.yaxis)
        bar.set_label(self.noun, fontsize=SMALL)


def _draw_mesh(ax: Axes, grids: tuple[Floats, Floats], values: Floats, **colours: Any) -> Any:
    """Draw values as colours; return the colour bar."""
    image = ax.pcolormesh(*grids, values, shading="nearest", rasterized=True, **colours)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.ax.tick_params(labelsize=SMALL)
    return bar


def choose_class(membership: Floats) -> int:
    """Return the class (column) that varies most; the last one if several vary equally."""
    spread = membership.std(axis=0)
    return int(np.flatnonzero(spread >= spread.max() - 1e-9)[-1])


def _find_columns(fitted: Model, features: Any) -> list[int]:
    """Return one or two columns, given by name or index."""
    names, columns = fitted.column_names, list[int]()
    for feature in [features] if isinstance(features, str) or is_integer(features) else features:
        if is_integer(feature) and -len(names) <= feature < len(names):
            columns.append(int(feature) % len(names))
        elif isinstance(feature, str) and feature in names:
            columns.append(names.index(feature))
        else:
            raise refuse("features", feature, f"names of features or indices from 0 to {len(names) - 1}")
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise refuse("features", features, "one feature, or two different ones")
    return columns


def _take_feature(fitted: Model, column: int) -> int:
    """Return the feature of a column, which must be numeric."""
    name, encoding = fitted.column_names[column], fitted.encoding
    if encoding.categories[column] is not None:
        raise refuse("features", name, f"numeric features: {name!r} is categorical")
    if encoding.ptr[column] == encoding.ptr[column + 1]:
        raise refuse("features", name, f"features of the model: {name!r} names rows and is ignored")
    return int(encoding.ptr[column])


def _find_range(fitted: Model, feature: int, value: float) -> tuple[float, float]:
    """Return the range of a feature to draw: the training range, extended to a value, and a margin."""
    low, high = np.fmin(fitted.span.low[feature], value), np.fmax(fitted.span.high[feature], value)
    check_drawable(fitted.feature_names[feature], low, high)
    if not low < high:  # constant, or all missing
        centre, scale = (float(part[feature]) for part in fitted.normalisation)
        return centre - scale, centre + scale
    air = (high - low) * 0.04
    return float(low - air), float(high + air)


def _draw_categories(
    outputs: _Classes,
    column: int,
    held: Floats,
    row: Any,
    rows: Floats | None,
    code: int | None,
    ax: Axes | None,
) -> Axes:
    """Draw groups of bars by category; the category of the row is bold. Of very many categories some are drawn."""
    fitted = outputs.fitted
    encoder, own = fitted.encoding.encoders[column], fitted.encoding.features_of(column)
    assert isinstance(encoder, Levels)
    shown = encoder.spread(_MOST_CATEGORIES)
    categories = [encoder.categories[number] for number in shown]
    X = np.repeat(held[None], len(categories), axis=0)
    X[:, own] = encoder.place(shown)
    degree = outputs.compute(X)
    codes = list(range(fitted.n_outputs)) if code is None else [code]
    ax = take_axes(ax, max(4.0, 1.6 + 0.9 * len(categories)), 3.6)
    at, width = np.arange(len(categories)), 0.8 / len(codes)
    for place, cls in enumerate(codes):
        ax.bar(at - 0.4 + (place + 0.5) * width, degree[:, cls], width, **outputs.style(cls))
    names = fit_all(categories, 60.0, SMALL)
    if rows is not None:
        found = encoder.recall(rows[:, own])
        n_rows = np.bincount(found[found >= 0], minlength=len(encoder.categories))[shown]
        names = [f"{name}\n{n:,} rows" for name, n in zip(names, n_rows, strict=True)]
    ax.set_xticks(at, names)
    if row is not None:
        is_own = shown == encoder.recall(held[None, own])[0]
        for text, is_bold in zip(ax.get_xticklabels(), is_own, strict=True):
            text.set_fontweight("bold" if is_bold else "normal")
    ax.set_xlabel(fit(fitted.column_names[column], _LABEL, NORMAL), fontsize=NORMAL)
    ax.set_ylabel(outputs.noun, fontsize=NORMAL)
    outputs.finish(ax, 0.0, 1.0, 0.0)
    return ax


def _draw_density(ax: Axes, values: Floats, limits: tuple[float, float]) -> None:
    """Draw a histogram of the rows along the lower edge, at most a sixth of the axes high."""
    counts, edges = np.histogram(values[np.isfinite(values)], 60, limits)
    low, high = ax.get_ylim()
    height = counts / max(counts.max(), 1) / 6.36 * (high - low)
    ax.bar(edges[:-1], height, np.diff(edges), align="edge", bottom=low, color=REST, zorder=0.5)
    ax.set_ylim(low, high)


def _draw_lines(ax: Axes, outputs: _Classes, feature: int, held: Floats, x: Floats, code: int | None) -> None:
    X = np.repeat(held[None], len(x), axis=0)
    X[:, feature] = x
    degree = outputs.compute(X)
    for own in range(outputs.fitted.n_outputs) if code is None else [code]:
        ax.plot(x, degree[:, own], linestyle=dashes(own), linewidth=1.8, **outputs.style(own))
    ax.set_xlim(x[0], x[-1])
    outputs.finish(ax, float(degree.min()), float(degree.max()), 0.03)
