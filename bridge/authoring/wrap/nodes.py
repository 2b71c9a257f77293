"""The few nodes between features, model and answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

# From this opset on, reductions take their axes as an input.
_AXES_AS_INPUT = {"ReduceMax": 18, "ReduceMin": 18, "ReduceMean": 18}


class Nodes:
    """Nodes and constants with names of their own, ``w0``, ``w1``...

    Args:
        opset: Of the graph that they go into.
    """

    def __init__(self, opset: int) -> None:
        self._opset = opset
        self._made = 0
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, output: str | None = None, **attrs: Any) -> str:
        """Emit a node and return the name of its output."""
        name = output or self._name()
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attrs))
        return name

    def over_steps(self, operator: str, value: str) -> str:
        """Emit a reduction over dimension 1, which stays."""
        if self._opset >= _AXES_AS_INPUT[operator]:
            return self.add(operator, value, self.integers([1]), keepdims=1)
        return self.add(operator, value, axes=[1], keepdims=1)

    def cast_float(self, value: str) -> str:
        """Emit a cast to float32."""
        return self.add("Cast", value, to=TensorProto.FLOAT)

    def cast_double(self, value: str, output: str | None = None) -> str:
        """Emit a cast to double."""
        return self.add("Cast", value, output=output, to=TensorProto.DOUBLE)

    def integers(self, values: Sequence[int]) -> str:
        """Return the name of a constant of int64."""
        return self.constant(np.asarray(values, dtype=np.int64))

    def floats(self, values: Sequence[float]) -> str:
        """Return the name of a constant of float32."""
        return self.constant(np.asarray(values, dtype=np.float32))

    def doubles(self, values: Sequence[float]) -> str:
        """Return the name of a constant of doubles."""
        return self.constant(np.asarray(values, dtype=np.float64))

    def constant(self, values: NDArray[Any], name: str | None = None) -> str:
        """Return the name of a constant."""
        name = name or self._name()
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def _name(self) -> str:
        self._made += 1
        return f"w{self._made - 1}"
