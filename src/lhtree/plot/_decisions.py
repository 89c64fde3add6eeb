"""Plots about decisions: calibration of the event, results by group, and two models compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import refuse
from ..describe.palette import ACCENT, AGAINST, FOR
from ..draw.scene import INK, LINE
from ..evaluation.event import EventScores
from ..evaluation.groups import Groups, GroupScore
from ..evaluation.paired import Comparison
from ._axes import NORMAL, SMALL, check_type, new_panels, strip, take_axes, take_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = ("selection_rate", "true_positive_rate", "false_positive_rate", "calibration")
_NUMBER_MEASURES = ("actual", "predicted", "mean_error", "rmse")


def plot_event(event: EventScores, *, ax: Axes | None = None) -> Axes:
    """Draw the share of events against their mean probability, by tenths of the probability.

    Parameters
    ----------
    event : EventScores
        From ``evaluate(model, X, y, positive=…).event``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, evaluate, plot_event
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(positive=0).fit(X[:400], y[:400])
    >>> ax = plot_event(evaluate(model, X[400:], y[400:]).event)
    """
    check_type("event", event, EventScores, "evaluate(model, X, y, positive=…).event")
    ax = take_axes(ax, 4.2, 3.8)
    bands = event.bands
    x, rate, low, high = (
        np.array([getattr(one, name) for one in bands])
        for name in ("probability", "rate", "rate_low", "rate_high")
    )
    most = min(1.0, 1.08 * max(x.max(), high.max()))
    ax.plot([0.0, most], [0.0, most], color=LINE, linewidth=0.8, linestyle="dashed", zorder=0)
    ax.vlines(x, low, high, color=ACCENT, linewidth=1.2)
    ax.plot(x, rate, marker="o", markersize=4.5, color=ACCENT, linewidth=0.8, clip_on=False)
    ax.set(xlim=(0.0, most), ylim=(0.0, most))
    ax.set_xlabel(f"mean probability of {event.positive}", fontsize=NORMAL)
    ax.set_ylabel(f"share of {event.positive}, with 95 % interval", fontsize=NORMAL)
    strip(ax)
    return ax


def plot_groups(
    groups: Groups, by: str | None = None, measures: Sequence[str] | None = None, *, ax: Any = None
) -> NDArray[Any]:
    """Draw measures by group with their 95 % intervals, one panel per measure.

    Parameters
    ----------
    groups : Groups
        From ``evaluate(model, X, y, by=…).groups``.
    by : str, optional
        Column, or intersection such as "sex × age". Default: the first column.
    measures : list of str, optional
        Default: selection rate, true and false positive rates and calibration; for a regression, means and errors.
    ax : sequence of Axes, optional
        One for each measure; a new figure by default.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, evaluate, plot_groups
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier(positive=0).fit(X[:400], y[:400])
    >>> measured = evaluate(model, X[400:], y[400:], by={"radius": X["mean radius"][400:] > 14})
    >>> axes = plot_groups(measured.groups)
    """
    check_type("groups", groups, Groups, "evaluate(model, X, y, by=…).groups")
    by = next(iter(groups.reference)) if by is None else by
    if by not in groups.reference:
        raise refuse("by", by, f"one of {', '.join(map(repr, groups.reference))}")
    known = groups.measures
    if measures is None:
        measures = [name for name in (*_MEASURES, *_NUMBER_MEASURES) if name in known] or known
    unknown = [name for name in measures if name not in known]
    if unknown or not measures:
        raise refuse("measures", measures, f"some of {', '.join(map(repr, known))}")
    n_groups = len(groups.select(by, measures[0]))
    size = 1.2 + 2.3 * len(measures), 1.0 + 0.32 * n_groups
    axes = new_panels(1, len(measures), *size) if ax is None else take_panels(ax, len(measures))
    for number, (panel, measure) in enumerate(zip(axes, measures, strict=True)):
        _draw_measure(panel, groups.select(by, measure), has_names=number == 0)
        panel.set_title(measure.replace("_", " "), fontsize=NORMAL, loc="left")
    axes[0].set_ylabel(by, fontsize=NORMAL)
    return axes


def _draw_measure(ax: Axes, scores: Sequence[GroupScore], *, has_names: bool) -> None:
    places = np.arange(len(scores))[::-1]
    reference = next(one for one in scores if one.is_reference)
    if reference.value is not None:
        ax.axvline(reference.value, color=LINE, linewidth=0.8, linestyle="dashed", zorder=0)
    for place, one in zip(places, scores, strict=True):
        if one.value is None:
            continue
        if one.low is not None and one.high is not None:
            alpha = 0.4 if one.is_small else 1.0
            ax.hlines(place, one.low, one.high, color=ACCENT, linewidth=1.4, alpha=alpha)
        face = "white" if one.is_small else ACCENT
        ax.plot([one.value], [place], "o", markersize=5, color=ACCENT, markerfacecolor=face)
    names = [
        f"{one.group}{' (reference)' if one.is_reference else ''}\n{one.n_rows:,} rows{', few' if one.is_small else ''}"
        for one in scores
    ]
    ax.set_yticks(places, names if has_names else [""] * len(names), fontsize=SMALL)
    ax.set_ylim(-0.6, len(scores) - 0.4)
    ax.margins(x=0.1)
    strip(ax)


def plot_comparison(compared: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the differences of two models and their 95 % intervals, relative to the champion's value.

    Parameters
    ----------
    compared : Comparison
        From ``compare(champion, challenger, X, y)``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, LHTClassifier, compare, plot_comparison
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> models = [model.fit(X[:400], y[:400]) for model in (LHTClassifier(), LHBoostClassifier(50, random_state=0))]
    >>> ax = plot_comparison(compare(*models, X[400:], y[400:]))
    """
    check_type("compared", compared, Comparison, "the result of compare(champion, challenger, X, y)")
    shown = compared.differences
    ax = take_axes(ax, 5.6, 0.9 + 0.36 * len(shown))
    champion, challenger = compared.names
    for place, one in zip(range(len(shown) - 1, -1, -1), shown, strict=True):
        unit = abs(one.champion) or 1.0
        colour = LINE if one.better is None else FOR if one.better == challenger else AGAINST
        ends = one.low / unit, one.high / unit
        ax.hlines(place, *ends, color=colour, linewidth=2.0)
        ax.plot([one.difference / unit], [place], "o", markersize=5.5, color=colour)
    ax.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
    names = [
        f"{one.measure.replace('_', ' ')}\n{one.champion:.4g} → {one.challenger:.4g}"
        for one in reversed(shown)
    ]
    ax.set_yticks(range(len(shown)), names, fontsize=SMALL)
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+g} %".replace("-", "−"))
    ax.set_xlabel(f"{challenger} − {champion}, relative to {champion}", fontsize=NORMAL)
    better = {one.better for one in shown}
    colours = {challenger: FOR, champion: AGAINST, None: LINE}
    for name in (challenger, champion, None):
        if name in better:
            label = f"{name} is better" if name else "not certain"
            ax.plot([], [], color=colours[name], linewidth=2.0, label=label)
    ax.legend(frameon=False, fontsize=SMALL, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3)
    strip(ax)
    return ax
