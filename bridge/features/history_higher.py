"""Higher bars over a whole history, in numpy. Twin: ``emit_higher``."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import DataError
from bridge.mt5.servertime import text
from bridge.mt5.timeframes import timeframe

Doubles = NDArray[np.float64]


class HigherBars:
    """Which higher bar each bar is a part of.

    Args:
        time: Open times of the bars, server seconds, ascending.
        attrs: ``timeframe`` of the higher bars, ``of`` of the bars.

    Attributes:
        starts: Where each higher bar begins.
        part: The place, in ``starts``, of each bar's higher bar.
        newest: The place of the newest higher bar that is complete; -1 where there is none yet.

    Raises:
        DataError: Bars are closer together than their timeframe allows.
    """

    def __init__(self, time: NDArray[np.int64], attrs: Mapping[str, Any]) -> None:
        frame, step = timeframe(attrs["timeframe"]), timeframe(attrs["of"])
        near = np.flatnonzero(np.diff(time) < step.seconds)
        if len(near):
            raise DataError(
                f"the bar of {text(int(time[near[0] + 1]))} follows less than {step.name} after "
                f"the one before: name the bars' own timeframe in of={step.name!r}"
            )
        numbers = (time - frame.open_of(0)) // frame.seconds
        ends = (time + step.seconds - frame.open_of(0)) // frame.seconds
        begins = np.append(True, numbers[1:] != numbers[:-1])[: len(time)]
        self.starts = np.flatnonzero(begins)
        self.part = np.cumsum(begins) - 1
        self.newest = self.part - (ends == numbers)

    def columns(self, bars: Mapping[str, Doubles]) -> dict[str, Doubles]:
        """Return the columns of the higher bars; the last may be incomplete."""
        if not len(self.starts):
            return {name: column[:0] for name, column in bars.items()}
        return {
            "open": bars["open"][self.starts],
            "high": np.maximum.reduceat(bars["high"], self.starts),
            "low": np.minimum.reduceat(bars["low"], self.starts),
            "close": bars["close"][np.append(self.starts[1:], len(self.part)) - 1],
            "tick_volume": np.add.reduceat(bars["tick_volume"], self.starts),
            "spread": np.minimum.reduceat(bars["spread"], self.starts),
        }

    def at_bars(self, values: Doubles) -> Doubles:
        """Return, at each bar, the value at the newest complete higher bar."""
        if not len(self.starts):
            return np.empty(0)
        return np.where(self.newest < 0, np.nan, values[self.newest])

    def first(self, values: Doubles) -> Doubles:
        """Return, at each bar, the value at the first bar of its higher bar."""
        found: Doubles = values[self.starts[self.part]]
        return found

    def accumulated(self, ufunc: np.ufunc, values: Doubles) -> Doubles:
        """Return, at each bar, ``ufunc`` over the bars of its higher bar up to it."""
        found, begun = values.copy(), self.starts[self.part]
        places, reach = np.arange(len(values)), 1
        # Each turn doubles how many bars a value covers.
        longest = int((places - begun).max(initial=0))
        while reach <= longest:
            joined = np.flatnonzero(places - reach >= begun)
            found[joined] = ufunc(found[joined], found[joined - reach])
            reach *= 2
        return found
