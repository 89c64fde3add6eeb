"""Plots of columns: importances, effects, and the curves and surfaces of additive models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parameters import check_count, refuse
from ..describe.curves import MISSING, Curve, Scale, Surface, find_middle
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour, tint
from ..draw.figure import fit, fit_all, letters, measure
from ..draw.scene import INK, LINE
from ..draw.tree import minus, name_class
from ..explain import Importances
from ..explain._columns import Effect
from ..model.model import Model, read
from ..model.numbers import NumberFormat, write_value
from ._axes import (
    NORMAL,
    SMALL,
    check_axes,
    check_drawable,
    dashes,
    diverging,
    new_panels,
    room_left_of,
    strip,
    take_axes,
    take_class,
    take_panels,
    width_of,
    write_thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROOM = 150.0  # points


def plot_importances(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = "gain",
    n_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importance of every column, largest first.

    Parameters
    ----------
    model : classifier or regressor of lhtree, or Importances
        Fitted model, or the result of its ``importances``, which is drawn as it is.
    X, y : array-like, optional
        Rows, required for contributions and permutations, and their classes, required for permutations. Not with
        ``Importances``.
    kind : {"gain", "contribution", "permutation"}, default="gain"
        Kind of importance; see ``model.importances``. Not with ``Importances``.
    n_features : int, default=20
        Number of columns to draw; the others are summed in a last line.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_importances
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_importances(LHTClassifier().fit(X, y))
    """
    if isinstance(model, Importances):
        if X is not None or y is not None or kind not in ("gain", model.kind):
            raise ValueError("the importances are already computed: pass them without X, y and kind.")
        found = model
    else:
        read(model, takes_numbers=True)
        found = model.importances(X, y, kind=kind)
    names, importances, order = found.names, found.values, found.order
    n_shown = min(check_count("n_features", n_features, 1), len(names))
    shown, others = order[:n_shown], order[n_shown:]
    room = _ROOM if ax is None else room_left_of(check_axes(ax), _ROOM)
    ax = take_axes(ax, 6.4, 0.24 * (n_shown + bool(len(others))) + 0.9)
    ax.barh(range(n_shown), importances[shown], color=ACCENT, height=0.7)
    labels = fit_all([names[f] for f in shown], room, SMALL)
    values = importances[shown].tolist()
    write = (NumberFormat.over(0.0, max(values)) if max(values) > 1.0 else NumberFormat(3)).write
    written = [minus(write(value)) for value in values]
    if len(others):
        values.append(0.0)
        written.append(f"{minus(write(importances[others].sum()))} in total")
        more = f"{len(others)} more feature{'s' if len(others) > 1 else ''}"
        labels.append(more if measure(more, SMALL) <= room else fit(f"{len(others)} more", room, SMALL))
    for at, (value, text) in enumerate(zip(values, written, strict=True)):
        how: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL, "color": INK}
        ax.annotate(text, (max(value, 0.0), at), (3, 0), **how)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    width, number = width_of(ax), measure(written[0], SMALL) + 6.0  # beside the longest bar
    ax.set_xlim(
        1.05 * min(0.0, *values), max(max(values), 1e-3) * max(1.12, width / max(width - number, 0.5 * width))
    )
    ax.set_xlabel(found.unit, fontsize=SMALL)
    write_thousands(ax.xaxis)
    strip(ax)
    return ax


_WIDTH, _HEIGHT = 3.1, 2.4  # inches of a panel
_ACROSS = 3  # panels side by side
_MOST_CLASSES = 8  # lines in a panel
_MOST_BARS = 8  # categories in a panel
_NAME = 80.0  # points
_DENSITY = 0.14  # of the height of a panel


