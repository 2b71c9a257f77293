"""The end of a server day: what holding a position overnight costs."""

from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import weekday
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.swap import REOPENING, Held, reopened_at


def charge_swap(desk: Desk, midnight: float) -> None:
    """Charge the server day that ends on every position."""
    ended = weekday(midnight - 1)
    for position in desk.ledger.positions.values():
        held = _held(desk, position)
        if held.info.swap_mode in REOPENING:
            _reopen(desk, position, held, desk.money.swap_days(held.info, ended))
        elif charge := desk.money.swap(held, ended):
            position.swap = desk.money.round(position.swap + charge)
            desk.ledger.touch(position)


def _held(desk: Desk, position: Position) -> Held:
    return Held(
        desk.symbols[position.symbol],
        position.sign,
        position.volume,
        position.price_open,
        desk.closing_price(position),
    )


def _reopen(desk: Desk, position: Position, held: Held, count: float) -> None:
    """Close a position and open it again at a moved price; it keeps its ticket.

    Both deals are the server's own: they have no order and cost nothing.
    """
    if not count:
        return
    opened = reopened_at(held, count, desk.series(position.symbol).bid)
    profit = desk.money.profit(held.info, held.sign, held.volume, held.opened, held.price)
    _deal(desk, position, 1 - position.type, mt5.DEAL_ENTRY_OUT, held.price, profit)
    _deal(desk, position, position.type, mt5.DEAL_ENTRY_IN, opened, 0.0)
    position.price_open = opened
    position.margin_per_lot = desk.money.margin(
        held.info, 1.0, opened, buy=position.sign > 0, held=True
    )
    position.time_msc = position.time_update_msc = desk.time_msc
    desk.ledger.touch(position)


def _deal(
    desk: Desk, position: Position, side: int, entry: int, price: float, profit: float
) -> None:
    desk.ledger.deal(
        desk.time_msc,
        type=side,
        entry=entry,
        magic=position.magic,
        position_id=position.identifier,
        reason=mt5.DEAL_REASON_ROLLOVER,
        volume=position.volume,
        price=price,
        profit=profit,
        symbol=position.symbol,
    )
