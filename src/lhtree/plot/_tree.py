"""Plot of a tree."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from .._extras import import_extra
from .._parameters import check_count
from ..describe.outline import has_outline, read_outline
from ..draw.figure import draw_scene, new_page
from ..draw.outline import compose_outline
from ..draw.scene import Scene, move
from ..draw.tree import AnyDrawing, draw_header, make_drawing
from ..model.model import read
from ._axes import check_axes, take_tree

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
