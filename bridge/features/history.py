"""Evaluate expressions over a whole history, in numpy. Twin: ``graph``."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bridge.features.expr import Expr
from bridge.features.history_higher import HigherBars
from bridge.features.operations import FIELDS
from bridge.mt5.rates import RatesArray

Doubles = NDArray[np.float64]

# Bars worked on at a time, each with those before it that it depends on: the values between stay in
# the processor's cache, and a long history takes no more memory than a short one.
_ROWS = 8_192


def evaluate(expressions: Sequence[Expr], rates: RatesArray) -> Doubles:
    """Return each expression at each bar.

    Args:
        expressions: What to evaluate.
        rates: Shape ``(n,)``, oldest first.

    Returns:
        Shape ``(n, len(expressions))``, NaN where there are too few bars before.

    Raises:
        DataError: Bars are closer together than a feature of higher bars has been told.
    """
    lookback = max((expression.lookback for expression in expressions), default=0)
    rows = max(_ROWS, 4 * lookback)
    out = np.empty((len(rates), len(expressions)))
    for start in range(0, len(rates), rows):
        before = min(start, lookback)
        part = rates[start - before : start + rows]
        out[start : start + rows] = _evaluate(expressions, part)[:, before:].T
    for number, expression in enumerate(expressions):
        out[: expression.lookback, number] = np.nan
    return out


def _evaluate(expressions: Sequence[Expr], rates: RatesArray) -> Doubles:
    """Return each expression at each bar, ``(len(expressions), n)``; early ones mean nothing."""
    columns = {name: rates[name].astype(np.float64) for name in FIELDS}
    history = _History(columns, rates["time"].astype(np.int64))
    out = np.empty((len(expressions), len(rates)))
    # Divisions and logarithms of the padding at the start are NaN, and meant to be.
    with np.errstate(invalid="ignore", divide="ignore"):
        for number, expression in enumerate(expressions):
            out[number] = history.value(expression)
    return out


class _History:
    """Values already computed over one history."""

    def __init__(self, columns: dict[str, Doubles], time: NDArray[np.int64]) -> None:
        self.columns = columns
        self.time = time
        self._values: dict[Expr, Doubles] = {}
        self._higher: dict[tuple[object, object], HigherBars] = {}

    def value(self, node: Expr) -> Doubles:
        """Return ``node`` at each bar, shape ``(n,)``; constants are shape ``()``."""
        if node not in self._values:
            arguments = [self.value(argument) for argument in node.inputs]
            self._values[node] = _OPERATIONS[node.op](self, node, *arguments)
        return self._values[node]

    def higher_bars(self, node: Expr) -> HigherBars:
        """Return the higher bars that ``node`` is about."""
        key = (node.attrs["timeframe"], node.attrs["of"])
        if key not in self._higher:
            self._higher[key] = HigherBars(self.time, node.attrs)
        return self._higher[key]

    def spread_out(self, values: Doubles) -> Doubles:
        """Return a constant as a column: rolling operations need bars."""
        return np.broadcast_to(values, self.time.shape) if values.ndim == 0 else values

    def padded(self, values: Doubles) -> Doubles:
        """Return the newest values as a whole column, NaN before them."""
        return np.concatenate([np.full(len(self.time) - len(values), np.nan), values])


def _field(history: _History, node: Expr) -> Doubles:
    return history.columns[node.attrs["name"]]


def _constant(history: _History, node: Expr) -> Doubles:
    return np.array(node.attrs["value"])


def _calendar(history: _History, node: Expr) -> Doubles:
    attrs = node.attrs
    table = np.array(attrs["table"])
    found: Doubles = table[(history.time // attrs["unit"] + attrs["shift"]) % len(table)]
    return found


def _lag(history: _History, node: Expr, values: Doubles) -> Doubles:
    kept = max(0, len(history.time) - node.reach)
    return history.padded(history.spread_out(values)[:kept])


def _fir(history: _History, node: Expr, values: Doubles) -> Doubles:
    weights = np.array(node.attrs["weights"])
    if len(history.time) < len(weights):
        return history.padded(np.empty(0))
    return history.padded(np.convolve(history.spread_out(values), weights[::-1], "valid"))


def _rolling_max(history: _History, node: Expr, values: Doubles) -> Doubles:
    bars, have = node.reach + 1, 1
    found = history.spread_out(values)
    if len(found) < bars:
        return history.padded(np.empty(0))
    # Each turn doubles how many bars a value covers; the last one overlaps.
    while have < bars:
        step = min(have, bars - have)
        found = np.maximum(found[step:], found[:-step])
        have += step
    return history.padded(found)


def _rolling_var(history: _History, node: Expr, values: Doubles) -> Doubles:
    # Centred first: the mean of squares minus the square of the mean would lose the digits.
    return _about_mean(history, node, values, np.square)


def _rolling_dev(history: _History, node: Expr, values: Doubles) -> Doubles:
    return _about_mean(history, node, values, np.abs)


def _about_mean(
    history: _History, node: Expr, values: Doubles, distance: Callable[[Doubles], Doubles]
) -> Doubles:
    """Return the mean of ``distance`` of the last values less their mean."""
    bars, column = node.reach + 1, history.spread_out(values)
    if len(column) < bars:
        return history.padded(np.empty(0))
    means = np.convolve(column, np.full(bars, 1.0 / bars), "valid")
    total = np.zeros(len(means))
    for age in range(bars):
        total += distance(column[age : age + len(means)] - means)
    return history.padded(total / bars)


def _bars_since_max(history: _History, node: Expr, values: Doubles) -> Doubles:
    column, count = history.spread_out(values), len(history.time) - node.reach
    if count < 1:
        return history.padded(np.empty(0))
    best, ages = column[node.reach :].copy(), np.zeros(count)
    for age in range(1, node.reach + 1):
        earlier = column[node.reach - age :][:count]
        # Above, not level with: of equals the newest counts.
        ages[earlier > best] = age
        np.maximum(best, earlier, out=best)
    return history.padded(ages)


def _safe_div(
    history: _History, node: Expr, top: Doubles, bottom: Doubles, floor: Doubles
) -> Doubles:
    usable = bottom > floor
    divided = top / np.where(usable, bottom, 1.0)
    return np.where(usable, divided, node.attrs["default"])


def _where(
    history: _History, node: Expr, condition: Doubles, then: Doubles, other: Doubles
) -> Doubles:
    return np.where(condition > 0.0, then, other)


def _so_far(history: _History, node: Expr, values: Doubles) -> Doubles:
    bars, column = history.higher_bars(node), history.spread_out(values)
    if node.attrs["how"] == "first":
        return bars.first(column)
    return bars.accumulated({"max": np.maximum, "sum": np.add}[node.attrs["how"]], column)


def _higher(history: _History, node: Expr) -> Doubles:
    bars = history.higher_bars(node)
    # No argument of ``higher`` reads the clock.
    inner = _History(bars.columns(history.columns), bars.starts)
    return bars.at_bars(inner.spread_out(inner.value(node.args[0])))


def _plain(ufunc: Callable[..., Doubles]) -> Callable[..., Doubles]:
    return lambda _history, _node, *arguments: ufunc(*arguments)


_OPERATIONS: dict[str, Callable[..., Doubles]] = {
    "field": _field,
    "constant": _constant,
    "calendar": _calendar,
    "add": _plain(np.add),
    "sub": _plain(np.subtract),
    "mul": _plain(np.multiply),
    "div": _plain(np.divide),
    "max": _plain(np.maximum),
    "neg": _plain(np.negative),
    "abs": _plain(np.abs),
    "log": _plain(np.log),
    "sqrt": _plain(np.sqrt),
    "greater": _plain(lambda first, second: np.where(first > second, 1.0, 0.0)),
    "where": _where,
    "safe_div": _safe_div,
    "lag": _lag,
    "fir": _fir,
    "rolling_max": _rolling_max,
    "rolling_var": _rolling_var,
    "rolling_dev": _rolling_dev,
    "bars_since_max": _bars_since_max,
    "so_far": _so_far,
    "higher": _higher,
}