def plot_effects(
    model: Any, X: Any, columns: Any = None, *, target: Any = None, n_columns: int = 6, ax: Any = None
) -> Any:
    """Draw the contributions of columns over their values: the mean, the middle 80 % of the rows, and their density.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    X : array-like of shape (n, m)
        Rows whose contributions are averaged (see ``model.effects``).
    columns : name, index or list of them, optional
        They are drawn in this order. Default: the most important columns.
    target : class, optional
        The class whose contributions are drawn. Default: the second of two; of more, all of them without bands.
    n_columns : int, default=6
        Number of columns to draw if ``columns`` does not name them.
    ax : array of Axes, optional
        One per column; a new figure by default.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_effects
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> axes = plot_effects(LHTClassifier().fit(X, y), X, ["proline", "hue"], target=0)
    >>> len(axes)
    2
    """
    fitted = read(model, takes_numbers=True)
    check_count("n_columns", n_columns, 1)
    code = None if target is None else take_class(fitted.labels, target)
    effects: list[Effect] = list(model.effects(X, columns))[: n_columns if columns is None else None]
    axes = _make_panels(len(effects)) if ax is None else take_panels(ax, len(effects))
    n_classes = len(fitted.labels)
    codes = [max(0, n_classes - 1) if code is None else code]
    if code is None and n_classes > 2:
        codes = list(range(min(n_classes, _MOST_CLASSES)))
    for panel, effect in zip(axes, effects, strict=True):
        (_draw_categories if effect.value is None else _draw_curve)(panel, effect, codes)
        panel.set_title(fit(effect.column, width_of(panel) or 150.0, NORMAL), fontsize=NORMAL, color=INK)
        strip(panel)
    _name_unit_and_classes(axes[0], fitted, codes)
    return axes


def _make_panels(n: int) -> Any:
    across = min(_ACROSS, n)
    down = -(-n // across)
    panels = new_panels(down, across, max(4.2, _WIDTH * across), _HEIGHT * down + 0.3)
    for spare in panels[n:]:
        spare.set_axis_off()
    return panels[:n]


def _name_unit_and_classes(ax: Axes, fitted: Model, codes: list[int]) -> None:
    """Name the unit of all panels beside them, and the classes in the first panel if there are several."""
    unit = f"contribution to the {fitted.head.contribution_noun}"
    if len(codes) == 1 and fitted.labels:
        unit = f"{unit} of {name_class(fitted.labels[codes[0]])}"
    ax.figure.supylabel(fit(unit, 200.0, SMALL), fontsize=SMALL)
    if len(codes) > 1:
        names = [fit(name_class(fitted.labels[code]), _NAME, SMALL) for code in codes]
        more = len(fitted.labels) - len(codes)
        title = f"{more} more classes not shown" if more else None
        lines: Any = [line for line in ax.lines if line.get_gid() == "mean"] or ax.patches
        ax.legend(lines[: len(codes)], names, fontsize=SMALL, title=title, title_fontsize=SMALL)


def _draw_curve(ax: Axes, effect: Effect, codes: list[int]) -> None:
    assert effect.value is not None
    assert effect.density is not None
    known = ~np.isnan(effect.value)
    x = effect.value[known]
    if len(x):
        check_drawable(effect.column, x[0], x[-1])
    ax.axhline(0.0, color=LINE, linewidth=0.8)
    for code in codes:
        colour = ACCENT if len(codes) == 1 else class_colour(code)
        style = "solid" if len(codes) == 1 else dashes(code)
        mean, low, high = (values[:, code] for values in (effect.mean, effect.low, effect.high))
        if len(codes) == 1:
            ax.fill_between(x, low[known], high[known], color=colour, alpha=0.2, linewidth=0)
        ax.plot(x, mean[known], color=colour, linestyle=style, marker="." if len(x) < 2 else None, gid="mean")
        if not known.all():  # a mark at the right edge
            transform = ax.get_yaxis_transform()
            how: dict[str, Any] = {"marker": "D", "markersize": 4, "transform": transform, "gid": "missing"}
            ax.plot([0.985], [mean[-1]], color=colour, **how)
    if len(x):
        edges = np.linspace(x[0], x[-1], len(effect.density) + 1)
        height = _DENSITY * effect.density / max(1, effect.density.max())
        how = {"transform": ax.get_xaxis_transform(), "gid": "density", "alpha": 0.45}
        ax.bar(edges[:-1], height, np.diff(edges), align="edge", color=LINE, **how)
        if x[0] < x[-1]:
            ax.set_xlim(x[0], x[-1] + (0.0 if known.all() else 0.1 * (x[-1] - x[0])))
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom - 1.2 * _DENSITY * (top - bottom), top)
    if not known.all():
        ax.set_xlabel(letters("◆ missing"), fontsize=SMALL, loc="right")
    write_thousands(ax.yaxis)


