"""ONNX graphs, node by node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import import_extra

OPSET = 18
_ML_OPSET = 2  # of ai.onnx.ml, for the look-up of text
_IR_VERSION = 8  # of 2022: older runtimes read it too


class Graph:
    """Nodes and constants. Inner graphs (loops) see the names of the outer ones."""

    def __init__(self, outer: Graph | None = None) -> None:
        self.onnx: Any = import_extra("onnx", "onnx")
        self._number: itertools.count[int] = itertools.count() if outer is None else outer._number
        self.constants: list[Any] = [] if outer is None else outer.constants
        self._nodes: list[Any] = []

    def add(self, op: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node with one output; the name of the output."""
        return self.add_many(op, *inputs, n_outputs=1, name=name, **attributes)[0]

    def add_many(
        self, op: str, *inputs: str, n_outputs: int, name: str | None = None, **attributes: Any
    ) -> list[str]:
        """Add a node; the names of its outputs."""
        outputs = [f"{op}_{next(self._number)}" for _ in range(n_outputs)]
        self._nodes.append(
            self.onnx.helper.make_node(op, list(inputs), outputs, name=name or outputs[0], **attributes)
        )
        return outputs

    def constant(self, values: Any, dtype: Any = None, name: str = "constant") -> str:
        """Add an array; its name."""
        array = np.asarray(values, dtype=dtype)
        name = f"{name}_{next(self._number)}"
        if array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def cast(self, values: str, dtype: Any) -> str:
        """Add a change of type."""
        return self.add("Cast", values, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """ONNX' number of a type of NumPy."""
        number: int = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return number

    def loop(self, condition: str, states: Sequence[tuple[str, Any]], step: Step) -> list[str]:
        """Repeat ``step`` while the condition holds. States are names and types of vectors; the last of them all.

        ``step`` is given the inner graph and the states, and returns the next condition and states.
        """
        body = Graph(self)
        info = self.onnx.helper.make_tensor_value_info
        inputs = [f"state_{next(self._number)}" for _ in states]
        going, counter = f"going_{next(self._number)}", f"counter_{next(self._number)}"
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

    def add_up(self, values: str, zeros: str, n_axes: int, axis: int) -> str:
        """Add up float64 values along an axis in order, which ReduceSum does not guarantee."""
        info = self.onnx.helper.make_tensor_value_info
        body, kind = Graph(self), self.type_of(np.float64)
        sums, some = f"sums_{next(self._number)}", f"some_{next(self._number)}"
        added = body.add("Add", sums, some)
        shape = [None] * (n_axes - 1)
        inner = self.onnx.helper.make_graph(
            body._nodes, "add", [info(sums, kind, shape), info(some, kind, shape)], [info(added, kind, shape)]
        )
        return self.add("Scan", zeros, values, body=inner, num_scan_inputs=1, scan_input_axes=[axis])

    def _more_opsets(self) -> list[Any]:
        """Operators beyond the standard ones, if some are used."""
        domains = {node.domain for node in self._nodes} - {""}
        return [self.onnx.helper.make_opsetid(domain, _ML_OPSET) for domain in sorted(domains)]

    def finish(
        self,
        inputs: dict[str, tuple[Any, list[Any]]],
        outputs: dict[str, tuple[str, Any, list[Any]]],
        facts: dict[str, str],
        version: str,
    ) -> Any:
        """The model: inputs with type and shape, outputs with the name they had so far, type and shape."""
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


def as_shape(values: Sequence[int]) -> NDArray[np.int64]:
    """A shape, or axes, as ONNX wants them."""
    return np.array(values, dtype=np.int64)
