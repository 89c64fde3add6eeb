"""Waterfall plot of the contributions to one row's membership, raw score or predicted number, from where they start."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from ..describe.palette import ACCENT, AGAINST, FOR, class_colour
from ..draw.style import INK, LINE, NORMAL, SMALL, fit, fit_all, name_class, strip, take_axes, write_thousands
from ..explain import Explanation
from ..explain._phrases import CLIPPED, say_number
from ..model.model import Model
from ..model.numbers import NumberFormat

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
    """The base, what the features with the largest contributions add, and what they add up to."""
    at, contributions, clipped, total = explanation.account(target)
    parts = sorted(contributions.items(), key=lambda part: -abs(part[1]))
    parts = [part for part in parts if part[1] != 0.0]
    others = parts[n_features:] if len(parts) > n_features + 1 else []
    added = [
        (_name_value(name, explanation.row[name]), value) for name, value in parts[: len(parts) - len(others)]
    ]
    if others:
        added.append((f"{len(others)} more features", sum(value for _, value in others)))
    if clipped:
        added.append((CLIPPED, clipped))
    fitted = explanation._fitted
    first = "mean response" if fitted.is_regression else "share in the training data"
    rungs = [Rung("base" if fitted.is_boosted else first, 0.0, at)]
    for label, value in added:
        rungs.append(Rung(label, at, at + value))
        at += value
    return [*rungs, Rung(_name_total(explanation), 0.0, total)]


def _name_total(explanation: Explanation) -> str:
    if explanation._fitted.is_regression:
        return "prediction"
    return "raw score" if explanation._fitted.is_boosted else "membership μ"


def _name_value(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} = missing"
    return f"{name} = {say_number(value) if isinstance(value, float) else value}"


def draw_waterfall(explanation: Explanation, target: Any, n_features: int, ax: Axes | None) -> Axes:
    """Draw the rungs from above to below, each where the one before it ends.

    A number may be far from 0: then its axis does not start there, and diamonds show where it starts and ends.
    """
    rungs = find_rungs(explanation, target, n_features)
    ax = take_axes(ax, 7.0, _ROW * len(rungs) + 1.1)
    fitted = explanation._fitted
    amounts = fitted.amounts if fitted.is_regression else NumberFormat(3)
    for y, rung in enumerate(rungs):
        change = rung.end - rung.start
        is_total = y in (0, len(rungs) - 1)
        if is_total and fitted.is_regression:
            ax.plot(rung.end, y, marker="D", color=ACCENT, markersize=6, linestyle="")
        else:
            own = class_colour(explanation.classes.index(target)) if is_total else None
            ax.barh(y, change, left=rung.start, height=0.7, color=own or (FOR if change > 0.0 else AGAINST))
        if y + 1 < len(rungs):
            ax.plot([rung.end, rung.end], [y - 0.35, y + 1.35], color=LINE, linewidth=0.7, zorder=0.5)
        text = (amounts.write(rung.end) if is_total else amounts.sign(change)).replace("-", "−")
        ax.annotate(
            text,
            (rung.end if is_total else max(rung.start, rung.end), y),
            (7 if is_total and fitted.is_regression else 4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
    _set_limits(ax, rungs, fitted)
    ax.set_yticks(range(len(rungs)), fit_all([rung.label for rung in rungs], _LABEL, SMALL))
    if fitted.is_regression:
        what = "prediction"
        if amounts.is_log:
            ax.xaxis.set_major_formatter(lambda value, _: amounts.write(value))
            what = "prediction, on a logarithmic scale"
        else:
            write_thousands(ax.xaxis)
    else:
        what = "raw score" if fitted.is_boosted else "membership"
        what = f"{what} of {fit(name_class(target), _LABEL, NORMAL)}"
    ax.set_xlabel(what, fontsize=NORMAL)
    strip(ax)
    return ax


def _set_limits(ax: Axes, rungs: list[Rung], fitted: Model) -> None:
    if fitted.is_regression:
        ends = [rung.end for rung in rungs]
    else:
        ends = [0.0, 0.0 if fitted.is_boosted else 1.0, *(end for rung in rungs for end in rung[1:])]
    low, high = min(ends), max(ends)
    width = high - low or abs(high) or 1.0
    room = (0.05, 0.15) if fitted.is_regression else (0.02, 0.1)
    ax.set(xlim=(low - room[0] * width, high + room[1] * width), ylim=(len(rungs) - 0.4, -0.6))
    if low < 0.0 < high:
        ax.axvline(0.0, color=LINE, linewidth=0.7, zorder=0.4)
