"""Small models for tests: a rule that anybody can compute in the head, as an .onnx file."""

from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from bridge.model.contract import Contract, with_contract

COLUMNS = ("open", "high", "low", "close", "tick_volume", "spread")


def contract(window: int, **fields: Any) -> Contract:
    """Return the contract of :func:`last_move`."""
    plain: dict[str, Any] = {
        "name": "last move",
        "symbol": "EURUSD",
        "timeframe": "H1",
        "window": window,
        "inputs": [
            {
                "name": "bars",
                "dtype": "double",
                "layout": "batch,window,columns",
                "columns": COLUMNS,
            },
            {"name": "time", "dtype": "int64", "layout": "batch,window", "columns": ("time",)},
        ],
        "output": {"name": "target", "kind": "target"},
        "decision": {"open_at": 0.5, "stop_points": 500, "range_bars": 2},
        "server_clock": "eet-us",
        "created": "2026-01-01",
        "algorithm": "sign of the last bar's move",
        "licence": "MIT",
    }
    return Contract.model_validate(plain | fields)


def last_move(window: int = 2) -> ModelProto:
    """Return a graph whose target is the sign of the last close minus the one before."""

    def constant(name: str, values: list[int]) -> TensorProto:
        return numpy_helper.from_array(np.array(values, dtype=np.int64), name)

    nodes = [
        helper.make_node("Gather", ["bars", "close_column"], ["close3"], axis=2),
        helper.make_node("Reshape", ["close3", "flat"], ["close"]),
        helper.make_node("Gather", ["close", "last"], ["now"], axis=1),
        helper.make_node("Gather", ["close", "before"], ["then"], axis=1),
        helper.make_node("Sub", ["now", "then"], ["move"]),
        helper.make_node("Sign", ["move"], ["sign"]),
        helper.make_node("Cast", ["sign"], ["target"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "last_move",
        [
            helper.make_tensor_value_info("bars", TensorProto.DOUBLE, ["N", window, len(COLUMNS)]),
            helper.make_tensor_value_info("time", TensorProto.INT64, ["N", window]),
        ],
        [helper.make_tensor_value_info("target", TensorProto.FLOAT, ["N", 1])],
        [
            constant("close_column", [3]),
            constant("flat", [-1, window]),
            constant("last", [window - 1]),
            constant("before", [window - 2]),
        ],
    )
    imports = [helper.make_opsetid("", 15)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="tests")


def write_last_move(path: Path, window: int = 2, **fields: Any) -> Path:
    """Write the model with its contract and return ``path``."""
    path.write_bytes(with_contract(last_move(window), contract(window, **fields)))
    return path
