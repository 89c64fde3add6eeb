"""The features of an ONNX graph that are computed from others: statistics of categories, and missing numbers."""

from __future__ import annotations

import numpy as np

from ..model.labels import check_text
from ..model.model import Model
from ..tables.encoders import Numbers, TargetStatistic
from ._onnx_graph import Graph, as_shape

CATEGORIES = "categories"  # an input of text, with one column for each that has target statistics


def name_looked_up(fitted: Model) -> list[str]:
    """The columns of the input of text."""
    return [fitted.column_names[column] for column in fitted.encoding.counted]


def complete(graph: Graph, x: str, fitted: Model) -> str:
    """All features, float64 of shape (n, m), from those that are given in ``x``."""
    encoding = fitted.encoding
    if not encoding.counted and not encoding.is_indicator.any():
        return x
    parts: list[str] = []
    given: list[int] = []
    n_looked_up = 0

    def pick(features: list[int]) -> str:
        return graph.add("Gather", x, graph.constant(as_shape(features)), axis=1)

    for column, treatment in enumerate(encoding.treatments):
        features = list(range(*encoding.features_of(column).indices(fitted.n_features)))
        if isinstance(treatment, TargetStatistic):
            parts += [pick(given)] if given else []
            parts.append(_look_up(graph, treatment, n_looked_up))
            given, n_looked_up = [], n_looked_up + 1
        elif isinstance(treatment, Numbers) and treatment.has_indicator:
            parts.append(pick([*given, features[0]]))
            parts.append(graph.cast(graph.add("IsNaN", pick(features[:1])), np.float64))
            given = []
        else:
            given += features
    parts += [pick(given)] if given else []
    return graph.add("Concat", *parts, axis=1)


def _look_up(graph: Graph, treatment: TargetStatistic, number: int) -> str:
    """The statistics of a column of text, shape (n, n_targets): NaN for "", the last ones for an unknown category."""
    keys = [check_text(str(category), "category", "ONNX") for category in treatment.categories]
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
    table = np.column_stack([treatment.values, np.full(len(treatment.values), np.nan)]).T
    return graph.add("Gather", graph.constant(np.ascontiguousarray(table), name="statistics"), code)
