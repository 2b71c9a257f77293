"""Emit expressions as an ONNX graph over a trailing window. Twin: ``history``."""

from collections.abc import Sequence
from typing import Literal

from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from bridge.errors import ConfigError
from bridge.features.builder import Builder
from bridge.features.emit import EMIT
from bridge.features.emitter import Emitter
from bridge.features.expr import Expr
from bridge.features.featureset import SNAP
from bridge.features.operations import FIELDS, checked_bars
from bridge.features.target import MT5, Target

BARS, TIME, RATES = "bars", "time", "rates"
"""Inputs: double ``[N, window, 6]`` and int64 ``[N, window]``, oldest bar first; or one double
``[N, 7, window]`` whose rows are ``RATES_ROWS``."""
RATES_ROWS = ("open", "high", "low", "close", "time", "tick_volume", "spread")
"""Rows of the input ``rates``: those of a matrix by ``CopyRates`` of MQL5, in its flags' order."""
Layout = Literal["bars+time", "rates"]


def features_graph(
    expressions: Sequence[Expr],
    *,
    output: str = "features",
    window: int | None = None,
    sequence: int | None = None,
    layout: Layout = "bars+time",
    target: Target = MT5,
) -> ModelProto:
    """Return a model that computes ``expressions`` of the newest bar, or bars, of each window.

    Args:
        expressions: In the order of the output's columns.
        output: Name of the output, float ``[N, len(expressions)]``, or
            ``[N, sequence, len(expressions)]``, oldest bar first.
        window: Bars of the inputs; None is as few as the expressions need.
        sequence: How many of the newest bars are answered for; None is the newest alone, without
            an axis for it.
        layout: ``bars+time`` has two inputs, ``rates`` has one.
        target: Versions to stamp.

    Raises:
        ConfigError: The window is too short.
    """
    steps = 1 if sequence is None else checked_bars(sequence)
    least = max(expression.lookback for expression in expressions) + steps
    window = least if window is None else window
    if window < least:
        raise ConfigError(f"a window of {window} bars is too short: the features need {least}")
    source = _Rates(window) if layout == "rates" else _BarsAndTime(window)
    emitter = Emitter(expressions, steps, source, EMIT)
    builder = source.builder
    columns = [emitter.value(expression, steps) for expression in expressions]
    if sequence is not None:
        shape = builder.integers([-1, steps, 1])
        columns = [builder.node("Reshape", column, shape) for column in columns]
    axis = 1 if sequence is None else 2
    joined = columns[0] if len(columns) == 1 else builder.node("Concat", *columns, axis=axis)
    # Asked this way round, NaN is no noise: it stays NaN, as in the history.
    is_noise = builder.node("Greater", builder.doubles(SNAP), builder.node("Abs", joined))
    snapped = builder.node("Where", is_noise, builder.doubles(0.0), joined)
    builder.node("Cast", snapped, output=output, to=TensorProto.FLOAT)
    shape_out: list[str | int | None] = [
        "N",
        *([] if sequence is None else [steps]),
        len(expressions),
    ]
    info = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape_out)
    return builder.model(output, source.inputs, [info], target)


class _BarsAndTime:
    """The inputs ``bars`` and ``time``."""

    def __init__(self, window: int) -> None:
        self.builder, self.length = Builder(), window
        self.inputs: list[ValueInfoProto] = [
            helper.make_tensor_value_info(BARS, TensorProto.DOUBLE, ["N", window, len(FIELDS)]),
            helper.make_tensor_value_info(TIME, TensorProto.INT64, ["N", window]),
        ]

    def column(self, name: str) -> str:
        place = self.builder.integers([FIELDS.index(name)])
        picked = self.builder.node("Gather", BARS, place, axis=2)
        return self.builder.node("Reshape", picked, self.builder.integers([-1, self.length]))

    def time(self) -> str:
        return TIME


class _Rates:
    """The input ``rates``; its times are doubles, which hold seconds exactly."""

    def __init__(self, window: int) -> None:
        self.builder, self.length = Builder(), window
        shape: list[str | int | None] = ["N", len(RATES_ROWS), window]
        self.inputs: list[ValueInfoProto] = [
            helper.make_tensor_value_info(RATES, TensorProto.DOUBLE, shape)
        ]

    def column(self, name: str) -> str:
        place = self.builder.integers([RATES_ROWS.index(name)])
        picked = self.builder.node("Gather", RATES, place, axis=1)
        return self.builder.node("Reshape", picked, self.builder.integers([-1, self.length]))

    def time(self) -> str:
        return self.builder.node("Cast", self.column(TIME), to=TensorProto.INT64)
