"""All prices of a broker, moved together. What is known of each symbol is in ``series``."""

from collections.abc import Iterable, Iterator
from math import inf

from bridge.mt5.rates import TICKS_DTYPE, RatesArray
from bridge.mt5.records import SymbolInfo
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.barseries import BarSeries
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.series import Series
from bridge.terminal.paper.sessions import Week
from bridge.terminal.paper.tickseries import TickSeries, bars_of

__all__ = ["Market", "Series", "play"]


def play(
    info: SymbolInfo,
    timeframe: Timeframe,
    recording: RatesArray,
    prices: Prices = Prices.OHLC,
    week: Week | None = None,
) -> Series:
    """Return the series that plays a recording.

    Args:
        info: The symbol's specification.
        timeframe: Of the bars; ticks are made into bars of it.
        recording: Bars or ticks: the dtype tells.
        prices: How they are played.
        week: When the symbol is traded; None: whenever there are prices.

    Raises:
        ConfigError: The recording is empty, out of order or of another dtype.
    """
    if recording.dtype == TICKS_DTYPE:
        if prices is Prices.TICKS:
            return TickSeries(info, timeframe, recording, week)
        recording = bars_of(info, timeframe, recording)
    return BarSeries(info, timeframe, recording, week, glides=prices is not Prices.OPEN)


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

    def __len__(self) -> int:
        return len(self._series)

    def __iter__(self) -> Iterator[Series]:
        return iter(self._series.values())

    def at(self, symbol: str) -> Series | None:
        """Return the series of ``symbol``, moved to now; None without prices."""
        if symbol not in self._series:
            return None
        series = self._series[symbol]
        if not series.is_walked:
            series.move(self.now)
        return series

    def walk(self, symbols: Iterable[str], mark: int) -> list[Series]:
        """Step through these symbols from now on, and through no others; return the latter."""
        # Looked up before the others are let go: a series on its way stays where it is.
        found = [series for series in map(self.at, symbols) if series is not None]
        left = [series for series in self.walked if series not in found]
        for series in left:
            series.is_walked = False
        for series in found:
            series.is_walked = True
        self.walked, self.mark = found, mark
        return left

    def next_event(self) -> tuple[float, Series | None]:
        """Return time and series of the next event of those that are walked; infinity, None."""
        best: tuple[float, Series | None] = (inf, None)
        for series in self.walked:
            if series.due < best[0]:
                best = (series.due, series)
        return best

    def next_open(self) -> int | None:
        """Return the server time at which the next bar is seen, of any symbol."""
        opens = []
        for series in self._series.values():
            if not series.is_walked:
                series.move(self.now)
            following = series.next_open()
            if following is not None:
                opens.append(following)
        return min(opens) if opens else None
