"""Links in ONNX: from values of leaves to the outputs of the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.calibration import Knots
from ..model.labels import Label, check_text
from . import _walks as e
from ._onnx_graph import Graph, Rows, as_shape
from ._walks import take_base

_MOST_TURNS = 512  # half of the largest power of 2


@dataclass(frozen=True)
class NumberLink:
    """A sum of numbers, from which ``finish`` computes the prediction."""

    finish: Callable[[Graph, Rows, str], str]

    def write(
        self, graph: Graph, rows: Rows, leaves: str, confidence: str | None, labels: list[Label]
    ) -> Any:
        """Return the outputs of the graph."""
        raw = graph.add("Squeeze", _add_values(graph, rows, leaves), graph.constant(as_shape([1])))
        return {"prediction": (self.finish(graph, rows, raw), np.float64, ["n"])}


@dataclass(frozen=True)
class ClassLink:
    """Class numbers and probabilities, computed by ``score``."""

    score: Callable[[Graph, Rows, str, str | None], tuple[str, str]]

    def write(
        self, graph: Graph, rows: Rows, leaves: str, confidence: str | None, labels: list[Label]
    ) -> Any:
        """Return the outputs of the graph."""
        for label in labels:
            if isinstance(label, str):
                check_text(label, "class", "ONNX")
        number, probabilities = self.score(graph, rows, leaves, confidence)
        known = np.array(labels, dtype=np.int64 if type(labels[0]) is int else None)
        label = graph.add("Gather", graph.constant(known, name="labels"), number)
        return {
            "label": (label, object if known.dtype.kind == "U" else known.dtype, ["n"]),
            "probabilities": (probabilities, np.float64, ["n", rows.fitted.n_classes]),
        }


def _raw_scores(finish: Callable[[Graph, Rows, str], tuple[str, str]]) -> ClassLink:
    """Return the link of raw scores, from which ``finish`` computes class numbers and probabilities."""

    def score(graph: Graph, rows: Rows, leaves: str, confidence: str | None) -> tuple[str, str]:
        raw = _add_values(graph, rows, leaves)
        return (finish if rows.fitted.calibration is None else _calibrate)(graph, rows, raw)

    return ClassLink(score)


def _take_shares(graph: Graph, rows: Rows, scores: str) -> str:
    """Return scores by row and class, divided by their sum."""
    total = graph.add_up(scores, rows.fill(graph, rows.n_rows, 0.0), 2, 1)
    return graph.add("Div", scores, graph.add("Unsqueeze", total, graph.constant(as_shape([1]))))


def _score_wolf(graph: Graph, rows: Rows, membership: str, confidence: str | None) -> tuple[str, str]:
    """Return class numbers and probabilities: shares of the WOLF values with their fall-backs, shape (n, K)."""
    fitted = rows.fitted
    n_classes = graph.constant(as_shape([fitted.n_classes]))
    zeros = rows.fill(graph, graph.add("Concat", rows.n_rows, n_classes, axis=0), 0.0)

    def average(values: str) -> str:
        mean = graph.add_up(values, zeros, 3, 1)
        return graph.add("Div", mean, graph.constant(float(fitted.n_estimators)))

    def fall_back(scores: str, on: str) -> str:
        largest = graph.add("ReduceMax", scores, graph.constant(as_shape([1])), keepdims=1)
        return graph.add("Where", graph.add("Equal", largest, graph.constant(0.0)), on, scores)

    width = fitted.n_classes if rows.walks.leaf == "shares" else fitted.n_targets
    membership = rows.by_target(graph, membership, width)
    if width < fitted.n_classes:  # two classes share a tree
        other = graph.add("Sub", graph.constant(1.0), membership)
        membership = graph.add("Concat", other, membership, axis=2)
    scores = average(membership)
    if confidence is not None:
        distance = rows.by_target(graph, confidence, fitted.n_targets)
        scores = fall_back(average(graph.add("Mul", distance, membership)), scores)
    scores = fall_back(scores, graph.constant(fitted.prior, name="prior"))
    number, proba = graph.add("ArgMax", scores, axis=1, keepdims=0), _take_shares(graph, rows, scores)
    if fitted.calibration is None:
        return number, proba
    return _calibrate(graph, rows, _column(graph, proba, 1) if fitted.n_classes == 2 else proba)


def _add_values(graph: Graph, rows: Rows, values: str) -> str:
    """Return the sums over the trees of every target, shape (n, n_targets)."""
    base = take_base(rows.fitted)
    shape = graph.add("Concat", rows.n_rows, graph.constant(as_shape([len(base)])), axis=0)
    first = graph.add("Expand", graph.constant(base, name="base"), shape)
    return graph.add_up(rows.by_target(graph, values, rows.fitted.n_targets), first, 3, 1)


def _divide(graph: Graph, rows: Rows, raw: str) -> str:
    """Return means over the estimators."""
    return graph.add("Div", raw, graph.constant(float(rows.fitted.n_estimators)))


def _softmax(graph: Graph, rows: Rows, raw: str) -> tuple[str, str]:
    """Return class numbers, which need no exponential, and probabilities, shape (n, K)."""
    largest = graph.add("ReduceMax", raw, graph.constant(as_shape([1])), keepdims=1)
    powers = _exponential(graph, graph.add("Sub", raw, largest))
    return graph.add("ArgMax", raw, axis=1, keepdims=0), _take_shares(graph, rows, powers)


def _logistic(graph: Graph, rows: Rows, raw: str) -> tuple[str, str]:
    """Return class numbers and probabilities of two classes, shape (n, 2)."""
    is_second, small, large = _take_logistic(graph, raw)
    number = graph.cast(graph.add("Squeeze", is_second, graph.constant(as_shape([1]))), np.int64)
    both = graph.add("Concat", large, small, axis=1), graph.add("Concat", small, large, axis=1)
    return number, graph.add("Where", is_second, both[1], both[0])


def _take_logistic(graph: Graph, raw: str) -> tuple[str, str, str]:
    """Return whether raw scores are above 0, and the smaller and the larger of their two probabilities."""
    one = graph.constant(1.0)
    power = _exponential(graph, graph.add("Neg", graph.add("Abs", raw)))
    sum_ = graph.add("Add", one, power)
    large, small = graph.add("Div", one, sum_), graph.add("Div", power, sum_)
    return graph.add("Greater", raw, graph.constant(0.0)), small, large


def _exponential(graph: Graph, x: str) -> str:
    """Return e^x by the operations of the core: ONNX does not define the last digits of its own function."""

    def multiply(values: str, by: float) -> str:
        return graph.add("Mul", values, graph.constant(by))

    rounder = graph.constant(e.EXP_ROUNDER)
    x = graph.add("Min", graph.add("Max", x, graph.constant(e.EXP_LEAST)), graph.constant(e.EXP_LARGEST))
    k = graph.add("Sub", graph.add("Add", multiply(x, e.EXP_PER_LN2), rounder), rounder)
    high, low = graph.add("Sub", x, multiply(k, e.EXP_LN2_HIGH)), multiply(k, e.EXP_LN2_LOW)
    r = graph.add("Sub", high, low)
    tail = graph.constant(e.EXP_TAIL[0])
    for coefficient in e.EXP_TAIL[1:]:
        tail = graph.add("Add", graph.add("Mul", tail, r), graph.constant(coefficient))
    tail = graph.add("Mul", graph.add("Mul", r, r), tail)
    power = graph.add("Add", graph.constant(1.0), graph.add("Add", high, graph.add("Sub", tail, low)))
    # Times 2^k in two steps: neither factor leaves the range, and only the last product is rounded.
    whole = graph.cast(graph.add("Neg", k), np.int64)
    half = graph.add("Div", whole, graph.constant(2, np.int64))
    halves = graph.constant(2.0 ** (_MOST_TURNS - np.arange(_MOST_TURNS - e.EXP_LEAST)), name="power_of_2")
    most = graph.constant(_MOST_TURNS, np.int64)
    for part in (half, graph.add("Sub", whole, half)):
        power = graph.add("Mul", power, graph.add("Gather", halves, graph.add("Add", part, most)))
    return power


def _calibrate(graph: Graph, rows: Rows, scores: str) -> tuple[str, str]:
    """Return class numbers and probabilities, shape (n, K), from raw scores or uncalibrated probabilities."""
    fitted = rows.fitted
    calibration = fitted.calibration
    assert calibration is not None
    if calibration.method == "sigmoid":
        # onnxruntime drops a factor near 1, so that a single column is computed twice.
        slope, shift = (np.resize(values, max(2, len(values))) for values in (calibration.x, calibration.y))
        moved = graph.add("Mul", scores, graph.constant(slope, name="slope"))
        raw = graph.add("Add", moved, graph.constant(shift, name="shift"))
        raw = _column(graph, raw, 0) if fitted.n_classes == 2 else raw
        is_more, small, large = _take_logistic(graph, raw)
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
        proba = graph.add("Where", is_zero, even, _take_shares(graph, rows, own))
    return graph.add("ArgMax", proba, axis=1, keepdims=0), proba


def _column(graph: Graph, values: str, number: int) -> str:
    """Return one column, shape (n, 1)."""
    return graph.add("Gather", values, graph.constant(as_shape([number])), axis=1)


def _interpolate(graph: Graph, score: str, knots: Knots) -> str:
    """Return the isotonic map of a column of scores."""
    x, y = knots
    if len(x) == 1:
        return graph.add("Add", graph.add("Mul", score, graph.constant(0.0)), graph.constant(y[0]))
    # Scores are clipped to the ends.
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


LINKS: dict[str, NumberLink | ClassLink] = {
    "wolf": ClassLink(_score_wolf),
    "logistic": _raw_scores(_logistic),
    "softmax": _raw_scores(_softmax),
    "mean": NumberLink(_divide),
    "identity": NumberLink(lambda graph, rows, raw: raw),
    "log": NumberLink(lambda graph, rows, raw: _exponential(graph, raw)),
}
