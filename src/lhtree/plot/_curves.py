"""Plots of measured curves: accuracy against coverage, and against sparsity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..describe.palette import ACCENT
from ..draw.scene import INK, LINE
from ..evaluation.curves import CoverageCurve
from ._axes import NORMAL, SMALL, marker, new_panels, strip, take_axes, take_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..evaluation.curves import SparsityCurve

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
    if not isinstance(curve, CoverageCurve):
        raise TypeError(
            f"curve is of type {type(curve).__name__}: pass the result of coverage_curve(model, X, y)."
        )
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


def plot_sparsity(curve: SparsityCurve, *, ax: Any = None) -> NDArray[Any]:
    """Draw accuracy, number of features used and number of blocks against beta, one panel each.

    Parameters
    ----------
    curve : SparsityCurve
        From ``sparsity_curve(X, y)``.
    ax : sequence of three Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    array of three Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import plot_sparsity, sparsity_curve
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> axes = plot_sparsity(sparsity_curve(X, y, betas=[0, 0.5], cv=3))
    """
    from ..evaluation.curves import SparsityCurve

    if not isinstance(curve, SparsityCurve):
        raise TypeError(f"curve is of type {type(curve).__name__}: pass the result of sparsity_curve(X, y).")
    axes = new_panels(1, 3, 10.2, 3.1) if ax is None else take_panels(ax, 3)
    means = curve.to_dict()
    beta = np.array(means["beta"])
    order = np.argsort(beta, kind="stable")

    def draw(panel: Axes, name: str, code: int, colour: str, **how: Any) -> None:
        values = np.array(means[name])[order]
        panel.plot(
            beta[order], values, marker=marker(code), markersize=4.5, color=colour, linewidth=1.5, **how
        )

    spread = np.array(means["spread"])[order]
    accuracy = np.array(means["accuracy"])[order]
    axes[0].fill_between(
        beta[order], accuracy - spread, accuracy + spread, color=ACCENT, alpha=0.18, linewidth=0
    )
    draw(axes[0], "accuracy", 0, ACCENT, label="held-out ± spread")
    draw(axes[0], "training_accuracy", 1, LINE, label="training", linestyle="dashed")
    axes[0].axvline(
        curve.sparsest, color=INK, linewidth=0.8, linestyle="dotted", label=f"sparsest: {curve.sparsest:g}"
    )
    axes[0].set_ylabel("accuracy", fontsize=NORMAL)
    draw(axes[1], "n_features", 0, ACCENT, label="in all blocks")
    draw(axes[1], "features_per_block", 1, LINE, label="per block", linestyle="dashed")
    axes[1].set_ylabel("features", fontsize=NORMAL)
    draw(axes[2], "n_blocks", 0, ACCENT)
    axes[2].set_ylabel("blocks", fontsize=NORMAL)
    for panel in axes:
        panel.set_xlabel("beta", fontsize=NORMAL)
        strip(panel)
    for panel in axes[1:]:
        panel.set_ylim(bottom=0.0)
    for panel, n_columns in zip(axes, (3, 2), strict=False):
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": n_columns}
        panel.legend(frameon=False, fontsize=SMALL, columnspacing=1.2, handlelength=2.2, **place)
    return axes
