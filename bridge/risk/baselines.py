"""What losses are measured from: the equity at the day's start, and the highest so far. Values."""

from dataclasses import dataclass, replace

from bridge.mt5.servertime import server_day


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Equities that loss limits refer to, account currency.

    Attributes:
        day: Number of the server's day.
        day_equity: First equity seen on that day.
        peak_equity: Highest equity seen.
    """

    day: int
    day_equity: float
    peak_equity: float

    def advanced(self, server_time: float, equity: float) -> "Baselines":
        """Return the baselines after ``equity`` was seen at ``server_time``."""
        day = server_day(server_time)
        return replace(
            self,
            day=day,
            day_equity=equity if day != self.day else self.day_equity,
            peak_equity=max(self.peak_equity, equity),
        )

    def shifted(self, amount: float) -> "Baselines":
        """Return the baselines after ``amount`` was paid in (> 0) or out: neither gain nor loss."""
        return replace(
            self,
            day_equity=self.day_equity + amount,
            peak_equity=self.peak_equity + amount,
        )

    def day_loss_share(self, equity: float) -> float:
        """Return the loss since the day began, share of the day's first equity; below 0 a gain."""
        return _share(self.day_equity - equity, self.day_equity)

    def drawdown_share(self, equity: float) -> float:
        """Return the fall from the highest equity, share of it."""
        return _share(self.peak_equity - equity, self.peak_equity)


def _share(loss: float, of: float) -> float:
    # An account without equity has lost everything, whatever it started with.
    return loss / of if of > 0 else 1.0


def first_baselines(server_time: float, equity: float) -> Baselines:
    """Return the baselines of an account seen for the first time."""
    return Baselines(day=server_day(server_time), day_equity=equity, peak_equity=equity)
