"""When to look for a new bar: often around its close, seldom between. Pure.

A bar closes when the terminal shows a newer one, and that takes a tick, which may be late. So the
look is dense from just before the nominal close, and thins out the longer no tick comes.
"""

from dataclasses import dataclass

from bridge.mt5.servertime import ServerClock
from bridge.mt5.timeframes import Timeframe

# Seconds after the nominal close -> seconds between looks from then on.
_AFTER = ((0.0, 0.01), (3.0, 0.05), (15.0, 0.25), (60.0, 1.0))
_BEFORE = 0.05
_BETWEEN = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The rhythm of one strategy's looks.

    Attributes:
        timeframe: Of its bars.
        server: The broker's clock rule.
    """

    timeframe: Timeframe
    server: ServerClock

    def close_of(self, seen: int) -> float:
        """Return when the bar that forms after ``seen`` is over at the earliest, UTC seconds."""
        forming = self.timeframe.next_open(seen)
        return self.server.to_utc(self.timeframe.next_open(forming))

    def is_near(self, now: float, seen: int) -> bool:
        """Whether that close is at hand or just over, so that looks are dense."""
        return -2 * _BEFORE <= now - self.close_of(seen) <= _AFTER[1][0]

    def next_look(self, now: float, seen: int) -> float:
        """Return when to look again, UTC epoch seconds.

        Args:
            now: UTC epoch seconds.
            seen: Open time of the newest bar that has closed, server epoch seconds.
        """
        close = self.close_of(seen)
        late = now - close
        if late < -_BEFORE:
            return min(now + _BETWEEN, close - _BEFORE)
        return now + next(step for since, step in reversed(_AFTER) if late >= since or since == 0.0)
