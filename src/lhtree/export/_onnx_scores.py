"""From the estimates of leaves to classes and probabilities, in ONNX."""

from __future__ import annotations

import numpy as np

from . import _exp
from ._onnx_graph import Graph, as_shape
from ._onnx_rows import Rows
from ._walks import take_base

_MOST_TURNS = 512  # half of the largest power of 2


def _by_target(graph: Graph, rows: Rows, values: str) -> str:
    """Values of all walks, shape (n, n_estimators, n_targets)."""
    n_trees = graph.constant(as_shape([rows.fitted.n_estimators, rows.fitted.n_targets]))
    shape = graph.add("Concat", rows.n_rows, n_trees, axis=0)
    return graph.add("Reshape", values, shape, allowzero=1)


def take_shares(graph: Graph, rows: Rows, scores: str) -> str:
    """Scores by row and class, divided by their sum."""
    total = graph.add_up(scores, rows.fill(graph, rows.n_rows, 0.0), 2, 1)
    return graph.add("Div", scores, graph.add("Unsqueeze", total, graph.constant(as_shape([1]))))


def score_wolf(graph: Graph, rows: Rows, membership: str, confidence: str | None) -> tuple[str, str]:
    """Number of the class, and probabilities: shares of the WOLF values with their fall-backs, shape (n, K)."""
    fitted = rows.fitted
    n_classes = graph.constant(as_shape([fitted.n_classes]))
    zeros = rows.fill(graph, graph.add("Concat", rows.n_rows, n_classes, axis=0), 0.0)

    def average(values: str) -> str:
        mean = graph.add_up(values, zeros, 3, 1)
        return graph.add("Div", mean, graph.constant(float(fitted.n_estimators)))

    def fall_back(scores: str, on: str) -> str:
        largest = graph.add("ReduceMax", scores, graph.constant(as_shape([1])), keepdims=1)
        return graph.add("Where", graph.add("Equal", largest, graph.constant(0.0)), on, scores)

    if fitted.is_joint:
        n_trees = graph.constant(as_shape([fitted.n_estimators, fitted.n_classes]))
        shape = graph.add("Concat", rows.n_rows, n_trees, axis=0)
        membership = graph.add("Reshape", membership, shape, allowzero=1)
    else:
        membership = _by_target(graph, rows, membership)
    if fitted.n_classes == 2:
        other = graph.add("Sub", graph.constant(1.0), membership)
        membership = graph.add("Concat", other, membership, axis=2)
    scores = average(membership)
    if confidence is not None:
        scores = fall_back(average(graph.add("Mul", _by_target(graph, rows, confidence), membership)), scores)
    scores = fall_back(scores, graph.constant(fitted.prior, name="prior"))
    return graph.add("ArgMax", scores, axis=1, keepdims=0), take_shares(graph, rows, scores)


def _add_values(graph: Graph, rows: Rows, values: str) -> str:
    """What the trees of every target add up to, shape (n, n_targets)."""
    base = take_base(rows.fitted)
    shape = graph.add("Concat", rows.n_rows, graph.constant(as_shape([len(base)])), axis=0)
    first = graph.add("Expand", graph.constant(base, name="base"), shape)
    return graph.add_up(_by_target(graph, rows, values), first, 3, 1)


def score_number(graph: Graph, rows: Rows, values: str) -> str:
    """The predictions of a regression, shape (n,)."""
    raw = graph.add("Squeeze", _add_values(graph, rows, values), graph.constant(as_shape([1])))
    if rows.fitted.link == "mean":
        return graph.add("Div", raw, graph.constant(float(rows.fitted.n_estimators)))
    return _exponential(graph, raw) if rows.fitted.link == "log" else raw


def score_boosted(graph: Graph, rows: Rows, values: str) -> tuple[str, str]:
    """Number of the class, which no exponential decides, and probabilities, shape (n, K)."""
    raw = _add_values(graph, rows, values)
    if rows.fitted.calibration is not None:
        return raw, raw  # which is what is calibrated
    if rows.fitted.link == "softmax":
        largest = graph.add("ReduceMax", raw, graph.constant(as_shape([1])), keepdims=1)
        powers = _exponential(graph, graph.add("Sub", raw, largest))
        return graph.add("ArgMax", raw, axis=1, keepdims=0), take_shares(graph, rows, powers)
    is_second, small, large = take_logistic(graph, raw)
    number = graph.cast(graph.add("Squeeze", is_second, graph.constant(as_shape([1]))), np.int64)
    both = graph.add("Concat", large, small, axis=1), graph.add("Concat", small, large, axis=1)
    return number, graph.add("Where", is_second, both[1], both[0])


def take_logistic(graph: Graph, raw: str) -> tuple[str, str, str]:
    """Whether a raw score is above 0, and the smaller and the larger of its two probabilities."""
    one = graph.constant(1.0)
    power = _exponential(graph, graph.add("Neg", graph.add("Abs", raw)))
    sum_ = graph.add("Add", one, power)
    large, small = graph.add("Div", one, sum_), graph.add("Div", power, sum_)
    return graph.add("Greater", raw, graph.constant(0.0)), small, large


def _exponential(graph: Graph, x: str) -> str:
    """e^x by the operations of the core: ONNX says nothing of the last digits of its own."""

    def multiply(values: str, by: float) -> str:
        return graph.add("Mul", values, graph.constant(by))

    rounder = graph.constant(_exp.ROUNDER)
    x = graph.add("Min", graph.add("Max", x, graph.constant(_exp.LEAST)), graph.constant(_exp.LARGEST))
    k = graph.add("Sub", graph.add("Add", multiply(x, _exp.PER_LN2), rounder), rounder)
    high, low = graph.add("Sub", x, multiply(k, _exp.LN2_HIGH)), multiply(k, _exp.LN2_LOW)
    r = graph.add("Sub", high, low)
    tail = graph.constant(_exp.TAIL[0])
    for coefficient in _exp.TAIL[1:]:
        tail = graph.add("Add", graph.add("Mul", tail, r), graph.constant(coefficient))
    tail = graph.add("Mul", graph.add("Mul", r, r), tail)
    power = graph.add("Add", graph.constant(1.0), graph.add("Add", high, graph.add("Sub", tail, low)))
    # Times 2^k in two steps: neither factor leaves the range, and only the last product is rounded.
    whole = graph.cast(graph.add("Neg", k), np.int64)
    half = graph.add("Div", whole, graph.constant(2, np.int64))
    halves = graph.constant(2.0 ** (_MOST_TURNS - np.arange(_MOST_TURNS - _exp.LEAST)), name="power_of_2")
    most = graph.constant(_MOST_TURNS, np.int64)
    for part in (half, graph.add("Sub", whole, half)):
        power = graph.add("Mul", power, graph.add("Gather", halves, graph.add("Add", part, most)))
    return power
