"""The rows of an ONNX graph, and feature sums of them."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ._onnx_graph import Graph, as_shape


class Rows:
    """The rows in planes, and where the walks of every row through every tree lie: tree after tree of a row."""

    def __init__(self, graph: Graph, z: str, n_rows: str, fitted: Model, n_planes: int) -> None:
        self.fitted = fitted
        self.flat = graph.add("Reshape", z, graph.constant(as_shape([-1])))
        self.n_rows = n_rows
        self._width = graph.constant(as_shape([n_planes * fitted.n_features]))
        self._n_trees = graph.constant(as_shape([fitted.trees.n_trees]))
        self.n_walks = graph.add("Mul", n_rows, self._n_trees)

    def fill(self, graph: Graph, shape: str, value: float) -> str:
        """An array of one value."""
        tensor = graph.onnx.numpy_helper.from_array(np.array([value]))
        return graph.add("ConstantOfShape", shape, value=tensor)

    def add_terms(
        self, graph: Graph, terms: tuple[str, str, int], number: str, walk: str, first: str | None = None
    ) -> str:
        """Feature sums of some walks, each with its row of ``terms``, in the order of the core; shape (n,).

        In the user's units they may begin with something else than 0.
        """
        feature, value, width = terms
        row = graph.add("Div", walk, self._n_trees)
        start = graph.add("Unsqueeze", graph.add("Mul", row, self._width), graph.constant(as_shape([1])))
        at = graph.add("Add", graph.cast(graph.add("Gather", feature, number), np.int64), start)
        z = graph.cast(graph.add("Gather", self.flat, at), np.float64)
        product = graph.add("Mul", graph.cast(graph.add("Gather", value, number), np.float64), z)
        if self.fitted.trees.has_units:
            return self._add_in_order(graph, product, width, first)
        lanes = product
        if width > 8:
            first, *others = graph.add_many(
                "Split", product, n_outputs=width // 8, axis=1, num_outputs=width // 8
            )
            lanes = first
            for more in others:
                lanes = graph.add("Add", lanes, more)
        n_lanes = min(width, 8)
        while n_lanes > 1:
            low, high = graph.add_many("Split", lanes, n_outputs=2, axis=1, num_outputs=2)
            lanes = graph.add("Add", low, high)
            n_lanes //= 2
        return graph.add("Squeeze", lanes, graph.constant(as_shape([1])))

    def _add_in_order(self, graph: Graph, product: str, width: int, first: str | None) -> str:
        """Sums from left to right."""
        columns = (
            [product]
            if width == 1
            else graph.add_many("Split", product, n_outputs=width, axis=1, num_outputs=width)
        )
        axis = graph.constant(as_shape([1]))
        total = first
        for column in columns:
            term = graph.add("Squeeze", column, axis)
            total = term if total is None else graph.add("Add", total, term)
        assert total is not None  # there is a column
        return total
