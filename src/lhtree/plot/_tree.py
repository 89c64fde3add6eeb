"""Plots of a tree, and of one of its branching blocks."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, is_integer, refuse
from ..describe.outline import has_outline, read_outline
from ..describe.palette import AGAINST, FOR, find_pair
from ..draw.figure import draw_scene, fit, new_page
from ..draw.outline import compose_outline
from ..draw.scene import INK, Scene, move
from ..draw.tree import AnyDrawing, draw_header, make_drawing, minus, name_class
from ..model.model import read
from ..model.numbers import NumberFormat
from ..model.views import TreeView
from ..tables.labels import encode_known, take_numbers
from ._axes import SMALL, check_axes, strip, take_axes, take_tree, width_of, write_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Millimetres.
_INCH = 25.4
_MARGIN, _HEADER = 3.0, 15.0
_NARROWEST = 110.0
_LARGEST = (355.0, 254.0)  # without max_depth
_LONGEST, _HUGE = 5_000.0, 2_500_000.0  # length and area beyond which there would be too many pixels
_READABLE = 0.8  # factor by which given axes may shrink the drawing


def plot_tree(
    model: Any, *, tree: int = 0, n_features: int = 3, max_depth: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a tree: a card per block with its rows, the share of the target, and its largest weights as bars.

    A bar is a weight of the block's hyperplane. Positive weights point right: larger values send a row to the right.
    A bar is violet if larger values lead to the side with more of the target, red if with less, grey if with the same.

    Of a boosted model, cards show the value of a block, violet where it raises the raw score of the target, red where
    it lowers it; lines below a block with a single feature have its bound in the user's units, and the side of
    missing values. Linear leaves show their number of slopes, and the value where their features have their means. Of a
    tree of a regression, cards show mean responses, violet where they are above the mean of all rows, red below it.

    A symmetric tree of a boosted model is drawn as a card for each of its levels, whose blocks share one cut, and a
    table of the values of its leaves by the sides of a row; with a smaller ``max_depth`` it is drawn as any other tree.

    A compact tree is drawn whole, on a page of A4 or less: the tree with the shares of its leaves, and below it a panel
    for every block with all its terms. Numbers are weights in the user's units and, in grey, what a missing value
    counts as; bars show the effect of a usual change of a value.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    tree : int, default=0
        Index of the tree in ``trees_``.
    n_features : int, default=3
        Features to show per branching block, largest weights first; a full bar is a weight of 1. Compact trees show
        all.
    max_depth : int, optional
        Deeper blocks are folded into a line with their number. By default as deep as fits on a page. Compact trees
        show all.
    ax : Axes, optional
        Axes to draw into; text shrinks with it and is left out where it would be illegible.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_tree
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ax = plot_tree(LHTClassifier().fit(X, y), tree=0)
    """
    view = take_tree(model, tree)
    check_count("n_features", n_features, 0)
    if max_depth is not None:
        check_count("max_depth", max_depth, 0)
    fitted = read(model, takes_numbers=True)
    if ax is not None:
        check_axes(ax)
    if has_outline(fitted):
        scene = compose_outline(read_outline(fitted))
    else:
        scene = _compose(make_drawing(view, _find_room(ax), n_features, max_depth))
    if ax is None:
        longest = max(scene.width, scene.height)
        shrink = max(longest / _LONGEST, sqrt(scene.width * scene.height / _HUGE), 1.0)
        pyplot = import_extra("matplotlib.pyplot", "plot")
        ax = new_page(pyplot.figure, scene.width / shrink, scene.height / shrink)
    return draw_scene(ax, scene)


def _find_room(ax: Axes | None) -> tuple[float, float]:
    """Return the width and height for the cards of a tree."""
    width, height = _LARGEST
    if ax is not None:
        box, unit = ax.get_window_extent(), _INCH / (ax.figure.dpi * _READABLE)
        width, height = box.width * unit, box.height * unit
    return width - 2 * _MARGIN, height - _HEADER - 2 * _MARGIN


def _compose(drawing: AnyDrawing) -> Scene:
    """Return a page with a header and the tree in the middle below it."""
    width = max(drawing.width, _NARROWEST)
    shapes = move(draw_header(drawing, width), 0.0, 2.0)
    shapes += move(drawing.draw(), (width - drawing.width) / 2.0, _HEADER)
    return Scene(tuple(shapes), width + 2 * _MARGIN, drawing.height + _HEADER + 2 * _MARGIN, _MARGIN)


Floats = NDArray[np.float64]
_N_BINS = 40
_FEW_ROWS = 400


