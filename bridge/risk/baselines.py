"""What losses are measured from: the day's first and lowest equity, and the highest. Values."""

import math
from dataclasses import dataclass, replace

from bridge.mt5.servertime import server_day


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Equities that loss limits refer to, account currency.

    Attributes:
        day: Number of the server's day.
        day_equity: First equity seen on that day.
        peak_equity: Highest equity seen.
        day_low: Lowest equity seen on that day. A limit that the day has broken stays broken
            until the next one, however equity moves.
    """

    day: int
    day_equity: float
    peak_equity: float
    day_low: float = math.inf

    def advanced(self, server_time: float, equity: float) -> "Baselines":
        """Return the baselines after ``equity`` was seen at ``server_time``."""
        day = server_day(server_time)
        if day < self.day:  # a symbol's last tick may be of yesterday; that day is over
            return replace(self, peak_equity=max(self.peak_equity, equity))
        is_new = day > self.day
        return replace(
            self,
            day=day,
            day_equity=equity if is_new else self.day_equity,
            peak_equity=max(self.peak_equity, equity),
            day_low=equity if is_new else min(self.day_low, equity),
        )

    def shifted(self, amount: float) -> "Baselines":
        """Return the baselines after ``amount`` was paid in (> 0) or out: neither gain nor loss."""
        return replace(
            self,
            day_equity=self.day_equity + amount,
            peak_equity=self.peak_equity + amount,
            day_low=self.day_low + amount,
        )

    def day_loss_share(self, equity: float) -> float:
        """Return the day's worst loss, share of its first equity; below 0 all was gain."""
        # In this order a NaN stays one, and breaks every limit.
        return _share(self.day_equity - min(equity, self.day_low), self.day_equity)

    def drawdown_share(self, equity: float) -> float:
        """Return the fall from the highest equity, share of it."""
        return _share(self.peak_equity - equity, self.peak_equity)


def _share(loss: float, of: float) -> float:
    # An account without equity has lost everything, whatever it started with.
    return loss / of if of > 0 else 1.0


def first_baselines(server_time: float, equity: float) -> Baselines:
    """Return the baselines of an account seen for the first time."""
    return Baselines(day=server_day(server_time), day_equity=equity, peak_equity=equity)
