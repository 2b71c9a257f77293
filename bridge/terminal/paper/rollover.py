"""The end of a server day: what holding a position overnight costs."""

from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import weekday
from bridge.terminal.paper.desk import Desk

_WORKDAYS = range(mt5.DAY_OF_WEEK_MONDAY, mt5.DAY_OF_WEEK_SATURDAY)
_TRIPLE = 3


def charge_swap(desk: Desk, midnight: float) -> None:
    """Charge the server day that ends, on working days; the rollover day counts three."""
    ended = weekday(midnight - 1)
    if ended not in _WORKDAYS:
        return
    for position in desk.ledger.positions.values():
        info = desk.symbols[position.symbol]
        days = _TRIPLE if ended == info.swap_rollover3days else 1
        series = desk.series(position.symbol)
        night = desk.money.swap(
            info, position.sign, position.volume, position.price_open, series.bid
        )
        if night:
            position.swap = desk.money.round(position.swap + days * night)
            desk.ledger.touch(position)
