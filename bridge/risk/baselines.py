"""What losses are measured from: first and lowest equity of day and week, the highest. Values."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bridge.mt5.servertime import server_day

# Day 0 was a Thursday; weeks begin on Sunday.
_FIRST_WEEKDAY = 4


class Baselines(NamedTuple):
    """Equities that loss limits refer to, account currency.

    A limit that a day or week has broken stays broken until the next one, however equity moves:
    its lowest equity counts. Fields with a default are younger than some journals.

    Attributes:
        day: Number of the server's day.
        day_equity: First equity seen on that day.
        peak_equity: Highest equity seen.
        day_low: Lowest equity seen on that day.
        day_balance: First balance seen on that day, credit included; None when it is not known.
        week_equity: First equity seen in that day's week, which began on Sunday; None takes the
            day's.
        week_low: Lowest equity seen in that week.
        deposits: What was paid in since the first look; what was paid out is not taken off.
    """

    day: int
    day_equity: float
    peak_equity: float
    day_low: float = math.inf
    day_balance: float | None = None
    week_equity: float | None = None
    week_low: float = math.inf
    deposits: float = 0.0

    def advanced(
        self, server_time: float, equity: float, balance: float | None = None
    ) -> "Baselines":
        """Return the baselines after ``equity`` was seen at ``server_time``.

        Args:
            server_time: Epoch seconds.
            equity: Account currency.
            balance: Balance and credit at that time, account currency; None when not known.
        """
        day, peak = server_day(server_time), max(self.peak_equity, equity)
        if day < self.day:  # a symbol's last tick may be of yesterday; that day is over
            return self._replace(peak_equity=peak)
        first = low = week = week_low = equity
        if day == self.day:
            first, low = self.day_equity, min(self.day_low, equity)
            balance = balance if self.day_balance is None else self.day_balance
        if day == self.day or _week(day) == _week(self.day):
            week, week_low = self.first_of_week, min(self.week_low, self.day_low, equity)
        return Baselines(day, first, peak, low, balance, week, week_low, self.deposits)

    def whole(self) -> "Baselines":
        """Return the baselines with the week's numbers, which the day's stand for until then."""
        if self.week_equity is not None and self.week_low <= self.day_low:
            return self
        lowest = min(self.week_low, self.day_low)
        return self._replace(week_equity=self.first_of_week, week_low=lowest)

    def shifted(self, amount: float) -> "Baselines":
        """Return the baselines after ``amount`` was paid in (> 0) or out: neither gain nor loss."""
        return self._replace(
            day_equity=self.day_equity + amount,
            peak_equity=self.peak_equity + amount,
            day_low=self.day_low + amount,
            day_balance=None if self.day_balance is None else self.day_balance + amount,
            week_equity=self.first_of_week + amount,
            week_low=self.week_low + amount,
            deposits=self.deposits + max(amount, 0.0),
        )

    @property
    def first_of_week(self) -> float:
        """First equity of the week; a journal that knew no weeks begins it with its day."""
        return self.day_equity if self.week_equity is None else self.week_equity

    def day_loss_share(self, equity: float) -> float:
        """Return the day's worst loss, share of its first equity; below 0 all was gain."""
        # In this order a NaN stays one, and breaks every limit.
        return _share(self.day_equity - min(equity, self.day_low), self.day_equity)

    def week_loss_share(self, equity: float) -> float:
        """Return the week's worst loss, share of its first equity; below 0 all was gain."""
        lowest = min(equity, self.day_low, self.week_low)
        return _share(self.first_of_week - lowest, self.first_of_week)

    def drawdown_share(self, equity: float) -> float:
        """Return the fall from the highest equity, share of it."""
        return _share(self.peak_equity - equity, self.peak_equity)


def _share(loss: float, of: float) -> float:
    # An account without equity has lost everything, whatever it started with.
    return loss / of if of > 0 else 1.0


def _week(day: int) -> int:
    return (day + _FIRST_WEEKDAY) // 7


def first_baselines(server_time: float, equity: float) -> Baselines:
    """Return the baselines of an account seen for the first time."""
    return Baselines(
        day=server_day(server_time), day_equity=equity, peak_equity=equity, week_equity=equity
    )


def merged(known: Sequence[Baselines]) -> Baselines:
    """Return what several strategies know of one account together: of each number the strictest.

    A strategy that was added later, or that looked last on another day, knows less than the others.
    """
    if len(known) == 1:
        return known[0].whole()
    day = max(each.day for each in known)
    today = [each for each in known if each.day == day]
    this_week = [each for each in known if _week(each.day) == _week(day)]
    balances = [each.day_balance for each in today if each.day_balance is not None]
    return Baselines(
        day=day,
        day_equity=max(each.day_equity for each in today),
        peak_equity=max(each.peak_equity for each in known),
        day_low=min(each.day_low for each in today),
        day_balance=max(balances, default=None),
        week_equity=max(each.first_of_week for each in this_week),
        week_low=min(min(each.week_low, each.day_low) for each in this_week),
        deposits=max(each.deposits for each in known),
    )
