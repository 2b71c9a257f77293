"""The feed: every closed bar of a symbol once, read from a terminal.

A bar is closed when the terminal shows a newer one, never because a clock passed.
"""

from dataclasses import dataclass

import numpy as np

from bridge.errors import DataError
from bridge.market.quality import check_rates
from bridge.mt5.rates import RatesArray
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import Timeframe


class ShortHistory(DataError):
    """The terminal has fewer bars than needed: it may still be loading them, so ask again."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A closed bar that the server has changed since it was handed out.

    Attributes:
        time: Its open, server epoch seconds.
        before, after: Open, high, low and close as they were, and as they are.
    """

    time: int
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ClosedBars:
    """The newest closed bar, with the bars before it.

    Attributes:
        rates: Shape ``(depth,)``, oldest first; the last one is the bar that just closed.
        missed: Open times (server) of bars that closed since the last answer and were not handed
            out, because a newer one had closed already.
        closed_at: Open of the bar that forms now, server epoch seconds: since then the newest
            closed one is closed.
        rewritten: Bars that were handed out before, and differ now.
    """

    rates: RatesArray
    missed: tuple[int, ...]
    closed_at: int
    rewritten: tuple[Rewritten, ...] = ()

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
        self._seen: RatesArray | None = None

    def next(self) -> ClosedBars | None:
        """Return the newest closed bar that was not handed out yet, or None.

        Raises:
            ShortHistory: The terminal has fewer bars than needed; the bar may be asked for again.
            DataError: A bar is impossible. The newest one counts as handed out: it will not be
                better next time.
            TerminalError: The terminal gave no bars.
        """
        if not self.is_due():
            return None
        # The forming bar, the window, and as many more as may have closed unseen.
        known = self._read(self._depth + 1)
        rates = known[:-1]
        # A second look may show less than the first: a terminal that has just come back does.
        if len(rates) == 0 or int(rates["time"][-1]) <= self._after:
            return None
        what = f"{self._symbol} {self._timeframe.name}"
        if len(rates) < self._depth:
            raise ShortHistory(
                f"{what}: the terminal has {len(rates)} of {self._depth} closed bars; "
                "scroll its chart back until it has loaded them"
            )
        before, self._after = self._after, int(rates["time"][-1])
        check_rates(rates, what=what)
        times = rates["time"]
        unseen = times[times > before][:-1] if before else times[:0]
        seen, self._seen = self._seen, rates
        return ClosedBars(
            rates,
            tuple(unseen.tolist()),
            int(known["time"][-1]),
            () if seen is None else _rewritten(seen, rates),
        )

    def is_due(self) -> bool:
        """Whether a closed bar was not handed out yet.

        Raises:
            TerminalError: The terminal gave no bars.
        """
        newest = self.newest()
        return newest is not None and newest > self._after

    def pass_over(self, time: int) -> None:
        """Take the bars up to the one that opened at ``time`` (server) for handed out."""
        self._after, self._seen = time, None

    def refresh(self) -> None:
        """Ask for the whole window and hand nothing out.

        Raises:
            TerminalError: The terminal gave no bars.
        """
        self._read(self._depth + 1)

    def newest(self) -> int | None:
        """Return the open time of the newest closed bar, handed out or not; None without one."""
        rates = self._read(2)
        return int(rates["time"][0]) if len(rates) == 2 else None

    def _read(self, count: int) -> RatesArray:
        return self._terminal.copy_rates_from_pos(self._symbol, self._timeframe.value, 0, count)


_PRICES = ("open", "high", "low", "close")


def _rewritten(seen: RatesArray, now: RatesArray) -> tuple[Rewritten, ...]:
    """Return the bars of ``seen`` whose prices ``now`` has otherwise; both are in order of time."""
    times, left, right = np.intersect1d(
        seen["time"], now["time"], assume_unique=True, return_indices=True
    )
    differs = np.zeros(len(times), dtype=bool)
    for name in _PRICES:
        differs |= seen[name][left] != now[name][right]
    return tuple(
        Rewritten(int(times[bar]), _prices(seen[left[bar]]), _prices(now[right[bar]]))
        for bar in np.flatnonzero(differs)
    )


def _prices(bar: np.void) -> tuple[float, ...]:
    return tuple(float(bar[name]) for name in _PRICES)
