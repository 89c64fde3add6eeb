"""What pictures are asked for: trees, classes, features, rows and axes by name or number, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._fitted import Fitted, read
from .._forest_data import TreeView
from .._parameters import is_integer, refuse
from ._style import check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def take_tree(model: Any, tree: Any) -> TreeView:
    """A tree of a model by its number."""
    read(model)
    trees = model.trees_
    if not is_integer(tree) or not -len(trees) <= tree < len(trees):
        raise refuse("tree", tree, f"a number from 0 to {len(trees) - 1}")
    view: TreeView = trees[tree]
    return view


def take_count(name: str, value: Any, least: int) -> int:
    """A whole number of at least so many."""
    if not is_integer(value) or value < least:
        raise refuse(name, value, f"an integer of at least {least}")
    return int(value)


def take_feature(fitted: Fitted, feature: Any) -> int:
    """Number of a feature given by the name or number of its column, which holds numbers."""
    names, encoding = fitted.column_names, fitted.encoding
    if is_integer(feature) and -len(names) <= feature < len(names):
        column = int(feature) % len(names)
    elif isinstance(feature, str) and feature in names:
        column = names.index(feature)
    else:
        raise refuse("features", feature, f"names of features or numbers from 0 to {len(names) - 1}")
    if encoding is None:
        return column
    if encoding.categories[column] is not None:
        raise refuse("features", feature, f"features that are numbers: {names[column]!r} holds categories")
    return int(encoding.ptr[column])


def take_features(fitted: Fitted, features: Any) -> list[int]:
    """Numbers of one or more features given by name or number."""
    if isinstance(features, str) or is_integer(features):
        features = [features]
    return [take_feature(fitted, feature) for feature in features]


def take_class(classes: Sequence[Any], target: Any) -> int:
    """Code of a class given by its label."""
    if target not in classes:
        raise refuse("target", target, f"one of the classes {', '.join(map(repr, classes[:10]))}")
    return list(classes).index(target)


def take_range(fitted: Fitted, feature: int, more: NDArray[np.float64] | None = None) -> tuple[float, float]:
    """Least and largest value to draw of a feature: the training range, widened by ``more``, and a little air."""
    low, high = fitted.low[feature], fitted.high[feature]
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
    """Axes of a new figure of so many inches, row by row, shape (n_rows · n_columns,)."""
    pyplot = import_extra("matplotlib.pyplot", "plot")
    panels: NDArray[Any] = pyplot.subplots(
        n_rows, n_columns, figsize=(width, height), layout="constrained", squeeze=False, **grid
    )[1]
    return panels.ravel()


def width_of(ax: Axes) -> float:
    """Width of axes in points as they stand now."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72.0)