@dataclass(frozen=True)
class BlockRows:
    """The rows that reach a branching block."""

    view: TreeView
    block: int
    feature_sum: Floats  # infinite if the only feature is missing and missing values have a side
    goes_left: NDArray[np.bool_]
    outcome: NDArray[Any]  # whether a row belongs to the target; in a regression, its response

    @property
    def offset(self) -> float:
        """Offset of the hyperplane."""
        return float(self.view.offset[self.block])

    @property
    def extremes(self) -> dict[str, float]:
        """Smallest and largest feature sums of the target (TFS) and the rest (NFS); those without rows are left out."""
        found: dict[str, float] = {}
        has_sum = np.isfinite(self.feature_sum)
        for name, own in (("TFS", self.outcome), ("NFS", ~self.outcome)):
            known = self.feature_sum[own & has_sum]
            if len(known):
                found |= {f"min {name}": float(known.min()), f"max {name}": float(known.max())}
        return found

    def on_side(self, left: bool) -> NDArray[Any]:
        """Return the outcomes of the rows on one side."""
        own: NDArray[Any] = self.outcome[self.goes_left == left]
        return own

    def label_axes(self, ax: Axes, counts: list[tuple[str, str]]) -> None:
        """Write the child blocks above the axes, each between its rows and more text, and the offset below them."""
        room, view = width_of(ax) / 2 - 22.0, self.view
        for is_left, (rows, more) in zip((True, False), counts, strict=True):
            below = int((view.left if is_left else view.right)[self.block])
            text = fit(f"{rows} to {'leaf' if view.is_leaf[below] else 'block'} {below}{more}", room, SMALL)
            title = f"← {text}" if is_left else f"{text} →"
            ax.set_title(title, loc="left" if is_left else "right", fontsize=SMALL, color=INK)
        offset = minus(f"offset c = {self.offset:.4g}")
        ax.set_xlabel(f"feature sum of normalised values; {offset}{self.count_missing()}", fontsize=SMALL)

    def count_missing(self) -> str:
        """Return a text about the rows that have no feature sum."""
        n_rows = int((~np.isfinite(self.feature_sum)).sum())
        if not n_rows:
            return ""
        side = "left" if self.view.missing[self.block] < 0 else "right"
        name = fit(self.view.conditions(self.block).subject, 120.0, SMALL)
        return f"; not drawn: {n_rows} row{'s' * (n_rows > 1)} to the {side}, where {name} is missing"


