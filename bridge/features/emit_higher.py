"""Nodes that make higher bars inside the graph. Twin: ``history_higher``.

Each window counts, backwards from its newest bar, how often a new higher bar has begun: that count
is a bar's *age*. Weekends and holes need no rule, since a higher bar without bars has no age.
``CumSum`` is the one operator here that begins at opset 11; it means the same ever since.
"""

from collections.abc import Callable

import numpy as np

from bridge.errors import ConfigError
from bridge.features.emitter import Emitter
from bridge.features.expr import Expr
from bridge.mt5.timeframes import timeframe

# Below any value of a market; infinity times 0 would be no number.
_LOWEST = -1e300


class _Windows:
    """The window of each of the newest bars, as rows ``[N * bars, count]``.

    Attributes:
        numbers: The number, a double, of the higher bar that each bar is a part of.
    """

    def __init__(self, emitter: Emitter, node: Expr, bars: int, count: int) -> None:
        self.emitter, self.builder = emitter, emitter.builder
        self.bars, self.count = bars, count
        self._frame = timeframe(node.attrs["timeframe"])
        self._step = timeframe(node.attrs["of"]).seconds
        self.times = self.rows(emitter.source.time(), emitter.source.length)
        self.numbers = self._numbers(self.times)

    def rows(self, name: str, have: int) -> str:
        """Return the windows of a tensor ``[N, have]``."""
        windows = self.emitter.windows(name, have, self.bars, self.count)
        return self.builder.node("Reshape", windows, self.builder.integers([-1, self.count]))

    def part(self, name: str, first: int, last: int) -> str:
        """Return the columns from ``first`` to before ``last``."""
        places = self.builder.integers(np.arange(first, last))
        return self.builder.node("Gather", name, places, axis=1)

    def flags(self, condition: str) -> str:
        """Return 1.0 where the condition holds, else 0.0."""
        one, zero = self.builder.doubles(1.0), self.builder.doubles(0.0)
        return self.builder.node("Where", condition, one, zero)

    def only(self, condition: str, values: str, otherwise: float = 0.0) -> str:
        """Return the values where the condition holds, else a number."""
        return self.builder.node("Where", condition, values, self.builder.doubles(otherwise))

    def end(self) -> str:
        """Return the number of the higher bar that holds the moment at which the newest closed."""
        newest = self.part(self.times, self.count - 1, self.count)
        return self._numbers(self.builder.node("Add", newest, self.builder.integers(self._step)))

    def known(self, value: str) -> str:
        """Return ``value [rows, 1]`` as ``[N, bars]``, NaN where bars are too close."""
        later, sooner = (
            self.part(self.times, 1, self.count),
            self.part(self.times, 0, self.count - 1),
        )
        gaps = self.builder.node(
            "Cast", self.builder.node("Sub", sooner, later), to=self.builder.DOUBLE
        )
        nearest = self.emitter.highest(gaps, self.count - 1, [-1, 1])
        is_close = self.builder.node("Greater", nearest, self.builder.doubles(0.5 - self._step))
        kept = self.builder.node("Where", is_close, self.builder.doubles(np.nan), value)
        return self.builder.node("Reshape", kept, self.builder.integers([-1, self.bars]))

    def _numbers(self, times: str) -> str:
        since = self.builder.node("Sub", times, self.builder.integers(self._frame.open_of(0)))
        number = self.builder.node("Div", since, self.builder.integers(self._frame.seconds))
        return self.builder.node("Cast", number, to=self.builder.DOUBLE)


def so_far(emitter: Emitter, node: Expr, bars: int) -> str:
    """Emit what the bars since the higher bar began amount to, the newest one included."""
    count = node.reach + 1
    windows = _Windows(emitter, node, bars, count)
    values = windows.rows(emitter.value(node.args[0], bars + node.reach), bars + node.reach)
    newest = windows.part(windows.numbers, count - 1, count)
    off = emitter.builder.node("Sub", newest, windows.numbers)
    is_inside = emitter.builder.node("Greater", emitter.builder.doubles(0.5), off)
    return windows.known(_SO_FAR[node.attrs["how"]](windows, values, is_inside))


def _so_far_max(windows: _Windows, values: str, is_inside: str) -> str:
    kept = windows.only(is_inside, values, _LOWEST)
    return windows.emitter.highest(kept, windows.count, [-1, 1])


def _so_far_sum(windows: _Windows, values: str, is_inside: str) -> str:
    ones = windows.builder.doubles(np.ones((windows.count, 1)))
    return windows.builder.node("MatMul", windows.only(is_inside, values), ones)