def _draw_categories(ax: Axes, effect: Effect, codes: list[int]) -> None:
    n = min(len(effect.labels), _MOST_BARS)
    height = 0.8 / len(codes)
    for number, code in enumerate(codes):
        mean, low, high = (values[:n, code] for values in (effect.mean, effect.low, effect.high))
        at = np.arange(n) + height * (number - (len(codes) - 1) / 2.0)
        colour: Any = [FOR if value > 0.0 else AGAINST for value in mean]
        bars = ax.barh(at, mean, height, color=colour if len(codes) == 1 else class_colour(code))
        if len(codes) == 1:
            ax.hlines(at, low, high, color=INK, linewidth=1.0)
        bars[0].set_gid("mean")
    ax.axvline(0.0, color=LINE, linewidth=0.8)
    labels = fit_all(effect.labels[:n], _NAME, SMALL)
    ticks = [f"{name} ({rows:,})" for name, rows in zip(labels, effect.n_rows[:n], strict=True)]
    ax.set_yticks(range(n), ticks)
    ax.invert_yaxis()
    if n < len(effect.labels):
        text = f"{effect.n_rows[n:].sum():,} rows with other values not shown"
        ax.set_xlabel(text, fontsize=SMALL, loc="right")
    write_thousands(ax.xaxis)


_MOST_LABELS = 6  # along an axis of a surface
_WEIGHTS = 0.18  # height of the bars of weights, as a share of the axes


def plot_curve(curve: Curve | Surface, *, ax: Axes | None = None) -> Axes:
    """Draw a curve of an additive model with its band and the density of the training rows, or a surface.

    The axis of a column with few extreme values ends soon after the last edge with 0.5 % of the rows beyond it; a text
    at its end has the extreme value.

    Parameters
    ----------
    curve : Curve or Surface
        One of ``model.curves_`` or ``model.surfaces_``. Of more than two classes, a curve has a line per class, and a
        surface shows the first class.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import AdditiveLHTRegressor, plot_curve
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_curve(AdditiveLHTRegressor(random_state=0).fit(X, y).curves_[2])
    """
    if isinstance(curve, Surface):
        return _draw_surface(curve, take_axes(ax, 6.0, 4.5))
    if not isinstance(curve, Curve):
        raise refuse("curve", curve, "one of model.curves_ or model.surfaces_")
    axes = take_axes(ax, 6.0, 3.6)
    has_missing = bool(curve.weight[-1] > 0.0)
    shown = curve.n_steps + has_missing
    borders = np.arange(len(curve.values) + 1) - 0.5 if curve.edges is None else _place_steps(curve)
    left, right = borders[:-1][:shown], borders[1:][:shown]
    values = curve.values.reshape(len(curve.values), -1)[:shown]
    band = curve.band.reshape(len(curve.values), -1)[:shown]
    for k in range(values.shape[1]):
        colour = ACCENT if not curve.classes else class_colour(k)
        how: dict[str, Any] = {
            "linestyle": dashes(k),
            "label": str(curve.classes[k]) if curve.classes else "",
        }
        axes.hlines(values[:, k], left, right, color=colour, linewidth=1.8, **how)
        for step in range(shown):
            ends = values[step, k] - band[step, k], values[step, k] + band[step, k]
            axes.fill_between([left[step], right[step]], *ends, color=tint(colour, 0.35), linewidth=0)
    _draw_density(axes, _count_shown(curve, borders)[:shown], left, right)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    if curve.categories is not None:
        labels = curve.scale.labels[:shown]
        axes.set_xticks(range(shown), labels, rotation=90 if sum(map(len, labels)) > 40 else 0)
    else:
        _mark_extremes(axes, curve, float(borders[0]), float(borders[-2]))
        if has_missing:
            axes.axvline(borders[-2], color="0.6", linewidth=0.8, linestyle="dotted")
            _write_at_top(axes, "missing", (borders[-2] + borders[-1]) / 2.0, -2, ha="center", va="top")
    axes.set_xlim(left[0], right[-1])
    axes.set_xlabel(curve.scale.title)
    axes.set_ylabel("addition to the raw score")
    if curve.classes:
        axes.legend(fontsize=SMALL)
    strip(axes)
    return axes


def _write_at_top(axes: Axes, text: str, x: float, up: float, **how: Any) -> None:
    """Write a text at the upper edge of the axes, some points above it."""
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    axes.annotate(text, (x, 1.0), (0, up), fontsize=SMALL, **place, **how)


