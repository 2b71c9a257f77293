"""The rules of the guard, by what they look at, in the order in which they are told."""

from bridge.risk.rules import levels, losses, moment, size
from bridge.risk.ruling import Rule

ENTRY_RULES: dict[str, Rule] = {
    "state": moment.state,
    "alarms": moment.alarms,
    "unresolved": moment.unresolved_entry,
    "quote": moment.quote,
    "quote_age": moment.quote_age,
    "bar_age": moment.bar_age,
    "account": moment.account,
    "trade_mode": moment.trade_mode,
    "spread": moment.spread,
    "positions": size.positions,
    "account_positions": size.account_positions,
    "volume": size.volume,
    "stop": levels.stop,
    "take": levels.take,
    "daily_loss": losses.daily_loss,
    "drawdown": losses.drawdown,
}
"""What an entry needs a yes of, all of them."""

REDUCING_RULES: dict[str, Rule] = {
    "unresolved": moment.unresolved_ticket,
    "quote": moment.quote,
}
"""What may stop a request that reduces risk."""
