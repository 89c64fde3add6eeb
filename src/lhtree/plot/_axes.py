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
from ..model.model import Model, read
from ..model.views import TreeView, TreeViews

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# Seven of each, against 24 colours: 168 classes look different, and the first seven do in grey.
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = (
    "solid",
    "dashed",
    "dashdot",
    "dotted",
    (0, (7, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 4)),
)
SMALL, NORMAL = 7.5, 9.0

_TICK = 9.0  # points from axes to the letters of a label, and some air
_LEAST = 18.0


def marker(code: int) -> str:
    """Marker of a class."""
    return MARKERS[code % len(MARKERS)]


def dashes(code: int) -> Any:
    """Line style of a class."""
    return DASHES[code % len(DASHES)]


def diverging() -> Colormap:
    """From evidence against (-1) over white (0) to evidence for (1)."""
    return _make_map("#A8323E", AGAINST, "#FFFFFF", FOR, "#35248F")


def sequential(code: int | None) -> Colormap:
    """From white (0) to the colour of a class (1); None is for numbers."""
    colour = ACCENT if code is None else class_colour(code)
    return _make_map("#FFFFFF", tint(colour, 0.5), colour)


def _make_map(*colours: str) -> Colormap:
    colors = import_extra("matplotlib.colors", "plot")
    made: Colormap = colors.LinearSegmentedColormap.from_list("lhtree", colours)
    return made


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of so many inches."""
    pyplot = import_extra("matplotlib.pyplot", "plot")
    ax: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def check_axes(ax: Any) -> Axes:
    """Refuse what is not a matplotlib Axes."""
    if not isinstance(ax, import_extra("matplotlib.axes", "plot").Axes):
        raise refuse("ax", ax, "a matplotlib Axes, or None for a new figure")
    checked: Axes = ax
    return checked


def take_axes(ax: Any, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of so many inches."""
    return new_axes(width, height) if ax is None else check_axes(ax)


def write_thousands(axis: Any) -> None:
    """Numbers at an axis as people write them: 150,000."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))


def strip(ax: Axes) -> None:
    """Take away the frame but for the axis lines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def take_tree(model: Any, tree: Any) -> TreeView:
    """A tree of a model by its number."""
    trees = TreeViews(read(model, takes_numbers=True))
    if not is_integer(tree) or not -len(trees) <= tree < len(trees):
        raise refuse("tree", tree, f"an integer from 0 to {len(trees) - 1}")
    view: TreeView = trees[tree]
    return view


def take_feature(fitted: Model, feature: Any) -> int:
    """Number of a feature given by the name or number of its column, which holds numbers."""
    names, encoding = fitted.column_names, fitted.encoding
    if is_integer(feature) and -len(names) <= feature < len(names):
        column = int(feature) % len(names)
    elif isinstance(feature, str) and feature in names:
        column = names.index(feature)
    else:
        raise refuse("features", feature, f"names of features or indices from 0 to {len(names) - 1}")
    if encoding.categories[column] is not None:
        raise refuse("features", feature, f"numeric features: {names[column]!r} is categorical")
    if encoding.ptr[column] == encoding.ptr[column + 1]:
        raise refuse(
            "features", feature, f"features of the model: {names[column]!r} names rows and is ignored"
        )
    return int(encoding.ptr[column])


def take_features(fitted: Model, features: Any) -> list[int]:
    """Numbers of one or more features given by name or number."""
    if isinstance(features, str) or is_integer(features):
        features = [features]
    return [take_feature(fitted, feature) for feature in features]


def take_class(classes: Sequence[Any], target: Any) -> int:
    """Code of a class given by its label."""
    if not len(classes):
        raise refuse("target", target, "None: a regression has no classes")
    if target not in classes:
        raise refuse("target", target, f"one of the classes {', '.join(map(repr, classes[:10]))}")
    return list(classes).index(target)


def take_range(fitted: Model, feature: int, more: NDArray[np.float64] | None = None) -> tuple[float, float]:
    """Least and largest value to draw of a feature: the training range, widened by ``more``, and a little air."""
    low, high = fitted.span.low[feature], fitted.span.high[feature]
    if more is not None and np.isfinite(more).any():
        low, high = np.fmin(low, np.nanmin(more)), np.fmax(high, np.nanmax(more))
    if not low < high:  # constant, or all missing
        centre, scale = (float(part[feature]) for part in fitted.normalisation)
        return centre - scale, centre + scale
    air = (high - low) * 0.04
    return float(low - air), float(high + air)


def take_panels(ax: Any, n_panels: int) -> NDArray[Any]:
    """The axes given for panels, one each."""
    given = np.ravel(np.asarray(ax, dtype=object))
    if len(given) != n_panels:
        raise refuse("ax", ax, f"{n_panels} matplotlib Axes, one per panel, or None for a new figure")
    for panel in given:
        check_axes(panel)
    return given


def new_panels(n_rows: int, n_columns: int, width: float, height: float, **grid: Any) -> NDArray[Any]:
    """Axes of a new figure of this size in inches, row by row, shape (n_rows · n_columns,)."""
    pyplot = import_extra("matplotlib.pyplot", "plot")
    panels: NDArray[Any] = pyplot.subplots(
        n_rows, n_columns, figsize=(width, height), layout="constrained", squeeze=False, **grid
    )[1]
    return panels.ravel()


def width_of(ax: Axes) -> float:
    """Width of axes in points as they stand now."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)


def room_left_of(ax: Axes, most: float, less: float = 0.0) -> float:
    """Points for labels left of axes given, up to the figure's edge or the axes beside; at least a few letters.

    Where the figure lays itself out, axes make room for their labels: then it is ``most``.
    """
    if ax.figure.get_layout_engine() is not None:
        return most
    box = ax.get_window_extent()
    edge = ax.figure.bbox.x0
    for other in ax.figure.axes:
        beside = other.get_window_extent()
        if beside.x1 <= box.x0 and beside.y0 < box.y1 and box.y0 < beside.y1:
            edge = max(edge, beside.x1)
    room = (box.x0 - edge) / ax.figure.dpi * 72.0 - _TICK - less
    return float(min(most, max(room / SNAP, _LEAST)))
