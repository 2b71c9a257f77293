"""Rules about what was lost, closed and floating."""

from bridge.mt5.request import Request
from bridge.risk.facts import Bounds, Facts
from bridge.risk.ruling import Verdict, percent


def daily_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a day that has lost too much."""
    share = facts.baselines.day_loss_share(facts.account.equity)
    limit = bounds.risk.daily_loss_share
    return Verdict("daily_loss", _below(share, limit), f"{share:.2%} lost today", percent(limit))


def drawdown(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened, now and later, once equity has fallen too far below its peak."""
    share = facts.baselines.drawdown_share(facts.account.equity)
    limit = bounds.risk.max_drawdown_share
    ok, value = _below(share, limit), f"{share:.2%} below the peak"
    return Verdict("drawdown", ok, value, percent(limit), halts=not ok)


def _below(share: float, limit: float | None) -> bool:
    return limit is None or share < limit
