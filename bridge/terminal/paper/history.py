"""Bars and ticks as the terminal answers for them: windows, limits, and what is no answer.

Source: recorded behaviour and documentation; README.md says what is assumed.
"""

import sys

from bridge.market.aggregate import can_make
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.records import Tick
from bridge.mt5.timeframes import BY_VALUE
from bridge.terminal.paper.coarser import Coarser
from bridge.terminal.paper.market import Market, Series
from bridge.terminal.paper.package import Failure
from bridge.terminal.paper.series import copied

_INVALID, _FAILED = mt5.RES_E_INVALID_PARAMS, mt5.RES_E_FAIL
# What is asked for -> bits of a tick's flags of which one has to be there.
_CHANGES = {
    mt5.COPY_TICKS_ALL: -1,
    mt5.COPY_TICKS_INFO: mt5.TICK_FLAG_BID | mt5.TICK_FLAG_ASK,
    mt5.COPY_TICKS_TRADE: mt5.TICK_FLAG_LAST | mt5.TICK_FLAG_VOLUME,
}


class History:
    """Reads bars and ticks of a market, never beyond its now.

    Args:
        market: The bars.
        maxbars: Longest history that may be asked for, bars.
    """

    def __init__(self, market: Market, maxbars: int) -> None:
        self._market = market
        self._maxbars = maxbars
        self._coarser: dict[tuple[str, int], Coarser] = {}

    def rates_from_pos(self, symbol: str, timeframe: int, start: int, count: int) -> RatesArray:
        """Return ``count`` bars that end ``start`` bars before the newest."""
        bars = self._bars(symbol, timeframe)
        self._check_count(count)
        if start < 0:
            raise Failure(_INVALID)
        stop = len(bars) - start
        if stop <= 0:
            raise Failure(_FAILED)
        return bars.rates(max(0, stop - count), stop)

    def rates_from(self, symbol: str, timeframe: int, date: int, count: int) -> RatesArray:
        """Return the ``count`` bars that open at or before ``date``."""
        bars = self._bars(symbol, timeframe)
        self._check_count(count)
        stop = bars.position_of(date)
        return bars.rates(max(0, stop - count), stop)

    def rates_range(self, symbol: str, timeframe: int, first: int, last: int) -> RatesArray:
        """Return the bars that open from ``first`` to ``last``, both included."""
        bars = self._bars(symbol, timeframe)
        slots = (last - first) // bars.timeframe.seconds
        if last < first or slots >= self._maxbars:
            raise Failure(_INVALID)
        if last < bars.first_time():
            raise Failure(_FAILED)
        return bars.rates(bars.position_of(first - 1), bars.position_of(last))

    def ticks_from(self, symbol: str, date: int, count: int, flags: int) -> RatesArray:
        """Return the first ``count`` ticks at or after ``date``."""
        if count <= 0:
            raise Failure(_INVALID)
        return self._ticks(symbol, date, int(self._market.now), flags, count)

    def ticks_range(self, symbol: str, first: int, last: int, flags: int) -> RatesArray:
        """Return the ticks from ``first`` to ``last``, both included."""
        first, last = min(first, last), max(first, last)
        return self._ticks(symbol, first, last, flags, sys.maxsize)

    def _ticks(self, symbol: str, first: int, last: int, flags: int, count: int) -> RatesArray:
        series = self._market.at(symbol)
        if series is None:
            raise Failure(mt5.RES_E_NOT_FOUND)
        bits = _CHANGES.get(flags, 0)
        return sealed(copied(series.ticks(first, last, bits, count)))

    def tick(self, symbol: str) -> Tick | None:
        """Return the latest tick; None before the first."""
        series = self._market.at(symbol)
        return None if series is None or not series.bid else series.tick()

    def _bars(self, symbol: str, timeframe: int) -> Series | Coarser:
        series = self._market.at(symbol)
        if series is not None and series.timeframe.value == timeframe:
            return series
        if timeframe not in BY_VALUE:
            raise Failure(_INVALID)
        if series is None or not can_make(BY_VALUE[timeframe], series.timeframe):
            raise Failure(_FAILED)
        key = (symbol, timeframe)
        if key not in self._coarser:
            self._coarser[key] = Coarser(series, BY_VALUE[timeframe])
        return self._coarser[key]

    def _check_count(self, count: int) -> None:
        if not 0 < count < self._maxbars:
            raise Failure(_INVALID)
