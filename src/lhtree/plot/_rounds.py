"""Picture of the rounds of a boosted model: its loss after each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._palette import ACCENT
from ..model import Model, read
from ..tables.labels import encode_known
from ._style import INK, LINE, NORMAL, SMALL, strip, take_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

TRAINING, HELD, GIVEN = "training rows", "held-out rows", "rows passed"


def find_losses(model: Any, X: Any = None, y: Any = None) -> dict[str, Floats]:
    """Log loss before the first round and after each, shape (rounds + 1,), by the rows it is measured on."""
    fitted = read(model)
    if not fitted.is_boosted:
        raise TypeError(f"model is a {type(model).__name__}, which has no rounds: pass an LHBoostClassifier.")
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, or neither.")
    losses = {}
    if fitted.boost is not None:
        kept = {TRAINING: fitted.boost.train_score, HELD: fitted.boost.validation_score}
        losses = {name: -score for name, score in kept.items() if len(score)}
    if X is not None:
        rows = fitted.encode(X)
        losses[GIVEN] = _measure(fitted, rows, encode_known(y, fitted.classes, len(rows), is_strict=True))
    if not losses:
        raise ValueError("the model kept no losses: pass X and y, or fit it with early_stopping=True.")
    return losses


def _measure(fitted: Model, X: NDArray[Any], codes: NDArray[Any]) -> Floats:
    assert fitted.base is not None
    first = np.tile(fitted.base, (len(X), 1))
    losses = []
    for raw_score in (first, *fitted.staged_raw_score(X)):
        score = fitted.spread(raw_score, np.zeros_like)  # of two classes, the first has 0
        own = score[np.arange(len(X)), codes]
        most = score.max(axis=1)
        losses.append(np.mean(most - own + np.log(np.exp(score - most[:, None]).sum(axis=1))))
    return np.array(losses)


def plot_rounds(model: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the log loss of a boosted model after each round.

    A model that was fitted with early stopping, or with a validation set, has kept its losses; the dotted line marks
    the last round that it kept.

    Parameters
    ----------
    model : LHBoostClassifier
        A fitted one.
    X, y : array-like, optional
        More rows on which to measure the loss, for example held-out ones, and their classes.
    ax : Axes, optional
        Drawn into; a new figure by default.

    Returns
    -------
    Axes
    """
    losses = find_losses(model, X, y)
    n_kept = read(model).n_estimators
    ax = take_axes(ax, 6.0, 3.6)
    looks: dict[str, dict[str, Any]] = {
        TRAINING: {"color": LINE, "linestyle": "dashed"},
        HELD: {"color": ACCENT},
        GIVEN: {"color": INK, "linestyle": "dashdot"},
    }
    for name, loss in losses.items():
        best = int(loss.argmin())
        label = f"{name}: least {loss[best]:.4f}, round {best}"
        ax.plot(np.arange(len(loss)), loss, linewidth=1.6, label=label, **looks[name])
    if n_kept < max(map(len, losses.values())) - 1:
        ax.axvline(n_kept, color=INK, linewidth=0.8, linestyle="dotted", label=f"{n_kept} rounds kept")
    ax.set_xlabel("round", fontsize=NORMAL)
    ax.set_ylabel("log loss", fontsize=NORMAL)
    ax.set_xlim(0, None)
    ax.set_ylim(0.0, None)
    ax.legend(frameon=False, fontsize=SMALL)
    strip(ax)
    return ax
