"""What a request is about: its symbol, its positions, its order."""

from collections.abc import Callable

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeRequest
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.market import Series
from bridge.terminal.paper.order import PENDING, Order
from bridge.terminal.paper.rules import Ask, asked

_INVALID = mt5.TRADE_RETCODE_INVALID


def ask_of(desk: Desk, request: TradeRequest) -> Ask | int:
    """Return the request with its symbol, position and order, or the retcode that refuses it."""
    about = _ABOUT.get(request.action)
    return _INVALID if about is None else about(desk, request)


def _about_deal(desk: Desk, request: TradeRequest) -> Ask | int:
    target: Position | None = None
    if request.position:
        target = desk.ledger.positions.get(request.position)
        if target is None:
            return mt5.TRADE_RETCODE_POSITION_CLOSED
        if target.symbol != request.symbol:
            return _INVALID
    elif not desk.is_hedging:
        target = next(iter(desk.positions_of(request.symbol)), None)
    return _with_symbol(desk, request, request.symbol, target=target)


def _about_stops(desk: Desk, request: TradeRequest) -> Ask | int:
    if not request.position and desk.is_hedging:
        return _INVALID
    held = [desk.ledger.positions.get(request.position)]
    target = held[0] if request.position else next(iter(desk.positions_of(request.symbol)), None)
    if target is None:
        return mt5.TRADE_RETCODE_POSITION_CLOSED
    return _with_symbol(desk, request, target.symbol, target=target)


def _about_new_order(desk: Desk, request: TradeRequest) -> Ask | int:
    return _with_symbol(desk, request, request.symbol)


def _about_order(desk: Desk, request: TradeRequest) -> Ask | int:
    order = desk.ledger.waiting.get(request.order)
    changes = request.action == mt5.TRADE_ACTION_MODIFY
    if order is None or (changes and order.type not in PENDING):
        return _INVALID
    return _with_symbol(desk, request, order.symbol, order=order)


def _about_pair(desk: Desk, request: TradeRequest) -> Ask | int:
    positions = desk.ledger.positions
    one, other = positions.get(request.position), positions.get(request.position_by)
    if not (request.position and request.position_by):
        return _INVALID
    if one is None or other is None:
        return mt5.TRADE_RETCODE_POSITION_CLOSED
    return _with_symbol(desk, request, one.symbol, target=one, opposite=other)


def _with_symbol(
    desk: Desk,
    request: TradeRequest,
    symbol: str,
    *,
    target: Position | None = None,
    order: Order | None = None,
    opposite: Position | None = None,
) -> Ask | int:
    info = desk.symbols.get(symbol)
    # A symbol may be left out where a ticket says it, but it may not be another one.
    if info is None or request.symbol not in ("", symbol):
        return _INVALID
    series: Series | None = desk.market.at(symbol)
    if series is None:
        return mt5.TRADE_RETCODE_PRICE_OFF
    return asked(request, series, target, order, opposite)


_ABOUT: dict[int, Callable[[Desk, TradeRequest], Ask | int]] = {
    mt5.TRADE_ACTION_DEAL: _about_deal,
    mt5.TRADE_ACTION_PENDING: _about_new_order,
    mt5.TRADE_ACTION_SLTP: _about_stops,
    mt5.TRADE_ACTION_MODIFY: _about_order,
    mt5.TRADE_ACTION_REMOVE: _about_order,
    mt5.TRADE_ACTION_CLOSE_BY: _about_pair,
}
