"""Export to ONNX with standard operators only.

All rows descend all trees at once, one level per iteration of a loop; a walk that reaches a leaf leaves the loop.
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
from ..model.model import CLIP, Model, read
from ..model.trees import LEAST_VALUE, MOST_VALUE
from ._onnx_calibration import calibrate
from ._onnx_columns import CATEGORIES, complete, name_looked_up
from ._onnx_graph import Graph, as_shape
from ._onnx_rows import Rows
from ._onnx_scores import score_boosted, score_number, score_wolf
from ._walks import MISSING, Terms, Walks, find_walks

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
    walks = find_walks(fitted, "ONNX")
    _check_size(walks, fitted.n_classes)
    graph = Graph()
    x = _take_rows(graph, fitted, dtype)
    if walks.has_units:
        z = _fill_gaps(graph, x, fitted)
    else:
        z = _lay_planes(graph, _normalise(graph, x, fitted), fitted, walks.planes)
    looked_up = name_looked_up(fitted)
    inputs: dict[str, Any] = {"X": (dtype, ["n", fitted.n_features])}
    facts = {"feature_names": json.dumps(fitted.feature_names)}
    if looked_up:
        inputs[CATEGORIES] = (object, ["n", len(looked_up)])
        facts[CATEGORIES] = json.dumps(looked_up)
    n_rows = graph.add("Shape", "X", start=0, end=1)
    rows = Rows(graph, z, n_rows, fitted, len(walks.planes))
    place, confidence = _walk(graph, rows, walks, fitted.confidence)
    estimate = (
        _estimate(graph, rows, walks, place)
        if walks.shares is None
        else _find_shares(graph, fitted, walks, place)
    )
    if fitted.is_regression:
        outputs = {"prediction": (score_number(graph, rows, estimate), np.float64, ["n"])}
    else:
        labels = find_labels(fitted, "ONNX")
        facts["classes"] = json.dumps(labels)
        outputs = _score_classes(graph, rows, estimate, confidence, labels)
    file = graph.finish(inputs, outputs, facts, __version__)
    write_whole(path, file.SerializeToString())


def _score_classes(
    graph: Graph, rows: Rows, estimate: str, confidence: str | None, labels: list[Any]
) -> dict[str, Any]:
    """The outputs of a classifier."""
    fitted = rows.fitted
    for label in labels:
        if isinstance(label, str):
            check_text(label, "class", "ONNX")
    if fitted.base is None:
        first, probabilities = score_wolf(graph, rows, estimate, confidence)
    else:
        first, probabilities = score_boosted(graph, rows, estimate)
    if fitted.calibration is not None:
        first, probabilities = calibrate(graph, rows, probabilities, fitted.calibration)
    known = np.array(labels, dtype=np.int64 if type(labels[0]) is int else None)
    label = graph.add("Gather", graph.constant(known, name="labels"), first)
    return {
        "label": (label, object if known.dtype.kind == "U" else known.dtype, ["n"]),
        "probabilities": (probabilities, np.float64, ["n", fitted.n_classes]),
    }


def _check_size(walks: Walks, n_classes: int) -> None:
    """Refuse what does not fit a file."""
    weights, slopes = _width(walks.weights.widest), _width(walks.slopes.widest)
    n_shares = 0 if walks.shares is None else len(walks.intercept) * n_classes
    n_bytes = (
        8 * n_shares + len(walks.offset) * (20 + 8 * weights) + len(walks.intercept) * (12 + 12 * slopes)
    )
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"the model would need {n_bytes / 1e9:.1f} GB, but an ONNX file is limited to 2 GB: fit fewer or smaller "
            "trees, or use export_c."
        )


def _width(n_terms: int) -> int:
    """Terms with which a sum is padded: 1, 2, 4 or a multiple of 8."""
    return next((width for width in (0, 1, 2, 4) if n_terms <= width), -(-n_terms // 8) * 8)


def _take_rows(graph: Graph, fitted: Model, dtype: str) -> str:
    """The rows as float64, with the features that are computed; infinite values make the run fail."""
    x = "X" if dtype == "float64" else graph.cast("X", np.float64)
    # Nothing but a place outside an array makes a run fail, as it must where a value is infinite.
    is_infinite = graph.cast(graph.add("IsInf", x), np.int64)
    worst = graph.add("ReduceMax", is_infinite, graph.constant(as_shape([1])), keepdims=1)
    nothing = graph.add("Gather", graph.constant([0.0]), worst, name="X_must_not_hold_infinities")
    return complete(graph, graph.add("Add", x, nothing), fitted)


def _fill_gaps(graph: Graph, x: str, fitted: Model) -> str:
    """Rows in the user's units, with the centre instead of missing values."""
    centre = graph.constant(fitted.normalisation.centre, name="centre")
    filled = graph.add("Where", graph.add("IsNaN", x), centre, x)
    filled = graph.add("Clip", filled, graph.constant(-MOST_VALUE), graph.constant(MOST_VALUE))
    is_tiny = graph.add("Less", graph.add("Abs", filled), graph.constant(LEAST_VALUE))
    return graph.add("Where", is_tiny, graph.constant(0.0), filled)


