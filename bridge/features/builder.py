"""Emit ONNX nodes: a thin layer over ``onnx.helper``.

Only operators are used whose inputs mean the same in every opset from 9 on (Gather instead of
Slice, MatMul instead of ReduceMean, Reshape instead of Squeeze), so one list of nodes can be
stamped with any of them. Equal nodes are emitted once, names are numbered: equal calls give equal
bytes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from bridge.features.target import Target

PRODUCER = "mt5-onnx-bridge"


class Builder:
    """Nodes and constants of a graph in the making."""

    DOUBLE = TensorProto.DOUBLE

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._known: dict[tuple[object, ...], str] = {}

    def constant(self, values: Any) -> str:
        """Return the name of a constant tensor; its dtype is that of ``values``."""
        array = np.asarray(values)
        key = ("constant", array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            name = f"c{len(self._constants)}"
            self._constants.append(numpy_helper.from_array(array, name))
            self._known[key] = name
        return self._known[key]

    def doubles(self, values: Any) -> str:
        """Return the name of a constant of doubles."""
        return self.constant(np.asarray(values, dtype=np.float64))

    def integers(self, values: Any) -> str:
        """Return the name of a constant of int64."""
        return self.constant(np.asarray(values, dtype=np.int64))

    def node(self, operator: str, *inputs: str, output: str | None = None, **attrs: Any) -> str:
        """Emit a node, or find the equal one, and return the name of its output."""
        key = (operator, inputs, output, repr(sorted(attrs.items())))
        if key not in self._known:
            name = output or f"n{len(self._nodes)}"
            self._nodes.append(helper.make_node(operator, inputs, [name], name=name, **attrs))
            self._known[key] = name
        return self._known[key]

    def model(
        self,
        name: str,
        inputs: Sequence[ValueInfoProto],
        outputs: Sequence[ValueInfoProto],
        target: Target,
    ) -> ModelProto:
        """Return the model, stamped for ``target``."""
        graph = helper.make_graph(self._nodes, name, inputs, outputs, self._constants)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", target.opset)],
            ir_version=target.ir,
            producer_name=PRODUCER,
        )
