"""Plots of the curves and surfaces of additive models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parameters import refuse
from ..describe.curves import MISSING, Curve, Scale, Surface, find_middle
from ..describe.palette import ACCENT, class_colour, tint
from ..model.numbers import write_value
from ._axes import SMALL, dashes, diverging, strip, take_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 6  # along an axis of a surface
_DENSITY = 0.18  # height of the bars of weights, as a share of the axes


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
    below.set_ylim(0.0, max(float(density.max(initial=0.0)), 1e-300) / _DENSITY)
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
