"""Bars that are played: the path of prices through each of them.

    OPEN    T                  the open; nothing was traded between it and the price before
    FIRST   T + length/3       an extreme
    SECOND  T + two thirds     the other one
    CLOSE   T + length - 1     the close; high, low and volumes are known

From open to close each move is continuous: all prices between two points are traded on the way.
Between events nothing moves. The first extreme is the low when the walker is long or flat, the
high when it is short, as it stands when the open has passed. Bars are bid prices; the ask is a
spread above, the bar's or, where it has none, the specification's.
"""

from bisect import bisect_right
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE, RatesArray
from bridge.mt5.records import SymbolInfo, Tick
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.series import CLOSE, FIRST, OPEN, QUOTE_FLAGS, SECOND, Series, view
from bridge.terminal.paper.sessions import Week

_DAY = 86_400
# Distance from a whole number above which Python's own rounding is asked, units of the last digit.
_NEAR_HALF = 0.5 - 1e-3

Doubles = NDArray[np.float64]
Places = NDArray[np.intp]


class BarSeries(Series):
    """Bars that are played.

    Args:
        info: The symbol's specification.
        timeframe: Of the bars.
        bars: Rates dtype, bid prices, server time.
        week: When the symbol is traded; None: whenever there are bars.
        glides: Whether prices move inside a bar; otherwise its open is its only price.
    """

    __slots__ = (
        "_close",
        "_end",
        "_high",
        "_low",
        "_open",
        "_path",
        "_points",
        "_spread",
        "_spreads",
        "_volume",
        "glides",
        "low_first",
        "stage",
    )

    def __init__(
        self,
        info: SymbolInfo,
        timeframe: Timeframe,
        bars: RatesArray,
        week: Week | None = None,
        *,
        glides: bool = True,
    ) -> None:
        super().__init__(info, timeframe, _checked(info.name, bars), week)
        self._spreads = np.where(bars["spread"] > 0, bars["spread"], info.spread) * info.point
        self._path: Doubles = np.stack([bars[name] for name in ("open", "low", "high")])
        self._end = view(_ends(bars["time"], timeframe))
        self._open, self._low, self._high = map(view, self._path)
        self._close = view(bars["close"])
        self._spread, self._points = view(self._spreads), view(bars["spread"])
        self._volume = view(bars["tick_volume"])
        self.glides = glides
        self.stage = CLOSE
        self.low_first = True
        self.due = self._times[0]

    def move(self, now: float) -> None:
        """Move the cursor to the newest event at or before ``now``; never backwards."""
        if self.due > now:
            return
        following = self.index + 1
        if following < len(self._times) and self._times[following] <= now:
            last = following + 1
            if last < len(self._times) and self._times[last] <= now:
                last = bisect_right(self._times, now, lo=last)
            self._open_bar(last - 1)
        if self._end[self.index] <= now:
            self._go(CLOSE)
        while self.due <= now:
            self._go(self.stage + 1)

    def next_open(self) -> int | None:
        """Return the open time of the next bar."""
        following = self.index + 1
        return self._times[following] if following < len(self._times) else None

    def step(self) -> int:
        """Move to the next event and return its kind."""
        if self.stage == CLOSE:
            self._open_bar(self.index + 1)
        else:
            self._go(self.stage + 1 if self.glides else CLOSE)
        return self.stage

    def is_at_open(self, now: float) -> bool:
        """Whether ``now`` is the moment at which the newest bar has opened."""
        return self.stage == OPEN and self.time == now

    def path(self, bars: slice | Places) -> Doubles:
        """Return opens, lows and highs of bars, known or not: for who plays them ahead."""
        return self._path[:, bars]

    def asks_of(self, bids: Doubles, bars: slice | Places) -> Doubles:
        """Return the asks of bids in ``bars``, which are the last axis. Twin of :meth:`ask_of`."""
        asks, scale = bids + self._spreads[bars], float(10**self.info.digits)
        scaled = asks * scale
        whole = np.rint(scaled)
        made: Doubles = whole / scale
        for place in zip(*(np.abs(scaled - whole) > _NEAR_HALF).nonzero(), strict=True):
            made[place] = round(float(asks[place]), self.info.digits)
        return made

    def ends(self, bars: slice) -> list[int]:
        """Return the times of bars' last events."""
        return self._end[bars].tolist()

    def jump(self, index: int) -> None:
        """Be at the open of a bar, as if each event before it had been stepped through."""
        if self.glides:
            self.low_first = self.net >= 0
        self._open_bar(index)

    def _open_bar(self, index: int) -> None:
        self.index, self.stage, self.time = index, OPEN, self._times[index]
        self.due = self._time_of(FIRST) if self.glides else self._end[index]
        self.play(self._open[index])

    def _go(self, stage: int) -> None:
        if stage == FIRST:
            self.low_first = self.net >= 0
        self.stage, self.time = stage, self._time_of(stage)
        if stage == CLOSE:
            following = self.index + 1
            self.due = self._times[following] if following < len(self._times) else inf
        else:
            self.due = self._time_of(stage + 1)
        self.play(self._price_of(stage))

    def _time_of(self, stage: int) -> int:
        end = self._end[self.index]
        if stage == CLOSE:
            return end
        opened = self._times[self.index]
        return opened + (end + 1 - opened) * stage // 3

    def _price_of(self, stage: int) -> float:
        if stage == CLOSE:
            return self._close[self.index] if self.glides else self.bid
        is_low = (stage == FIRST) == self.low_first
        return self._low[self.index] if is_low else self._high[self.index]

    def turned_at(self) -> float:
        """Return when the extremes of the newest bar began; infinity when they have not."""
        return inf if self.stage == OPEN or self.index < 0 else self._time_of(FIRST)

    def turn(self, net: float) -> None:
        """Put the newest bar's extremes in the order that they have for ``net`` lots held."""
        self.low_first = net >= 0
        if self.stage in (FIRST, SECOND):
            self.play(self._price_of(self.stage))

    def ask_of(self, bid: float) -> float:
        """Return the ask that belongs to ``bid`` in the current bar."""
        return round(bid + self._spread[self.index], self.info.digits)

    def _quoted_until(self) -> float:
        return self._end[self.index]

    @property
    def version(self) -> int:
        """A number that changes with all that is known."""
        return 4 * self.index + self.stage

    @property
    def is_whole(self) -> bool:
        """Whether the newest known bar is complete."""
        return self.stage == CLOSE

    def _form(self, rows: RatesArray) -> None:
        at, opened = self.index, self._open[self.index]
        low: float = opened
        high: float = opened
        for stage in range(FIRST, self.stage + 1):
            price = self._price_of(stage)
            low, high = min(low, price), max(high, price)
        volume = min(self._volume[at], self.stage + 1)
        # One assignment: each by a field's name takes as long.
        rows[-1] = (self._times[at], opened, high, low, self.bid, volume, self._points[at], 0)

    def tick(self) -> Tick:
        """Return the latest prices as a tick."""
        return Tick((self.time, self.bid, self.ask, 0.0, 0, self.time * 1000, QUOTE_FLAGS, 0.0))

    def ticks(self, first: int, last: int, flags: int, count: int) -> RatesArray:
        """Return the points of the bars' paths as ticks, complete ones with their low first."""
        # Bid and ask change with every point, last and volume never do.
        if not flags & QUOTE_FLAGS:
            return np.zeros(0, dtype=TICKS_DTYPE)
        start = max(0, self.position_of(first) - 1)
        stop = min(self.position_of(last), start + 1 + count)
        rows = self._points_of(start, stop)
        return rows[(rows["time"] >= first) & (rows["time"] <= last)][:count]

    def _points_of(self, start: int, stop: int) -> RatesArray:
        known = slice(start, stop)
        begin, end = np.asarray(self._times[known]), np.asarray(self._end[known])
        third = end + 1 - begin
        columns: list[tuple[Any, Any]] = [(begin, self._open)]
        if self.glides:
            columns += [
                (begin + third // 3, self._low),
                (begin + third * 2 // 3, self._high),
                (end, self._close),
            ]
        size = len(columns)
        rows = np.zeros(size * len(begin), dtype=TICKS_DTYPE)
        for place, (times, bids) in enumerate(columns):
            rows["time"][place::size] = times
            rows["bid"][place::size] = bids[known]
        if size > 1 and stop == self.index + 1 and not self.is_whole:
            rows = rows[: len(rows) - CLOSE + self.stage]
            for stage in range(FIRST, self.stage + 1):
                rows["bid"][len(rows) - 1 - self.stage + stage] = self._price_of(stage)
        spread = np.repeat(np.asarray(self._spread[known]), size)[: len(rows)]
        rows["ask"] = np.round(rows["bid"] + spread, self.info.digits)
        rows["time_msc"] = rows["time"] * 1000
        rows["flags"] = QUOTE_FLAGS
        return rows


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
