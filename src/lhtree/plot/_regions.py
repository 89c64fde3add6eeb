"""Plot of the predicted class, or number, over two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, refuse
from ..describe.palette import class_colour
from ..draw.figure import fit_all
from ..draw.scene import INK
from ..model.model import Model, read
from ._axes import (
    NORMAL,
    SMALL,
    add_class_legend,
    dashes,
    marker,
    sequential,
    take_axes,
    take_features,
    take_range,
    write_thousands,
)
from ._grid import Floats, Ranges, average_scores, describe_held, hold, make_grid, take_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 200.0  # points
_FEW_LINES = 60


def plot_decision_regions(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    features: Any = (0, 1),
    row: Any = None,
    hyperplanes: bool | None = None,
    n_points: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the predicted class over two features, the hyperplanes between the regions, and points.

    The predicted number of a regression is drawn as a colour, and so are the responses of points.

    Parameters
    ----------
    model : classifier or regressor of lhtree
        Fitted model.
    X, y : array-like, optional
        Rows to draw as points, and their classes or responses. If the model has more than two features and no
        ``row`` is given, the regions show the class with the largest mean probability, or the mean prediction, averaged
        over the other features of (at most 100 of) these rows.
    features : sequence of two, default=(0, 1)
        Names or indices of features.
    row : array-like, dict or Series, optional
        Values for the other features. Without ``row`` and X they are held at their centres.
    hyperplanes : bool, optional
        Draw each hyperplane within its block; by default if there are at most 60. Not available if regions are averaged
        over rows, nor for boosted models.
    n_points : int, optional
        Grid points per feature; by default 300, or 100 if regions are averaged over rows.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, plot_decision_regions
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> two = X[["flavanoids", "color_intensity"]]
    >>> ax = plot_decision_regions(LHTClassifier(gamma=50).fit(two, y), two, y)
    """
    fitted = read(model, takes_numbers=True)
    if len(fitted.column_names) < 2:
        raise ValueError("the model has one column, but regions need two: use plot_membership.")
    along = take_features(fitted, features)
    if len(along) != 2 or along[0] == along[1]:
        raise refuse("features", features, "two different features")
    if n_points is not None:
        check_count("n_points", n_points, 2)
    points, codes = take_points(fitted, X, y)
    is_mean = points is not None and len(points) > 0 and row is None and len(fitted.column_names) > 2
    if hyperplanes and fitted.head.adds_rounds:
        expected = "None or False: the sum of boosted trees is not separated by hyperplanes"
        raise refuse("hyperplanes", hyperplanes, expected)
    if is_mean and hyperplanes:
        expected = "None or False, or a row as well: regions averaged over rows have no hyperplanes"
        raise refuse("hyperplanes", hyperplanes, expected)
    n_points = n_points or (100 if is_mean else 300)
    held = hold(fitted, model, row)
    ranges = [take_range(fitted, f, None if points is None else points[:, f]) for f in along]
    ax = take_axes(ax, 6.6, 4.8)
    where = ""
    grids, rows = make_grid(held, along, ranges, n_points)
    if is_mean:
        assert points is not None
        scores, n_rows = average_scores(fitted, points, along, ranges, n_points)
        predicted, where = scores.argmax(axis=1) if fitted.labels else scores, f"averaged over {n_rows} rows"
    else:
        predicted = fitted.ask(fitted.head.predicts, rows)
    draw = _draw_classes if fitted.labels else _draw_surface
    own = None if points is None else points[:, along]
    draw(ax, fitted, predicted.reshape(n_points, n_points), grids, own, codes)
    lines = [] if is_mean or fitted.head.adds_rounds else find_lines(fitted, held, along, ranges)
    if hyperplanes or (hyperplanes is None and len(lines) <= _FEW_LINES):
        for line in lines:
            how = {"linewidth": max(0.8, 2.2 - 0.4 * line.depth), "linestyle": dashes(max(line.target, 0))}
            ax.plot(line.x, line.y, color=INK if fitted.n_targets == 1 else class_colour(line.target), **how)
    names = fit_all([fitted.feature_names[f] for f in along], _LABEL, NORMAL)
    ax.set(xlim=ranges[0], ylim=ranges[1])
    ax.set_xlabel(names[0], fontsize=NORMAL)
    ax.set_ylabel(names[1], fontsize=NORMAL)
    ax.set_title(describe_held(fitted, 2, row, where), fontsize=SMALL)
    ax.tick_params(labelsize=SMALL)
    return ax


def _draw_image(ax: Axes, image: NDArray[Any], grids: tuple[Floats, Floats], **colours: Any) -> Any:
    extent = (grids[0][0, 0], grids[0][0, -1], grids[1][0, 0], grids[1][-1, 0])
    how: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    return ax.imshow(image, extent=extent, **how, **colours)


def _find_size(points: Floats) -> float:
    return float(np.clip(6000.0 / max(len(points), 1), 6.0, 28.0))