def _place_steps(curve: Curve) -> Any:
    """Return the borders of all steps along the axis, missing values last."""
    assert curve.edges is not None
    least, most = find_middle(curve.edges, curve.weight[:-1], curve.span)
    room = (most - least) * 0.04 or 1.0
    inner = np.clip(curve.edges, least - room, most + room).tolist()
    borders = [least - room, *inner, most + room]
    width = (borders[-1] - borders[0]) * 0.08
    return np.array([*borders, borders[-1] + width])


def _count_shown(curve: Curve, borders: Any) -> Any:
    """Return the weights of the steps; where the axis cuts a step off, the share of its width that is shown."""
    if curve.edges is None:
        return curve.weight
    low, high = curve.span
    whole = np.clip([low, *curve.edges, high], min(low, borders[0]), max(high, borders[-2]))
    whole[0], whole[-1] = min(low, borders[0]), max(high, borders[-2])
    shown = np.diff(borders[:-1]) / np.maximum(np.diff(whole), np.finfo(float).tiny)
    return curve.weight * np.append(np.minimum(shown, 1.0), 1.0)


def _mark_extremes(axes: Axes, curve: Curve, least: float, most: float) -> None:
    """Write the extreme training values beside the ends of an axis that leaves them out."""
    low, high = curve.span
    for is_out, place, align, text in (
        (low < least, least, "left", f"← from {write_value(low)}"),
        (high > most, most, "right", f"to {write_value(high)} →"),
    ):
        if is_out:
            _write_at_top(axes, text, place, 2, ha=align, va="bottom", color="0.4")


def _draw_density(axes: Axes, weight: Any, left: Any, right: Any) -> None:
    """Draw the weight of the training rows of every step, per width, as bars at the bottom."""
    is_shown = right > left
    weight, left, right = weight[is_shown], left[is_shown], right[is_shown]
    density = weight / np.maximum(right - left, np.finfo(float).tiny)
    below = axes.twinx()
    below.bar(left, density, right - left, align="edge", color="0.85", edgecolor="white", linewidth=0.3)
    below.set_ylim(0.0, max(float(density.max(initial=0.0)), 1e-300) / _WEIGHTS)
    below.set_yticks([])
    for side in below.spines.values():
        side.set_visible(False)
    below.set_zorder(axes.get_zorder() - 1)
    axes.patch.set_visible(False)


def _draw_surface(surface: Surface, axes: Axes) -> Axes:
    values = surface.values if surface.values.ndim == 2 else surface.values[..., 0]
    shown = [
        slice(None if surface.weight.sum(axis=1 - axis)[-1] > 0.0 else -1) for axis in range(2)
    ]  # without missing values that never occurred
    values = values[shown[0], shown[1]]
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    colours: dict[str, Any] = {"cmap": diverging(), "vmin": -most, "vmax": most}
    image = axes.imshow(values.T, aspect="auto", origin="lower", interpolation="nearest", **colours)
    for axis, ticks, scale, n_shown in (
        (axes.xaxis, axes.set_xticks, surface.scales[0], values.shape[0]),
        (axes.yaxis, axes.set_yticks, surface.scales[1], values.shape[1]),
    ):
        ticks(*_choose_ticks(scale, n_shown), fontsize=SMALL)
        axis.set_label_text(scale.title)
    is_long = any(len(label.get_text()) > 8 for label in axes.get_xticklabels())
    axes.tick_params(axis="x", rotation=90 if is_long else 0)
    title = "addition to the raw score" + (f" of {surface.classes[0]}" if surface.classes else "")
    axes.figure.colorbar(image, ax=axes, label=title)
    return axes


def _choose_ticks(scale: Scale, n_shown: int) -> tuple[list[float], list[str]]:
    """Return places and texts along an axis of a surface: some edges between its cells, or some categories."""
    if scale.edges is None:
        places = [float(place) for place in range(n_shown)]
        labels = scale.labels[:n_shown]
    else:
        places = [place + 0.5 for place in range(len(scale.edges))]
        labels = [write_value(edge) for edge in scale.edges.tolist()]
    every = -(-len(labels) // _MOST_LABELS) or 1
    places, labels = places[::every], labels[::every]
    if scale.edges is not None and n_shown > len(scale.edges) + 1:
        places.append(n_shown - 1.0)
        labels.append(MISSING)
    return places, labels
