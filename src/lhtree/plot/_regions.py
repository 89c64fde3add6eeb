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
    dashes,
    marker,
    sequential,
    take_axes,
    take_features,
    take_range,
    write_thousands,
)
from ._grid import average_scores, hold, make_grid, say_held, take_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
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
    if hyperplanes and fitted.is_boosted:
        raise refuse(
            "hyperplanes", hyperplanes, "None or False: no hyperplane parts what boosted trees add up to"
        )
    if is_mean and hyperplanes:
        expected = "None or False, or a row as well: regions averaged over rows have no hyperplanes"
        raise refuse("hyperplanes", hyperplanes, expected)
    n_points = n_points or (100 if is_mean else 300)
    held = hold(fitted, model, row)
    ranges = [take_range(fitted, f, None if points is None else points[:, f]) for f in along]
    ax = take_axes(ax, 6.6, 4.8)
    where = "at the given row" if row is not None else "at their centres"
    predicted: Any
    if is_mean:
        assert points is not None
        grids, scores, n_rows = average_scores(fitted, points, along, ranges, n_points)
        predicted, where = scores, f"averaged over {n_rows} rows"
    else:
        grids, rows = make_grid(held, along, ranges, n_points)
        predicted = fitted.scorer.value(rows) if fitted.is_regression else fitted.scorer.predict(rows)
    if fitted.is_regression:
        surface = predicted.reshape(n_points, n_points)
        _draw_surface(ax, surface, ranges, None if points is None else points[:, along], codes)
    else:
        predicted = predicted.argmax(axis=1) if is_mean else predicted
        regions = predicted.reshape(n_points, n_points)
        _draw_regions(ax, fitted, regions, ranges)
        _label_regions(ax, fitted, regions, grids)
        if points is not None:
            _draw_points(ax, fitted, points[:, along], codes)
    lines = [] if is_mean or fitted.is_boosted else find_lines(fitted, held, along, ranges)
    if hyperplanes or (hyperplanes is None and len(lines) <= _FEW_LINES):
        for line in lines:
            own = INK if fitted.n_classes == 2 or fitted.is_joint else class_colour(line.target)
            ax.plot(
                line.x,
                line.y,
                color=own,
                linewidth=max(0.8, 2.2 - 0.4 * line.depth),
                linestyle=dashes(max(line.target, 0)),
            )
    names = fit_all([fitted.feature_names[f] for f in along], _LABEL, NORMAL)
    ax.set(xlim=ranges[0], ylim=ranges[1])
    ax.set_xlabel(names[0], fontsize=NORMAL)
    ax.set_ylabel(names[1], fontsize=NORMAL)
    ax.set_title(say_held(fitted, 2, where), fontsize=SMALL)
    ax.tick_params(labelsize=SMALL)
    return ax


def _draw_regions(ax: Axes, fitted: Model, regions: NDArray[Any], ranges: list[tuple[float, float]]) -> None:
    colors = import_extra("matplotlib.colors", "plot")
    paint = np.array([colors.to_rgb(class_colour(code)) for code in range(fitted.n_classes)])
    tint = 0.28 * paint + 0.72
    extent = (*ranges[0], *ranges[1])
    ax.imshow(tint[regions], origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)


def find_middle(region: NDArray[np.bool_]) -> tuple[int, int]:
    """The cell of a region that is furthest from its border."""
    ndimage = import_extra("scipy.ndimage", "plot")
    inside = np.pad(region, 1)
    distance = ndimage.distance_transform_edt(inside)[1:-1, 1:-1]
    row, column = np.unravel_index(distance.argmax(), region.shape)
    return int(row), int(column)


def _label_regions(ax: Axes, fitted: Model, regions: NDArray[Any], grids: Any) -> None:
    """Write the class into its region, for readers without colours."""
    labels = fit_all(fitted.labels, 80.0, SMALL)
    for code in np.unique(regions):
        row, column = find_middle(regions == code)
        ax.text(
            grids[0][row, column],
            grids[1][row, column],
            labels[code],
            ha="center",
            va="center",
            fontsize=SMALL,
            color=INK,
            zorder=5,
            bbox={
                "facecolor": "white",
                "edgecolor": class_colour(code),
                "alpha": 0.85,
                "pad": 2.0,
            },
        )


def _draw_points(ax: Axes, fitted: Model, points: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
    labels = fit_all(fitted.labels, 90.0, SMALL)
    size = float(np.clip(6000.0 / max(len(points), 1), 6.0, 28.0))
    for code in np.unique(codes):
        own = codes == code
        ax.scatter(
            points[own, 0],
            points[own, 1],
            s=size,
            marker=marker(code) if code >= 0 else "o",
            color=class_colour(code) if code >= 0 else INK,
            edgecolor=INK,
            linewidth=0.5,
            label=labels[code] if code >= 0 else "rows",
            zorder=3,
        )
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=SMALL,
        markerscale=float(np.sqrt(28.0 / size)),
        title="class",
        title_fontsize=SMALL,
    )


def _draw_surface(
    ax: Axes, surface: Floats, ranges: list[tuple[float, float]], points: Floats | None, response: Floats
) -> None:
    """Draw a grid of predictions; rows are at ``points``, shape (n, 2), with or without responses, shape (n,)."""
    seen = np.append(surface.ravel(), response)
    scale: dict[str, Any] = {"cmap": sequential(None), "vmin": float(seen.min()), "vmax": float(seen.max())}
    extent = (*ranges[0], *ranges[1])
    how: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    image = ax.imshow(surface, extent=extent, **how, **scale)
    if points is not None:
        size = float(np.clip(6000.0 / max(len(points), 1), 6.0, 28.0))
        colours: dict[str, Any] = {"c": response, **scale} if len(response) else {"color": INK}
        ax.scatter(points[:, 0], points[:, 1], s=size, edgecolor=INK, linewidth=0.5, zorder=3, **colours)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("prediction; of rows, the response" if len(response) else "prediction", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    write_thousands(bar.ax.yaxis)


class Line(NamedTuple):
    """A hyperplane as far as its block reaches within the picture, in the user's units."""

    tree: int
    block: int
    depth: int
    target: int
    x: tuple[float, float]
    y: tuple[float, float]


def find_lines(
    fitted: Model, held: Floats, along: list[int], ranges: list[tuple[float, float]]
) -> list[Line]:
    """The hyperplane of every branching block, cut off where the blocks above send rows elsewhere.

    Blocks that no point of the picture reaches, and hyperplanes that do not part their region of it, have no line.
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
    """Part a convex region (its corners in turn) where y, linear and given at the corners, changes sign.

    Returns the corners of the part with y < 0, those of the rest, and the two ends of the line between them.
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
    """Slopes over the two features in the user's units, and offset, of a block's hyperplane with the others held."""
    trees, (centre, scale) = fitted.trees, fitted.normalisation
    some = slice(trees.hyperplane_ptr[at], trees.hyperplane_ptr[at + 1])
    weights = np.zeros(fitted.n_features)
    weights[trees.hyperplane_feature[some]] = trees.hyperplane_weight[some]
    slope = (weights / scale)[along]
    z = np.nan_to_num((held - centre) / scale)  # missing values sit at the centre
    z[along] = -(centre / scale)[along]
    return slope, float(trees.offset[at] - weights @ z)
