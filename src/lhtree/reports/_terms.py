"""Curves and surfaces of an additive model as facts of a report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..describe.curves import find_edges, find_middle, write_scale
from ..model.model import Model
from ..model.numbers import write_value
from ..model.terms import AdditiveTerm, read_terms
from ._figures import ReportRows

_N_BARS = 40  # of the density of a column


def describe_terms(fitted: Model, rows: ReportRows) -> dict[str, Any]:
    """Return curves and surfaces, the largest first; None for other models."""
    if fitted.additive is None:
        return {"curves": None, "surfaces": None, "n_scores": 0}
    terms = sorted(read_terms(fitted), key=lambda term: -float(term.size.sum()))
    return {
        "curves": [_describe_curve(fitted, term, rows.X) for term in terms if len(term.axes) == 1],
        "surfaces": [_describe_surface(fitted, term) for term in terms if len(term.axes) == 2],
        "n_scores": fitted.n_targets,
    }


def _describe_values(term: AdditiveTerm) -> dict[str, Any]:
    return {name: getattr(term, name).ravel() for name in ("values", "band", "weight")}


def _describe_curve(fitted: Model, term: AdditiveTerm, X: NDArray[Any]) -> dict[str, Any]:
    (axis,) = term.axes
    scale = write_scale(fitted, axis)
    facts = {
        "name": scale.title,
        "labels": scale.labels,
        "categories": bool(axis.n_levels),
    }
    if not axis.n_levels:
        x = np.asarray(X[:, axis.feature], dtype=np.float64)
        x, edges = x[np.isfinite(x)], find_edges(fitted, axis)
        ends = np.concatenate([x, edges]) if len(x) + len(edges) else np.zeros(1)
        whole = float(ends.min()), float(ends.max())
        low, high = span = find_middle(edges, term.weight.ravel()[:-1], whole)
        inside = x[(x >= low) & (x <= high)]
        facts |= {"edges": edges.tolist(), "span": span, "whole": whole}
        facts["density"] = _count_bars(inside, *span).tolist()
    return facts | _describe_values(term)


def _count_bars(x: NDArray[np.float64], low: float, high: float) -> NDArray[np.int64]:
    """Return the number of values in bars of equal width, however wide or narrow; one bar if low is high.

    ``np.histogram`` rejects ranges whose width overflows, and bars narrower than the distance between numbers.
    """
    if low == high:
        return np.array([len(x)])
    size = max(-low, high)
    place = (x / size - low / size) / (high / size - low / size)
    bar = np.minimum((place * _N_BARS).astype(np.int64), _N_BARS - 1)
    return np.bincount(bar, minlength=_N_BARS)


def _describe_surface(fitted: Model, term: AdditiveTerm) -> dict[str, Any]:
    scales = [write_scale(fitted, axis) for axis in term.axes]
    listed = [
        {
            "name": scale.title,
            "labels": scale.labels,
            "edges": None if scale.edges is None else [write_value(edge) for edge in scale.edges.tolist()],
        }
        for scale in scales
    ]
    return {"scales": listed, **_describe_values(term)}
