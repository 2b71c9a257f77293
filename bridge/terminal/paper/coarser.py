"""Bars coarser than those recorded, as far as they are known."""

from bisect import bisect_right

import numpy as np

from bridge.market.aggregate import merged, opens_of, starts_of
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.series import Series, view


class Coarser:
    """Bars of ``timeframe`` over a series; read as a series is.

    The recording is merged once. Asked for the newest bars, only the one that forms is made
    anew, of what the series knows of it, and only when that has become more.
    """

    def __init__(self, series: Series, timeframe: Timeframe) -> None:
        self.timeframe = timeframe
        self._series = series
        opens = opens_of(series.recorded["time"], timeframe)
        starts = starts_of(opens)
        # The bars to come are in here, too; what is handed out ends at the cursor.
        self._bars = merged(series.recorded, opens, starts)
        self._starts, self._times = view(starts), view(opens[starts])
        self._newest: tuple[int, RatesArray] | None = None

    def __len__(self) -> int:
        """Return how many bars are known."""
        return bisect_right(self._starts, self._series.index)

    def rates(self, start: int, stop: int) -> RatesArray:
        """Return bars ``start`` to ``stop``, at most all known; a forming one as it is so far."""
        rows = self._bars[start:stop].copy()
        if stop > start and stop == len(self):
            rows[-1:] = self._forming(stop - 1)
        return sealed(rows)

    def _forming(self, place: int) -> RatesArray:
        version = self._series.version
        if self._newest is None or self._newest[0] != version:
            fine = self._series.rates(self._starts[place], len(self._series))
            opens = np.full(len(fine), self._times[place])
            self._newest = version, merged(fine, opens, np.zeros(1, dtype=np.intp))
        return self._newest[1]

    def position_of(self, time: int) -> int:
        """Return how many known bars open at or before ``time``."""
        return bisect_right(self._times, time, hi=len(self))

    def first_time(self) -> int:
        """Return the open time of the first bar."""
        return int(self._times[0])
