"""Exits that nobody asks for: a position's own stop and target, and the account's stop-out."""

from collections.abc import Callable
from math import inf

from bridge.mt5 import constants as mt5
from bridge.terminal.paper.dealing import Fill, close_position
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.pending import release

_PERCENT = 0


def reached(position: Position, price: float) -> int:
    """Return the reason to close a position at ``price``; 0 without one."""
    if position.sl > 0 and (price - position.sl) * position.sign <= 0:
        return mt5.DEAL_REASON_SL
    if position.tp > 0 and (price - position.tp) * position.sign >= 0:
        return mt5.DEAL_REASON_TP
    return 0


_COMMENTS: dict[int, Callable[[Position, int], str]] = {
    mt5.DEAL_REASON_SL: lambda position, digits: f"[sl {position.sl:.{digits}f}]",
    mt5.DEAL_REASON_TP: lambda position, digits: f"[tp {position.tp:.{digits}f}]",
}


def exit_position(
    desk: Desk, position: Position, price: float, reason: int, comment: str = ""
) -> None:
    """Close a position by its own order; the comment tells the level unless one is given."""
    digits = desk.symbols[position.symbol].digits
    fill = Fill(
        symbol=position.symbol,
        type=mt5.ORDER_TYPE_BUY if position.type else mt5.ORDER_TYPE_SELL,
        volume=position.volume,
        price=price,
        magic=position.magic,
        comment=comment or _COMMENTS[reason](position, digits),
        reason=reason,
    )
    close_position(desk, fill, position)


def stop_out(desk: Desk) -> float:
    """Close the biggest loss, and the next, while the account is at or below its stop-out level.

    Pending orders that hold margin go first.

    Returns:
        The lowest equity that was looked at; infinity without positions.
    """
    lowest = inf
    while desk.ledger.positions:
        margin = desk.margin()
        equity = desk.equity()
        lowest = min(lowest, equity)
        if not _is_out(desk, equity, margin):
            break
        if release(desk):
            continue
        worst = min(
            desk.ledger.positions.values(),
            key=lambda one: (desk.profit(one) + one.swap, one.ticket),
        )
        level = f"{equity / margin * 100:.2f}%" if margin else f"{equity:.2f}"
        price = desk.closing_price(worst)
        exit_position(desk, worst, price, mt5.DEAL_REASON_SO, f"[so {level}]")
    return lowest


def _is_out(desk: Desk, equity: float, margin: float) -> bool:
    limit = desk.terms.margin_so_so
    if desk.terms.margin_so_mode == _PERCENT:
        return margin > 0 and equity <= margin * limit / 100
    return equity <= limit
