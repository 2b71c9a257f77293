"""Recorded bars, and what is known of them at a server time. Nothing later is ever shown.

A bar is two events. At its open it shows its open price alone; one second before the next bar
may begin it is complete. In between nothing moves.

    open  T             bid = open, ask = bid + spread; high = low = close = open, tick_volume 1
    end   T + length-1  bid = close; high, low, close, volumes are known

Bars are bid prices. The spread is the bar's, or the specification's when the bar has none.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE, RatesArray, sealed
from bridge.mt5.records import SymbolInfo
from bridge.mt5.timeframes import Timeframe

OPEN, END = 0, 1
_DAY = 86_400
# A market without a new bar for so long (or a bar's length, if that is longer) is closed.
_QUIET = 3_600
_QUOTE_FLAGS = mt5.TICK_FLAG_BID | mt5.TICK_FLAG_ASK


class Series:
    """The bars of one symbol and a cursor on the newest that is known.

    Attributes:
        info: The symbol's specification.
        timeframe: Of the bars.
        bid, ask: The latest prices; 0.0 before the first bar.
        time: Server time of these prices.
        index: Of the newest known bar; -1 before the first.
        complete: Whether that bar is complete.
        is_walked: Whether somebody steps from event to event, so that no look may move it.
    """

    __slots__ = (
        "_bars",
        "_close",
        "_end",
        "_high",
        "_low",
        "_open",
        "_spread",
        "_time",
        "ask",
        "bid",
        "complete",
        "index",
        "info",
        "is_walked",
        "time",
        "timeframe",
    )

    def __init__(self, info: SymbolInfo, timeframe: Timeframe, bars: RatesArray) -> None:
        self.info = info
        self.timeframe = timeframe
        self._bars = _checked(info.name, bars)
        spread = np.where(bars["spread"] > 0, bars["spread"], info.spread) * info.point
        self._time = _view(bars["time"])
        self._end = _view(_ends(bars["time"], timeframe))
        self._open, self._high = _view(bars["open"]), _view(bars["high"])
        self._low, self._close = _view(bars["low"]), _view(bars["close"])
        self._spread = _view(spread)
        self.index = -1
        self.complete = True
        self.is_walked = False
        self.bid = self.ask = 0.0
        self.time = 0

    # Moving

    def move(self, now: float) -> None:
        """Move the cursor to the newest event at or before ``now``; never backwards."""
        following = self.index + 1
        if following < len(self._time) and self._time[following] <= now:
            last = following + 1
            if last < len(self._time) and self._time[last] <= now:
                last = bisect_right(self._time, now, lo=last)
            self._at_open(last - 1)
        if not self.complete and self._end[self.index] <= now:
            self._at_end()

    def next_event(self) -> int | None:
        """Return the time of the next event."""
        if not self.complete:
            return int(self._end[self.index])
        return self.next_open()

    def next_open(self) -> int | None:
        """Return the open time of the next bar."""
        following = self.index + 1
        return int(self._time[following]) if following < len(self._time) else None

    def is_closed(self, now: float) -> bool:
        """Return whether the market has been without a new bar for long at ``now``."""
        quiet = now - self._end[self.index]
        return bool(quiet > max(_QUIET, self.timeframe.seconds))

    def step(self) -> int:
        """Move to the next event and return its kind; the bar's range is then up to the caller."""
        if self.complete:
            self._at_open(self.index + 1)
            return OPEN
        self._at_end()
        return END

    def _at_open(self, index: int) -> None:
        self.index, self.complete = index, False
        self._quote(self._open[index], self._time[index])

    def _at_end(self) -> None:
        self.complete = True
        self._quote(self._close[self.index], self._end[self.index])

    def _quote(self, bid: float, time: int) -> None:
        self.bid, self.ask, self.time = bid, self.ask_of(bid), time

    def play(self, bid: float) -> None:
        """Show a price of inside the bar for a moment; :meth:`step` has been at its end."""
        self.bid, self.ask = bid, self.ask_of(bid)

    def ask_of(self, bid: float) -> float:
        """Return the ask that belongs to ``bid`` in the current bar."""
        return round(bid + self._spread[self.index], self.info.digits)

    @property
    def open(self) -> float:
        """Open of the newest known bar, bid."""
        return float(self._open[self.index])

    @property
    def high(self) -> float:
        """Highest bid of the newest bar, once it is complete."""
        return float(self._high[self.index])

    @property
    def low(self) -> float:
        """Lowest bid of the newest bar, once it is complete."""
        return float(self._low[self.index])

    @property
    def close(self) -> float:
        """Last bid of the newest bar, once it is complete."""
        return float(self._close[self.index])

    # Reading

    def __len__(self) -> int:
        """Return how many bars are known."""
        return self.index + 1

    def rates(self, start: int, stop: int) -> RatesArray:
        """Return bars ``start`` to ``stop``, at most all known; a forming one shows its open."""
        rows = self._bars[start:stop].copy()
        if stop > start and stop == self.index + 1 and not self.complete:
            row = rows[-1]
            row["high"] = row["low"] = row["close"] = row["open"]
            row["tick_volume"], row["real_volume"] = 1, 0
        return sealed(rows)

    def position_of(self, time: int) -> int:
        """Return how many known bars open at or before ``time``."""
        return bisect_right(self._time, time, hi=self.index + 1)

    def first_time(self) -> int:
        """Return the open time of the first bar."""
        return int(self._time[0])

    def ticks(self) -> RatesArray:
        """Return the two known ticks of each known bar, oldest first."""
        known = self.index + 1
        rows = np.zeros(2 * known, dtype=TICKS_DTYPE)
        for offset, times, bids in ((0, self._time, self._open), (1, self._end, self._close)):
            rows["time"][offset::2] = times[:known]
            rows["bid"][offset::2] = bids[:known]
        spread = np.repeat(np.asarray(self._spread[:known]), 2)
        rows["ask"] = np.round(rows["bid"] + spread, self.info.digits)
        rows["time_msc"] = rows["time"] * 1000
        rows["flags"] = _QUOTE_FLAGS
        return rows if self.complete else rows[:-1]


