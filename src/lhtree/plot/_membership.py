"""Plot of the membership, the probability or the predicted number along one or two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count, is_integer, refuse
from ..describe.palette import ACCENT, REST, class_colour
from ..draw.figure import fit, fit_all
from ..draw.scene import INK
from ..model.model import Model, read
from ..tables.encoders import Levels
from ._axes import (
    NORMAL,
    SMALL,
    dashes,
    sequential,
    strip,
    take_axes,
    take_class,
    take_features,
    take_range,
    write_thousands,
)
from ._grid import ask_scores, hold, make_grid, say_held, take_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    rows = take_points(fitted, X, None)[0]
    column = find_category(fitted, features)
    if column is not None:
        code = None if target is None else take_class(fitted.labels, target)
        return _draw_categories(fitted, column, hold(fitted, model, row), row, rows, code, ax)
    along = take_features(fitted, features)
    if len(along) not in (1, 2) or len(set(along)) < len(along):
        raise refuse("features", features, "one feature, or two different ones")
    held = hold(fitted, model, row)
    code = None if target is None else take_class(fitted.labels, target)
    points = check_count("n_points", n_points, 2) if n_points is not None else (1000, 200)[len(along) - 1]
    ranges = [take_range(fitted, f, held[f : f + 1]) for f in along]
    names = fit_all([fitted.feature_names[f] for f in along], _LABEL, NORMAL)
    where = say_where(row)
    if len(along) == 1:
        ax = take_axes(ax, 6.4, 3.6)
        _draw_lines(ax, fitted, along[0], held, ranges[0], points, code, row is not None)
        if rows is not None:
            _draw_density(ax, rows[:, along[0]], ranges[0])
        ax.set_xlabel(names[0], fontsize=NORMAL)
        ax.set_ylabel(_name_degree(fitted), fontsize=NORMAL)
        ax.set_title(say_held(fitted, 1, where), fontsize=SMALL)
        return ax
    ax = take_axes(ax, 5.6, 4.4)
    grids, X = make_grid(held, along, ranges, points)
    every = ask_degree(fitted, X)
    code = choose_class(every) if code is None and not fitted.is_regression else code or 0
    membership = every[:, code].reshape(points, points)
    limits: dict[str, Any] = {} if fitted.is_regression else {"vmin": 0.0, "vmax": 1.0}
    colours = sequential(None if fitted.is_regression else code)
    image = ax.pcolormesh(*grids, membership, cmap=colours, shading="nearest", rasterized=True, **limits)
    if not fitted.is_regression:
        _draw_levels(ax, grids, membership)
    if row is not None and np.isfinite(held[along]).all():
        ax.plot(*held[along], marker="o", markersize=7, color=INK, markeredgecolor="white", linestyle="")
    bar = ax.figure.colorbar(image, ax=ax)
    if fitted.is_regression:
        write_thousands(bar.ax.yaxis)
        bar.set_label(_name_degree(fitted), fontsize=SMALL)
    else:
        label = fit(fitted.labels[code], 120.0, SMALL)
        bar.set_label(f"{_name_degree(fitted)} of class {label}", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    ax.set_xlabel(names[0], fontsize=NORMAL)
    ax.set_ylabel(names[1], fontsize=NORMAL)
    ax.set_title(say_held(fitted, 2, where), fontsize=SMALL)
    ax.tick_params(labelsize=SMALL)
    return ax


def ask_degree(fitted: Model, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much every row belongs to every class, shape (n, K): memberships, or probabilities of a boosted model.

    Of a regression, the predicted numbers, shape (n, 1).
    """
    if fitted.has_values:
        return ask_scores(fitted, X)
    degree: NDArray[np.float64] = fitted.ask("membership", X)
    return degree


def _name_degree(fitted: Model) -> str:
    if fitted.is_regression:
        return "prediction"
    return "probability" if fitted.is_boosted else "membership μ"


def _look_of(fitted: Model, code: int) -> dict[str, Any]:
    """Colour and name of a class, or of the only line of a regression."""
    if fitted.is_regression:
        return {"color": ACCENT}
    return {"color": class_colour(code), "label": fit_all(fitted.labels, 90.0, SMALL)[code]}


def say_where(row: Any) -> str:
    """Where the other features are held."""
    return "at the given row" if row is not None else "at their centres"


