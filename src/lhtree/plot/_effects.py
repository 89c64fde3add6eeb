"""Effect curves: contributions of columns over their values, a panel per column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parameters import check_count
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour
from ..draw.figure import fit, fit_all, letters
from ..draw.scene import INK, LINE
from ..draw.tree import name_class
from ..explain._columns import Effect
from ..model.model import Model, read
from ._axes import (
    NORMAL,
    SMALL,
    check_drawable,
    dashes,
    new_panels,
    strip,
    take_class,
    take_panels,
    width_of,
    write_thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
