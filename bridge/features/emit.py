"""How each operation becomes ONNX nodes. Twin: ``history``."""

import numpy as np

from bridge.features.emit_higher import higher, so_far
from bridge.features.emitter import Emit, Emitter
from bridge.features.expr import Expr


def _field(emitter: Emitter, node: Expr, bars: int) -> str:
    column = emitter.source.column(node.attrs["name"])
    return emitter.tail(column, emitter.source.length, bars)


def _constant(emitter: Emitter, node: Expr, bars: int) -> str:
    return emitter.builder.doubles(np.full((1, bars), node.attrs["value"]))


def _calendar(emitter: Emitter, node: Expr, bars: int) -> str:
    node_, integers = emitter.builder.node, emitter.builder.integers
    table = np.asarray(node.attrs["table"], dtype=np.float64)
    time = emitter.tail(emitter.source.time(), emitter.source.length, bars)
    places = node_("Div", time, integers([node.attrs["unit"]]))
    shifted = node_("Add", places, integers([node.attrs["shift"]]))
    turns = node_("Div", shifted, integers([len(table)]))
    place = node_("Sub", shifted, node_("Mul", turns, integers([len(table)])))
    return node_("Gather", emitter.builder.doubles(table), place, axis=0)


def _lag(emitter: Emitter, node: Expr, bars: int) -> str:
    return emitter.value(node.args[0], bars, node.reach)


def _fir(emitter: Emitter, node: Expr, bars: int) -> str:
    weights = np.asarray(node.attrs["weights"], dtype=np.float64)
    banded = np.zeros((bars + node.reach, bars))
    for column in range(bars):
        banded[column : column + len(weights), column] = weights
    values = emitter.value(node.args[0], bars + node.reach)
    return emitter.builder.node("MatMul", values, emitter.builder.doubles(banded))


def _rolling_max(emitter: Emitter, node: Expr, bars: int) -> str:
    integers = emitter.builder.integers
    values = emitter.value(node.args[0], bars + node.reach)
    signal = emitter.builder.node("Reshape", values, integers([-1, 1, bars + node.reach]))
    pooled = emitter.builder.node("MaxPool", signal, kernel_shape=[node.reach + 1])
    return emitter.builder.node("Reshape", pooled, integers([-1, bars]))


def _rolling_var(emitter: Emitter, node: Expr, bars: int) -> str:
    off, weights = _centred(emitter, node, bars)
    mean = emitter.builder.node("MatMul", emitter.builder.node("Mul", off, off), weights)
    return emitter.builder.node("Reshape", mean, emitter.builder.integers([-1, bars]))


def _rolling_dev(emitter: Emitter, node: Expr, bars: int) -> str:
    off, weights = _centred(emitter, node, bars)
    mean = emitter.builder.node("MatMul", emitter.builder.node("Abs", off), weights)
    return emitter.builder.node("Reshape", mean, emitter.builder.integers([-1, bars]))


def _centred(emitter: Emitter, node: Expr, bars: int) -> tuple[str, str]:
    """Return each window less its mean, ``[N, bars, count]``, and the weights of a mean."""
    count = node.reach + 1
    values = emitter.value(node.args[0], bars + node.reach)
    windows = emitter.windows(values, bars + node.reach, bars, count)
    weights = emitter.builder.doubles(np.full((count, 1), 1.0 / count))
    means = emitter.builder.node("MatMul", windows, weights)
    return emitter.builder.node("Sub", windows, means), weights


def _bars_since_max(emitter: Emitter, node: Expr, bars: int) -> str:
    node_, count = emitter.builder.node, node.reach + 1
    values = emitter.value(node.args[0], bars + node.reach)
    windows = emitter.windows(values, bars + node.reach, bars, count)
    top = emitter.highest(windows, count, [-1, bars, 1])
    # The newest of equal maxima has the largest place.
    places = emitter.builder.doubles(np.arange(count))
    kept = node_("Where", node_("Greater", top, windows), emitter.builder.doubles(-1.0), places)
    newest = emitter.highest(kept, count, [-1, bars])
    return node_("Sub", emitter.builder.doubles(count - 1.0), newest)


def _safe_div(emitter: Emitter, node: Expr, bars: int) -> str:
    top, bottom, floor = emitter.arguments(node, bars)
    usable = emitter.builder.node("Greater", bottom, floor)
    divisor = emitter.builder.node("Where", usable, bottom, emitter.builder.doubles(1.0))
    divided = emitter.builder.node("Div", top, divisor)
    default = emitter.builder.doubles(node.attrs["default"])
    return emitter.builder.node("Where", usable, divided, default)


def _greater(emitter: Emitter, node: Expr, bars: int) -> str:
    above = emitter.builder.node("Greater", *emitter.arguments(node, bars))
    one, zero = emitter.builder.doubles(1.0), emitter.builder.doubles(0.0)
    return emitter.builder.node("Where", above, one, zero)


def _where(emitter: Emitter, node: Expr, bars: int) -> str:
    condition, then, otherwise = emitter.arguments(node, bars)
    above = emitter.builder.node("Greater", condition, emitter.builder.doubles(0.0))
    return emitter.builder.node("Where", above, then, otherwise)


def _plain(operator: str) -> Emit:
    def emit(emitter: Emitter, node: Expr, bars: int) -> str:
        return emitter.builder.node(operator, *emitter.arguments(node, bars))

    return emit


EMIT: dict[str, Emit] = {
    "field": _field,
    "constant": _constant,
    "calendar": _calendar,
    "add": _plain("Add"),
    "sub": _plain("Sub"),
    "mul": _plain("Mul"),
    "div": _plain("Div"),
    "max": _plain("Max"),
    "neg": _plain("Neg"),
    "abs": _plain("Abs"),
    "log": _plain("Log"),
    "sqrt": _plain("Sqrt"),
    "greater": _greater,
    "where": _where,
    "safe_div": _safe_div,
    "lag": _lag,
    "fir": _fir,
    "rolling_max": _rolling_max,
    "rolling_var": _rolling_var,
    "rolling_dev": _rolling_dev,
    "bars_since_max": _bars_since_max,
    "so_far": so_far,
    "higher": higher,
}
