"""Plot of the importance of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._parameters import check_count
from ..describe.palette import ACCENT
from ..draw.figure import fit, fit_all, measure
from ..draw.scene import INK
from ..draw.tree import minus
from ..explain import Importances
from ..model.model import read
from ..model.numbers import NumberFormat
from ._axes import SMALL, check_axes, room_left_of, strip, take_axes, width_of, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 150.0  # points


def plot_importances(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = "gain",
    n_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importance of every column, largest first.

    Parameters
    ----------
    model : classifier or regressor of lhtree, or Importances
        Fitted model, or the result of its ``importances``, which is drawn as it is.
    X, y : array-like, optional
        Rows, required for contributions and permutations, and their classes, required for permutations. Not with
        ``Importances``.
    kind : {"gain", "contribution", "permutation"}, default="gain"
        Kind of importance; see ``model.importances``. Not with ``Importances``.
    n_features : int, default=20
        Number of columns to draw; the others are summed in a last line.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_importances
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_importances(LHTClassifier().fit(X, y))
    """
    if isinstance(model, Importances):
        if X is not None or y is not None or kind not in ("gain", model.kind):
            raise ValueError("the importances are already computed: pass them without X, y and kind.")
        found = model
    else:
        read(model, takes_numbers=True)
        found = model.importances(X, y, kind=kind)
    names, importances, order = found.names, found.values, found.order
    n_shown = min(check_count("n_features", n_features, 1), len(names))
    shown, others = order[:n_shown], order[n_shown:]
    room = _NAME if ax is None else room_left_of(check_axes(ax), _NAME)
    ax = take_axes(ax, 6.4, 0.24 * (n_shown + bool(len(others))) + 0.9)
    ax.barh(range(n_shown), importances[shown], color=ACCENT, height=0.7)
    labels = fit_all([names[f] for f in shown], room, SMALL)
    values = importances[shown].tolist()
    write = (NumberFormat.over(0.0, max(values)) if max(values) > 1.0 else NumberFormat(3)).write
    written = [minus(write(value)) for value in values]
    if len(others):
        values.append(0.0)
        written.append(f"{minus(write(importances[others].sum()))} in total")
        more = f"{len(others)} more feature{'s' if len(others) > 1 else ''}"
        labels.append(more if measure(more, SMALL) <= room else fit(f"{len(others)} more", room, SMALL))
    for at, (value, text) in enumerate(zip(values, written, strict=True)):
        how: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL, "color": INK}
        ax.annotate(text, (max(value, 0.0), at), (3, 0), **how)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    width, number = width_of(ax), measure(written[0], SMALL) + 6.0  # beside the longest bar
    ax.set_xlim(
        1.05 * min(0.0, *values), max(max(values), 1e-3) * max(1.12, width / max(width - number, 0.5 * width))
    )
    ax.set_xlabel(found.unit, fontsize=SMALL)
    write_thousands(ax.xaxis)
    strip(ax)
    return ax
