"""Curves and surfaces of additive models, in the user's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra
from ..model.model import Model
from ..model.numbers import write_value
from ..model.terms import AdditiveTerm, TermAxis, normalise_values, read_terms

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Draw = Callable[..., Any]
MISSING = "missing"
_EXTREME_SHARE = 0.005  # of the rows at either end of a column, which plots may leave out
_MOST_WIDE = 1.3  # times the range without extreme values, which plots show whole


@dataclass(frozen=True, eq=False)
class Scale:
    """The steps of a column: ranges between edges, or categories; missing values have the last step."""

    column: str
    edges: Floats | None  # in the user's units, ascending; a value equal to an edge is above it
    categories: tuple[Any, ...] | None
    is_statistic: bool = False  # whether numbers are target statistics of categories

    @property
    def title(self) -> str:
        """The column, and what its numbers are if they are not its values."""
        return f"{self.column} (mean target)" if self.is_statistic else self.column

    @property
    def labels(self) -> list[str]:
        """A text for every step."""
        if self.categories is not None:
            return [*map(str, self.categories), MISSING]
        assert self.edges is not None
        texts = [write_value(edge) for edge in self.edges.tolist()]
        if not texts:
            return ["any value", MISSING]
        middle = [f"{low} ≤ x < {high}" for low, high in pairwise(texts)]
        return [f"x < {texts[0]}", *middle, f"{texts[-1]} ≤ x", MISSING]


@dataclass(frozen=True, eq=False)
class Curve:
    """The curve of a column in an additive model.

    Attributes
    ----------
    name : str
        The column, or the target statistic of a column.
    edges : array or None
        Edges between the steps of a column of numbers, in its units; values equal to an edge belong to the upper step.
    categories : tuple or None
        Categories of the column, one step each.
    values : array of shape (n_steps + 1,) or (n_steps + 1, K)
        What each step adds to the raw score, or to that of every class; the last value is that of missing values.
    band : array of the shape of values
        Standard errors of the values, from the differences between the bags.
    weight : array of shape (n_steps + 1,)
        Weight of the training rows of each step.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import AdditiveLHTRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AdditiveLHTRegressor(interactions=0, max_steps=3, random_state=0).fit(X, y)
    >>> frame = model.curves_[2].to_frame()
    >>> list(frame.columns)
    ['step', 'value', 'band', 'weight']
    """

    name: str
    edges: Floats | None
    categories: tuple[Any, ...] | None
    values: Floats
    band: Floats
    weight: Floats
    span: tuple[float, float]  # smallest and largest training value of a column of numbers
    classes: tuple[Any, ...] = ()  # of more than two
    draw: Draw | None = None
    is_statistic: bool = False

    @property
    def n_steps(self) -> int:
        """Number of steps, without that of missing values."""
        return len(self.values) - 1

    @property
    def scale(self) -> Scale:
        """The steps of the column."""
        return Scale(self.name, self.edges, self.categories, self.is_statistic)

    def to_frame(self) -> pd.DataFrame:
        """Return a line per step: its range or category, its value (one per class), the band and the weight."""
        return _make_frame({"step": self.scale.labels}, self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its band and the weight of its steps; see ``lhtree.plot_curve``."""
        return draw_with(self.draw, self, ax)


@dataclass(frozen=True, eq=False)
class Surface:
    """The surface of a pair of columns in an additive model.

    Attributes
    ----------
    names : tuple of str
        The two columns.
    scales : tuple of Scale
        The steps of each: ``column``, ``edges``, ``categories`` and ``labels``.
    values : array of shape (n_first + 1, n_second + 1) or (n_first + 1, n_second + 1, K)
        What each cell adds to the raw score. Weighted sums over the rows of either column are 0: the curves have the
        main effects.
    band, weight : arrays
        Standard errors of the values, and weights of the training rows.
    """

    names: tuple[str, str]
    scales: tuple[Scale, Scale]
    values: Floats
    band: Floats
    weight: Floats
    classes: tuple[Any, ...] = ()
    draw: Draw | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a line per cell: its steps, its value (one per class), the band and the weight."""
        first, second = (scale.labels for scale in self.scales)
        across, along = np.repeat(first, len(second)), np.tile(second, len(first))
        return _make_frame({self.names[0]: across, self.names[1]: along}, self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the surface as a heat map; see ``lhtree.plot_curve``."""
        return draw_with(self.draw, self, ax)