def _draw_classes(
    ax: Axes,
    fitted: Model,
    regions: NDArray[Any],
    grids: tuple[Floats, Floats],
    points: Floats | None,
    codes: NDArray[Any],
) -> None:
    """Draw regions with the names of their classes, for readers without colours, and rows by class."""
    colors = import_extra("matplotlib.colors", "plot")
    paint = np.array([colors.to_rgb(class_colour(code)) for code in range(fitted.n_classes)])
    _draw_image(ax, (0.28 * paint + 0.72)[regions], grids)
    labels = fit_all(fitted.labels, 80.0, SMALL)
    for code in np.unique(regions):
        at = find_middle(regions == code)
        behind = {"facecolor": "white", "edgecolor": class_colour(code), "alpha": 0.85, "pad": 2.0}
        how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "zorder": 5}
        ax.text(grids[0][at], grids[1][at], labels[code], bbox=behind, **how)
    if points is None:
        return
    labels, size = fit_all(fitted.labels, 90.0, SMALL), _find_size(points)
    for code in np.unique(codes):
        how = {"marker": "o", "color": INK, "label": "rows"}
        if code >= 0:
            how = {"marker": marker(code), "color": class_colour(code), "label": labels[code]}
        x, y = points[codes == code].T
        ax.scatter(x, y, s=size, edgecolor=INK, linewidth=0.5, zorder=3, **how)
    add_class_legend(ax, markerscale=float(np.sqrt(28.0 / size)))


def _draw_surface(
    ax: Axes,
    fitted: Model,
    surface: Floats,
    grids: tuple[Floats, Floats],
    points: Floats | None,
    response: NDArray[Any],
) -> None:
    """Draw predicted numbers as colours, and the responses of rows in the same colours."""
    seen = np.append(surface.ravel(), response)
    scale: dict[str, Any] = {"cmap": sequential(None), "vmin": float(seen.min()), "vmax": float(seen.max())}
    image = _draw_image(ax, surface, grids, **scale)
    if points is not None:
        colours: dict[str, Any] = {"c": response, **scale} if len(response) else {"color": INK}
        ax.scatter(
            points[:, 0],
            points[:, 1],
            s=_find_size(points),
            edgecolor=INK,
            linewidth=0.5,
            zorder=3,
            **colours,
        )
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("prediction; of rows, the response" if len(response) else "prediction", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    write_thousands(bar.ax.yaxis)


def find_middle(region: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the cell of a region that is furthest from its border."""
    ndimage = import_extra("scipy.ndimage", "plot")
    inside = np.pad(region, 1)
    distance = ndimage.distance_transform_edt(inside)[1:-1, 1:-1]
    row, column = np.unravel_index(distance.argmax(), region.shape)
    return int(row), int(column)


class Line(NamedTuple):
    """The part of a hyperplane within its block and the plot, in the user's units."""

    tree: int
    block: int
    depth: int
    target: int
    x: tuple[float, float]
    y: tuple[float, float]


def find_lines(fitted: Model, held: Floats, along: list[int], ranges: Ranges) -> list[Line]:
    """Return the hyperplane of every branching block, restricted to the region of its block.

    Blocks outside the plot and hyperplanes that do not cross their region have no line.
    """
    trees = fitted.trees
    (low_x, high_x), (low_y, high_y) = ranges
    picture = np.array([[low_x, low_y], [high_x, low_y], [high_x, high_y], [low_x, high_y]])
    lines = []
    for tree in range(trees.n_trees):
        work = [(0, 0, picture)]
        while work:
            block, depth, region = work.pop()
            at = int(trees.block_ptr[tree]) + block
            left = int(trees.left[at])
            if left < 0:
                continue
            slope, offset = _find_plane(fitted, at, held, along)
            y = region @ slope - offset
            if (y < 0.0).all() or (y >= 0.0).all():
                work.append((left if y[0] < 0.0 else left + 1, depth + 1, region))
                continue
            below, above, ends = part(region, y)
            first, second = ends.T.tolist()
            lines.append(Line(tree, block, depth, int(trees.target[tree]), tuple(first), tuple(second)))
            work += [(left + 1, depth + 1, above), (left, depth + 1, below)]
    return lines


def part(region: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Split a convex region, given by its corners in order, where y changes sign; y is linear and given at the corners.

    Returns the corners of the part with y < 0, the corners of the rest, and the two ends of the line between them.
    """
    after, y_after = np.roll(region, -1, axis=0), np.roll(y, -1)
    below: list[Floats] = []
    above: list[Floats] = []
    ends: list[Floats] = []
    for corner, following, here, there in zip(region, after, y, y_after, strict=True):
        (below if here < 0.0 else above).append(corner)
        if (here < 0.0) != (there < 0.0):
            end = corner + (following - corner) * (here / (here - there))
            ends.append(end)
            below.append(end)
            above.append(end)
    return np.array(below), np.array(above), np.array(ends)


def _find_plane(fitted: Model, at: int, held: Floats, along: list[int]) -> tuple[Floats, float]:
    """Return the slopes of a hyperplane over two features in the user's units, and its offset with the others held."""
    trees, (centre, scale) = fitted.trees, fitted.normalisation
    some = slice(trees.hyperplane_ptr[at], trees.hyperplane_ptr[at + 1])
    weights = np.zeros(fitted.n_features)
    weights[trees.hyperplane_feature[some]] = trees.hyperplane_weight[some]
    slope = (weights / scale)[along]
    z = np.nan_to_num((held - centre) / scale)  # missing values sit at the centre
    z[along] = -(centre / scale)[along]
    return slope, float(trees.offset[at] - weights @ z)