def _view(column: Any) -> memoryview:
    """Return a column as plain memory: Python numbers by index, without a record each time."""
    return np.ascontiguousarray(column).data


def _ends(times: Any, timeframe: Timeframe) -> Any:
    if timeframe.seconds <= _DAY:
        ends = times - times % timeframe.seconds + timeframe.seconds
    else:
        ends = np.array([timeframe.next_open(int(time)) for time in times], dtype=np.int64)
    ends[:-1] = np.minimum(ends[:-1], times[1:])
    return ends - 1


def _checked(name: str, bars: RatesArray) -> RatesArray:
    if bars.dtype != RATES_DTYPE or bars.ndim != 1:
        raise ConfigError(f"bars of {name} have to be one array of the rates dtype")
    if not len(bars):
        raise ConfigError(f"there are no bars of {name}: leave the symbol out, or give it bars")
    if not bool(np.all(np.diff(bars["time"]) > 0)):
        raise ConfigError(f"bars of {name} have to be in order of time, each time once")
    return bars


class Market:
    """All series, moved together.

    Attributes:
        now: Server time up to which everything is known.
        walked: The series that are stepped through event by event; the others jump when looked at.
        mark: Whatever the last :meth:`walk` was made for.
    """

    def __init__(self, series: Iterable[Series]) -> None:
        self._series = {one.info.name: one for one in series}
        self.now = 0.0
        self.walked: list[Series] = []
        self.mark = -1

    def __iter__(self) -> Iterator[Series]:
        return iter(self._series.values())

    def at(self, symbol: str) -> Series | None:
        """Return the series of ``symbol``, moved to now; None without bars."""
        series = self._series.get(symbol)
        if series is not None and not series.is_walked:
            series.move(self.now)
        return series

    def walk(self, symbols: Iterable[str], mark: int) -> None:
        """Step through these symbols from now on, and through no others."""
        # Looked up before the others are let go: a series on its way stays where it is.
        found = [self.at(name) for name in symbols]
        for series in self.walked:
            series.is_walked = False
        self.walked = [series for series in found if series is not None]
        for series in self.walked:
            series.is_walked = True
        self.mark = mark

    def next_event(self) -> tuple[float, Series] | None:
        """Return the next event of the series that are walked."""
        best = None
        for series in self.walked:
            time = series.next_event()
            if time is not None and (best is None or time < best[0]):
                best = (float(time), series)
        return best

    def next_open(self) -> int | None:
        """Return the server time of the next bar's open, of any symbol."""
        opens = []
        for series in self._series.values():
            if not series.is_walked:
                series.move(self.now)
            following = series.next_open()
            if following is not None:
                opens.append(following)
        return min(opens) if opens else None
