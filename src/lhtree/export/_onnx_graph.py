"""ONNX graphs, built node by node, and the rows that trees are evaluated on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._extras import import_extra
from ..model.model import CLIP, Model
from ..model.trees import LEAST_VALUE, MOST_VALUE
from ._walks import MISSING, Terms, Walks

OPSET = 18
_ML_OPSET = 2  # of ai.onnx.ml, for the look-up of text
_IR_VERSION = 8  # of 2022: older runtimes read it too


class Graph:
    """Nodes and constants. Inner graphs (loops) can use the names of the outer ones."""

    def __init__(self, outer: Graph | None = None) -> None:
        self.onnx: Any = import_extra("onnx", "onnx")
        self._number: itertools.count[int] = itertools.count() if outer is None else outer._number
        self.constants: list[Any] = [] if outer is None else outer.constants
        self._nodes: list[Any] = []

    def add(self, op: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node with one output and return its name."""
        return self.add_many(op, *inputs, n_outputs=1, name=name, **attributes)[0]

    def add_many(
        self, op: str, *inputs: str, n_outputs: int, name: str | None = None, **attributes: Any
    ) -> list[str]:
        """Add a node and return the names of its outputs."""
        outputs = [f"/{op}_{next(self._number)}" for _ in range(n_outputs)]
        self._nodes.append(
            self.onnx.helper.make_node(op, list(inputs), outputs, name=name or outputs[0], **attributes)
        )
        return outputs

    def constant(self, values: Any, dtype: Any = None, name: str = "constant") -> str:
        """Add an array and return its name."""
        array = np.asarray(values, dtype=dtype)
        name = f"/{name}_{next(self._number)}"
        if array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def shape(self, values: Sequence[int]) -> str:
        """Add a shape, axes or indices and return the name."""
        return self.constant(values, np.int64)

    def cast(self, values: str, dtype: Any) -> str:
        """Add a node that changes the type."""
        return self.add("Cast", values, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """Return the ONNX number of a NumPy type."""
        number: int = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return number

    def loop(self, condition: str, states: Sequence[tuple[str, Any]], step: Step) -> list[str]:
        """Repeat ``step`` while the condition holds and return the last states. States are names and types of vectors.

        ``step`` takes the inner graph and the states and returns the next condition and states.
        """
        body = Graph(self)
        info = self.onnx.helper.make_tensor_value_info
        inputs = [f"/state_{next(self._number)}" for _ in states]
        going, counter = f"/going_{next(self._number)}", f"/counter_{next(self._number)}"
        next_condition, results = step(body, inputs)
        results = [body.add("Identity", result) for result in results]
        types = [self.type_of(dtype) for _, dtype in states]
        make_graph = self.onnx.helper.make_graph
        inner = make_graph(
            body._nodes,
            "step",
            [info(counter, self.type_of(np.int64), []), info(going, self.type_of(np.bool_), [])]
            + [info(name, kind, [None]) for name, kind in zip(inputs, types, strict=True)],
            [info(next_condition, self.type_of(np.bool_), [])]
            + [info(name, kind, [None]) for name, kind in zip(results, types, strict=True)],
        )
        first = [name for name, _ in states]
        return self.add_many("Loop", "", condition, *first, n_outputs=len(states), body=inner)

    def add_up(self, values: str, axis: int) -> str:
        """Add up float64 values along an axis in order, which ReduceSum does not guarantee."""
        sums = self.add("CumSum", values, self.constant(axis, np.int64))
        return self.add("Gather", sums, self.constant(-1, np.int64), axis=axis)

    def _more_opsets(self) -> list[Any]:
        """Return the operator sets in use besides the standard one."""
        domains = {node.domain for node in self._nodes} - {""}
        return [self.onnx.helper.make_opsetid(domain, _ML_OPSET) for domain in sorted(domains)]

    def finish(
        self,
        inputs: dict[str, tuple[Any, list[Any]]],
        outputs: dict[str, tuple[str, Any, list[Any]]],
        facts: dict[str, str],
        version: str,
    ) -> Any:
        """Return the model: inputs with type and shape, outputs with their present name, type and shape."""
        helper = self.onnx.helper
        for name, (value, _, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name], name=name))
        graph = helper.make_graph(
            self._nodes,
            "lhtree",
            [helper.make_tensor_value_info(n, self.type_of(t), s) for n, (t, s) in inputs.items()],
            [helper.make_tensor_value_info(n, self.type_of(t), s) for n, (_, t, s) in outputs.items()],
            self.constants,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), *self._more_opsets()],
            ir_version=_IR_VERSION,
            producer_name="lhtree",
            producer_version=version,
        )
        helper.set_model_props(model, facts)
        return model


