"""Plots of results: coverage, losses after each round, calibration of the event, groups, and two models compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._parameters import refuse
from ..describe.palette import ACCENT, AGAINST, FOR
from ..draw.scene import INK, LINE
from ..evaluation.classification import CoverageCurve
from ..evaluation.event import EventScores
from ..evaluation.groups import Groups, GroupScore
from ..evaluation.paired import Comparison
from ..model.model import Model, read
from ..model.numbers import NumberFormat
from ..tables.labels import encode_known, take_numbers
from ..tables.rows import EncodedRows
from ._axes import NORMAL, SMALL, check_type, new_panels, strip, take_axes, take_panels, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_SPAN = 0.05


def plot_coverage(curve: CoverageCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the accuracy on the rows a model decides against their share of all rows.

    Parameters
    ----------
    curve : CoverageCurve
        From ``coverage_curve(model, X, y)``.
    ax : Axes, optional
        Axes to draw into; a new figure by default. Several curves can share it.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHTClassifier, coverage_curve, plot_coverage
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X[:400], y[:400])
    >>> ax = plot_coverage(coverage_curve(model, X[400:], y[400:]))
    """
    check_type("curve", curve, CoverageCurve, "the result of coverage_curve(model, X, y)")
    ax = take_axes(ax, 5.4, 3.6)
    # Between two thresholds, no rows are added.
    ax.plot(curve.coverage, curve.accuracy, drawstyle="steps-post", color=ACCENT, linewidth=1.6)
    whole = float(curve.accuracy[-1])
    ax.plot([1.0], [whole], marker="o", color=ACCENT, markersize=5, clip_on=False)
    ax.axhline(whole, color=LINE, linewidth=0.8, linestyle="dashed", zorder=0)
    how: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "top", "fontsize": SMALL}
    ax.annotate(f"all rows: {whole:.3f}", (1.0, whole), (-4, -5), **how)
    low, high = min(ax.dataLim.y0, whole), ax.dataLim.y1
    ax.set(xlim=(0.0, 1.02), ylim=find_limits(low, high))
    ax.set_xlabel("coverage: share of rows decided", fontsize=NORMAL)
    ax.set_ylabel("accuracy on decided rows", fontsize=NORMAL)
    strip(ax)
    return ax


def find_limits(low: float, high: float) -> tuple[float, float]:
    """Return limits around accuracies: at most 1 (plus the width of a line), and wide enough that noise looks small."""
    air = max(0.12 * (high - low), 0.01)
    top = min(high + air, 1.0)
    bottom = min(low - 1.5 * air, top - _LEAST_SPAN)
    return bottom, top + (0.01 * (top - bottom) if top == 1.0 else 0.0)


Floats = NDArray[np.float64]

TRAINING, HELD, GIVEN = "training rows", "held-out rows", "rows passed"


def find_losses(model: Any, X: Any = None, y: Any = None) -> dict[str, Floats]:
    """Return the loss before the first round and after each, shape (rounds + 1,), by the set of rows."""
    fitted = read(model, takes_numbers=True)
    if not fitted.head.adds_rounds:
        kind = "LHBoostClassifier" if fitted.labels else "LHBoostRegressor"
        raise TypeError(f"model is of type {type(model).__name__}, which has no rounds: pass an {kind}.")
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, or neither.")
    losses = {}
    if fitted.boost is not None:
        kept = {TRAINING: fitted.boost.train_score, HELD: fitted.boost.validation_score}
        losses = {name: -score for name, score in kept.items() if len(score)}
    if X is not None:
        losses[GIVEN] = _measure(model, fitted, fitted.code(X), y)
    if not losses:
        raise ValueError("the model kept no losses: pass X and y, or fit it with early_stopping=True.")
    return losses


def _measure(model: Any, fitted: Model, X: EncodedRows, y: Any) -> Floats:
    assert fitted.base is not None
    if fitted.labels:
        codes = encode_known(y, fitted.classes, len(X), is_strict=True)
        truth: dict[str, Any] = {"name": fitted.link, "classes": codes.astype(np.int32)}
    elif hasattr(model, "loss"):
        truth = {"name": model.loss, "response": take_numbers(y, len(X))}
        truth |= {} if model.quantile is None else {"quantile": model.quantile}
    else:
        kind = type(model).__name__
        raise TypeError(f"model is of type {kind}, which does not know its loss: pass the LHBoostRegressor.")
    stages = (np.tile(fitted.base, (len(X), 1)), *fitted.staged_raw_score(X))
    return np.array([_core.loss(raw_score=raw_score, **truth).mean() for raw_score in stages])


def plot_rounds(model: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the loss of a boosted model after each round: the log loss, or the loss of a regressor.

    A model that was fitted with early stopping, or with a validation set, has kept its losses; the dotted line marks
    the last round that it kept.

    Parameters
    ----------
    model : LHBoostClassifier or LHBoostRegressor
        Fitted model.
    X, y : array-like, optional
        More rows on which to measure the loss, for example held-out ones, and their classes or responses.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lhtree import LHBoostClassifier, plot_rounds
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LHBoostClassifier(20, early_stopping=True, random_state=0).fit(X[:400], y[:400])
    >>> ax = plot_rounds(model, X[400:], y[400:])
    """
    losses = find_losses(model, X, y)
    fitted = read(model, takes_numbers=True)
    n_kept, name = fitted.n_estimators, fitted.link if fitted.labels else getattr(model, "loss", "")
    ax = take_axes(ax, 6.0, 3.6)
    looks: dict[str, dict[str, Any]] = {
        TRAINING: {"color": LINE, "linestyle": "dashed"},
        HELD: {"color": ACCENT},
        GIVEN: {"color": INK, "linestyle": "dashdot"},
    }
    for rows, loss in losses.items():
        best = int(loss.argmin())
        numbers = NumberFormat.over(0.0, loss[best]) if loss[best] > 1.0 else NumberFormat(4)
        label = f"{rows}: least {numbers.write(loss[best])}, round {best}"
        ax.plot(np.arange(len(loss)), loss, linewidth=1.6, label=label, **looks[rows])
    if n_kept < max(map(len, losses.values())) - 1:
        ax.axvline(n_kept, color=INK, linewidth=0.8, linestyle="dotted", label=f"{n_kept} rounds kept")
    ax.set_xlabel("round", fontsize=NORMAL)
    ax.set_ylabel(_core.LOSSES[name].description if name in _core.LOSSES else "loss", fontsize=NORMAL)
    write_thousands(ax.yaxis)
    ax.set_xlim(0, None)
    ax.set_ylim(0.0, None)
    ax.legend(frameon=False, fontsize=SMALL)
    strip(ax)
    return ax


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
