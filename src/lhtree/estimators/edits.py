"""Edits of additive models: every edit is recorded with its reason and its effect on held-out rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from .. import _core
from .._parameters import is_real, refuse
from ..describe.curves import MISSING, write_scale
from ..model.model import Model, read
from ..model.numbers import write_value
from ..model.terms import AdditiveTerm, TermAxis, build_trees, normalise_values, read_terms
from ..tables.labels import encode_known, take_numbers

if TYPE_CHECKING:
    from .additive import BaseAdditive

Floats = NDArray[np.float64]


class Editor:
    """A builder of an edited additive model; created by ``model.edit()``.

    Every method changes the curves, adds a line to the record of edits and returns the editor; ``finish`` returns the
    edited model. Columns are named as in ``model.curves_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lhtree import AdditiveLHTRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AdditiveLHTRegressor(interactions=0, random_state=0).fit(X[:300], y[:300])
    >>> edited = model.edit(X[300:], y[300:]).drop("sex", reason="not allowed").finish()
    >>> edited.edits_[0]["about"], edited.edits_[0]["reason"]
    ('curve removed', 'not allowed')
    """

    def __init__(self, estimator: BaseAdditive, X: Any = None, y: Any = None) -> None:
        if (X is None) != (y is None):
            raise ValueError(
                "X and y must be passed together: the held-out rows on which edits are measured."
            )
        self._estimator = estimator
        self._model: Model = estimator._read()
        self._terms = read_terms(self._model)
        self._base = np.array(self._model.base)
        self._edits = list(self._model.additive.edits) if self._model.additive is not None else []
        self._rows = None if X is None else self._model.encode(X, estimator)
        self._labels = {} if self._rows is None else self._read_labels(y, len(self._rows))
        self._loss = self._measure(self._model)

    def set(self, column: str, interval: Any, value: float, *, reason: str = "") -> Editor:
        """Set the value of a curve in an interval (low, high), of a category, or of ``"missing"``.

        ``low`` and ``high`` may be None; low belongs to the interval, high does not. The value is in units of the raw
        score. Of more than two classes, every class gets the value.
        """
        if not is_real(value) or not np.isfinite(value):
            raise refuse("value", value, "a finite number")
        place, cells = self._find_cells(column, interval)
        self._change(place, cells, lambda values, weight: np.full_like(values, float(value)))
        return self._record("set", column, f"{_say(interval)} set to {float(value):.6g}", reason)

    def flatten(self, column: str, interval: Any = None, *, reason: str = "") -> Editor:
        """Replace the values of a curve in an interval, or of the whole curve, by their weighted mean."""
        place, cells = self._find_cells(column, (None, None) if interval is None else interval)
        self._change(place, cells, _average)
        return self._record("flatten", column, f"{_say(interval)} flattened", reason)

    def monotonize(self, column: str, *, increasing: bool = True, reason: str = "") -> Editor:
        """Replace a curve of numbers by the nearest one that does not fall, or does not rise; missing values stay."""
        place, cells = self._find_numbers(column)
        sign = 1.0 if increasing else -1.0
        self._change(place, cells, lambda values, weight: sign * _make_isotonic(sign * values, weight))
        return self._record(
            "monotonize", column, "made increasing" if increasing else "made decreasing", reason
        )

    def smooth(self, column: str, n_steps: int = 1, *, reason: str = "") -> Editor:
        """Replace the value of every step of numbers by the weighted mean with ``n_steps`` neighbours on each side."""
        if not isinstance(n_steps, (int, np.integer)) or isinstance(n_steps, bool) or n_steps < 1:
            raise refuse("n_steps", n_steps, "an integer of at least 1")
        place, cells = self._find_numbers(column)

        def smooth(values: Floats, weight: Floats) -> Floats:
            around = [slice(max(i - n_steps, 0), i + n_steps + 1) for i in range(len(values))]
            return np.concatenate([_average(values[part], weight[part])[:1] for part in around])

        self._change(place, cells, smooth)
        return self._record("smooth", column, f"smoothed over {n_steps} steps on each side", reason)

    def drop(self, column: str | tuple[str, str], *, reason: str = "") -> Editor:
        """Remove the curve of a column and all its surfaces, or the surface of a pair of columns."""
        is_pair = isinstance(column, tuple)
        wanted = set(column) if isinstance(column, tuple) else {column}
        kept = []
        for term in self._terms:
            names = {write_scale(self._model, axis).column for axis in term.axes}
            if not (names == wanted if is_pair else wanted <= names):
                kept.append(term)
        if len(kept) == len(self._terms):
            raise self._refuse_column(column)
        if not kept:
            raise refuse("column", column, "another one: a model keeps at least one curve")
        self._terms = kept
        about = "surface removed" if is_pair else "curve removed"
        return self._record("drop", " × ".join(sorted(wanted)), about, reason)

    def merge(self, other: Any, weight: float = 0.5, *, reason: str = "") -> Editor:
        """Average with another additive model of the same columns: its raw scores get this weight."""
        learned = read(other, takes_numbers=True)
        if not is_real(weight) or not 0.0 <= weight <= 1.0:
            raise refuse("weight", weight, "a number from 0 to 1")
        is_alike = (
            learned.additive is not None
            and learned.link == self._model.link
            and learned.labels == self._model.labels
            and learned.encoding == self._model.encoding
            and np.array_equal(learned.normalisation.centre, self._model.normalisation.centre)
            and np.array_equal(learned.normalisation.scale, self._model.normalisation.scale)
        )
        if not is_alike:
            raise refuse(
                "other",
                other,
                "an additive model of the same columns, classes, loss and training rows or scales",
            )
        found: dict[Any, list[tuple[float, AdditiveTerm]]] = {}
        for share, terms in ((1.0 - weight, self._terms), (weight, read_terms(learned))):
            for term in terms:
                found.setdefault(tuple(axis.feature for axis in term.axes), []).append((share, term))
        self._terms = [_mix(parts) for parts in found.values()]
        self._base = (1.0 - weight) * self._base + weight * np.asarray(learned.base)
        return self._record("merge", "all", f"averaged with another model of weight {weight:g}", reason)

    def finish(self) -> Any:
        """Return the edited model, a normal estimator; the model that was edited does not change."""
        edited = clone(self._estimator)
        edited._model = self._build()
        return edited

    def _build(self) -> Model:
        model = self._model
        first = model.head.first_target
        targets = range(first, first + model.n_targets)
        trees, band = build_trees(self._terms, model.normalisation, targets, model.n_rows or 0)
        assert model.additive is not None
        record = replace(model.additive, band=band, edits=tuple(self._edits))
        return replace(model, trees=trees, base=self._base, additive=record)

    def _measure(self, model: Model) -> float | None:
        """Return the mean loss of a model on the held-out rows, or None without rows."""
        if self._rows is None:
            return None
        loss, quantile = self._estimator._name_loss()
        raw = np.ascontiguousarray(model.score("raw_score", self._rows))
        return float(_core.loss(loss, raw, quantile=quantile, **self._labels).mean())

    def _read_labels(self, y: Any, n_rows: int) -> dict[str, Any]:
        if self._model.head.predicts_classes:
            return {"classes": encode_known(y, self._model.classes, n_rows, is_strict=True).astype(np.int32)}
        return {"response": take_numbers(y, n_rows)}

    def _record(self, operation: str, column: str, about: str, reason: str) -> Editor:
        if not isinstance(reason, str):
            raise refuse("reason", reason, "a text")
        before, self._loss = self._loss, self._measure(self._build())
        edit = {"operation": operation, "column": column, "about": about, "reason": reason}
        self._edits.append(edit | {"loss_before": before, "loss_after": self._loss})
        return self

    def _find_curve(self, column: str) -> int:
        for place, term in enumerate(self._terms):
            if len(term.axes) == 1 and write_scale(self._model, term.axes[0]).column == column:
                return place
        raise self._refuse_column(column)

    def _refuse_column(self, column: Any) -> Exception:
        names = [write_scale(self._model, term.axes[0]).column for term in self._terms if len(term.axes) == 1]
        return refuse("column", column, f"one of the curves: {', '.join(names)}")

    def _find_numbers(self, column: str) -> tuple[int, slice]:
        place = self._find_curve(column)
        axis = self._terms[place].axes[0]
        if axis.n_levels:
            raise refuse("column", column, "a column of numbers")
        return place, slice(0, axis.n_cells - 1)

    def _find_cells(self, column: str, interval: Any) -> tuple[int, slice]:
        """Return the curve of a column and its cells in an interval, whose ends become edges."""
        place = self._find_curve(column)
        axis = self._terms[place].axes[0]
        if isinstance(interval, str) and interval == MISSING:
            return place, slice(axis.n_cells - 1, axis.n_cells)
        if axis.n_levels:
            categories = write_scale(self._model, axis).categories or ()
            if interval == (None, None):
                return place, slice(0, len(categories))
            if interval not in categories:
                raise refuse("interval", interval, f"one of the categories {', '.join(map(str, categories))}")
            number = categories.index(interval)
            return place, slice(number, number + 1)
        is_pair = isinstance(interval, (tuple, list)) and len(interval) == 2
        if not is_pair or any(end is not None and not is_real(end) for end in interval):
            raise refuse("interval", interval, "a pair (low, high) of numbers or None, or 'missing'")
        low, high = interval
        if low is not None and high is not None and not low < high:
            raise refuse("interval", interval, "low below high")
        ends = [self._split(place, end) if end is not None else None for end in (low, high)]
        edges = self._terms[place].axes[0].edges
        first = 0 if ends[0] is None else int(np.searchsorted(edges, ends[0])) + 1
        last = len(edges) + 1 if ends[1] is None else int(np.searchsorted(edges, ends[1])) + 1
        return place, slice(first, last)

    def _split(self, place: int, end: float) -> float:
        """Make a number an edge of a curve; its weight is divided equally."""
        term, model = self._terms[place], self._model
        axis = term.axes[0]
        centre, scale = model.normalisation.centre[axis.feature], model.normalisation.scale[axis.feature]
        edge = float(normalise_values(np.array([float(end)]), float(centre), float(scale))[0])
        if edge not in axis.edges:
            cell = int(np.searchsorted(axis.edges, edge))
            twice = np.arange(axis.n_cells).repeat(np.where(np.arange(axis.n_cells) == cell, 2, 1))
            weight = term.weight[twice].copy()
            weight[cell : cell + 2] /= 2.0
            self._terms[place] = AdditiveTerm(
                (replace(axis, edges=np.sort(np.append(axis.edges, edge))),),
                term.values[twice],
                term.band[twice],
                weight,
            )
        return edge

    def _change(self, place: int, cells: slice, change: Any) -> None:
        """Change the values of some cells of a curve; their bands become 0, as they were not estimated."""
        term = self._terms[place]
        values, band = term.values.copy(), term.band.copy()
        values[cells] = change(values[cells], term.weight[cells])
        band[cells] = 0.0
        self._terms[place] = replace(term, values=values, band=band)


def _average(values: Floats, weight: Floats) -> Floats:
    """Return the weighted mean in place of all values; the plain mean without weight."""
    weight = weight if weight.sum() > 0.0 else np.ones(len(weight))
    return np.broadcast_to(np.average(values, axis=0, weights=weight), values.shape).copy()


def _make_isotonic(values: Floats, weight: Floats) -> Floats:
    """Return the nearest values that do not fall; shape (n, n_targets)."""
    weight = np.maximum(weight, 1e-9)
    return np.column_stack([isotonic_regression(own, sample_weight=weight) for own in values.T])


def _mix(parts: list[tuple[float, AdditiveTerm]]) -> AdditiveTerm:
    """Return the weighted sum of terms of the same columns on the union of their edges."""
    axes = tuple(
        TermAxis(own[0].feature, np.unique(np.concatenate([axis.edges for axis in own])), own[0].n_levels)
        for own in zip(*(term.axes for _, term in parts), strict=True)
    )
    total: Any = 0.0
    spread: Any = 0.0
    for share, term in parts:
        values, band = term.values, term.band
        for number, (axis, own) in enumerate(zip(axes, term.axes, strict=True)):
            cell = _find_places(axis, own)
            values, band = np.take(values, cell, axis=number), np.take(band, cell, axis=number)
        total, spread = total + share * values, spread + share * band
    weight = parts[0][1].weight
    for number, (axis, own) in enumerate(zip(axes, parts[0][1].axes, strict=True)):
        cell = _find_places(axis, own)
        shape = [-1 if i == number else 1 for i in range(weight.ndim)]
        weight = np.take(weight, cell, axis=number) / np.bincount(cell)[cell].reshape(shape)
    return AdditiveTerm(axes, total, spread, weight)


def _find_places(axis: TermAxis, own: TermAxis) -> NDArray[np.int64]:
    """Return the cell of an axis for every cell of another one that has all its edges, and perhaps more."""
    if axis.n_levels:
        return np.arange(axis.n_cells)
    inner = np.searchsorted(own.edges, axis.edges, side="right")
    return np.concatenate([[0], inner, [own.n_cells - 1]])


def _say(interval: Any) -> str:
    if interval is None:
        return "all values"
    if isinstance(interval, (tuple, list)):
        low, high = ("−∞" if interval[0] is None else write_value(float(interval[0]))), interval[1]
        return f"from {low} to {'∞' if high is None else write_value(float(high))}"
    return str(interval)
