"""What the server refuses of deals, of stops that are changed, and of pairs that close each other.

Sources as in :mod:`rules`.
"""

from collections.abc import Sequence

from bridge.mt5 import constants as mt5
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.order import MARKET, level_of
from bridge.terminal.paper.rules import (
    SLACK,
    Ask,
    Check,
    account_may_trade,
    has_prices,
    hedging_is_allowed,
    is_multiple,
    is_near,
    levels_are_allowed,
    market_is_open,
    money_is_enough,
    positions_limit_is_kept,
    stops_from,
    symbol_may_trade,
    volume_is_legal,
    volume_limit_is_kept,
)

_PRICED = (mt5.SYMBOL_TRADE_EXECUTION_REQUEST, mt5.SYMBOL_TRADE_EXECUTION_INSTANT)
_CLOSE_BY = 64


def type_is_market(desk: Desk, ask: Ask) -> int:
    """A deal buys or sells; a pending type is no deal."""
    if ask.request.type in MARKET:
        return 0 if ask.info.order_mode & 1 else mt5.TRADE_RETCODE_INVALID_ORDER
    known = ask.request.type <= mt5.ORDER_TYPE_CLOSE_BY
    return mt5.TRADE_RETCODE_INVALID_ORDER if known else mt5.TRADE_RETCODE_INVALID


def closes_its_position(desk: Desk, ask: Ask) -> int:
    """A named position is closed by the opposite side on its own symbol."""
    if not ask.request.position or ask.target is None:
        return 0
    if ask.target.symbol != ask.request.symbol or ask.target.type == ask.side:
        return mt5.TRADE_RETCODE_INVALID
    return 0


def oldest_is_closed_first(desk: Desk, ask: Ask) -> int:
    """FIFO accounts close a symbol's positions in the order of their opening."""
    if not (desk.terms.fifo_close and desk.is_hedging and ask.target):
        return 0
    oldest = min(desk.positions_of(ask.info.name), key=lambda one: (one.time_msc, one.ticket))
    return 0 if oldest is ask.target else mt5.TRADE_RETCODE_FIFO_CLOSE


def price_is_legal(desk: Desk, ask: Ask) -> int:
    """Request and instant execution want a price on the tick; the others don't look at it."""
    if ask.info.trade_exemode not in _PRICED:
        return 0
    price = ask.request.price
    legal = price > 0 and is_multiple(price, ask.info.trade_tick_size)
    return 0 if legal else mt5.TRADE_RETCODE_INVALID_PRICE


_FOK, _IOC, _RETURN = mt5.ORDER_FILLING_FOK, mt5.ORDER_FILLING_IOC, mt5.ORDER_FILLING_RETURN
# Execution mode -> fillings that are right whatever the mask says.
_ALWAYS = {
    mt5.SYMBOL_TRADE_EXECUTION_REQUEST: (_FOK, _IOC, _RETURN),
    mt5.SYMBOL_TRADE_EXECUTION_INSTANT: (_FOK, _IOC, _RETURN),
    mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE: (_RETURN,),
}
_MASK = {_FOK: 1, _IOC: 2}


def filling_is_allowed(desk: Desk, ask: Ask) -> int:
    """Filling by execution mode and mask; the two number them differently."""
    filling = ask.request.type_filling
    by_mask = ask.info.filling_mode & _MASK.get(filling, 0)
    if by_mask or filling in _ALWAYS.get(ask.info.trade_exemode, ()):
        return 0
    return mt5.TRADE_RETCODE_INVALID_FILL


def entry_stops_are_legal(desk: Desk, ask: Ask) -> int:
    """Stops of a deal that opens volume; one that only closes has none."""
    return _market_stops(ask, ask.side) if ask.opening else 0


def changed_stops_are_legal(desk: Desk, ask: Ask) -> int:
    """Stops that a position is to get."""
    return _market_stops(ask, ask.target.type) if ask.target else 0


def _market_stops(ask: Ask, side: int) -> int:
    return stops_from(ask, side, ask.series.ask if side else ask.series.bid)


def position_is_not_frozen(desk: Desk, ask: Ask) -> int:
    """Within the freeze level of its stop or target a position is left alone."""
    if not ask.info.trade_freeze_level:
        return 0
    for position in (ask.target, ask.opposite):
        if position:
            market = desk.closing_price(position)
            if any(one and is_near(ask.info, market - one) for one in (position.sl, position.tp)):
                return mt5.TRADE_RETCODE_FROZEN
    return 0


def price_has_not_moved(desk: Desk, ask: Ask) -> int:
    """Request and instant execution: a move beyond the deviation is a requote."""
    if ask.info.trade_exemode not in _PRICED:
        return 0
    moved = abs(ask.request.price - ask.price) / ask.info.point
    return mt5.TRADE_RETCODE_REQUOTE if moved > ask.request.deviation + SLACK else 0


def something_changes(desk: Desk, ask: Ask) -> int:
    """Levels equal to those already set change nothing."""
    if ask.target is None:
        return 0
    digits = ask.info.digits
    asked = (level_of(ask.request.sl, digits), level_of(ask.request.tp, digits))
    same = asked == (ask.target.sl, ask.target.tp)
    return mt5.TRADE_RETCODE_NO_CHANGES if same else 0


def no_close_is_waiting(desk: Desk, ask: Ask) -> int:
    """A position whose closing order is accepted and not done yet takes no second one."""
    if not (desk.ledger.waiting and desk.is_hedging):
        return 0
    targets = {one.identifier for one in (ask.target, ask.opposite) if one}
    closing = (one.position_id for one in desk.ledger.waiting.values() if one.type in MARKET)
    return 0 if targets.isdisjoint(closing) else mt5.TRADE_RETCODE_CLOSE_ORDER_EXIST


def positions_are_opposite(desk: Desk, ask: Ask) -> int:
    """Only a hedging account has two positions of one symbol, and only opposite ones meet."""
    one, other = ask.target, ask.opposite
    if not desk.is_hedging or one is None or other is None:
        return mt5.TRADE_RETCODE_INVALID
    if one.symbol != other.symbol or one.type == other.type:
        return mt5.TRADE_RETCODE_INVALID
    return 0 if ask.info.order_mode & _CLOSE_BY else mt5.TRADE_RETCODE_INVALID_ORDER


def symbol_is_not_disabled(desk: Desk, ask: Ask) -> int:
    """A symbol that is not traded at all."""
    disabled = ask.info.trade_mode == mt5.SYMBOL_TRADE_MODE_DISABLED
    return mt5.TRADE_RETCODE_TRADE_DISABLED if disabled else 0


DEAL_CHECKS: Sequence[Check] = (
    account_may_trade,
    type_is_market,
    closes_its_position,
    symbol_may_trade,
    hedging_is_allowed,
    oldest_is_closed_first,
    no_close_is_waiting,
    volume_is_legal,
    has_prices,
    price_is_legal,
    filling_is_allowed,
    levels_are_allowed,
    entry_stops_are_legal,
    market_is_open,
    position_is_not_frozen,
    volume_limit_is_kept,
    positions_limit_is_kept,
    money_is_enough,
)
CHANGE_CHECKS: Sequence[Check] = (
    account_may_trade,
    has_prices,
    something_changes,
    position_is_not_frozen,
    levels_are_allowed,
    changed_stops_are_legal,
    market_is_open,
)
CLOSE_BY_CHECKS: Sequence[Check] = (
    account_may_trade,
    positions_are_opposite,
    symbol_is_not_disabled,
    oldest_is_closed_first,
    no_close_is_waiting,
    has_prices,
    position_is_not_frozen,
    market_is_open,
)
