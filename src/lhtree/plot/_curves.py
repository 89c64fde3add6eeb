"""Plots of measured curves: accuracy against coverage, and the loss after each round of boosting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..describe.palette import ACCENT
from ..draw.scene import INK, LINE
from ..evaluation.curves import CoverageCurve
from ..model.model import Model, read
from ..model.numbers import NumberFormat
from ..tables.labels import encode_known, take_numbers
from ..tables.rows import EncodedRows
from ._axes import NORMAL, SMALL, check_type, strip, take_axes, write_thousands

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