def _make_frame(steps: dict[str, Any], term: Curve | Surface) -> pd.DataFrame:
    """Return a line per step or cell; with more than two classes, values and bands of each."""
    frame = dict(steps)
    for name, array in (("value", term.values), ("band", term.band)):
        if term.classes:
            frame |= {f"{name}.{label}": array[..., k].ravel() for k, label in enumerate(term.classes)}
        else:
            frame[name] = array.ravel()
    return import_extra("pandas", "pandas").DataFrame(frame | {"weight": term.weight.ravel()})


def draw_with(draw: Draw | None, term: Curve | Surface, ax: Any) -> Any:
    """Draw a curve or surface; ``describe`` does not import ``plot``."""
    if draw is None:
        raise TypeError("it was read without a way to draw it: use lhtree.plot_curve.")
    return draw(term, ax=ax)


def write_scale(model: Model, axis: TermAxis) -> Scale:
    """Return the steps of an axis in the user's units."""
    encoding = model.encoding
    if axis.n_levels:
        column = int(encoding.column[axis.feature])
        return Scale(encoding.names[column], None, encoding.categories[column])
    is_statistic = bool(encoding.is_statistic[axis.feature])
    return Scale(model.feature_names[axis.feature], find_edges(model, axis), None, is_statistic)


def find_edges(model: Model, axis: TermAxis) -> Floats:
    """Return the edges of an axis in the user's units: the shortest decimals that mean the same."""
    centre, scale = (
        float(model.normalisation.centre[axis.feature]),
        float(model.normalisation.scale[axis.feature]),
    )
    return np.array([_shorten(edge, centre, scale) for edge in axis.edges.tolist()])


def _shorten(edge: float, centre: float, scale: float) -> float:
    exact = edge * scale + centre
    short = np.array([float(f"{exact:.{digits}g}") for digits in range(1, 17)])
    same = np.flatnonzero(normalise_values(short, centre, scale) == edge)
    return float(short[same[0]]) if len(same) else exact


def find_middle(edges: Floats, weight: Floats, span: tuple[float, float]) -> tuple[float, float]:
    """Return the range to show of a column of numbers: all of it, or without few extreme values.

    Steps have the given weights. Where all values span much more than the edges with 0.5 % of the weight on either
    side, the range ends close to these edges: curves are constant beyond them, or have few rows there.
    """
    ends = np.array([*edges.tolist(), *(bound for bound in span if np.isfinite(bound))] or [0.0, 1.0])
    least, most = float(ends.min()), float(ends.max())
    below = np.cumsum(weight)[:-1] / max(float(weight.sum()), np.finfo(np.float64).tiny)
    central = edges[(below >= _EXTREME_SHARE) & (below <= 1.0 - _EXTREME_SHARE)]
    if not len(central):
        return least, most
    room = 0.15 * float(central[-1] - central[0])
    low, high = max(least, float(central[0]) - room), min(most, float(central[-1]) + room)
    is_squeezed = room > 0.0 and most / 2.0 - least / 2.0 > _MOST_WIDE * (high / 2.0 - low / 2.0)
    return (low, high) if is_squeezed else (least, most)


def read_curves(model: Model, draw: Draw | None = None) -> list[Curve]:
    """Return the curves of an additive model; ``draw`` is called by ``Curve.plot``."""
    return [_write_curve(model, term, draw) for term in read_terms(model) if len(term.axes) == 1]


def _write_curve(model: Model, term: AdditiveTerm, draw: Draw | None) -> Curve:
    scale, feature = write_scale(model, term.axes[0]), term.axes[0].feature
    return Curve(
        scale.column,
        scale.edges,
        scale.categories,
        _flatten(term.values),
        _flatten(term.band),
        term.weight,
        (float(model.span.low[feature]), float(model.span.high[feature])),
        _name_classes(model),
        draw,
        scale.is_statistic,
    )


def read_surfaces(model: Model, draw: Draw | None = None) -> list[Surface]:
    """Return the surfaces of an additive model; ``draw`` is called by ``Surface.plot``."""
    surfaces = []
    for term in read_terms(model):
        if len(term.axes) == 2:
            first, second = (write_scale(model, axis) for axis in term.axes)
            surfaces.append(
                Surface(
                    (first.column, second.column),
                    (first, second),
                    _flatten(term.values),
                    _flatten(term.band),
                    term.weight,
                    _name_classes(model),
                    draw,
                )
            )
    return surfaces


def _flatten(values: Floats) -> Floats:
    """Return values without the axis of scores, where there is one score."""
    return values[..., 0] if values.shape[-1] == 1 else values


def _name_classes(model: Model) -> tuple[Any, ...]:
    return tuple(model.labels) if model.n_targets > 1 else ()
