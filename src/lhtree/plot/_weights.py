"""Plots of weights, per branching block and of the whole model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_count
from ..describe.weights import PREDICTION, WeightTable, mean_weights, weight_table
from ..draw.figure import fit, fit_all
from ..draw.scene import INK
from ..draw.tree import name_class
from ..model.model import Model, read
from ._axes import NORMAL, SMALL, diverging, new_panels, room_left_of, take_panels, take_tree, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME, _TITLE = 150.0, 14.0  # points
_WIDEST = 14.0  # inches
_ROW = 0.22
_MOST_PANELS = 12
_MOST_NUMBERS = 4000  # in a figure: every text takes a millisecond


def plot_weights(
    model: Any, *, tree: int | None = None, n_features: int = 40, ax: Any = None
) -> NDArray[Any]:
    """Draw the weights of every branching block of a tree (the paper's figure), or the mean weights of a forest.

    A tree has a panel per class, with branching blocks as columns and features as rows. A forest has one panel with
    classes as columns: the means over all blocks of all trees, weighted by their samples. Violet weights are evidence
    for the class, red ones against it. They apply to normalised features, so they can be compared. Their sign refers to
    the class, as in ``weight_table(model).per_class()``: if the left side has more of the class, the hyperplane itself
    has the opposite sign (which ``plot_tree`` and ``export_text`` show). If both sides have the same share, weights are
    white and marked ±. In a boosted model, the side with the larger value has more of the class; in a regression,
    violet weights are for a larger prediction, red ones for a smaller one.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    tree : int, optional
        Index of the only tree in ``trees_`` to draw.
    n_features : int, default=40
        Maximum number of features; those with the largest weights are drawn.
    ax : Axes or sequence of Axes, optional
        One per panel; with more than 12 classes, only the 12 largest are drawn.

    Returns
    -------
    array of Axes, one per panel

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_weights
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> axes = plot_weights(LHTClassifier(beta=0.25).fit(X, y))
    """
    check_count("n_features", n_features, 1)
    fitted = read(model, takes_numbers=True)
    if tree is None and fitted.n_estimators > 1:
        return _plot_means(fitted, n_features, ax)
    trees = _choose_trees(fitted) if tree is None else [tree]
    panels = [_TreePanel(model, number, weight_table(model, number)) for number in trees]
    features = choose_features([panel.table for panel in panels], n_features)
    cells = [_measure_cell(len(panel.table.block), len(panels)) for panel in panels]
    is_written = sum(len(panel.table.block) for panel in panels) * len(features) <= _MOST_NUMBERS
    axes = _make_panels(panels, cells, len(features)) if ax is None else take_panels(ax, len(panels))
    n_columns = _count_columns(panels, cells)
    shown = [panels[0].table.feature_names[f] for f in features]
    more = fitted.n_features - len(features)
    image = None
    for at, (panel, cell, own) in enumerate(zip(panels, cells, axes, strict=True)):
        is_first = ax is not None or at % n_columns == 0
        cell = cell if ax is None else _measure_own(own, len(panel.table.block), len(features))
        image = _draw_panel(own, panel, features, cell, is_written) or image
        room = _NAME if ax is None else room_left_of(own, _NAME, _TITLE if more and at == 0 else 0.0)
        names = fit_all(shown, room, SMALL) if is_first else []
        own.set_yticks(range(len(shown)), names, fontsize=SMALL)
    if more:
        axes[0].set_ylabel(f"top {len(features)} of {len(features) + more} features", fontsize=SMALL)
    if ax is None and image is not None:
        _add_bar(axes[0], image, list(axes[:n_columns]), len(features), fitted)
    if ax is None and tree is None and len(trees) < fitted.n_targets:
        title = f"the {len(trees)} largest of {fitted.n_classes} classes"
        axes[0].figure.suptitle(title, fontsize=NORMAL)
    return axes


def _choose_trees(fitted: Model) -> list[int]:
    """Return the trees of the classes with most rows, in the order of the classes."""
    size = fitted.prior if fitted.n_targets > 1 else np.ones(1)
    return sorted(np.argsort(-size, kind="stable")[:_MOST_PANELS].tolist())


def _plot_means(fitted: Model, n_features: int, ax: Any) -> NDArray[Any]:
    """Draw mean weights over all trees in one panel, a column per class (only the second of two classes)."""
    weights = mean_weights(fitted)
    features = np.sort(np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:n_features])
    labels = fitted.labels[fitted.n_classes - len(weights) :] if fitted.n_classes else [PREDICTION]
    own = weights[:, features].T
    cell = float(np.clip(_WIDEST / len(labels), 0.035, 0.42))
    size = (max(cell * len(labels), 1.3) + 3.1, len(features) * _ROW + 1.6)
    axes = new_panels(1, 1, *size) if ax is None else take_panels(ax, 1)
    panel, room = axes[0], _NAME if ax is None else room_left_of(axes[0], _NAME)
    if ax is not None:
        cell = _measure_own(panel, len(labels), len(features))
    most = float(np.abs(own).max(initial=0.0)) or 1.0
    image = _draw_cells(panel, own, cell, most)
    if cell >= 0.13:
        _write_weights(panel, own, np.ones(len(labels)), cell, most)
    step = max(1, int(np.ceil(0.16 / cell)))
    panel.set_xticks(range(0, len(labels), step), fit_all(labels, 80.0, SMALL)[::step], rotation=90)
    names = [fitted.feature_names[f] for f in features]
    panel.set_yticks(range(len(names)), fit_all(names, room, SMALL), fontsize=SMALL)
    panel.set_title(f"mean of {fitted.n_estimators} trees", fontsize=NORMAL)
    if len(features) < fitted.n_features:
        panel.set_ylabel(f"top {len(features)} of {fitted.n_features} features", fontsize=SMALL)
    if ax is None:
        _add_bar(panel, image, [panel], len(features), fitted)
    return axes


def _add_bar(ax: Axes, image: Any, beside: list[Axes], n_features: int, fitted: Model) -> None:
    bar = ax.figure.colorbar(image, ax=beside, shrink=0.8, aspect=5.0 * n_features * _ROW, pad=0.01)
    what = "the class" if fitted.labels else "a larger prediction"
    bar.set_label(f"weight for {what}", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)


class _TreePanel(NamedTuple):
    model: Any
    tree: int
    table: WeightTable


def choose_features(tables: list[WeightTable], n_features: int) -> NDArray[np.int64]:
    """Return the indices of the features with the largest |weight|, blocks weighted by their samples.

    Features without any weight are left out, unless all are.
    """
    heaviness = np.sum([table.weight @ np.abs(table.weights) for table in tables], axis=0)
    n_used = int((heaviness > 0.0).sum()) or len(heaviness)
    return np.sort(np.argsort(-heaviness, kind="stable")[: min(n_features, n_used)])


def _measure_cell(n_blocks: int, n_panels: int) -> float:
    """Return the width of a column in inches."""
    return float(np.clip(_WIDEST / max(n_blocks * min(n_panels, 3), 1), 0.035, 0.42))


def _measure_own(ax: Axes, n_blocks: int, n_features: int) -> float:
    """Return the width of a column in given axes; too small for numbers if rows are too low for them."""
    height = ax.get_window_extent().height / ax.get_window_extent().width * width_of(ax)
    cell = 0.75 * width_of(ax) / 72.0 / max(n_blocks, 1)
    return cell if height / n_features > SMALL + 2.0 else min(cell, 0.12)


def _count_columns(panels: list[_TreePanel], cells: list[float]) -> int:
    widest = max(_panel_width(panel, cell) for panel, cell in zip(panels, cells, strict=True))
    return int(np.clip(_WIDEST / widest, 1, len(panels)))


def _panel_width(panel: _TreePanel, cell: float) -> float:
    return max(cell * len(panel.table.block), 1.3)


def _make_panels(panels: list[_TreePanel], cells: list[float], n_features: int) -> NDArray[Any]:
    widths = [_panel_width(panel, cell) for panel, cell in zip(panels, cells, strict=True)]
    n_columns = _count_columns(panels, cells)
    n_rows = -(-len(panels) // n_columns)
    ratios = [max(widths[column::n_columns]) for column in range(n_columns)]
    size = (sum(ratios) + 0.15 * n_columns + 3.1, n_rows * (n_features * _ROW + 0.9))
    axes = new_panels(n_rows, n_columns, *size, width_ratios=ratios)
    for unused in axes[len(panels) :]:
        unused.remove()
    return axes[: len(panels)]


def _draw_panel(
    ax: Axes, panel: _TreePanel, features: NDArray[np.int64], cell: float, is_written: bool
) -> Any:
    table = panel.table
    view = take_tree(panel.model, panel.tree)
    own, turn = table.weights[:, features].T, np.sign(table.lift)
    weights = own * turn + 0.0
    room = max(cell * len(table.block), 1.3) * 72.0
    number = f", tree {panel.tree}" if read(panel.model, takes_numbers=True).n_estimators > 1 else ""
    what = "all classes" if len(view.classes) else PREDICTION
    if view.target is not None:
        what = name_class(view.target)
    ax.set_title(fit(f"{what}{number}", room, NORMAL), fontsize=NORMAL)
    ax.tick_params(length=0, labelsize=SMALL)
    if not weights.size:
        ax.set_xticks([])
        ax.set_ylim(len(features) - 0.5, -0.5)
        ax.text(0.5, 0.5, "one leaf", ha="center", va="center", transform=ax.transAxes, fontsize=SMALL)
        return None
    n_blocks = len(table.block)
    image = _draw_cells(ax, weights, cell, 1.0)
    step = max(1, int(np.ceil(0.25 / max(cell, 0.02))))
    ax.set_xticks(range(0, n_blocks, step), [str(block) for block in table.block[::step]])
    ax.set_xlabel("branching block", fontsize=SMALL)
    if cell >= 0.13 and is_written:
        _write_weights(ax, own, turn, cell)
    return image


def _draw_cells(ax: Axes, weights: NDArray[np.float64], cell: float, most: float) -> Any:
    """Draw weights as colours, with white lines between them."""
    ax.tick_params(length=0, labelsize=SMALL)
    colours: dict[str, Any] = {"cmap": diverging(), "vmin": -most, "vmax": most}
    image = ax.imshow(weights, aspect="auto", interpolation="nearest", **colours)
    n_rows, n_columns = weights.shape
    how: Any = {"color": "white", "linewidth": 0.6 if cell > 0.12 else 0.2}
    ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, **how)
    ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, **how)
    return image


def _write_weights(
    ax: Axes, own: NDArray[np.float64], turn: NDArray[np.float64], cell: float, most: float = 1.0
) -> None:
    """Write numbers if cells are wide enough, else the sign of negative ones, for readers without colours."""
    for (feature, block), unturned in np.ndenumerate(own):
        weight = unturned * turn[block]
        if unturned == 0.0 or (cell < 0.36 and weight > -0.05 * most):
            continue
        number = f"{weight:+.2f}".replace("-", "−") if turn[block] else f"±{abs(unturned):.2f}"
        text = number if cell >= 0.36 else "−"
        colour = "white" if weight > 0.45 * most or weight < -0.8 * most else INK
        ax.text(block, feature, text, ha="center", va="center", color=colour, fontsize=SMALL - 0.7)