def find_rows(model: Any, X: Any, y: Any, block: int, tree: int = 0) -> BlockRows:
    """Return the rows of X in a block."""
    fitted, view = read(model, takes_numbers=True), take_tree(model, tree)
    branching = np.flatnonzero(view.left >= 0)
    if not is_integer(block) or block not in branching:
        known = ", ".join(map(str, branching[:20])) + (", …" if len(branching) > 20 else "")
        raise refuse("block", block, f"a branching block of the tree: {known or 'it has none'}")
    rows = fitted.encode(X)
    if fitted.labels:
        outcome = encode_known(y, fitted.classes, len(rows)) == view.heaviest_code[block]
    else:
        outcome = take_numbers(y, len(rows))
    estimator, target = divmod(range(fitted.trees.n_trees)[tree], fitted.n_targets)
    ptr, passed, value = fitted.estimator(estimator).score("trace", rows)
    path = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    at = np.flatnonzero((passed == block) & (path % fitted.n_targets == target))
    goes_left = passed[at + 1] == view.left[block]
    return BlockRows(view, int(block), value[at], goes_left, outcome[path[at] // fitted.n_targets])


def plot_block(model: Any, X: Any, y: Any, block: int = 0, *, tree: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the feature sums of the rows that reach a branching block (the paper's second figure).

    Rows of the target are above the line, the others below. The plot marks the smallest and the largest feature sum of
    the target (TFS) and of the rest (NFS), and the offset c: rows with a smaller feature sum go left, the others right.
    Rows of a boosted model whose single feature is missing have no feature sum; they are counted below the plot. For a
    regression, the responses of the rows are drawn against their feature sums, with the mean on each side.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    X : array-like of shape (n, m)
        Rows, for example the training data.
    y : array-like of shape (n,)
        Their classes, or numbers.
    block : int, default=0
        Number of a branching block.
    tree : int, default=0
        Number of the tree in ``trees_``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_block
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> ax = plot_block(model, X, y, block=0, tree=1)
    """
    fitted, rows = read(model, takes_numbers=True), find_rows(model, X, y, block, tree)
    ax = take_axes(ax, 7.6, 3.9)
    if fitted.labels:
        _draw_sums(rows, ax)
    else:
        _draw_responses(rows, fitted.amounts.plain(), ax)
    ax.axvline(rows.offset, color=INK, linewidth=1.8, zorder=3)
    strip(ax)
    return ax


def _draw_sums(rows: BlockRows, ax: Axes) -> None:
    """Draw histograms of both classes, with their extremes."""
    extremes, fills = (
        rows.extremes,
        find_pair(int(rows.view.heaviest_code[rows.block]), len(rows.view.classes)),
    )
    low, high = _find_limits([*extremes.values(), rows.offset], 0.06)
    edges = _find_edges(low, high, rows.offset)
    tallest = 1.0
    for sign, own, fill in zip((1, -1), (rows.outcome, ~rows.outcome), fills, strict=True):
        heights = np.histogram(rows.feature_sum[own], edges)[0]
        tallest = max(tallest, heights.max(initial=0))
        how: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.4}
        ax.bar(edges[:-1], sign * heights, np.diff(edges), color=fill, **how)
        if own.sum() <= _FEW_ROWS:
            how = {"marker": "|", "s": 30, "linewidth": 0.5, "zorder": 4}
            ax.scatter(rows.feature_sum[own], np.zeros(own.sum()), color=INK, **how)
    for name, value in extremes.items():
        sign, fill = (1, fills[0]) if name.endswith("TFS") else (-1, fills[1])
        how = {"linestyle": "solid" if name.startswith("min") else "dashed", "linewidth": 1.6, "zorder": 2}
        ax.plot(
            [value, value], [0, sign * 1.1 * tallest], color=fill, label=minus(f"{name} {value:.4g}"), **how
        )
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set(xlim=(low, high), ylim=(-1.45 * tallest, 1.15 * tallest))
    if extremes:
        ax.legend(loc="lower center", ncols=4, framealpha=1.0, edgecolor="none", fontsize=SMALL)
    target = name_class(rows.view.heaviest[rows.block])
    sides = [rows.on_side(left) for left in (True, False)]
    rows.label_axes(ax, [(f"{len(own)} rows", f", {own.sum()} of {target}") for own in sides])
    ticks = [tick for tick in ax.get_yticks() if abs(tick) <= tallest and tick == round(tick)]
    ax.set_yticks(ticks, [f"{abs(tick):g}" for tick in ticks])
    ax.set_ylabel(f"rows: rest  |  {fit(target, 70.0, SMALL)}", fontsize=SMALL)


def _find_limits(values: list[float], air: float) -> tuple[float, float]:
    """Return the ends of an axis: the range of values with some air."""
    low, high = min(values), max(values)
    room = air * (high - low) or 1.0
    return low - room, high + room


def _find_edges(low: float, high: float, offset: float) -> Floats:
    """Return edges of equal bins, one edge at the offset, so that no bar is on both sides."""
    width = (high - low) / _N_BINS
    n_below, n_above = np.ceil((offset - low) / width), np.ceil((high - offset) / width)
    return offset + width * np.arange(-n_below, n_above + 1)


def _draw_responses(rows: BlockRows, amounts: NumberFormat, ax: Axes) -> None:
    """Draw responses against feature sums, violet on the side with the larger mean and red on the other."""
    has_sum = np.isfinite(rows.feature_sum)
    low, high = _find_limits([*rows.feature_sum[has_sum].tolist(), rows.offset], 0.05)
    means = [float(own.mean()) if len(own) else np.nan for own in map(rows.on_side, (True, False))]
    counts = []
    for left, mean, ends in zip((True, False), means, ((low, rows.offset), (rows.offset, high)), strict=True):
        own = (rows.goes_left == left) & has_sum
        how: dict[str, Any] = {"s": float(np.clip(4000.0 / max(len(has_sum), 1), 4.0, 18.0)), "alpha": 0.75}
        colour = AGAINST if left == (means[1] > means[0]) else FOR
        ax.scatter(rows.feature_sum[own], rows.outcome[own], color=colour, linewidth=0, zorder=2, **how)
        n_rows = len(rows.on_side(left))
        counts.append(
            (f"{n_rows:,} row{'s' * (n_rows != 1)}", f", mean {minus(amounts.write(mean))}" * (n_rows > 0))
        )
        if n_rows:
            ax.plot(ends, [mean, mean], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
    ax.set_xlim(low, high)
    rows.label_axes(ax, counts)
    ax.set_ylabel("response", fontsize=SMALL)
    write_thousands(ax.yaxis)
