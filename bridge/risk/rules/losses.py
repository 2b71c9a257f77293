"""Rules about what was lost, closed and floating; of two limits the tighter counts."""

from bridge.mt5.request import Request
from bridge.risk import gauges
from bridge.risk.facts import Bounds, Facts
from bridge.risk.gauges import Gauge, Seen
from bridge.risk.ruling import Verdict, off
from bridge.settings import PropFirmSettings


def daily_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a day that has lost too much."""
    limit = _tighter(bounds.risk.daily_loss_share, bounds.limits.daily_loss_share)
    return _verdict(gauges.daily_loss(_seen(facts), limit))


def weekly_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened in a week that has lost too much."""
    limit = _tighter(bounds.risk.weekly_loss_share, bounds.limits.weekly_loss_share)
    return (
        off("weekly_loss") if limit is None else _verdict(gauges.weekly_loss(_seen(facts), limit))
    )


def drawdown(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened, now and later, once equity has fallen too far below its peak."""
    limit = _tighter(bounds.risk.max_drawdown_share, bounds.limits.max_drawdown_share)
    return _verdict(gauges.drawdown(_seen(facts), limit))


def losses_in_row(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a day on which the strategy lost so often in a row."""
    return _row("losses_in_row", facts.losses, bounds.risk.max_losses_in_row)


def account_losses_in_row(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """The same over all strategies."""
    return _row("account_losses_in_row", facts.account_losses, bounds.limits.max_losses_in_row)


def prop_daily_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a day that has lost what a prop firm allows."""
    return _of_prop_firm("prop_daily_loss", facts, bounds.limits.prop_firm, 0)


def prop_total_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened, now and later, once a prop firm's total loss is reached."""
    return _of_prop_firm("prop_total_loss", facts, bounds.limits.prop_firm, 1)


def prop_profit_target(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened once a prop firm's profit target is reached."""
    return _of_prop_firm("prop_profit_target", facts, bounds.limits.prop_firm, 2)


def _of_prop_firm(name: str, facts: Facts, terms: PropFirmSettings | None, which: int) -> Verdict:
    if terms is None:
        return off(name)
    return _verdict(gauges.prop_gauges(_seen(facts), terms)[which])


def _row(name: str, count: int, limit: int | None) -> Verdict:
    return off(name) if limit is None else _verdict(gauges.losses_in_row(count, limit), name)


def _seen(facts: Facts) -> Seen:
    return gauges.seen_now(facts.baselines, facts.account.equity)


def _verdict(gauge: Gauge, name: str | None = None) -> Verdict:
    ok = gauge.ok
    halts = gauge.halts and not ok
    return Verdict(name or gauge.name, ok, gauge.words, gauge.limit_words, halts)


def _tighter(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
