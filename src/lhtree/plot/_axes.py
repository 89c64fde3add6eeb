"""Axes, colours and labels of plots, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import is_integer, refuse
from ..describe.palette import ACCENT, AGAINST, FOR, class_colour, tint
from ..draw.figure import SNAP
from ..model.model import read
from ..model.views import TreeView, TreeViews

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

DASHES: tuple[Any, ...] = (
    *("solid", "dashed", "dashdot", "dotted"),
    *((0, (7, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 4))),
)
SMALL, NORMAL = 7.5, 9.0

_TICK = 9.0  # points between axes and their labels
_LEAST = 18.0
_MOST_DRAWN = 1e300


def dashes(code: int) -> Any:
    """Return the line style of a class."""
    return DASHES[code % len(DASHES)]


def diverging() -> Colormap:
    """Return a colour map from evidence against (-1) over white (0) to evidence for (1)."""
    return _make_map("#A8323E", AGAINST, "#FFFFFF", FOR, "#35248F")


def sequential(code: int | None) -> Colormap:
    """Return a colour map from white (0) to the colour of a class (1), or to that of numbers if ``code`` is None."""
    colour = ACCENT if code is None else class_colour(code)
    return _make_map("#FFFFFF", tint(colour, 0.5), colour)


def _make_map(*colours: str) -> Colormap:
    colors = import_extra("matplotlib.colors", "plot")
    made: Colormap = colors.LinearSegmentedColormap.from_list("lhtree", colours)
    return made


def check_axes(ax: Any) -> Axes:
    """Raise an error unless ``ax`` is a matplotlib Axes."""
    if not isinstance(ax, import_extra("matplotlib.axes", "plot").Axes):
        raise refuse("ax", ax, "a matplotlib Axes, or None for a new figure")
    checked: Axes = ax
    return checked


def check_type(name: str, value: Any, kind: type, remedy: str) -> None:
    """Raise TypeError with a remedy unless a value is of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type(value).__name__}: pass {remedy}.")


def take_axes(ax: Any, width: float, height: float) -> Axes:
    """Return given axes, or the axes of a new figure of this size in inches."""
    return check_axes(new_panels(1, 1, width, height)[0] if ax is None else ax)


def write_thousands(axis: Any) -> None:
    """Write the numbers at an axis with separators: 150,000."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))


def strip(ax: Axes) -> None:
    """Remove the frame except for the axis lines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def take_tree(model: Any, tree: Any) -> TreeView:
    """Return a tree of a model by its index."""
    trees = TreeViews(read(model, takes_numbers=True))
    if not is_integer(tree) or not -len(trees) <= tree < len(trees):
        raise refuse("tree", tree, f"an integer from 0 to {len(trees) - 1}")
    view: TreeView = trees[tree]
    return view


def take_class(classes: Sequence[Any], target: Any) -> int:
    """Return the code of a class, given by its label."""
    if not len(classes):
        raise refuse("target", target, "None: a regression has no classes")
    if target not in classes:
        raise refuse("target", target, f"one of the classes {', '.join(map(repr, classes[:10]))}")
    return list(classes).index(target)


def check_drawable(name: str, low: float, high: float) -> None:
    """Raise an error for values that are too large for axes of matplotlib."""
    most = max(abs(low), abs(high))
    if most > _MOST_DRAWN:
        raise ValueError(
            f"{name!r} has values of {most:.3g}, but plots show none beyond ±{_MOST_DRAWN}: divide it by a constant "
            "and fit again."
        )


def take_panels(ax: Any, n_panels: int) -> NDArray[Any]:
    """Return the given axes, one per panel."""
    given = np.ravel(np.asarray(ax, dtype=object))
    if len(given) != n_panels:
        raise refuse("ax", ax, f"{n_panels} matplotlib Axes, one per panel, or None for a new figure")
    for panel in given:
        check_axes(panel)
    return given


def new_panels(n_rows: int, n_columns: int, width: float, height: float, **grid: Any) -> NDArray[Any]:
    """Return the axes of a new figure of this size in inches, row by row, shape (n_rows · n_columns,)."""
    pyplot = import_extra("matplotlib.pyplot", "plot")
    panels: NDArray[Any] = pyplot.subplots(
        n_rows, n_columns, figsize=(width, height), layout="constrained", squeeze=False, **grid
    )[1]
    return panels.ravel()


def width_of(ax: Axes) -> float:
    """Return the present width of axes in points."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def room_left_of(ax: Axes, most: float) -> float:
    """Return the points for labels left of given axes, up to the edge of the figure or other axes.

    A figure with a layout engine makes room for labels itself: then the result is ``most``.
    """
    if ax.figure.get_layout_engine() is not None:
        return most
    box = ax.get_window_extent()
    edge = ax.figure.bbox.x0
    for other in ax.figure.axes:
        beside = other.get_window_extent()
        if beside.x1 <= box.x0 and beside.y0 < box.y1 and box.y0 < beside.y1:
            edge = max(edge, beside.x1)
    room = (box.x0 - edge) / ax.figure.dpi * 72.0 - _TICK
    return float(min(most, max(room / SNAP, _LEAST)))
