"""Bars coarser than those recorded, as far as they are known."""

from bisect import bisect_right

import numpy as np

from bridge.market.aggregate import merged, opens_of, starts_of
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.series import Series, copied, view

# So many bars are merged as fast as a sum of them is kept.
_FEW = 500


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
        self._newest: tuple[int, RatesArray] = (-1, self._bars[:0])
        # Of the bar that forms: its place, its first bars merged, and the first that is not.
        self._place, self._sum, self._next = -1, self._bars[:0], 0

    def __len__(self) -> int:
        """Return how many bars are known."""
        return bisect_right(self._starts, self._series.index)

    def rates(self, start: int, stop: int) -> RatesArray:
        """Return bars ``start`` to ``stop``, at most all known; a forming one as it is so far."""
        rows = copied(self._bars[start:stop])
        if stop > start and stop == len(self):
            rows[-1:] = self._forming(stop - 1)
        return sealed(rows)

    def _forming(self, place: int) -> RatesArray:
        version = self._series.version
        if self._newest[0] != version or self._place != place:
            self._newest = version, self._merged_newest(place)
        return self._newest[1]

    def _merged_newest(self, place: int) -> RatesArray:
        if place != self._place:
            self._place, self._sum, self._next = place, self._bars[:0], self._starts[place]
        fine = self._series.rates(self._next, len(self._series))
        if len(fine) > _FEW:  # all but the last are whole, and need not be looked at again
            self._sum = self._one(np.concatenate([self._sum, fine[:-1]]))
            self._next += len(fine) - 1
            fine = fine[-1:]
        return self._one(np.concatenate([self._sum, fine]) if len(self._sum) else fine)

    def _one(self, bars: RatesArray) -> RatesArray:
        opens = np.full(len(bars), self._times[self._place])
        return merged(bars, opens, np.zeros(1, dtype=np.intp))

    def position_of(self, time: int) -> int:
        """Return how many known bars open at or before ``time``."""
        return bisect_right(self._times, time, hi=len(self))

    def first_time(self) -> int:
        """Return the open time of the first bar."""
        return int(self._times[0])
