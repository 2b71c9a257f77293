"""Emit expressions as an ONNX graph over a trailing window. Twin: ``history``.

Each node is emitted once, for as many of the newest bars as its consumers ask for; a consumer that
needs fewer, or earlier ones, gathers them.
"""

from collections.abc import Callable, Sequence

import numpy as np
from onnx import ModelProto, TensorProto, helper

from bridge.errors import ConfigError
from bridge.features.builder import Builder
from bridge.features.expr import FIELDS, Expr
from bridge.features.featureset import SNAP
from bridge.features.target import MT5, Target

BARS, TIME = "bars", "time"
"""Inputs: double ``[N, window, 6]`` and int64 ``[N, window]``, oldest bar first."""


def features_graph(
    expressions: Sequence[Expr],
    *,
    output: str = "features",
    window: int | None = None,
    target: Target = MT5,
) -> ModelProto:
    """Return a model that computes ``expressions`` of the newest bar of each window.

    Args:
        expressions: In the order of the output's columns.
        output: Name of the output, float ``[N, len(expressions)]``.
        window: Bars of the inputs; None is as few as the expressions need.
        target: Versions to stamp.

    Raises:
        ConfigError: The window is too short.
    """
    least = max(expression.lookback for expression in expressions) + 1
    window = least if window is None else window
    if window < least:
        raise ConfigError(f"a window of {window} bars is too short: the features need {least}")
    emitter = _Emitter(expressions, window)
    builder = emitter.builder
    columns = [emitter.value(expression, 1) for expression in expressions]
    joined = columns[0] if len(columns) == 1 else builder.node("Concat", *columns, axis=1)
    # Asked this way round, NaN is no noise: it stays NaN, as in the history.
    is_noise = builder.node("Greater", builder.doubles(SNAP), builder.node("Abs", joined))
    snapped = builder.node("Where", is_noise, builder.doubles(0.0), joined)
    builder.node("Cast", snapped, output=output, to=TensorProto.FLOAT)
    return builder.model(
        output,
        [
            helper.make_tensor_value_info(BARS, TensorProto.DOUBLE, ["N", window, len(FIELDS)]),
            helper.make_tensor_value_info(TIME, TensorProto.INT64, ["N", window]),
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["N", len(expressions)])],
        target,
    )


