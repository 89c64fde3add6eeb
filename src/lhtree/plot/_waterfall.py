"""Waterfall plot of the contributions to one row's membership or raw score, from the share of the class or the base."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from .._palette import AGAINST, FOR, class_colour
from ..explain import Explanation
from ..explain._phrases import say_number
from ._style import INK, LINE, NORMAL, SMALL, fit, fit_all, name_class, strip, take_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 190.0  # points
_ROW = 0.26  # inches


class Rung(NamedTuple):
    """A bar from ``start`` to ``end``; the first and the last stand on 0."""

    label: str
    start: float
    end: float


def find_rungs(explanation: Explanation, target: Any, n_features: int) -> list[Rung]:
    """The base of the class, what the features with the largest contributions add, and what they add up to."""
    at = explanation.base[target]
    parts = sorted(explanation.contributions[target].items(), key=lambda part: -abs(part[1]))
    parts = [part for part in parts if part[1] != 0.0]
    others = parts[n_features:] if len(parts) > n_features + 1 else []
    added = [
        (_name_value(name, explanation.row[name]), value) for name, value in parts[: len(parts) - len(others)]
    ]
    if others:
        added.append((f"{len(others)} more features", sum(value for _, value in others)))
    is_boosted = explanation._fitted.is_boosted
    rungs = [Rung("base" if is_boosted else "share in the training data", 0.0, at)]
    for label, value in added:
        rungs.append(Rung(label, at, at + value))
        at += value
    return [*rungs, Rung("raw score" if is_boosted else "membership μ", 0.0, explanation.total[target])]


def _name_value(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} = missing"
    return f"{name} = {say_number(value) if isinstance(value, float) else value}"


def draw_waterfall(explanation: Explanation, target: Any, n_features: int, ax: Axes | None) -> Axes:
    """Draw the rungs from above to below, each where the one before it ends."""
    rungs = find_rungs(explanation, target, n_features)
    ax = take_axes(ax, 7.0, _ROW * len(rungs) + 1.1)
    own = class_colour(explanation.classes.index(target))
    for y, rung in enumerate(rungs):
        change = rung.end - rung.start
        is_total = y in (0, len(rungs) - 1)
        fill = own if is_total else FOR if change > 0.0 else AGAINST
        ax.barh(y, change, left=rung.start, height=0.7, color=fill)
        if y + 1 < len(rungs):
            ax.plot([rung.end, rung.end], [y - 0.35, y + 1.35], color=LINE, linewidth=0.7, zorder=0.5)
        text = (f"{change:.3f}" if is_total else f"{change:+.3f}").replace("-", "−")
        ax.annotate(
            text,
            (max(rung.start, rung.end), y),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
    ends = [end for rung in rungs for end in rung[1:]]
    is_boosted = explanation._fitted.is_boosted
    low, high = min(0.0, *ends), max(0.0 if is_boosted else 1.0, *ends)
    width = high - low or 1.0
    ax.set(xlim=(low - 0.02 * width, high + 0.1 * width), ylim=(len(rungs) - 0.4, -0.6))
    ax.set_yticks(range(len(rungs)), fit_all([rung.label for rung in rungs], _LABEL, SMALL))
    if low < 0.0:
        ax.axvline(0.0, color=LINE, linewidth=0.7, zorder=0.4)
    what = "raw score" if is_boosted else "membership"
    ax.set_xlabel(f"{what} of {fit(name_class(target), _LABEL, NORMAL)}", fontsize=NORMAL)
    strip(ax)
    return ax
