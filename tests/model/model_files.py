"""Tiny models for the tests of this room, made with onnx.helper."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from bridge.model.contract import Contract, with_contract
from bridge.mt5.rates import RatesArray, rates_of

WINDOW = 3
COLUMNS = ("open", "high", "low", "close")
SHARES = [
    {"name": "down", "side": "short"},
    {"name": "none", "side": "flat"},
    {"name": "up", "side": "long"},
]
HOUR = 3600
START = 1_483_315_200


def contract(**changes: Any) -> Contract:
    rule: dict[str, Any] = {
        "name": "rule",
        "symbol": "EURUSD",
        "timeframe": "H1",
        "window": WINDOW,
        "inputs": [
            {
                "name": "bars",
                "dtype": "double",
                "layout": "batch,window,columns",
                "columns": COLUMNS,
            },
            {"name": "time", "dtype": "int64", "layout": "batch,window", "columns": ["time"]},
        ],
        "output": {"name": "out", "kind": "shares", "classes": SHARES},
        "server_clock": "eet-us",
        "created": "2017-12-31",
        "algorithm": "fixed rule",
        "licence": "MIT",
    }
    return Contract.model_validate(rule | changes)


def made(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: dict[str, NDArray[Any]] | None = None,
    *,
    opset: int = 15,
    ir: int = 8,
) -> onnx.ModelProto:
    initializers = [onnx.numpy_helper.from_array(v, k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def bars_model(*, width: int = 3, softmax: bool = True, batch: int | str = 1) -> onnx.ModelProto:
    """Return a graph over bars and time: scores k * (last close - first open), k from -1 up.

    With softmax they become shares; the hour of the last bar shifts nothing, but is read.
    """
    weights = np.arange(width, dtype=np.float64)[None, :] - (1.0 if width > 1 else -1.0)
    nodes = [
        helper.make_node("Gather", ["bars", "last"], ["newest"], axis=1),
        helper.make_node("Gather", ["newest", "close"], ["closes"], axis=1),
        helper.make_node("Gather", ["bars", "first"], ["oldest"], axis=1),
        helper.make_node("Gather", ["oldest", "open"], ["opens"], axis=1),
        helper.make_node("Sub", ["closes", "opens"], ["move"]),
        helper.make_node("Cast", ["time"], ["time_d"], to=TensorProto.DOUBLE),
        helper.make_node("Mul", ["time_d", "zero"], ["nothing"]),
        helper.make_node("ReduceSum", ["nothing", "axis"], ["none"], keepdims=0),
        helper.make_node("Unsqueeze", ["move", "axis"], ["column"]),
        helper.make_node("Unsqueeze", ["none", "axis"], ["none1"]),
        helper.make_node("Add", ["column", "none1"], ["sum"]),
        helper.make_node("Mul", ["sum", "weights"], ["scores"]),
        *([helper.make_node("Softmax", ["scores"], ["answer"], axis=1)] if softmax else []),
        helper.make_node(
            "Cast", ["answer" if softmax else "scores"], ["out"], to=TensorProto.FLOAT
        ),
    ]
    constants: dict[str, NDArray[Any]] = {
        "last": np.array(WINDOW - 1),
        "first": np.array(0),
        "open": np.array(0),
        "close": np.array(3),
        "axis": np.array([1]),
        "zero": np.array(0.0),
        "weights": weights,
    }
    return made(
        nodes,
        [
            helper.make_tensor_value_info("bars", TensorProto.DOUBLE, [batch, WINDOW, 4]),
            helper.make_tensor_value_info("time", TensorProto.INT64, [batch, WINDOW]),
        ],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [batch, width])],
        constants,
    )


def fixed_answer(values: list[float]) -> onnx.ModelProto:
    """Return a graph that ignores the bars' prices and answers ``values``."""
    model = bars_model(width=len(values), softmax=False)
    del model.graph.node[-1]
    model.graph.node.append(helper.make_node("Mul", ["scores", "zero"], ["zeros"]))
    model.graph.node.append(helper.make_node("Add", ["zeros", "fixed"], ["fixed_d"]))
    model.graph.node.append(helper.make_node("Cast", ["fixed_d"], ["out"], to=TensorProto.FLOAT))
    fixed = np.array([values], dtype=np.float64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(fixed, "fixed"))
    return model


def stored(path: Path, model: onnx.ModelProto, promise: Contract | None = None) -> Path:
    path.write_bytes(
        model.SerializeToString() if promise is None else with_contract(model, promise)
    )
    return path


def bars(closes: list[float]) -> RatesArray:
    return rates_of((START + i * HOUR, 1.0, 2.0, 0.5, c, 10, 1, 0) for i, c in enumerate(closes))


def endless_model() -> onnx.ModelProto:
    """Return a graph whose loop runs for some centuries."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Add", ["sum", "x"], ["more"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("more", TensorProto.FLOAT, [1]),
        ],
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    return made(
        [helper.make_node("Loop", ["turns", "true", "x"], ["y"], body=body)],
        [x],
        [y],
        {"turns": np.array(2**62), "true": np.array(True)},
    )
