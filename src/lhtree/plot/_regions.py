"""Plot of the predicted class, or number, over two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from .._parameters import check_count, refuse
from ..describe.palette import class_colour
from ..draw.lines import find_lines
from ..draw.style import INK, NORMAL, SMALL, dashes, fit_all, marker, take_axes
from ..draw.take import take_features, take_range
from ..model.model import Model, read
from ..tables.frames import refuse_infinity
from ..tables.labels import take_numbers
from ._held import average_scores, hold, make_grid, say_held
from ._surface import draw_surface

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
        draw_surface(ax, surface, ranges, None if points is None else points[:, along], codes)
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


def take_points(fitted: Model, X: Any, y: Any) -> tuple[NDArray[np.float64] | None, NDArray[Any]]:
    """Rows to draw and the codes of their classes, -1 without classes; of a regression their responses or none."""
    if X is None:
        return None, np.array([], dtype=np.int64)
    points = fitted.encode(X).astype(np.float64)
    if np.isinf(points).any():
        refuse_infinity(points)
    if fitted.is_regression:
        return points, np.array([]) if y is None else take_numbers(y, len(points))
    if y is None:
        return points, np.full(len(points), -1)
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(f"y has shape {labels.shape}, but X has {len(points)} rows: pass one class per row.")
    known = {label: code for code, label in enumerate(fitted.labels)}
    unknown = [label for label in labels.tolist() if label not in known]
    if unknown:
        raise refuse("y", unknown[0], f"classes of the model: {', '.join(map(repr, fitted.labels[:10]))}")
    return points, np.array([known[label] for label in labels.tolist()])


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
