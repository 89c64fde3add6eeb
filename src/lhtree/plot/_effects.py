"""Effect curves: contributions of columns over their values, a panel per column."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._parameters import check_count
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour
from ..draw.figure import fit, fit_all, letters
from ..draw.scene import INK, LINE
from ..draw.tree import name_class
from ..explain._columns import Effect, Effects
from ..model.model import read
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
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 3.1, 2.4  # inches of a panel
_ACROSS = 3  # panels side by side
_MOST_CLASSES = 8  # lines in a panel
_MOST_BARS = 8  # categories in a panel
_NAME = 80.0  # points
_DENSITY = 0.14  # of the height of a panel


class EffectsDisplay:
    """Effect curves of some columns, like scikit-learn's ``PartialDependenceDisplay``.

    Create it with ``from_estimator``. The line is the mean contribution of a column over its values, the band holds
    the middle rows, and the bars below show the density of the rows.

    Parameters
    ----------
    effects : Effects
        Result of ``model.effects(X)``.
    target : class, optional
        The class whose contributions are drawn. Default: the second of two; of more, all of them without bands.
    unit : str
        Unit of the contributions.

    Attributes
    ----------
    figure_ : Figure
    axes_ : array of Axes
        One per column, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import EffectsDisplay, LHTClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> display = EffectsDisplay.from_estimator(model, X, ["proline", "hue"])
    >>> len(display.axes_)
    2
    """

    figure_: Figure
    axes_: Any

    def __init__(self, effects: Effects, *, target: Any = None, unit: str = "contribution") -> None:
        self.effects, self.target, self.unit = effects, target, unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        columns: Any = None,
        *,
        target: Any = None,
        n_columns: int = 6,
        ax: Any = None,
    ) -> EffectsDisplay:
        """Find the effects of a model and draw them.

        Parameters
        ----------
        estimator : classifier or regressor of lhtree
            Fitted model.
        X : array-like of shape (n, m)
            Rows whose contributions are averaged.
        columns : name, index or list of them, optional
            They are drawn in this order. Default: the most important columns.
        target : class, optional
            The class whose contributions are drawn. Default: the second of two; of more, all of them.
        n_columns : int, default=6
            Number of columns to draw if ``columns`` does not name them.
        ax : array of Axes, optional
            One per column; a new figure by default.

        Returns
        -------
        EffectsDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from lhtree import EffectsDisplay, LHTClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> display = EffectsDisplay.from_estimator(LHTClassifier().fit(X, y), X, ["proline", "hue"], target=0)
        >>> len(display.axes_)
        2
        """
        fitted = read(estimator, takes_numbers=True)
        check_count("n_columns", n_columns, 1)
        if target is not None:
            take_class(fitted.labels, target)
        effects = estimator.effects(X, columns)
        if columns is None:
            effects = replace(effects, effects=effects.effects[:n_columns])
        unit = f"contribution to the {fitted.head.contribution_noun}"
        return cls(effects, target=target, unit=unit).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> EffectsDisplay:
        """Draw the effects, a panel per column.

        Parameters
        ----------
        ax : array of Axes, optional
            One per column; a new figure by default.

        Returns
        -------
        self
        """
        n = len(self.effects)
        across = min(_ACROSS, n)
        if ax is None:
            down = -(-n // across)
            panels = new_panels(down, across, max(4.2, _WIDTH * across), _HEIGHT * down + 0.3)
            for spare in panels[n:]:
                spare.set_axis_off()
            panels = panels[:n]
        else:
            panels = take_panels(ax, n)
        codes = self._choose_codes()
        for panel, effect in zip(panels, self.effects, strict=True):
            (_draw_categories if effect.value is None else _draw_curve)(panel, effect, codes)
            panel.set_title(fit(effect.column, width_of(panel) or 150.0, NORMAL), fontsize=NORMAL, color=INK)
            strip(panel)
        self._label(panels, codes)
        self.axes_, self.figure_ = panels, panels[0].figure
        return self

    def _choose_codes(self) -> list[int]:
        """Return the codes of the classes to draw; 0 for a regression."""
        n_classes = len(self.effects.classes)
        if self.target is not None:
            return [take_class(self.effects.classes, self.target)]
        return [max(0, n_classes - 1)] if n_classes <= 2 else list(range(min(n_classes, _MOST_CLASSES)))

    def _label(self, panels: Any, codes: list[int]) -> None:
        """Name the unit once, and the classes if there are several."""
        unit = self.unit
        if len(codes) == 1 and self.effects.classes:
            unit = f"{unit} of {name_class(self.effects.classes[codes[0]])}"
        panels[0].figure.supylabel(fit(unit, 200.0, SMALL), fontsize=SMALL)
        if len(codes) > 1:
            names = [fit(name_class(self.effects.classes[code]), _NAME, SMALL) for code in codes]
            more = len(self.effects.classes) - len(codes)
            title = f"{more} more classes not shown" if more else None
            lines = [line for line in panels[0].lines if line.get_gid() == "mean"] or panels[0].patches
            panels[0].legend(lines[: len(codes)], names, fontsize=SMALL, title=title, title_fontsize=SMALL)


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
    display = EffectsDisplay.from_estimator(model, X, columns, target=target, n_columns=n_columns, ax=ax)
    return display.axes_


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