def _normalise(graph: Graph, x: str, fitted: Model) -> str:
    """Normalise: z = float32((x - centre) / scale), between the core's bounds; NaN stays NaN."""
    # onnxruntime drops the subtraction of a single number near 0 and the division by one near 1, so one column is two.
    centre, scale = (np.resize(values, max(2, fitted.n_features)) for values in fitted.normalisation)
    moved = graph.add("Sub", x, graph.constant(centre, name="centre"))
    quotient = graph.add("Div", moved, graph.constant(scale, name="scale"))
    clipped = graph.add("Clip", quotient, graph.constant(-CLIP), graph.constant(CLIP))
    known = graph.add("Where", graph.add("IsNaN", x), x, clipped)
    if fitted.n_features == 1:
        known = graph.add("Gather", known, graph.constant(as_shape([0])), axis=1)
    return graph.cast(known, np.float32)


def _lay_planes(graph: Graph, z: str, fitted: Model, planes: tuple[str, ...]) -> str:
    """All planes beside each other, shape (n, n_planes · m); the first is clipped."""
    is_missing = graph.add("IsNaN", z)
    filled = [graph.add("Where", is_missing, graph.constant(MISSING[kind], np.float32), z) for kind in planes]
    if fitted.clip < CLIP:
        ends = (graph.constant(end, np.float32) for end in (-fitted.clip, fitted.clip))
        filled[0] = graph.add("Clip", filled[0], *ends)
    return graph.add("Concat", *filled, axis=1) if len(planes) > 1 else filled[0]


def _store(graph: Graph, terms: Terms, name: str, *, in_order: bool) -> tuple[str, str, int]:
    width = max(1, terms.widest) if in_order else _width(terms.widest)
    feature, value = terms.pad(width)
    return graph.constant(feature, name=f"{name}_feature"), graph.constant(value, name=name), width


def _find(graph: Graph, condition: str) -> str:
    """Places where a vector is true."""
    return graph.add("Squeeze", graph.add("NonZero", condition), graph.constant(as_shape([0])))


def _walk(graph: Graph, rows: Rows, walks: Walks, confidence: str | None) -> tuple[str, str | None]:
    """The leaf of every walk, as -1 - its number, and d(x) (None where it is 1)."""
    shape = graph.add("Concat", rows.n_rows, graph.constant(as_shape([len(walks.root)])), axis=0)
    roots = graph.add("Expand", graph.constant(walks.root, np.int64, "root"), shape)
    place = graph.add("Reshape", roots, rows.n_walks, allowzero=1)
    distance = None if confidence is None else rows.fill(graph, rows.n_walks, 1.0)
    if not len(walks.offset):
        return place, distance
    zero, two, nil = graph.constant(0, np.int64), graph.constant(2, np.int64), graph.constant(0.0)
    weights = _store(graph, walks.weights, "weight", in_order=walks.has_units)
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


def _find_shares(graph: Graph, fitted: Model, walks: Walks, place: str) -> str:
    """Shares of all classes in the leaf of every walk, shape (n · n_trees, K); leaves that agree have one line."""
    assert walks.shares is not None
    n_leaves = len(walks.intercept)
    dense = np.zeros((n_leaves, fitted.n_classes))
    dense[np.repeat(np.arange(n_leaves), np.diff(walks.shares.ptr)), walks.shares.feature] = (
        walks.shares.value
    )
    lines, line = np.unique(dense, axis=0, return_inverse=True)
    leaf = graph.add("Sub", graph.constant(-1, np.int64), place)
    own = graph.add("Gather", graph.constant(line.ravel(), np.int64, "line"), leaf)
    return graph.add("Gather", graph.constant(lines, name="shares"), own)


def _estimate(graph: Graph, rows: Rows, walks: Walks, place: str) -> str:
    """μ(x) of the leaf of every walk (eq. 15)."""
    leaf = graph.add("Sub", graph.constant(-1, np.int64), place)
    estimate = graph.add("Gather", graph.constant(walks.intercept, name="intercept"), leaf)
    sloped = np.flatnonzero(np.diff(walks.slopes.ptr))
    if len(sloped):
        number = np.full(len(walks.intercept), -1)
        number[sloped] = np.arange(len(sloped))
        own = graph.add("Gather", graph.constant(number, np.int64, "sloped"), leaf)
        walk = _find(graph, graph.add("GreaterOrEqual", own, graph.constant(0, np.int64)))
        slopes = _store(graph, walks.slopes.take(sloped), "slope", in_order=walks.has_units)
        number_of, first = graph.add("Gather", own, walk), graph.add("Gather", estimate, walk)
        if walks.has_units:
            moved = rows.add_terms(graph, slopes, number_of, walk, first)
        else:
            moved = graph.add("Add", first, rows.add_terms(graph, slopes, number_of, walk))
        estimate = graph.add("ScatterElements", estimate, walk, moved)
    if walks.bounds is None:
        return graph.add("Clip", estimate, graph.constant(0.0), graph.constant(1.0))
    low, high = (graph.add("Gather", graph.constant(ends, name="bound"), leaf) for ends in walks.bounds)
    return graph.add("Min", graph.add("Max", estimate, low), high)