Step = Callable[[Graph, list[str]], tuple[str, list[str]]]


class GraphRows:
    """Normalised rows in planes, and the walks of every row through every tree: all trees of a row in turn."""

    def __init__(self, graph: Graph, x: str, fitted: Model, walks: Walks) -> None:
        self.fitted, self.walks = fitted, walks
        self.z = self._read(graph, x)
        self.n_rows = graph.add("Shape", x, start=0, end=1)
        self._flat = self._width = ""
        self._n_trees = graph.shape([fitted.trees.n_trees])
        self.n_walks = graph.add("Mul", self.n_rows, self._n_trees)

    def _read(self, graph: Graph, x: str) -> str:
        """Return all planes beside each other, shape (n, n_planes · m); the first is clipped."""
        fitted, z = self.fitted, self._normalise(graph, x)
        is_missing = graph.add("IsNaN", z)
        filled = [
            graph.add("Where", is_missing, graph.constant(MISSING[kind], np.float32), z)
            for kind in self.walks.planes
        ]
        if fitted.clip < CLIP:
            ends = (graph.constant(end, np.float32) for end in (-fitted.clip, fitted.clip))
            filled[0] = graph.add("Clip", filled[0], *ends)
        return graph.add("Concat", *filled, axis=1) if len(filled) > 1 else filled[0]

    def _normalise(self, graph: Graph, x: str) -> str:
        """Return z = float32((x - centre) / scale), between the core's bounds; NaN stays NaN."""
        # onnxruntime drops the subtraction of a single number near 0 and the division by one near 1, so that a single
        # column is computed twice.
        n_features = self.fitted.n_features
        centre, scale = (np.resize(values, max(2, n_features)) for values in self.fitted.normalisation)
        moved = graph.add("Sub", x, graph.constant(centre, name="centre"))
        quotient = graph.add("Div", moved, graph.constant(scale, name="scale"))
        clipped = graph.add("Clip", quotient, graph.constant(-CLIP), graph.constant(CLIP))
        known = graph.add("Where", graph.add("IsNaN", x), x, clipped)
        if n_features == 1:
            known = graph.add("Gather", known, graph.shape([0]), axis=1)
        return graph.cast(known, np.float32)

    @staticmethod
    def fill(graph: Graph, shape: str, value: float) -> str:
        """Return an array of one value."""
        tensor = graph.onnx.numpy_helper.from_array(np.array([value]))
        return graph.add("ConstantOfShape", shape, value=tensor)

    def by_target(self, graph: Graph, values: str, width: int) -> str:
        """Return values of all walks, shape (n, n_estimators, width)."""
        shape = graph.shape([self.fitted.n_estimators, width])
        return graph.add("Reshape", values, graph.add("Concat", self.n_rows, shape, axis=0), allowzero=1)

    @staticmethod
    def pad_width(n_terms: int) -> int:
        """Return the number of terms with which a sum is padded: 1, 2, 4 or a multiple of 8."""
        return next((width for width in (0, 1, 2, 4) if n_terms <= width), -(-n_terms // 8) * 8)

    def store(self, graph: Graph, terms: Terms, name: str) -> tuple[str, str, int]:
        """Add the constants of some terms, and the rows as one vector if they are not there yet."""
        if not self._flat:
            self._flat = graph.add("Reshape", self.z, graph.shape([-1]))
            self._width = graph.shape([len(self.walks.planes) * self.fitted.n_features])
        width = self.pad_width(terms.widest)
        feature, value = terms.pad(width)
        return graph.constant(feature, name=f"{name}_feature"), graph.constant(value, name=name), width

    def add_terms(
        self, graph: Graph, terms: tuple[str, str, int], number: str, walk: str, first: str | None = None
    ) -> str:
        """Return feature sums of some walks, each with its row of ``terms``, in the order of the core; shape (n,).

        ``first`` are intercepts to which the sums are added.
        """
        lanes, width = self._multiply(graph, terms, number, walk), terms[2]
        if width > 8:
            lanes, *others = graph.add_many(
                "Split", lanes, n_outputs=width // 8, axis=1, num_outputs=width // 8
            )
            for more in others:
                lanes = graph.add("Add", lanes, more)
        n_lanes = min(width, 8)
        while n_lanes > 1:
            low, high = graph.add_many("Split", lanes, n_outputs=2, axis=1, num_outputs=2)
            lanes = graph.add("Add", low, high)
            n_lanes //= 2
        total = graph.add("Squeeze", lanes, graph.shape([1]))
        return total if first is None else graph.add("Add", first, total)

    @staticmethod
    def add_lanes(graph: Graph, lanes: list[str]) -> str:
        """Return the sum of arrays in the order of the core; their number is that of ``pad_width``."""
        lanes, more = lanes[:8], lanes[8:]
        for place, one in enumerate(more):
            lanes[place % 8] = graph.add("Add", lanes[place % 8], one)
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [graph.add("Add", lanes[i], lanes[i + half]) for i in range(half)]
        return lanes[0]

    def _multiply(self, graph: Graph, terms: tuple[str, str, int], number: str, walk: str) -> str:
        feature, value, _ = terms
        row = graph.add("Div", walk, self._n_trees)
        start = graph.add("Unsqueeze", graph.add("Mul", row, self._width), graph.shape([1]))
        at = graph.add("Add", graph.cast(graph.add("Gather", feature, number), np.int64), start)
        z = graph.cast(graph.add("Gather", self._flat, at), np.float64)
        return graph.add("Mul", graph.cast(graph.add("Gather", value, number), np.float64), z)


class UnitRows(GraphRows):
    """Rows in the user's units; terms are added from left to right."""

    def _read(self, graph: Graph, x: str) -> str:
        """Return the rows between the bounds of values, with the centre instead of missing values."""
        centre = graph.constant(self.fitted.normalisation.centre, name="centre")
        clipped = graph.add("Clip", x, graph.constant(-MOST_VALUE), graph.constant(MOST_VALUE))
        is_tiny = graph.add("Less", graph.add("Abs", x), graph.constant(LEAST_VALUE))
        bounded = graph.add("Where", is_tiny, graph.constant(0.0), clipped)
        return graph.add("Where", graph.add("IsNaN", x), centre, bounded)

    @staticmethod
    def pad_width(n_terms: int) -> int:
        """Return the number of terms with which a sum is padded."""
        return max(1, n_terms)

    def add_terms(
        self, graph: Graph, terms: tuple[str, str, int], number: str, walk: str, first: str | None = None
    ) -> str:
        """Return feature sums of some walks, each with its row of ``terms``, that begin with ``first``; shape (n,)."""
        product, width = self._multiply(graph, terms, number, walk), terms[2]
        columns = [product]
        if width > 1:
            columns = graph.add_many("Split", product, n_outputs=width, axis=1, num_outputs=width)
        axis, total = graph.shape([1]), first or ""
        for column in columns:
            term = graph.add("Squeeze", column, axis)
            total = graph.add("Add", total, term) if total else term
        return total


SPACES: dict[str, type[GraphRows]] = {"normalised": GraphRows, "units": UnitRows}
