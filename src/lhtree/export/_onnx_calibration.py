"""Calibrated probabilities, in ONNX."""

from __future__ import annotations

import numpy as np

from ..model.calibration import Calibration, Knots
from ._onnx_graph import Graph, as_shape
from ._onnx_rows import Rows
from ._onnx_scores import take_logistic, take_shares


def calibrate(graph: Graph, rows: Rows, scores: str, calibration: Calibration) -> tuple[str, str]:
    """Number of the class, and probabilities, shape (n, K), from raw scores or uncalibrated probabilities."""
    fitted = rows.fitted
    if fitted.base is None and fitted.n_classes == 2:
        scores = _column(graph, scores, 1)
    if calibration.method == "sigmoid":
        # Of one column two, as for normalisation: onnxruntime drops a factor near 1.
        slope, shift = (np.resize(values, max(2, len(values))) for values in (calibration.x, calibration.y))
        moved = graph.add("Mul", scores, graph.constant(slope, name="slope"))
        raw = graph.add("Add", moved, graph.constant(shift, name="shift"))
        raw = _column(graph, raw, 0) if fitted.n_classes == 2 else raw
        is_more, small, large = take_logistic(graph, raw)
        own, rest = graph.add("Where", is_more, large, small), graph.add("Where", is_more, small, large)
    else:
        columns = [
            _interpolate(graph, _column(graph, scores, target), knots)
            for target, knots in enumerate(calibration.knots)
        ]
        own = graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
        rest = graph.add("Sub", graph.constant(1.0), own)
    if fitted.n_classes == 2:
        proba = graph.add("Concat", rest, own, axis=1)
    else:
        largest = graph.add("ReduceMax", own, graph.constant(as_shape([1])), keepdims=1)
        even = graph.constant(np.full(fitted.n_classes, 1.0 / fitted.n_classes))
        is_zero = graph.add("Equal", largest, graph.constant(0.0))
        proba = graph.add("Where", is_zero, even, take_shares(graph, rows, own))
    return graph.add("ArgMax", proba, axis=1, keepdims=0), proba


def _column(graph: Graph, values: str, number: int) -> str:
    """One column, shape (n, 1)."""
    return graph.add("Gather", values, graph.constant(as_shape([number])), axis=1)


def _interpolate(graph: Graph, score: str, knots: Knots) -> str:
    """The isotonic map of a column of scores."""
    x, y = knots
    if len(x) == 1:
        return graph.add("Add", graph.add("Mul", score, graph.constant(0.0)), graph.constant(y[0]))
    # Scores beyond the ends count as the ends; the last knot is reached from the one before it.
    inside = graph.add("Max", graph.add("Min", score, graph.constant(x[-1])), graph.constant(x[0]))
    is_passed = graph.cast(graph.add("GreaterOrEqual", inside, graph.constant(x[None])), np.int64)
    n_passed = graph.add("ReduceSum", is_passed, graph.constant(as_shape([1])), keepdims=1)
    k = graph.add("Sub", n_passed, graph.constant(1, np.int64))
    starts, ends = np.append(x[:-1], x[-1]), np.append(np.diff(x), 1.0)
    low = graph.add("Gather", graph.constant(starts, name="knot"), k)
    width = graph.add("Gather", graph.constant(ends, name="width"), k)
    first = graph.add("Gather", graph.constant(y, name="probability"), k)
    rise = graph.add("Gather", graph.constant(np.append(np.diff(y), 0.0), name="rise"), k)
    part = graph.add("Div", graph.add("Sub", inside, low), width)
    return graph.add("Add", first, graph.add("Mul", part, rise))
