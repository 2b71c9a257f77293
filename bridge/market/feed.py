"""The feed: every closed bar of a symbol once, read from a terminal.

A bar is closed when the terminal shows a newer one, never because a clock passed.
"""

from dataclasses import dataclass

from bridge.errors import DataError
from bridge.market.quality import check_rates
from bridge.mt5.rates import RatesArray
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import Timeframe


@dataclass(frozen=True, slots=True)
class ClosedBars:
    """The newest closed bar, with the bars before it.

    Attributes:
        rates: Shape ``(depth,)``, oldest first; the last one is the bar that just closed.
        missed: Open times (server) of bars that closed since the last answer and were not handed
            out, because a newer one had closed already.
    """

    rates: RatesArray
    missed: tuple[int, ...]

    @property
    def time(self) -> int:
        """Open time of the newest closed bar, server epoch seconds."""
        return int(self.rates["time"][-1])


class ClosedBarFeed:
    """Hands out each closed bar at most once.

    Args:
        terminal: Where the bars are read.
        symbol: The broker's name.
        timeframe: Of the bars.
        depth: Closed bars handed out each time.
        after: Open time of the last bar already decided; only newer ones are handed out.
    """

    def __init__(
        self,
        terminal: Terminal,
        *,
        symbol: str,
        timeframe: Timeframe,
        depth: int,
        after: int,
    ) -> None:
        self._terminal = terminal
        self._symbol = symbol
        self._timeframe = timeframe
        self._depth = depth
        self._after = after

    def next(self) -> ClosedBars | None:
        """Return the newest closed bar that was not handed out yet, or None.

        Raises:
            DataError: The terminal has fewer bars than needed, or impossible ones. The bar counts
                as handed out: it will not be better next time.
            TerminalError: The terminal gave no bars.
        """
        newest = self.newest()
        if newest is None or newest <= self._after:
            return None
        # The forming bar, the window, and as many more as may have closed unseen.
        rates = self._read(self._depth + 1)[:-1]
        if len(rates) == 0:
            return None
        before, self._after = self._after, int(rates["time"][-1])
        what = f"{self._symbol} {self._timeframe.name}"
        if len(rates) < self._depth:
            raise DataError(
                f"{what}: the terminal has {len(rates)} closed bars, {self._depth} are needed; "
                "scroll its chart back until it has loaded them"
            )
        check_rates(rates, what=what)
        times = rates["time"]
        unseen = times[times > before][:-1] if before else times[:0]
        return ClosedBars(rates, tuple(unseen.tolist()))

    def newest(self) -> int | None:
        """Return the open time of the newest closed bar, handed out or not; None without one."""
        rates = self._read(2)
        return int(rates["time"][0]) if len(rates) == 2 else None

    def _read(self, count: int) -> RatesArray:
        return self._terminal.copy_rates_from_pos(self._symbol, self._timeframe.value, 0, count)
