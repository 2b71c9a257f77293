"""How much of each loss limit is used: one measure for guard, watch and status. Pure."""

from typing import NamedTuple

from bridge.risk.baselines import Baselines
from bridge.settings import DayStart, LimitSettings, PropFirmSettings

NAMES = frozenset(
    {
        "daily_loss",
        "weekly_loss",
        "drawdown",
        "losses_in_row",
        "prop_daily_loss",
        "prop_total_loss",
        "prop_profit_target",
    }
)
"""Names of the account's gauges."""


class Gauge(NamedTuple):
    """A limit, and how much of it is used; both are shares, or both are counts.

    Attributes:
        name: Of the limit.
        used: What is used; no number breaks the limit.
        limit: None is off. It is broken once as much is used.
        wording: What is measured, for a person, with what is used to fill in.
        money: What a share of 1 is, account currency; None is a count.
        origin: Equity from which it is measured, account currency.
        halts: Whether entries stay ended when it is broken, until somebody resumes.
        is_gain: Whether the limit lies above that equity.
    """

    name: str
    used: float
    limit: float | None
    wording: str
    money: float | None = None
    origin: float = 0.0
    halts: bool = False
    is_gain: bool = False

    @property
    def words(self) -> str:
        """What was measured, for a person."""
        return self.wording.format(self.used)

    @property
    def left(self) -> float | None:
        """What is left of the limit; None when it is off."""
        return None if self.limit is None else self.limit - self.used

    @property
    def trips_at(self) -> float | None:
        """Equity at which the limit is reached, account currency; None where it is no equity."""
        if self.limit is None or self.money is None:
            return None
        distance = self.limit * self.money
        return self.origin + distance if self.is_gain else self.origin - distance

    @property
    def ok(self) -> bool:
        """Whether the limit is off or not reached."""
        return self.limit is None or self.used < self.limit

    @property
    def limit_words(self) -> str:
        """The limit, for a person."""
        if self.limit is None:
            return "off"
        return f"{self.limit:g}" if self.money is None else f"{self.limit:.2%}"


class Seen(NamedTuple):
    """What losses are measured on.

    Attributes:
        baselines: What they are measured from.
        equity: Now, account currency.
        drawdown: Deepest fall below the peak since the last look, share of the peak.
        lowest: Lowest equity since the last look.
    """

    baselines: Baselines
    equity: float
    drawdown: float
    lowest: float


def seen_now(baselines: Baselines, equity: float) -> Seen:
    """Return what is seen of one moment alone."""
    return Seen(baselines, equity, baselines.drawdown_share(equity), equity)


def daily_loss(seen: Seen, limit: float | None) -> Gauge:
    """Measure the day's worst loss."""
    used, first = seen.baselines.day_loss_share(seen.equity), seen.baselines.day_equity
    wording = "{:.2%} lost today, closed and floating"
    return Gauge("daily_loss", used, limit, wording, first, first)


def weekly_loss(seen: Seen, limit: float | None) -> Gauge:
    """Measure the week's worst loss."""
    used, first = seen.baselines.week_loss_share(seen.equity), seen.baselines.first_of_week
    wording = "{:.2%} lost this week, closed and floating"
    return Gauge("weekly_loss", used, limit, wording, first, first)


def drawdown(seen: Seen, limit: float | None) -> Gauge:
    """Measure the deepest fall from the highest equity."""
    peak, wording = seen.baselines.peak_equity, "equity was {:.2%} below its peak"
    return Gauge("drawdown", seen.drawdown, limit, wording, peak, peak, True)


def losses_in_row(count: int, limit: int | None) -> Gauge:
    """Measure the longest row of losses on the day."""
    return Gauge("losses_in_row", count, limit, "{} losses in a row today")


def account_gauges(seen: Seen, losses: int, limits: LimitSettings) -> tuple[Gauge, ...]:
    """Return the loss limits of the whole account, those that are off included.

    Args:
        seen: Equity, and what it is measured from.
        losses: Longest row of losses of all strategies today.
        limits: Of the account.
    """
    return (
        daily_loss(seen, limits.daily_loss_share),
        weekly_loss(seen, limits.weekly_loss_share),
        drawdown(seen, limits.max_drawdown_share),
        losses_in_row(losses, limits.max_losses_in_row),
        *(() if limits.prop_firm is None else prop_gauges(seen, limits.prop_firm)),
    )


def prop_gauges(seen: Seen, terms: PropFirmSettings) -> tuple[Gauge, Gauge, Gauge]:
    """Return the limits of a prop firm's account; each share is of its starting balance."""
    known, start = seen.baselines, terms.start_balance + seen.baselines.deposits
    day_start = _day_start(known, terms.daily_from)
    # In this order a NaN stays one, and breaks every limit.
    day_loss = (day_start - min(seen.equity, known.day_low)) / start
    loss = (start - min(seen.equity, seen.lowest, known.day_low)) / start
    profit = (seen.equity - start) / start
    return (
        Gauge(
            name="prop_daily_loss",
            used=day_loss,
            limit=terms.daily_loss_share,
            wording="{:.2%} of the starting balance lost today, closed and floating",
            money=start,
            origin=day_start,
        ),
        Gauge(
            name="prop_total_loss",
            used=loss,
            limit=terms.total_loss_share,
            wording="{:.2%} of the starting balance lost, closed and floating",
            money=start,
            origin=start,
            halts=True,
        ),
        Gauge(
            name="prop_profit_target",
            used=profit,
            limit=terms.profit_target_share,
            wording="{:.2%} of the starting balance gained, floating included",
            money=start,
            origin=start,
            is_gain=True,
        ),
    )


def _day_start(known: Baselines, start: DayStart) -> float:
    balance = known.day_equity if known.day_balance is None else known.day_balance
    return {
        DayStart.BALANCE: balance,
        DayStart.EQUITY: known.day_equity,
        DayStart.LARGER: max(balance, known.day_equity),
    }[start]
