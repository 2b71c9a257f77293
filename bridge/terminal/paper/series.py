"""Prices of one symbol: what is known of a recording at a time, and the events that come next.

Nothing later than the cursor is ever shown. ``barseries`` plays bars, ``tickseries`` plays ticks.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from math import inf
from typing import Any

import numpy as np

from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.records import SymbolInfo, Tick
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.sessions import Week

# Kinds of events: the points of a bar's path; a tick, and one that opens a bar.
OPEN, FIRST, SECOND, CLOSE, TICK, FIRST_TICK = range(6)
# A market without a new bar for so long (or a bar's length, if that is longer) is closed.
_QUIET = 3_600
QUOTE_FLAGS = mt5.TICK_FLAG_BID | mt5.TICK_FLAG_ASK


class Series(ABC):
    """Prices of one symbol and a cursor on the newest that is known.

    Attributes:
        info: The symbol's specification.
        timeframe: Of the bars.
        recorded: All bars, also those that nobody may see yet.
        bid, ask: The latest prices; 0.0 before the first.
        time: Server time of these prices, whole seconds.
        due: Server time of the next event; infinity after the last.
        index: Of the newest known bar; -1 before the first.
        is_walked: Whether somebody steps from event to event, so that no look may move it.
        net: The walker's: lots held, signed.
        levels: The walker's: the nearest bids below and above, then asks, that need a look.
        worst: The walker's: the account's lowest equity in this bar.
        judged: The walker's: the account's revision before the bar's worst price was judged.
    """

    __slots__ = (
        "_times",
        "_week",
        "ask",
        "bid",
        "due",
        "index",
        "info",
        "is_walked",
        "judged",
        "levels",
        "net",
        "recorded",
        "time",
        "timeframe",
        "worst",
    )

    def __init__(
        self, info: SymbolInfo, timeframe: Timeframe, bars: RatesArray, week: Week | None
    ) -> None:
        self.info = info
        self.timeframe = timeframe
        self.recorded = bars
        self._times = view(bars["time"])
        self._week = week
        self.index = -1
        self.bid = self.ask = 0.0
        self.time = 0
        self.due: float = inf
        self.is_walked = False
        self.forget()

    def forget(self) -> None:
        """Clear what the walker has noted."""
        self.net = 0.0
        self.levels = (-inf, inf, -inf, inf)
        self.worst = inf
        self.judged = -1

    # Moving

    @abstractmethod
    def move(self, now: float) -> None:
        """Move the cursor to the newest event at or before ``now``; never backwards."""

    @abstractmethod
    def step(self) -> int:
        """Move to the next event and return its kind."""

    @abstractmethod
    def next_open(self) -> int | None:
        """Return the first full second at which the next bar is seen."""

    @abstractmethod
    def ask_of(self, bid: float) -> float:
        """Return the ask that belongs to ``bid`` now."""

    def bid_of(self, ask: float) -> float:
        """Return the bid that belongs to ``ask`` now."""
        return round(ask + self.bid - self.ask, self.info.digits)

    def play(self, bid: float) -> None:
        """Show a price on the way to the event of the last step."""
        self.bid, self.ask = bid, self.ask_of(bid)

    def is_closed(self, now: float) -> bool:
        """Return whether the market is out of session or without a quote for long at ``now``."""
        if self._week is not None and not self._week.is_open(now):
            return True
        return now - self._quoted_until() > max(_QUIET, self.timeframe.seconds)

    @abstractmethod
    def _quoted_until(self) -> float:
        """Return the time to which the newest known bar reaches, or its newest tick."""

    # Reading

    @property
    @abstractmethod
    def version(self) -> int:
        """A number that changes with all that is known."""

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Whether the newest known bar is known to its end."""

    @abstractmethod
    def _form(self, rows: RatesArray) -> None:
        """Make the last row, which is the newest known bar, what is known of it."""

    def __len__(self) -> int:
        """Return how many bars are known."""
        return self.index + 1

    def rates(self, start: int, stop: int) -> RatesArray:
        """Return bars ``start`` to ``stop``, at most all known; a forming one as it is so far."""
        rows = copied(self.recorded[start:stop])
        if stop > start and stop == self.index + 1 and not self.is_whole:
            self._form(rows)
        return sealed(rows)

    def position_of(self, time: int) -> int:
        """Return how many known bars open at or before ``time``."""
        return bisect_right(self._times, time, hi=self.index + 1)

    def first_time(self) -> int:
        """Return the open time of the first bar."""
        return int(self._times[0])

    @abstractmethod
    def tick(self) -> Tick:
        """Return the latest tick."""

    @abstractmethod
    def ticks(self, first: int, last: int, flags: int, count: int) -> RatesArray:
        """Return the first ``count`` known ticks from ``first`` to ``last``, both included.

        Args:
            first: Server time, seconds.
            last: Server time, seconds.
            flags: Bits of what has to have changed in a tick; -1 is any.
            count: The most that are wanted.
        """


def copied(rows: RatesArray) -> RatesArray:
    """Return a copy; ``take`` moves whole rows, ``copy`` field by field in ten times as long."""
    return rows.take(np.arange(len(rows)))


def view(column: Any) -> memoryview:
    """Return a column as plain memory: Python numbers by index, without a record each time."""
    return np.ascontiguousarray(column).data
