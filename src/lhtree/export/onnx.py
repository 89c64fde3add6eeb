"""Export to ONNX with standard operators only.

All rows descend all trees at once, one level per iteration of a loop. A walk that reaches a leaf leaves the loop.
Symmetric trees need no loop: the sides of a row at all levels are the bits of the numbers of its leaves.
Sums keep the order of the core, so results are bitwise equal.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import __version__, _core
from .._parameters import check_flag, refuse
from .._write import write_whole
from ..model.model import Model, Pool, read
from ..model.records import Knots
from ..tables.encoders import Levels as CategoryEncoder
from ..tables.encoders import Numbers, TargetStatistic
from ..tables.labels import Label, check_labels, check_text
from . import _walks as e
from ._onnx_graph import SPACES, Graph, GraphRows
from ._walks import WalkLevels, Walks, find_walks, take_base

_MOST_BYTES = 2_000_000_000  # a protobuf message ends at 2 GiB


def export_onnx(
    model: Any, path: str | os.PathLike[str], *, dtype: str = "float64", single_input: bool = False
) -> None:
    """Write a model as an ONNX file for onnxruntime.

    Every column is an input of its name and of shape (n, 1), for any n: numbers, where NaN means missing and an
    infinite value fails the run, or text for a categorical column, where "" means missing. Columns that the model
    ignores are no inputs. The outputs are ``label`` of shape (n,) and ``probabilities``, float64 of shape (n, K); that
    of a regression is ``prediction``, float64 of shape (n,), or (n, k) of several quantiles or responses. The names of
    ``columns``, their ``inputs`` (a column with the name of an output gets "_" appended), ``classes`` and ``outputs``
    are stored as JSON in the file's metadata. Requires the extra ``onnx``.

    Parameters
    ----------
    model : classifier, regressor or Scorer
        Fitted model.
    path : str or path
        File to write.
    dtype : {"float64", "float32"}, default="float64"
        Type of numbers. Predictions equal those of the model for rows of this type.
    single_input : bool, default=False
        One input ``X`` of shape (n, m) instead of an input per column; for models without categorical columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lhtree import LHTClassifier, export_onnx
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LHTClassifier().fit(X, y)
    >>> export_onnx(model, "wine.onnx", single_input=True)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession("wine.onnx")
    >>> label, probabilities = session.run(None, {"X": X.to_numpy()})
    >>> bool((probabilities == model.predict_proba(X)).all())
    True
    """
    fitted = read(model, takes_numbers=True, takes_several=True)
    if dtype not in ("float64", "float32"):
        raise refuse("dtype", dtype, "'float64' or 'float32'")
    labels = check_labels(fitted.labels, "ONNX") if fitted.head.labels else []
    graph = Graph()
    inputs, x = _take_rows(graph, fitted, dtype, is_single=check_flag("single_input", single_input))
    facts = {"columns": json.dumps(fitted.column_names), "inputs": json.dumps(list(inputs))}
    if labels:
        facts["classes"] = json.dumps(labels)
    if fitted.outputs:
        facts["outputs"] = json.dumps(fitted.head.names)
    outputs = _add_model(graph, x, fitted, labels)
    file = graph.finish(inputs, outputs, facts, __version__)
    write_whole(path, file.SerializeToString())


Outputs = dict[str, tuple[str, Any, list[Any]]]  # name in the graph, type and shape


def _add_model(graph: Graph, x: str, fitted: Model, labels: list[Label]) -> Outputs:
    """Add a model to a graph and return its outputs."""
    if fitted.pool is not None:
        return _add_ensemble(graph, x, fitted, fitted.pool, labels)
    return LINKS[fitted.head.link].write(graph, *_reach_leaves(graph, x, fitted), labels)


def _reach_leaves(graph: Graph, x: str, fitted: Model) -> tuple[GraphRows, str, str | None]:
    """Return the rows, and the output and confidence of the leaf of every tree."""
    walks = find_walks(fitted)
    _check_size(walks, fitted.n_classes)
    rows = SPACES[walks.space](graph, x, fitted, walks)
    leaf, confidence = _walk(graph, rows, walks, fitted.confidence)
    return rows, _LEAVES[walks.leaf](graph, rows, walks, leaf), confidence


def _add_ensemble(graph: Graph, x: str, fitted: Model, pool: Pool, labels: list[Label]) -> Outputs:
    """Combine the outputs of both members.

    Memberships of the forest, raised to the power of its weight, multiply probabilities of the boosted trees.
    """
    boost = _add_model(graph, x, replace(fitted, pool=None), labels)
    weight = graph.constant(pool.weight)
    if not labels:
        forest = _add_model(graph, x, pool.forest, labels)
        value, dtype, shape = boost["prediction"]
        part = graph.add("Mul", weight, forest["prediction"][0])
        return {"prediction": (graph.add("Add", value, part), dtype, shape)}
    rows, leaves, _ = _reach_leaves(graph, x, pool.forest)
    membership = _average(graph, rows, _take_memberships(graph, rows, leaves))
    bounded = graph.add("Max", membership, graph.constant(_core.LEAST_MEMBERSHIP))
    product = graph.add("Mul", boost["probabilities"][0], graph.add("Pow", bounded, weight))
    total = graph.add("ReduceSum", product, graph.shape([1]), keepdims=1)
    number = graph.add("ArgMax", product, axis=1, keepdims=0)
    return _name_outputs(graph, number, graph.add("Div", product, total), labels)


def _check_size(walks: Walks, n_classes: int) -> None:
    """Raise ValueError if the model does not fit into a file."""
    weights, slopes = GraphRows.pad_width(walks.weights.widest), GraphRows.pad_width(walks.slopes.widest)
    n_shares = 0 if walks.shares is None else len(walks.intercept) * n_classes
    n_bytes = (
        8 * n_shares + len(walks.offset) * (20 + 8 * weights) + len(walks.intercept) * (12 + 12 * slopes)
    )
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"the model would need {n_bytes / 1e9:.1f} GB, but an ONNX file is limited to 2 GB: fit fewer or smaller "
            "trees, or use export_c."
        )


Inputs = dict[str, tuple[Any, list[Any]]]  # type and shape


def _take_rows(graph: Graph, fitted: Model, dtype: str, *, is_single: bool) -> tuple[Inputs, str]:
    """Return the inputs, and the name of all features, float64 of shape (n, m)."""
    encoders, names = fitted.encoding.encoders, fitted.column_names
    inputs: Inputs = {}
    place = {}  # of columns of numbers in their matrix
    texts = {}  # inputs of columns of text
    if is_single:
        text = next((i for i, encoder in enumerate(encoders) if isinstance(encoder, CategoryEncoder)), None)
        if text is not None:
            raise refuse("single_input", True, f"False: the column {names[text]!r} has categories")
        inputs["X"] = (dtype, ["n", len(encoders)])
        place = {column: column for column in range(len(encoders))}
    for column, encoder in enumerate(() if is_single else encoders):
        # Without any input the number of rows would be unknown.
        if isinstance(encoder, (Numbers, CategoryEncoder)) or (column + 1 == len(encoders) and not inputs):
            name = _name_input(names[column], inputs)
            if isinstance(encoder, Numbers):
                place[column] = len(place)
            else:
                texts[column] = name
            inputs[name] = (dtype if isinstance(encoder, Numbers) else object, ["n", 1])
    numbers = _take_numbers(graph, [name for name in inputs if name not in texts.values()], dtype)

    def pick(columns: list[int]) -> list[str]:
        return [graph.add("Gather", numbers, graph.shape(columns), axis=1)] if columns else []

    parts: list[str] = []
    given: list[int] = []
    for column, encoder in enumerate(encoders):
        if isinstance(encoder, Numbers):
            given.append(place[column])
            if encoder.has_indicator:
                is_missing = graph.add("IsNaN", *pick([place[column]]))
                parts += [*pick(given), graph.cast(is_missing, np.float64)]
                given = []
        elif isinstance(encoder, CategoryEncoder):
            parts += [*pick(given), _look_up(graph, encoder, texts[column], names[column])]
            given = []
    if not parts and given == list(range(len(place))):
        return inputs, numbers
    parts += pick(given)
    if parts:
        return inputs, graph.add("Concat", *parts, axis=1)
    n_rows = graph.add("Shape", next(iter(inputs)), start=0, end=1)
    return inputs, GraphRows.fill(graph, graph.add("Concat", n_rows, graph.shape([0]), axis=0), 0.0)


def _name_input(column: str, inputs: Inputs) -> str:
    """Return a name that neither another input nor an output has; inner names begin with a slash."""
    name = re.sub("[\0\ud800-\udfff]|^/", "_", column)
    while not name or name in inputs or name in ("label", "probabilities", "prediction"):
        name += "_"
    return name


def _take_numbers(graph: Graph, names: list[str], dtype: str) -> str:
    """Return inputs beside each other, as float64; infinite values make the run fail."""
    if not names:
        return ""
    x = graph.add("Concat", *names, axis=1) if len(names) > 1 else names[0]
    x = x if dtype == "float64" else graph.cast(x, np.float64)
    # An index out of range is the only way to make a run fail, as it must if a value is infinite.
    is_infinite = graph.cast(graph.add("IsInf", x), np.int64)
    worst = graph.add("ReduceMax", is_infinite, graph.shape([1]), keepdims=1)
    nothing = graph.add("Gather", graph.constant([0.0]), worst, name="X_must_not_hold_infinities")
    return graph.add("Add", x, nothing)


def _look_up(graph: Graph, encoder: CategoryEncoder, text: str, column: str) -> str:
    """Return the features of a column of text, shape (n, k)."""
    keys = {check_text(key, "category", "ONNX"): code for key, code in encoder.place_of_text.items()}
    if "" in keys:
        raise ValueError(
            f"the category '' of the column {column!r} means a missing value in ONNX: rename it and fit again, or use "
            "export_c or export_sql."
        )
    n_levels = len(encoder.categories)
    own = graph.add("Squeeze", text, graph.shape([1]))
    code = graph.add(
        "LabelEncoder",
        own,
        domain="ai.onnx.ml",
        keys_strings=[*keys, ""],
        values_int64s=[*keys.values(), n_levels + 1],
        default_int64=n_levels,
    )
    known = encoder.place(np.arange(n_levels))
    unseen = (
        encoder.values[:, -1] if isinstance(encoder, TargetStatistic) else np.full(known.shape[1], np.nan)
    )
    table = np.vstack([known, unseen, np.full(known.shape[1], np.nan)])
    return graph.add("Gather", graph.constant(table, name="features"), code)


def _find(graph: Graph, condition: str) -> str:
    """Return the indices where a vector is true."""
    return graph.add("Squeeze", graph.add("NonZero", condition), graph.shape([0]))


def _find_leaves(graph: Graph, rows: GraphRows, walks: Walks, levels: WalkLevels) -> str:
    """Return the leaf of every row in every symmetric tree."""
    z = graph.add("Transpose", rows.z, perm=[1, 0])  # values of one feature are neighbours
    steps, others = np.flatnonzero(levels.is_step), np.flatnonzero(~levels.is_step)
    sides = []
    if len(steps):
        # The smallest float32 that is not below the offset: the same values are below both.
        near = levels.offset[steps].astype(np.float32)
        near = np.where(near < levels.offset[steps], np.nextafter(near, np.float32(np.inf)), near)
        value = graph.add("Gather", z, graph.constant(levels.weights.take(steps).feature, name="feature"))
        sides.append(graph.add("GreaterOrEqual", value, graph.constant(near[:, None], name="offset")))
    if len(others):
        terms = levels.weights.take(others)
        width = rows.pad_width(terms.widest)
        wide, products = graph.cast(z, np.float64), []
        for feature, weight in zip(*(part.T for part in terms.pad(width)), strict=True):
            value = graph.add("Gather", wide, graph.constant(feature, name="feature"))
            weights = graph.constant(weight[:, None], np.float64, "weight")
            products.append(graph.add("Mul", weights, value))
        total = rows.add_lanes(graph, products)
        offset = graph.constant(levels.offset[others][:, None], name="offset")
        sides.append(graph.add("GreaterOrEqual", total, offset))
    side = graph.add("Concat", *sides, axis=0) if len(sides) > 1 else sides[0]
    # Levels of all trees at one position follow each other. Where a tree has no level, any other one counts nothing.
    depth = np.bincount(levels.tree, minlength=len(walks.root))
    deepest = int(depth.max())
    number = np.full((deepest, len(walks.root)), -1)
    row = np.empty(len(levels.tree), dtype=np.int64)
    row[np.concatenate([steps, others])] = np.arange(len(row))
    number[deepest - 1 - np.log2(levels.bit).astype(np.int64), levels.tree] = row
    bits = graph.add("Gather", graph.cast(side, np.int32), graph.constant(number.ravel(), np.int64, "level"))
    shape = graph.add("Concat", graph.shape(number.shape), rows.n_rows, axis=0)
    bits = graph.add("Reshape", bits, shape, allowzero=1)
    worth = np.where(number < 0, 0, 2 ** np.arange(deepest)[::-1, None])
    bits = graph.add("Mul", bits, graph.constant(worth[:, :, None], np.int32, "bit"))
    leaf = graph.add("ReduceSum", bits, graph.shape([0]), keepdims=0)
    leaf = graph.add("Add", leaf, graph.constant(levels.first_leaf[:, None], np.int32, "first_leaf"))
    leaf = graph.add("Transpose", leaf, perm=[1, 0])
    return graph.add("Reshape", leaf, rows.n_walks, allowzero=1)


def _walk(graph: Graph, rows: GraphRows, walks: Walks, confidence: str | None) -> tuple[str, str | None]:
    """Return the leaf of every walk, and d(x) (None if it is always 1)."""
    if walks.levels is not None:
        return _find_leaves(graph, rows, walks, walks.levels), None
    place, distance = _descend(graph, rows, walks, confidence)
    return graph.add("Sub", graph.constant(-1, np.int64), place), distance


def _descend(graph: Graph, rows: GraphRows, walks: Walks, confidence: str | None) -> tuple[str, str | None]:
    """Return the leaf of every walk, as -1 - its number, and d(x) (None if it is always 1)."""
    shape = graph.add("Concat", rows.n_rows, graph.shape([len(walks.root)]), axis=0)
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


def _find_shares(graph: Graph, rows: GraphRows, walks: Walks, leaf: str) -> str:
    """Return the shares of all classes in the leaf of every walk, shape (n · n_trees, K). Equal leaves share a line."""
    assert walks.shares is not None
    lines, line = np.unique(walks.shares.dense(rows.fitted.n_outputs), axis=0, return_inverse=True)
    own = graph.add("Gather", graph.constant(line.ravel(), np.int64, "line"), leaf)
    return graph.add("Gather", graph.constant(lines, name="shares"), own)


def _estimate(graph: Graph, rows: GraphRows, walks: Walks, leaf: str) -> str:
    """Return μ(x) of the leaf of every walk (eq. 15)."""
    estimate = graph.add("Gather", graph.constant(walks.intercept, name="intercept"), leaf)
    sloped = np.flatnonzero(np.diff(walks.slopes.ptr))
    if len(sloped):
        number = np.full(len(walks.intercept), -1)
        number[sloped] = np.arange(len(sloped))
        own = graph.add("Gather", graph.constant(number, np.int64, "sloped"), leaf)
        walk = _find(graph, graph.add("GreaterOrEqual", own, graph.constant(0, np.int64)))
        slopes = rows.store(graph, walks.slopes.take(sloped), "slope")
        number_of, first = graph.add("Gather", own, walk), graph.add("Gather", estimate, walk)
        moved = rows.add_terms(graph, slopes, number_of, walk, first)
        estimate = graph.add("ScatterElements", estimate, walk, moved)
    if walks.bounds is None:
        return graph.add("Clip", estimate, graph.constant(0.0), graph.constant(1.0))
    low, high = (graph.add("Gather", graph.constant(ends, name="bound"), leaf) for ends in walks.bounds)
    return graph.add("Min", graph.add("Max", estimate, low), high)


_LEAVES = {"estimate": _estimate, "shares": _find_shares}


@dataclass(frozen=True)
class NumberLink:
    """A sum of numbers, from which ``finish`` computes the prediction."""

    finish: Callable[[Graph, GraphRows, str], str]

    def write(
        self, graph: Graph, rows: GraphRows, leaves: str, confidence: str | None, labels: list[Label]
    ) -> Outputs:
        """Return the outputs of the graph."""
        raw = _add_values(graph, rows, leaves)
        if rows.fitted.outputs:
            return {"prediction": (self.finish(graph, rows, raw), np.float64, ["n", rows.fitted.n_outputs])}
        raw = graph.add("Squeeze", raw, graph.shape([1]))
        return {"prediction": (self.finish(graph, rows, raw), np.float64, ["n"])}


@dataclass(frozen=True)
class ClassLink:
    """Class numbers and probabilities, computed by ``score``."""

    score: Callable[[Graph, GraphRows, str, str | None], tuple[str, str]]

    def write(
        self, graph: Graph, rows: GraphRows, leaves: str, confidence: str | None, labels: list[Label]
    ) -> Outputs:
        """Return the outputs of the graph."""
        number, probabilities = self.score(graph, rows, leaves, confidence)
        return _name_outputs(graph, number, probabilities, labels)


def _name_outputs(graph: Graph, number: str, probabilities: str, labels: list[Label]) -> Outputs:
    """Return the outputs of a classifier from class numbers and probabilities."""
    for label in labels:
        if isinstance(label, str):
            check_text(label, "class", "ONNX")
    known = np.array(labels, dtype=np.int64 if type(labels[0]) is int else None)
    label = graph.add("Gather", graph.constant(known, name="labels"), number)
    return {
        "label": (label, object if known.dtype.kind == "U" else known.dtype, ["n"]),
        "probabilities": (probabilities, np.float64, ["n", len(labels)]),
    }


def _raw_scores(finish: Callable[[Graph, GraphRows, str], tuple[str, str]]) -> ClassLink:
    """Return the link of raw scores, from which ``finish`` computes class numbers and probabilities."""

    def score(graph: Graph, rows: GraphRows, leaves: str, confidence: str | None) -> tuple[str, str]:
        raw = _add_values(graph, rows, leaves)
        return (finish if rows.fitted.calibration is None else _calibrate)(graph, rows, raw)

    return ClassLink(score)


def _take_shares(graph: Graph, rows: GraphRows, scores: str) -> str:
    """Return scores by row and class, divided by their sum."""
    total = graph.add_up(scores, 1)
    return graph.add("Div", scores, graph.add("Unsqueeze", total, graph.shape([1])))


def _take_memberships(graph: Graph, rows: GraphRows, leaves: str) -> str:
    """Return memberships of all classes from the outputs of leaves, shape (n, n_estimators, K)."""
    fitted = rows.fitted
    width = fitted.n_classes if rows.walks.leaf == "shares" else fitted.n_targets
    membership = rows.by_target(graph, leaves, width)
    if width == fitted.n_classes:
        return membership
    other = graph.add("Sub", graph.constant(1.0), membership)  # two classes share a tree
    return graph.add("Concat", other, membership, axis=2)


def _average(graph: Graph, rows: GraphRows, values: str) -> str:
    """Return means over the estimators."""
    return _divide(graph, rows, graph.add_up(values, 1))


def _score_wolf(graph: Graph, rows: GraphRows, membership: str, confidence: str | None) -> tuple[str, str]:
    """Return class numbers and probabilities: shares of the WOLF values with their fall-backs, shape (n, K)."""
    fitted = rows.fitted

    def fall_back(scores: str, on: str) -> str:
        largest = graph.add("ReduceMax", scores, graph.shape([1]), keepdims=1)
        return graph.add("Where", graph.add("Equal", largest, graph.constant(0.0)), on, scores)

    membership = _take_memberships(graph, rows, membership)
    scores = _average(graph, rows, membership)
    if confidence is not None:
        distance = rows.by_target(graph, confidence, fitted.n_targets)
        scores = fall_back(_average(graph, rows, graph.add("Mul", distance, membership)), scores)
    scores = fall_back(scores, graph.constant(fitted.prior, name="prior"))
    number, proba = graph.add("ArgMax", scores, axis=1, keepdims=0), _take_shares(graph, rows, scores)
    if fitted.calibration is None:
        return number, proba
    return _calibrate(graph, rows, _column(graph, proba, 1) if fitted.n_classes == 2 else proba)


def _add_values(graph: Graph, rows: GraphRows, values: str) -> str:
    """Return the sums over the trees of every target, shape (n, n_targets)."""
    base = take_base(rows.fitted)
    shape = graph.add("Concat", rows.n_rows, graph.shape([1, len(base)]), axis=0)
    first = graph.add("Expand", graph.constant(base, name="base"), shape)
    return graph.add_up(graph.add("Concat", first, rows.by_target(graph, values, len(base)), axis=1), 1)


def _divide(graph: Graph, rows: GraphRows, raw: str) -> str:
    """Return means over the estimators."""
    return graph.add("Div", raw, graph.constant(float(rows.fitted.n_estimators)))


def _sort(graph: Graph, rows: GraphRows, raw: str) -> str:
    """Return raw scores in ascending order."""
    n = graph.shape([rows.fitted.n_outputs])
    return graph.add_many("TopK", raw, n, n_outputs=2, axis=1, largest=0, sorted=1)[0]


def _softmax(graph: Graph, rows: GraphRows, raw: str) -> tuple[str, str]:
    """Return class numbers, which need no exponential, and probabilities, shape (n, K)."""
    largest = graph.add("ReduceMax", raw, graph.shape([1]), keepdims=1)
    powers = _exponential(graph, graph.add("Sub", raw, largest))
    return graph.add("ArgMax", raw, axis=1, keepdims=0), _take_shares(graph, rows, powers)


def _logistic(graph: Graph, rows: GraphRows, raw: str) -> tuple[str, str]:
    """Return class numbers and probabilities of two classes, shape (n, 2)."""
    is_second, small, large = _take_logistic(graph, raw)
    number = graph.cast(graph.add("Squeeze", is_second, graph.shape([1])), np.int64)
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
    halves = graph.constant(
        2.0 ** (e.EXP_MOST_HALF - np.arange(e.EXP_MOST_HALF - e.EXP_LEAST)), name="power_of_2"
    )
    most = graph.constant(e.EXP_MOST_HALF, np.int64)
    for part in (half, graph.add("Sub", whole, half)):
        power = graph.add("Mul", power, graph.add("Gather", halves, graph.add("Add", part, most)))
    return power


def _calibrate(graph: Graph, rows: GraphRows, scores: str) -> tuple[str, str]:
    """Return class numbers and probabilities, shape (n, K), from raw scores or uncalibrated probabilities."""
    fitted = rows.fitted
    calibration = fitted.calibration
    assert calibration is not None
    if calibration.kind == "sigmoid":
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
        largest = graph.add("ReduceMax", own, graph.shape([1]), keepdims=1)
        even = graph.constant(np.full(fitted.n_classes, 1.0 / fitted.n_classes))
        is_zero = graph.add("Equal", largest, graph.constant(0.0))
        proba = graph.add("Where", is_zero, even, _take_shares(graph, rows, own))
    return graph.add("ArgMax", proba, axis=1, keepdims=0), proba


def _column(graph: Graph, values: str, number: int) -> str:
    """Return one column, shape (n, 1)."""
    return graph.add("Gather", values, graph.shape([number]), axis=1)


def _interpolate(graph: Graph, score: str, knots: Knots) -> str:
    """Return the lines through the knots of a column of scores."""
    x, y = knots
    if len(x) == 1:
        return graph.add("Add", graph.add("Mul", score, graph.constant(0.0)), graph.constant(y[0]))
    # Scores are clipped to the ends.
    inside = graph.add("Max", graph.add("Min", score, graph.constant(x[-1])), graph.constant(x[0]))
    is_passed = graph.cast(graph.add("GreaterOrEqual", inside, graph.constant(x[None])), np.int64)
    n_passed = graph.add("ReduceSum", is_passed, graph.shape([1]), keepdims=1)
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
    "sorted": NumberLink(_sort),
    "log": NumberLink(lambda graph, rows, raw: _exponential(graph, raw)),
}
