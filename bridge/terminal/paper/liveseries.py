"""Prices that somebody tells, one tick at a time: of a market that is still going on.

What happened between two ticks that were told is not known: a price jumps from one to the next.
"""

import sys
from math import inf

import numpy as np

from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE, RatesArray
from bridge.mt5.records import SymbolInfo, Tick
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.series import TICK, Series
from bridge.terminal.paper.sessions import Week


class LiveSeries(Series):
    """Ticks as they are told, without an end and without bars.

    Args:
        info: The symbol's specification.
        first: Shown from the start; it fills nothing before it is told.
        week: When the symbol is traded; None: whenever there are ticks.
    """

    __slots__ = ("_count", "_shown", "_told")

    def __init__(self, info: SymbolInfo, first: Tick, week: Week | None = None) -> None:
        super().__init__(info, timeframe("M1"), np.zeros(0, dtype=RATES_DTYPE), week)
        self._told = first
        self._count = 0
        self._show(first)

    def tell(self, tick: Tick, at: float) -> None:
        """Let a tick be the next event; one without prices is none.

        Args:
            tick: The newest.
            at: Server time at which it is seen; nothing is known of the time before.
        """
        if tick.bid and tick.ask:
            self._told, self.due = tick, at

    def move(self, now: float) -> None:
        """Show the tick that was told, if that was at or before ``now``."""
        if self.due <= now:
            self.step()

    def step(self) -> int:
        """Show the tick that was told."""
        self._show(self._told)
        return TICK

    def _show(self, tick: Tick) -> None:
        self._shown, self._count, self.due = tick, self._count + 1, inf
        self.bid, self.ask, self.time = tick.bid, tick.ask, tick.time

    def next_open(self) -> int | None:
        """Return None: nobody knows what comes."""
        return None

    def ask_of(self, bid: float) -> float:
        """Return the ask that belongs to ``bid``, at the spread of now."""
        return round(bid + self.ask - self.bid, self.info.digits)

    def _quoted_until(self) -> float:
        return self._shown.time_msc / 1000

    @property
    def version(self) -> int:
        """A number that changes with all that is known."""
        return self._count

    @property
    def is_whole(self) -> bool:
        """Whether the newest known bar is known to its end: there is none."""
        return True

    def _form(self, rows: RatesArray) -> None:
        """Leave ``rows`` as they are: there are none."""

    def first_time(self) -> int:
        """Return a time that never comes: there is no bar."""
        return sys.maxsize

    def tick(self) -> Tick:
        """Return the latest tick as it was told."""
        return self._shown

    def ticks(self, first: int, last: int, flags: int, count: int) -> RatesArray:
        """Return no ticks: those that are over are not kept."""
        return np.zeros(0, dtype=TICKS_DTYPE)
