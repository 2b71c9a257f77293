"""The rules of the guard, by what they look at, in the order in which they are told."""

from bridge.risk.rules import levels, losses, moment, size, times
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
    "hours": times.hours,
    "rollover": times.rollover,
    "weekend": times.weekend,
    "news": times.news,
    "spread": moment.spread,
    "positions": size.positions,
    "account_positions": size.account_positions,
    "volume": size.volume,
    "symbol_volume": size.symbol_volume,
    "currency_exposure": size.currency_exposure,
    "orders_per_minute": size.orders_per_minute,
    "stop": levels.stop,
    "take": levels.take,
    "daily_loss": losses.daily_loss,
    "weekly_loss": losses.weekly_loss,
    "drawdown": losses.drawdown,
    "losses_in_row": losses.losses_in_row,
    "account_losses_in_row": losses.account_losses_in_row,
    "prop_daily_loss": losses.prop_daily_loss,
    "prop_total_loss": losses.prop_total_loss,
    "prop_profit_target": losses.prop_profit_target,
}
"""What an entry needs a yes of, all of them."""

REDUCING_RULES: dict[str, Rule] = {
    "unresolved": moment.unresolved_ticket,
    "quote": moment.quote,
}
"""What may stop a request that reduces risk."""
