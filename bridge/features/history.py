"""Evaluate expressions over a whole history, in numpy. Twin: ``graph``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bridge.features.expr import FIELDS, Expr
from bridge.mt5.rates import RatesArray

Doubles = NDArray[np.float64]

# Rows of windows worked on at a time: bounds the memory of rolling operations.
_CHUNK = 16_384


def evaluate(expressions: Sequence[Expr], rates: RatesArray) -> Doubles:
    """Return each expression at each bar.

    Args:
        expressions: What to evaluate.
        rates: Shape ``(n,)``, oldest first.

    Returns:
        Shape ``(n, len(expressions))``, NaN where there are too few bars before.
    """
    columns = {name: rates[name].astype(np.float64) for name in FIELDS}
    history = _History(columns, rates["time"].astype(np.int64))
    out = np.empty((len(rates), len(expressions)))
    # Divisions and logarithms of the padding at the start are NaN, and meant to be.
    with np.errstate(invalid="ignore", divide="ignore"):
        for number, expression in enumerate(expressions):
            out[:, number] = history.value(expression)
            out[: expression.lookback, number] = np.nan
    return out


class _History:
    """Values already computed over one history."""

    def __init__(self, columns: dict[str, Doubles], time: NDArray[np.int64]) -> None:
        self._columns = columns
        self._time = time
        self._values: dict[Expr, Doubles] = {}

    def value(self, node: Expr) -> Doubles:
        """Return ``node`` at each bar, shape ``(n,)``; constants are shape ``()``."""
        if node not in self._values:
            arguments = [self.value(argument) for argument in node.args]
            self._values[node] = _OPERATIONS[node.op](self, node.attrs, *arguments)
        return self._values[node]

    def field(self, attrs: dict[str, Any]) -> Doubles:
        return self._columns[attrs["name"]]

    def calendar(self, attrs: dict[str, Any]) -> Doubles:
        table = np.array(attrs["table"])
        found: Doubles = table[(self._time // attrs["unit"] + attrs["shift"]) % len(table)]
        return found

    def spread_out(self, values: Doubles) -> Doubles:
        """Return a constant as a column: rolling operations need bars."""
        return np.broadcast_to(values, self._time.shape) if values.ndim == 0 else values

    def padded(self, values: Doubles) -> Doubles:
        return np.concatenate([np.full(len(self._time) - len(values), np.nan), values])

    def lag(self, attrs: dict[str, Any], values: Doubles) -> Doubles:
        kept = max(0, len(self._time) - attrs["bars"])
        return self.padded(self.spread_out(values)[:kept])

    def fir(self, attrs: dict[str, Any], values: Doubles) -> Doubles:
        weights = np.array(attrs["weights"])
        if len(self._time) < len(weights):
            return self.padded(np.empty(0))
        return self.padded(np.convolve(self.spread_out(values), weights[::-1], "valid"))

    def rolling_max(self, attrs: dict[str, Any], values: Doubles) -> Doubles:
        return self._rolling(attrs["bars"], values, lambda windows: windows.max(axis=1))

    def rolling_var(self, attrs: dict[str, Any], values: Doubles) -> Doubles:
        # Centred first: the mean of squares minus the square of the mean would lose the digits.
        weights = np.full(attrs["bars"], 1.0 / attrs["bars"])

        def variance(windows: Doubles) -> Doubles:
            off = windows - (windows @ weights)[:, None]
            found: Doubles = (off * off) @ weights
            return found

        return self._rolling(attrs["bars"], values, variance)

    def _rolling(self, bars: int, values: Doubles, reduce: Callable[[Doubles], Doubles]) -> Doubles:
        if len(self._time) < bars:
            return self.padded(np.empty(0))
        windows = sliding_window_view(self.spread_out(values), bars)
        parts = [
            reduce(windows[start : start + _CHUNK]) for start in range(0, len(windows), _CHUNK)
        ]
        return self.padded(np.concatenate(parts))


def _safe_div(
    history: _History, attrs: dict[str, Any], top: Doubles, bottom: Doubles, floor: Doubles
) -> Doubles:
    usable = bottom > floor
    divided = top / np.where(usable, bottom, 1.0)
    return np.where(usable, divided, attrs["default"])


def _where(
    history: _History, attrs: dict[str, Any], condition: Doubles, then: Doubles, other: Doubles
) -> Doubles:
    return np.where(condition > 0.0, then, other)


_OPERATIONS: dict[str, Callable[..., Doubles]] = {
    "field": _History.field,
    "calendar": _History.calendar,
    "constant": lambda _h, attrs: np.array(attrs["value"]),
    "add": lambda _h, _a, first, second: first + second,
    "sub": lambda _h, _a, first, second: first - second,
    "mul": lambda _h, _a, first, second: first * second,
    "div": lambda _h, _a, first, second: first / second,
    "max": lambda _h, _a, first, second: np.maximum(first, second),
    "greater": lambda _h, _a, first, second: np.where(first > second, 1.0, 0.0),
    "neg": lambda _h, _a, value: -value,
    "abs": lambda _h, _a, value: np.abs(value),
    "log": lambda _h, _a, value: np.log(value),
    "sqrt": lambda _h, _a, value: np.sqrt(value),
    "where": _where,
    "safe_div": _safe_div,
    "lag": _History.lag,
    "fir": _History.fir,
    "rolling_max": _History.rolling_max,
    "rolling_var": _History.rolling_var,
}
