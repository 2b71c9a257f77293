"""Recorded ticks that are played: each moves bid and ask to where they really were."""

from bisect import bisect_left, bisect_right
from math import inf

import numpy as np

from bridge.errors import ConfigError
from bridge.market.aggregate import bars_of_ticks, opens_of, starts_of
from bridge.mt5.rates import TICKS_DTYPE, RatesArray
from bridge.mt5.records import SymbolInfo, Tick
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.series import FIRST_TICK, QUOTE_FLAGS, TICK, Series, view
from bridge.terminal.paper.sessions import Week


class TickSeries(Series):
    """Ticks that are played, and the bars that they make.

    Args:
        info: The symbol's specification.
        timeframe: Of the bars that are made.
        ticks: Ticks dtype, server time.
        week: When the symbol is traded; None: whenever there are ticks.
    """

    __slots__ = ("_ask", "_at", "_bid", "_moments", "_msc", "_starts", "_ticks")

    def __init__(
        self, info: SymbolInfo, timeframe: Timeframe, ticks: RatesArray, week: Week | None = None
    ) -> None:
        self._ticks = _checked(info.name, ticks)
        bars = bars_of_ticks(self._ticks, info.point, timeframe)
        super().__init__(info, timeframe, bars, week)
        self._starts = view(starts_of(opens_of(self._ticks["time"], timeframe)))
        self._msc = view(self._ticks["time_msc"])
        self._moments = view(self._ticks["time_msc"] / 1000)
        self._bid, self._ask = view(self._ticks["bid"]), view(self._ticks["ask"])
        self._at = -1
        self.due = self._moments[0]

    def move(self, now: float) -> None:
        """Move the cursor to the newest tick at or before ``now``; never backwards."""
        if self.due <= now:
            last = bisect_right(self._moments, now, lo=self._at + 1) - 1
            self.index = bisect_right(self._starts, last, lo=self.index + 1) - 1
            self._show(last)

    def next_open(self) -> int | None:
        """Return the first full second at which the next bar is seen."""
        following = self.index + 1
        if following >= len(self._starts):
            return None
        return -(-self._msc[self._starts[following]] // 1000)

    def step(self) -> int:
        """Move to the next tick; return whether it opens a bar."""
        following, kind = self._at + 1, TICK
        if self.index + 1 < len(self._starts) and following == self._starts[self.index + 1]:
            self.index, kind = self.index + 1, FIRST_TICK
        self._show(following)
        return kind

    def _show(self, place: int) -> None:
        self._at = place
        self.bid, self.ask = self._bid[place], self._ask[place]
        self.time = self._msc[place] // 1000
        self.due = self._moments[place + 1] if place + 1 < len(self._moments) else inf

    def ask_of(self, bid: float) -> float:
        """Return the ask that belongs to ``bid``, at the spread of now."""
        return round(bid + self.ask - self.bid, self.info.digits)

    def _quoted_until(self) -> float:
        return self._moments[self._at]

    @property
    def version(self) -> int:
        """A number that changes with all that is known."""
        return self._at

    @property
    def is_whole(self) -> bool:
        """Whether all ticks of the newest known bar are known."""
        following, ends = self.index + 1, len(self._msc)
        if following < len(self._starts):
            ends = self._starts[following]
        return self._at + 1 == ends

    def _form(self, rows: RatesArray) -> None:
        known = self._ticks[self._starts[self.index] : self._at + 1]
        rows[-1:] = bars_of_ticks(known, self.info.point, self.timeframe)

    def tick(self) -> Tick:
        """Return the latest tick as it was recorded."""
        return Tick(self._ticks[self._at].item())

    def ticks(self, first: int, last: int, flags: int, count: int) -> RatesArray:
        """Return the first ``count`` known ticks from ``first`` to ``last``, both included."""
        known = self._at + 1
        start = bisect_left(self._msc, first * 1000, hi=known)
        stop = bisect_right(self._msc, last * 1000, hi=known)
        rows = self._ticks[start:stop]
        if flags != -1:
            rows = rows[(rows["flags"] & flags) > 0]
        return rows[:count]


def bars_of(info: SymbolInfo, timeframe: Timeframe, ticks: RatesArray) -> RatesArray:
    """Return the bars that recorded ticks make.

    Raises:
        ConfigError: The ticks can't be played.
    """
    return bars_of_ticks(_checked(info.name, ticks), info.point, timeframe)


def _checked(name: str, ticks: RatesArray) -> RatesArray:
    """Return ticks that can be played; where none has flags, all are bid and ask.

    Raises:
        ConfigError: They are not of the ticks dtype, none, out of order, or without prices.
    """
    if ticks.dtype != TICKS_DTYPE or ticks.ndim != 1:
        raise ConfigError(f"ticks of {name} have to be one array of the ticks dtype")
    if not len(ticks):
        raise ConfigError(f"there are no ticks of {name}: leave the symbol out, or give it ticks")
    times = ticks["time_msc"]
    if bool(np.any(np.diff(times) < 0)) or bool(np.any(times // 1000 != ticks["time"])):
        raise ConfigError(
            f"ticks of {name} have to be in order of time_msc, and time is its full seconds"
        )
    if not bool(np.all((ticks["bid"] > 0) & (ticks["ask"] > 0))):
        raise ConfigError(f"each tick of {name} needs a bid and an ask: remove those without")
    if not ticks["flags"].any():
        ticks = ticks.copy()
        ticks["flags"] = QUOTE_FLAGS
    return ticks