class _Emitter:
    """Emits nodes; every value is a double tensor ``[N, bars]`` that ends at the newest bar."""

    def __init__(self, expressions: Sequence[Expr], window: int) -> None:
        self.builder = Builder()
        self._window = window
        self._needed: dict[Expr, int] = {}
        self._names: dict[Expr, str] = {}
        for expression in expressions:
            self._need(expression, 1)

    def _need(self, node: Expr, bars: int) -> None:
        """Note how many of the newest bars of ``node`` are asked for, and pass it on."""
        if self._needed.get(node, 0) >= bars:
            return
        self._needed[node] = bars
        for argument in node.args:
            self._need(argument, bars + node.reach)

    def value(self, node: Expr, bars: int, lag: int = 0) -> str:
        """Return the name of ``bars`` values of ``node`` that end ``lag`` bars before the newest.

        A constant without a market in it stays ``[1, bars]``: operators spread it over the batch.
        """
        if node not in self._names:
            self._names[node] = _EMIT[node.op](self, node, self._needed[node])
        return self._tail(self._names[node], self._needed[node], bars, lag)

    def _tail(self, name: str, have: int, bars: int, lag: int) -> str:
        if have == bars and lag == 0:
            return name
        places = self.builder.integers(np.arange(have - lag - bars, have - lag))
        return self.builder.node("Gather", name, places, axis=1)

    def arguments(self, node: Expr, bars: int) -> list[str]:
        return [self.value(argument, bars) for argument in node.args]

    def field(self, node: Expr, bars: int) -> str:
        column = self.builder.integers([FIELDS.index(str(node.attrs["name"]))])
        picked = self.builder.node("Gather", BARS, column, axis=2)
        flat = self.builder.node("Reshape", picked, self.builder.integers([-1, self._window]))
        return self._tail(flat, self._window, bars, 0)

    def constant(self, node: Expr, bars: int) -> str:
        return self.builder.doubles(np.full((1, bars), node.attrs["value"]))

    def calendar(self, node: Expr, bars: int) -> str:
        node_, integers = self.builder.node, self.builder.integers
        table = np.asarray(node.attrs["table"], dtype=np.float64)
        time = self._tail(TIME, self._window, bars, 0)
        places = node_("Div", time, integers([node.attrs["unit"]]))
        shifted = node_("Add", places, integers([node.attrs["shift"]]))
        turns = node_("Div", shifted, integers([len(table)]))
        place = node_("Sub", shifted, node_("Mul", turns, integers([len(table)])))
        return node_("Gather", self.builder.doubles(table), place, axis=0)

    def lag(self, node: Expr, bars: int) -> str:
        return self.value(node.args[0], bars, node.reach)

    def fir(self, node: Expr, bars: int) -> str:
        weights = np.asarray(node.attrs["weights"], dtype=np.float64)
        banded = np.zeros((bars + node.reach, bars))
        for column in range(bars):
            banded[column : column + len(weights), column] = weights
        values = self.value(node.args[0], bars + node.reach)
        return self.builder.node("MatMul", values, self.builder.doubles(banded))

    def rolling_max(self, node: Expr, bars: int) -> str:
        integers = self.builder.integers
        values = self.value(node.args[0], bars + node.reach)
        signal = self.builder.node("Reshape", values, integers([-1, 1, bars + node.reach]))
        pooled = self.builder.node("MaxPool", signal, kernel_shape=[node.reach + 1])
        return self.builder.node("Reshape", pooled, integers([-1, bars]))

    def rolling_var(self, node: Expr, bars: int) -> str:
        count = node.reach + 1
        places = np.arange(bars)[:, None] + np.arange(count)
        values = self.value(node.args[0], bars + node.reach)
        windows = self.builder.node("Gather", values, self.builder.integers(places), axis=1)
        weights = self.builder.doubles(np.full((count, 1), 1.0 / count))
        off = self.builder.node("Sub", windows, self.builder.node("MatMul", windows, weights))
        mean = self.builder.node("MatMul", self.builder.node("Mul", off, off), weights)
        return self.builder.node("Reshape", mean, self.builder.integers([-1, bars]))

    def safe_div(self, node: Expr, bars: int) -> str:
        top, bottom, floor = self.arguments(node, bars)
        usable = self.builder.node("Greater", bottom, floor)
        divisor = self.builder.node("Where", usable, bottom, self.builder.doubles(1.0))
        divided = self.builder.node("Div", top, divisor)
        default = self.builder.doubles(node.attrs["default"])
        return self.builder.node("Where", usable, divided, default)

    def greater(self, node: Expr, bars: int) -> str:
        above = self.builder.node("Greater", *self.arguments(node, bars))
        return self._either(above, self.builder.doubles(1.0), self.builder.doubles(0.0))

    def where(self, node: Expr, bars: int) -> str:
        condition, then, otherwise = self.arguments(node, bars)
        above = self.builder.node("Greater", condition, self.builder.doubles(0.0))
        return self._either(above, then, otherwise)

    def _either(self, condition: str, then: str, otherwise: str) -> str:
        return self.builder.node("Where", condition, then, otherwise)


def _plain(operator: str) -> Callable[[_Emitter, Expr, int], str]:
    def emit(emitter: _Emitter, node: Expr, bars: int) -> str:
        return emitter.builder.node(operator, *emitter.arguments(node, bars))

    return emit


_EMIT: dict[str, Callable[[_Emitter, Expr, int], str]] = {
    "field": _Emitter.field,
    "constant": _Emitter.constant,
    "calendar": _Emitter.calendar,
    "add": _plain("Add"),
    "sub": _plain("Sub"),
    "mul": _plain("Mul"),
    "div": _plain("Div"),
    "max": _plain("Max"),
    "neg": _plain("Neg"),
    "abs": _plain("Abs"),
    "log": _plain("Log"),
    "sqrt": _plain("Sqrt"),
    "greater": _Emitter.greater,
    "where": _Emitter.where,
    "safe_div": _Emitter.safe_div,
    "lag": _Emitter.lag,
    "fir": _Emitter.fir,
    "rolling_max": _Emitter.rolling_max,
    "rolling_var": _Emitter.rolling_var,
}
