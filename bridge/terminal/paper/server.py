"""The trade server: ``order_check`` and ``order_send`` for deals and for changes of stops.

Other actions are refused: pending orders with 10035, the rest with 10013.
"""

from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderCheckResult, OrderSendResult, TradeRequest
from bridge.terminal.paper import rules
from bridge.terminal.paper.dealing import execute, fill_of
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.money import NoQuotes

_DEAL, _SLTP = mt5.TRADE_ACTION_DEAL, mt5.TRADE_ACTION_SLTP


def order_check(desk: Desk, request: TradeRequest) -> OrderCheckResult:
    """Return whether the server would take ``request``, and the account as it would be."""
    ask = _ask(desk, request)
    if isinstance(ask, int):
        return _checked(request, ask)
    code = _refusal(desk, ask)
    if code not in (0, mt5.TRADE_RETCODE_NO_MONEY):
        return _checked(request, code)
    margin = rules.margin_after(desk, ask) if request.action == _DEAL else desk.margin()
    equity, balance = desk.equity(), desk.ledger.balance
    free = desk.money.round(equity - margin)
    level = equity / margin * 100 if margin else 0.0
    money = (balance, equity, desk.floating(), margin, free, level)
    return OrderCheckResult((code, *money, rules.TEXTS[code], request))


def order_send(desk: Desk, request: TradeRequest) -> OrderSendResult:
    """Do what ``request`` asks for, or refuse it."""
    ask = _ask(desk, request)
    if isinstance(ask, int):
        return _refused(request, ask)
    if code := _refusal(desk, ask):
        return _refused(request, code)
    if request.action == _SLTP:
        return _change_stops(desk, ask)
    if code := rules.price_has_not_moved(desk, ask):
        return _refused(request, code, ask.series.bid, ask.series.ask)
    quote = (ask.series.bid, ask.series.ask)
    deal = execute(desk, fill_of(desk, request, ask.price), ask.target)
    return OrderSendResult(
        (
            mt5.TRADE_RETCODE_DONE,
            deal.ticket,
            deal.order,
            deal.volume,
            deal.price,
            *quote,
            rules.TEXTS[mt5.TRADE_RETCODE_DONE],
            desk.ledger.next_request(),
            0,
            request,
        )
    )


def _refusal(desk: Desk, ask: rules.Ask) -> int:
    checks = rules.DEAL_CHECKS if ask.request.action == _DEAL else rules.CHANGE_CHECKS
    try:
        return rules.first_refusal(desk, ask, checks)
    except NoQuotes:
        return mt5.TRADE_RETCODE_PRICE_OFF


def _change_stops(desk: Desk, ask: rules.Ask) -> OrderSendResult:
    position, request = ask.target, ask.request
    if position is not None:
        digits = ask.info.digits
        position.sl, position.tp = round(request.sl, digits), round(request.tp, digits)
        desk.ledger.touch(position)
    code = mt5.TRADE_RETCODE_DONE
    number = desk.ledger.next_request()
    return OrderSendResult((code, 0, 0, 0.0, 0.0, 0.0, 0.0, rules.TEXTS[code], number, 0, request))


def _ask(desk: Desk, request: TradeRequest) -> rules.Ask | int:
    """Return the request with its symbol and position, or the retcode that refuses it."""
    if request.action not in (_DEAL, _SLTP):
        pending = request.action == mt5.TRADE_ACTION_PENDING
        return mt5.TRADE_RETCODE_INVALID_ORDER if pending else mt5.TRADE_RETCODE_INVALID
    target = _target(desk, request)
    if isinstance(target, int):
        return target
    symbol = request.symbol or (target.symbol if target and request.action == _SLTP else "")
    if target and target.symbol != symbol:
        return mt5.TRADE_RETCODE_INVALID
    info = desk.symbols.get(symbol)
    if info is None:
        return mt5.TRADE_RETCODE_INVALID
    series = desk.market.at(symbol)
    if series is None:
        return mt5.TRADE_RETCODE_PRICE_OFF
    return rules.Ask(request, info, series, target)


def _target(desk: Desk, request: TradeRequest) -> Position | int | None:
    """Return the position that a request is about; None opens one; or a retcode."""
    if request.position:
        found = desk.ledger.positions.get(request.position)
        return found or mt5.TRADE_RETCODE_POSITION_CLOSED
    if desk.is_hedging:
        return mt5.TRADE_RETCODE_INVALID if request.action == _SLTP else None
    held = desk.positions_of(request.symbol)
    if held:
        return held[0]
    return mt5.TRADE_RETCODE_POSITION_CLOSED if request.action == _SLTP else None


def _checked(request: TradeRequest, code: int) -> OrderCheckResult:
    return OrderCheckResult((code, *[0.0] * 6, rules.TEXTS[code], request))


def _refused(
    request: TradeRequest, code: int, bid: float = 0.0, ask: float = 0.0
) -> OrderSendResult:
    return OrderSendResult((code, 0, 0, 0.0, 0.0, bid, ask, rules.TEXTS[code], 0, 0, request))