def find_category(fitted: Model, features: Any) -> int | None:
    """Index of the categorical column if ``features`` names exactly one."""
    alone = list(features) if isinstance(features, (list, tuple)) else [features]
    names = fitted.column_names
    if len(alone) != 1:
        return None
    if isinstance(alone[0], str):
        column = names.index(alone[0]) if alone[0] in names else None
    else:
        column = int(alone[0]) if is_integer(alone[0]) and 0 <= alone[0] < len(names) else None
    return column if column is not None and fitted.encoding.categories[column] is not None else None


def _draw_categories(
    fitted: Model,
    column: int,
    held: NDArray[np.float64],
    row: Any,
    rows: NDArray[np.float64] | None,
    code: int | None,
    ax: Axes | None,
) -> Axes:
    """Bars of μ by category, in groups; the category of the row is bold. Of very many categories some are drawn."""
    encoder, own = fitted.encoding.encoders[column], fitted.encoding.features_of(column)
    assert isinstance(encoder, Levels)
    shown = encoder.spread(_MOST_CATEGORIES)
    categories = [encoder.categories[number] for number in shown]
    X = np.repeat(held[None], len(categories), axis=0)
    X[:, own] = encoder.place(shown)
    membership = ask_degree(fitted, X)
    codes = list(range(fitted.n_outputs)) if code is None else [code]
    ax = take_axes(ax, max(4.0, 1.6 + 0.9 * len(categories)), 3.6)
    at, width = np.arange(len(categories)), 0.8 / len(codes)
    for place, cls in enumerate(codes):
        left = at - 0.4 + (place + 0.5) * width
        ax.bar(left, membership[:, cls], width, **_look_of(fitted, cls))
    names = fit_all(categories, 60.0, SMALL)
    if rows is not None:
        found = encoder.recall(rows[:, own])
        n_rows = np.bincount(found[found >= 0], minlength=len(encoder.categories))[shown]
        names = [f"{name}\n{n:,} rows" for name, n in zip(names, n_rows, strict=True)]
    ax.set_xticks(at, names)
    if row is not None:
        for text, is_on in zip(
            ax.get_xticklabels(), shown == encoder.recall(held[None, own])[0], strict=True
        ):
            text.set_fontweight("bold" if is_on else "normal")
    if fitted.is_regression:
        write_thousands(ax.yaxis)
    else:
        ax.set_ylim(0.0, 1.03)
    ax.set_xlabel(fit(fitted.column_names[column], _LABEL, NORMAL), fontsize=NORMAL)
    ax.set_ylabel(_name_degree(fitted), fontsize=NORMAL)
    ax.set_title(say_held(fitted, 1, say_where(row)), fontsize=SMALL)
    _add_legend(ax, fitted)
    strip(ax)
    return ax


def _draw_density(ax: Axes, values: NDArray[np.float64], limits: tuple[float, float]) -> None:
    """A histogram of the rows along the lower edge, at most a sixth of the axes high."""
    counts, edges = np.histogram(values[np.isfinite(values)], 60, limits)
    low, high = ax.get_ylim()
    height = counts / max(counts.max(), 1) / 6.36 * (high - low)
    ax.bar(edges[:-1], height, np.diff(edges), align="edge", bottom=low, color=REST, zorder=0.5)
    ax.set_ylim(low, high)


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
    membership = ask_degree(fitted, X)
    codes = range(fitted.n_outputs) if code is None else [code]
    for own in codes:
        ax.plot(x, membership[:, own], linestyle=dashes(own), linewidth=1.8, **_look_of(fitted, own))
    if has_row and np.isfinite(held[feature]):
        ax.axvline(held[feature], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    ax.set_xlim(limits)
    if fitted.is_regression:
        low, high = float(membership.min()), float(membership.max())
        air = 0.25 * (high - low) or abs(high) or 1.0  # room for the rows below the line
        ax.set_ylim(low - air, high + 0.3 * air)
        write_thousands(ax.yaxis)
    else:
        ax.set_ylim(-0.03, 1.03)
    _add_legend(ax, fitted)
    strip(ax)


def _add_legend(ax: Axes, fitted: Model) -> None:
    if fitted.is_regression:
        return
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=SMALL,
        handlelength=3.2,
        title="class",
        title_fontsize=SMALL,
    )


def _draw_levels(ax: Axes, grids: Any, membership: NDArray[np.float64]) -> None:
    if membership.min() < 0.5 < membership.max():
        ax.contour(*grids, membership, levels=[0.5], colors=INK, linewidths=0.8)