def _so_far_first(windows: _Windows, values: str, is_inside: str) -> str:
    # The window's oldest bar is always before the higher bar, so nothing is missed at the edge.
    flags = windows.flags(is_inside)
    earlier = windows.builder.integers([0, *range(windows.count - 1)])
    before = windows.builder.node("Gather", flags, earlier, axis=1)
    rises = windows.builder.node("Sub", flags, before)
    is_first = windows.builder.node("Greater", rises, windows.builder.doubles(0.5))
    return _so_far_sum(windows, values, is_first)


_SO_FAR = {"first": _so_far_first, "max": _so_far_max, "sum": _so_far_sum}


def higher(emitter: Emitter, node: Expr, bars: int) -> str:
    """Emit the value of the argument at the newest higher bar that is complete."""
    inner = node.args[0]
    windows = _Windows(emitter, node, bars, node.lookback + 1)
    source = _HigherBars(windows, inner.lookback + 1)
    return windows.known(Emitter([inner], 1, source, emitter.operations).value(inner, 1))


class _HigherBars:
    """The complete higher bars of each window: a source of ``[rows, length]``.

    The newest has the age 1. A row's oldest bar is older than all that is asked for.
    """

    def __init__(self, windows: _Windows, length: int) -> None:
        self.builder, self.length = windows.builder, length
        self._windows = windows
        after = self.builder.node(
            "Concat", windows.part(windows.numbers, 1, windows.count), windows.end(), axis=1
        )
        steps = self.builder.node("Sub", after, windows.numbers)
        self._is_last = self.builder.node("Greater", steps, self.builder.doubles(0.5))
        self._ends = windows.flags(self._is_last)
        axis = self.builder.integers(1)
        self._ages = self.builder.node("CumSum", self._ends, axis, reverse=1)

    def column(self, name: str) -> str:
        """Return a column of the higher bars, double ``[rows, length]``."""
        source = self._windows.emitter.source
        return _MAKE[name](self, self._windows.rows(source.column(name), source.length))

    def time(self) -> str:
        """Refuse: ``higher`` takes no argument that reads the clock.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError("a feature of higher bars reads the clock: read the bars' own instead")

    def _is_aged(self) -> str:
        """Return which bars each higher bar is made of, ``[rows, length, count]``."""
        shape = self.builder.integers([-1, 1, self._windows.count])
        ages = self.builder.node("Reshape", self._ages, shape)
        wanted = self.builder.doubles(np.arange(self.length, 0, -1.0)[:, None])
        off = self.builder.node("Abs", self.builder.node("Sub", ages, wanted))
        return self.builder.node("Greater", self.builder.doubles(0.5), off)

    def total(self, values: str) -> str:
        """Return the sum of the bars of each higher bar."""
        column = self.builder.node(
            "Reshape", values, self.builder.integers([-1, self._windows.count, 1])
        )
        sums = self.builder.node("MatMul", self._windows.flags(self._is_aged()), column)
        return self.builder.node("Reshape", sums, self.builder.integers([-1, self.length]))

    def last(self, values: str) -> str:
        """Return the last bar's value: of the sum, all terms but one are 0."""
        return self.total(self._windows.only(self._is_last, values))

    def first(self, values: str) -> str:
        """Return the first bar's value."""
        places = self.builder.integers([0, *range(self._windows.count - 1)])
        flags = self.builder.node("Gather", self._ends, places, axis=1)
        is_first = self.builder.node("Greater", flags, self.builder.doubles(0.5))
        return self.total(self._windows.only(is_first, values))

    def largest(self, values: str) -> str:
        """Return the largest value of the bars of each higher bar."""
        count = self._windows.count
        spread = self.builder.node("Reshape", values, self.builder.integers([-1, 1, count]))
        kept = self._windows.only(self._is_aged(), spread, _LOWEST)
        return self._windows.emitter.highest(kept, count, [-1, self.length])

    def smallest(self, values: str) -> str:
        """Return the smallest value of the bars of each higher bar."""
        return self.builder.node("Neg", self.largest(self.builder.node("Neg", values)))


_MAKE: dict[str, Callable[[_HigherBars, str], str]] = {
    "open": _HigherBars.first,
    "high": _HigherBars.largest,
    "low": _HigherBars.smallest,
    "close": _HigherBars.last,
    "tick_volume": _HigherBars.total,
    "spread": _HigherBars.smallest,
}
