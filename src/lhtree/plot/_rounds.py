"""Picture of the rounds of a boosted model: its loss after each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..describe.palette import ACCENT
from ..draw.style import INK, LINE, NORMAL, SMALL, strip, take_axes, write_thousands
from ..model.model import Model, read
from ..model.numbers import Amounts
from ..tables.labels import encode_known, take_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_NAMES = {
    "squared_error": "half the squared error",
    "absolute_error": "absolute error",
    "quantile": "pinball loss",
    "poisson": "half the Poisson deviance",
    "gamma": "half the gamma deviance",
}
TRAINING, HELD, GIVEN = "training rows", "held-out rows", "rows passed"


def find_losses(model: Any, X: Any = None, y: Any = None) -> dict[str, Floats]:
    """Loss before the first round and after each, shape (rounds + 1,), by the rows it is measured on."""
    fitted = read(model, takes_numbers=True)
    if not fitted.is_boosted:
        kind = "LHBoostRegressor" if fitted.is_regression else "LHBoostClassifier"
        raise TypeError(f"model is of type {type(model).__name__}, which has no rounds: pass an {kind}.")
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, or neither.")
    losses = {}
    if fitted.boost is not None:
        kept = {TRAINING: fitted.boost.train_score, HELD: fitted.boost.validation_score}
        losses = {name: -score for name, score in kept.items() if len(score)}
    if X is not None:
        rows = fitted.encode(X)
        if fitted.is_regression:
            losses[GIVEN] = _measure_numbers(fitted, rows, take_numbers(y, len(rows)), _find_loss(model))
        else:
            losses[GIVEN] = _measure(fitted, rows, encode_known(y, fitted.classes, len(rows), is_strict=True))
    if not losses:
        raise ValueError("the model kept no losses: pass X and y, or fit it with early_stopping=True.")
    return losses


def _measure(fitted: Model, X: NDArray[Any], codes: NDArray[Any]) -> Floats:
    assert fitted.base is not None
    first = np.tile(fitted.base, (len(X), 1))
    losses = []
    for raw_score in (first, *fitted.staged_raw_score(X)):
        score = fitted.head.spread(raw_score, np.zeros_like)  # of two classes, the first has 0
        own = score[np.arange(len(X)), codes]
        most = score.max(axis=1)
        losses.append(np.mean(most - own + np.log(np.exp(score - most[:, None]).sum(axis=1))))
    return np.array(losses)


class Loss(NamedTuple):
    """A loss of numbers, and the quantile of the pinball loss."""

    name: str
    quantile: float | None


def _find_loss(model: Any) -> Loss:
    loss = getattr(model, "loss", None)
    if loss is None:
        raise TypeError(
            f"model is a {type(model).__name__}, which does not know its loss: pass the LHBoostRegressor."
        )
    return Loss(loss, model.quantile)


def _measure_numbers(fitted: Model, X: NDArray[Any], response: Floats, loss: Loss) -> Floats:
    """Mean losses as ``train_score_`` has them: half of the squared error or of the deviance, else the error itself."""
    assert fitted.base is not None
    losses = []
    for raw_score in (np.tile(fitted.base, (len(X), 1)), *fitted.staged_raw_score(X)):
        predicted = fitted.scorer.link(raw_score)[:, 0]
        error = response - predicted
        if loss.name == "squared_error":
            each = error**2 / 2.0
        elif loss.name == "poisson":
            ratio = np.where(response > 0.0, response, predicted) / predicted  # 0 · log 0 is 0
            each = response * np.log(ratio) - error
        elif loss.name == "gamma":
            each = response / predicted - np.log(response / predicted) - 1.0
        else:
            share = 0.5 if loss.quantile is None else loss.quantile
            each = np.where(error >= 0.0, share * error, (share - 1.0) * error)
            each = 2.0 * each if loss.name == "absolute_error" else each
        losses.append(each.mean())
    return np.array(losses)


def _name_loss(model: Any) -> str:
    if not read(model, takes_numbers=True).is_regression:
        return "log loss"
    return _NAMES.get(getattr(model, "loss", ""), "loss")


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
    n_kept = read(model, takes_numbers=True).n_estimators
    ax = take_axes(ax, 6.0, 3.6)
    looks: dict[str, dict[str, Any]] = {
        TRAINING: {"color": LINE, "linestyle": "dashed"},
        HELD: {"color": ACCENT},
        GIVEN: {"color": INK, "linestyle": "dashdot"},
    }
    for name, loss in losses.items():
        best = int(loss.argmin())
        least = (Amounts.over(0.0, loss[best]) if loss[best] > 1.0 else Amounts(4)).write(loss[best])
        label = f"{name}: least {least}, round {best}"
        ax.plot(np.arange(len(loss)), loss, linewidth=1.6, label=label, **looks[name])
    if n_kept < max(map(len, losses.values())) - 1:
        ax.axvline(n_kept, color=INK, linewidth=0.8, linestyle="dotted", label=f"{n_kept} rounds kept")
    ax.set_xlabel("round", fontsize=NORMAL)
    ax.set_ylabel(_name_loss(model), fontsize=NORMAL)
    write_thousands(ax.yaxis)
    ax.set_xlim(0, None)
    ax.set_ylim(0.0, None)
    ax.legend(frameon=False, fontsize=SMALL)
    strip(ax)
    return ax
