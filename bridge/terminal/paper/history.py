"""Bars and ticks as the terminal answers for them: windows, limits, and what is no answer.

Source: recorded behaviour and documentation; README.md says what is assumed.
"""

import numpy as np

from bridge.mt5 import constants as mt5
from bridge.mt5.rates import TICKS_DTYPE, RatesArray, sealed
from bridge.mt5.timeframes import BY_VALUE
from bridge.terminal.paper.market import Market, Series
from bridge.terminal.paper.package import Failure

_INVALID, _FAILED = mt5.RES_E_INVALID_PARAMS, mt5.RES_E_FAIL


class History:
    """Reads bars and ticks of a market, never beyond its now.

    Args:
        market: The bars.
        maxbars: Longest history that may be asked for, bars.
    """

    def __init__(self, market: Market, maxbars: int) -> None:
        self._market = market
        self._maxbars = maxbars

    def rates_from_pos(self, symbol: str, timeframe: int, start: int, count: int) -> RatesArray:
        """Return ``count`` bars that end ``start`` bars before the newest."""
        series = self._series(symbol, timeframe)
        self._check_count(count)
        if start < 0:
            raise Failure(_INVALID)
        stop = len(series) - start
        if stop <= 0:
            raise Failure(_FAILED)
        return series.rates(max(0, stop - count), stop)

    def rates_from(self, symbol: str, timeframe: int, date: int, count: int) -> RatesArray:
        """Return the ``count`` bars that open at or before ``date``."""
        series = self._series(symbol, timeframe)
        self._check_count(count)
        stop = series.position_of(date)
        return series.rates(max(0, stop - count), stop)

    def rates_range(self, symbol: str, timeframe: int, first: int, last: int) -> RatesArray:
        """Return the bars that open from ``first`` to ``last``, both included."""
        series = self._series(symbol, timeframe)
        slots = (last - first) // series.timeframe.seconds
        if last < first or slots >= self._maxbars:
            raise Failure(_INVALID)
        if last < series.first_time():
            raise Failure(_FAILED)
        return series.rates(series.position_of(first - 1), series.position_of(last))

    def ticks_from(self, symbol: str, date: int, count: int, flags: int) -> RatesArray:
        """Return the first ``count`` ticks at or after ``date``."""
        if count <= 0:
            raise Failure(_INVALID)
        ticks = self._ticks(symbol, flags)
        start = int(np.searchsorted(ticks["time"], date, side="left"))
        return sealed(ticks[start : start + count].copy())

    def ticks_range(self, symbol: str, first: int, last: int, flags: int) -> RatesArray:
        """Return the ticks from ``first`` to ``last``, both included."""
        first, last = min(first, last), max(first, last)
        ticks = self._ticks(symbol, flags)
        start = int(np.searchsorted(ticks["time_msc"], first * 1000, side="left"))
        stop = int(np.searchsorted(ticks["time_msc"], last * 1000, side="right"))
        return sealed(ticks[start:stop].copy())

    def _series(self, symbol: str, timeframe: int) -> Series:
        if timeframe not in BY_VALUE:
            raise Failure(_INVALID)
        series = self._market.at(symbol)
        if series is None or series.timeframe.value != timeframe:
            raise Failure(_FAILED)
        return series

    def _check_count(self, count: int) -> None:
        if not 0 < count < self._maxbars:
            raise Failure(_INVALID)

    def _ticks(self, symbol: str, flags: int) -> RatesArray:
        series = self._market.at(symbol)
        if series is None:
            raise Failure(mt5.RES_E_NOT_FOUND)
        # Bid and ask change with every tick here, last and volume never do.
        if flags not in (mt5.COPY_TICKS_ALL, mt5.COPY_TICKS_INFO):
            return np.zeros(0, dtype=TICKS_DTYPE)
        return series.ticks()
