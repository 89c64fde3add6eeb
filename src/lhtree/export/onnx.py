"""Export to ONNX with standard operators only.

All rows descend all trees at once, one level per iteration of a loop. A walk that reaches a leaf leaves the loop.
Sums keep the order of the core, so results are bitwise equal.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .. import __version__
from .._parameters import refuse
from .._write import write_whole
from ..model.labels import check_text, find_labels
from ..model.model import Model, read
from ..tables.encoders import Numbers, TargetStatistic
from ._onnx_graph import SPACES, Graph, Rows, as_shape
from ._onnx_links import LINKS
from ._walks import Walks, find_walks

CATEGORIES = "categories"  # input of text, with one column for each that has target statistics
_MOST_BYTES = 2_000_000_000  # a protobuf message ends at 2 GiB


def export_onnx(model: Any, path: str | os.PathLike[str], *, dtype: str = "float64") -> None:
    """Write a model as an ONNX file for onnxruntime.

    The input ``X`` has shape (n, m) for any n; NaN means missing, and an infinite value fails the run. A categorical
    column takes one input per category: 1 or 0, or NaN for all of them if the value is missing or unknown. A column
    with target statistics (see ``max_one_hot``) is text in a second input, ``categories`` of shape (n, c), where ""
    means missing; its features in ``X`` are computed, like indicators of missing values, and what is passed there is
    ignored. The outputs are ``label`` of shape (n,) and ``probabilities``, float64 of shape (n, K); that
    of a regression is ``prediction``, float64 of shape (n,). The names of features, classes and ``categories`` are
    stored as JSON in the file's metadata. Requires the extra ``onnx``.

    Parameters
    ----------
    model : classifier, regressor or Scorer
        Fitted model.
    path : str or path
        File to write.
    dtype : {"float64", "float32"}, default="float64"
        Type of ``X``. Predictions equal those of the model for rows of this type.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_onnx
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> export_onnx(model, "wine.onnx")
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession("wine.onnx")
    >>> label, probabilities = session.run(None, {"X": X.to_numpy()})
    >>> bool((probabilities == model.predict_proba(X)).all())
    True
    """
    fitted = read(model, takes_numbers=True)
    if dtype not in ("float64", "float32"):
        raise refuse("dtype", dtype, "'float64' or 'float32'")
    walks = find_walks(fitted)
    _check_size(walks, fitted.n_classes)
    graph = Graph()
    rows = SPACES[walks.space](graph, _take_rows(graph, fitted, dtype), fitted, walks)
    place, confidence = _walk(graph, rows, walks, fitted.confidence)
    leaves = _LEAVES[walks.leaf](graph, rows, walks, place)
    inputs: dict[str, Any] = {"X": (dtype, ["n", fitted.n_features])}
    facts = {"feature_names": json.dumps(fitted.feature_names)}
    looked_up = [fitted.column_names[column] for column in fitted.encoding.counted]
    if looked_up:
        inputs[CATEGORIES] = (object, ["n", len(looked_up)])
        facts[CATEGORIES] = json.dumps(looked_up)
    labels = find_labels(fitted, "ONNX") if fitted.head.labels else []
    if labels:
        facts["classes"] = json.dumps(labels)
    outputs = LINKS[fitted.head.link].write(graph, rows, leaves, confidence, labels)
    file = graph.finish(inputs, outputs, facts, __version__)
    write_whole(path, file.SerializeToString())


def _check_size(walks: Walks, n_classes: int) -> None:
    """Raise ValueError if the model does not fit into a file."""
    weights, slopes = Rows.pad_width(walks.weights.widest), Rows.pad_width(walks.slopes.widest)
    n_shares = 0 if walks.shares is None else len(walks.intercept) * n_classes
    n_bytes = (
        8 * n_shares + len(walks.offset) * (20 + 8 * weights) + len(walks.intercept) * (12 + 12 * slopes)
    )
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"the model would need {n_bytes / 1e9:.1f} GB, but an ONNX file is limited to 2 GB: fit fewer or smaller "
            "trees, or use export_c."
        )


def _take_rows(graph: Graph, fitted: Model, dtype: str) -> str:
    """Return the rows as float64, with computed features; infinite values make the run fail."""
    x = "X" if dtype == "float64" else graph.cast("X", np.float64)
    # An index out of range is the only way to make a run fail, as it must if a value is infinite.
    is_infinite = graph.cast(graph.add("IsInf", x), np.int64)
    worst = graph.add("ReduceMax", is_infinite, graph.constant(as_shape([1])), keepdims=1)
    nothing = graph.add("Gather", graph.constant([0.0]), worst, name="X_must_not_hold_infinities")
    return _complete(graph, graph.add("Add", x, nothing), fitted)


def _complete(graph: Graph, x: str, fitted: Model) -> str:
    """Return all features, float64 of shape (n, m): those given in ``x``, statistics of categories, and indicators."""
    encoding = fitted.encoding
    if not encoding.counted and not encoding.is_indicator.any():
        return x
    parts: list[str] = []
    given: list[int] = []
    n_looked_up = 0

    def pick(features: list[int]) -> str:
        return graph.add("Gather", x, graph.constant(as_shape(features)), axis=1)

    for column, encoder in enumerate(encoding.encoders):
        features = list(range(*encoding.features_of(column).indices(fitted.n_features)))
        if isinstance(encoder, TargetStatistic):
            parts += [pick(given)] if given else []
            parts.append(_look_up(graph, encoder, n_looked_up))
            given, n_looked_up = [], n_looked_up + 1
        elif isinstance(encoder, Numbers) and encoder.has_indicator:
            parts.append(pick([*given, features[0]]))
            parts.append(graph.cast(graph.add("IsNaN", pick(features[:1])), np.float64))
            given = []
        else:
            given += features
    parts += [pick(given)] if given else []
    return graph.add("Concat", *parts, axis=1)


def _look_up(graph: Graph, encoder: TargetStatistic, number: int) -> str:
    """Return statistics of a column of text, shape (n, n_targets): NaN for "", the last for unknown categories."""
    keys = [check_text(str(category), "category", "ONNX") for category in encoder.categories]
    n_levels = len(keys)
    own = graph.add("Gather", CATEGORIES, graph.constant(number, np.int64), axis=1)
    code = graph.add(
        "LabelEncoder",
        own,
        domain="ai.onnx.ml",
        keys_strings=keys if "" in keys else [*keys, ""],
        values_int64s=list(range(n_levels)) if "" in keys else [*range(n_levels), n_levels + 1],
        default_int64=n_levels,
    )
    table = np.column_stack([encoder.values, np.full(len(encoder.values), np.nan)]).T
    return graph.add("Gather", graph.constant(np.ascontiguousarray(table), name="statistics"), code)


def _find(graph: Graph, condition: str) -> str:
    """Return the indices where a vector is true."""
    return graph.add("Squeeze", graph.add("NonZero", condition), graph.constant(as_shape([0])))


def _walk(graph: Graph, rows: Rows, walks: Walks, confidence: str | None) -> tuple[str, str | None]:
    """Return the leaf of every walk, as -1 - its number, and d(x) (None if it is always 1)."""
    shape = graph.add("Concat", rows.n_rows, graph.constant(as_shape([len(walks.root)])), axis=0)
    roots = graph.add("Expand", graph.constant(walks.root, np.int64, "root"), shape)
    place = graph.add("Reshape", roots, rows.n_walks, allowzero=1)
    distance = None if confidence is None else rows.fill(graph, rows.n_walks, 1.0)
    if not len(walks.offset):
        return place, distance
    zero, two, nil = graph.constant(0, np.int64), graph.constant(2, np.int64), graph.constant(0.0)
    weights = rows.store(graph, walks.weights, "weight")
    offset = graph.constant(walks.offset, name="offset")
    child = graph.constant(walks.child.ravel(), np.int64, "child")

    def step(body: Graph, states: list[str]) -> tuple[str, list[str]]:
        walk, place, *distance = states
        block = body.add("Gather", place, walk)
        y = body.add("Sub", rows.add_terms(body, weights, block, walk), body.add("Gather", offset, block))
        is_right = body.cast(body.add("GreaterOrEqual", y, nil), np.int64)
        following = body.add("Gather", child, body.add("Add", body.add("Mul", block, two), is_right))
        place = body.add("ScatterElements", place, walk, following)
        if distance:
            length = body.add("Min", body.add("Abs", y), body.constant(1.0))
            if confidence == "path":
                length = body.add("Min", length, body.add("Gather", distance[0], walk))
            distance = [body.add("ScatterElements", distance[0], walk, length)]
        walk = body.add("Compress", walk, body.add("GreaterOrEqual", following, zero), axis=0)
        return body.add("Greater", body.add("Size", walk), zero), [walk, place, *distance]

    walk = _find(graph, graph.add("GreaterOrEqual", place, zero))
    states: list[tuple[str, Any]] = [(walk, np.int64), (place, np.int64)]
    states += [] if distance is None else [(distance, np.float64)]
    is_going = graph.add("Greater", graph.add("Size", walk), zero)
    _, place, *last = graph.loop(is_going, states, step)
    return place, last[0] if last else None


def _find_shares(graph: Graph, rows: Rows, walks: Walks, place: str) -> str:
    """Return the shares of all classes in the leaf of every walk, shape (n · n_trees, K). Equal leaves share a line."""
    assert walks.shares is not None
    n_leaves = len(walks.intercept)
    dense = np.zeros((n_leaves, rows.fitted.n_classes))
    dense[np.repeat(np.arange(n_leaves), np.diff(walks.shares.ptr)), walks.shares.feature] = (
        walks.shares.value
    )
    lines, line = np.unique(dense, axis=0, return_inverse=True)
    leaf = graph.add("Sub", graph.constant(-1, np.int64), place)
    own = graph.add("Gather", graph.constant(line.ravel(), np.int64, "line"), leaf)
    return graph.add("Gather", graph.constant(lines, name="shares"), own)


def _estimate(graph: Graph, rows: Rows, walks: Walks, place: str) -> str:
    """Return μ(x) of the leaf of every walk (eq. 15)."""
    leaf = graph.add("Sub", graph.constant(-1, np.int64), place)
    estimate = graph.add("Gather", graph.constant(walks.intercept, name="intercept"), leaf)
    sloped = np.flatnonzero(np.diff(walks.slopes.ptr))
    if len(sloped):
        number = np.full(len(walks.intercept), -1)
        number[sloped] = np.arange(len(sloped))
        own = graph.add("Gather", graph.constant(number, np.int64, "sloped"), leaf)
        walk = _find(graph, graph.add("GreaterOrEqual", own, graph.constant(0, np.int64)))
        slopes = rows.store(graph, walks.slopes.take(sloped), "slope")
        number_of, first = graph.add("Gather", own, walk), graph.add("Gather", estimate, walk)
        moved = rows.add_slopes(graph, slopes, number_of, walk, first)
        estimate = graph.add("ScatterElements", estimate, walk, moved)
    if walks.bounds is None:
        return graph.add("Clip", estimate, graph.constant(0.0), graph.constant(1.0))
    low, high = (graph.add("Gather", graph.constant(ends, name="bound"), leaf) for ends in walks.bounds)
    return graph.add("Min", graph.add("Max", estimate, low), high)


_LEAVES = {"estimate": _estimate, "shares": _find_shares}
