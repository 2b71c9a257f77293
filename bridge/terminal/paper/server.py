"""The trade server: ``order_check`` and ``order_send`` for every action."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderCheckResult, OrderSendResult, TradeRequest
from bridge.terminal.paper import deal_rules, pending, pending_rules, rules
from bridge.terminal.paper.about import ask_of
from bridge.terminal.paper.answers import refused, sent, text_of, unchecked
from bridge.terminal.paper.dealing import close_by, commission, fill_order, order_of
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import volume_of
from bridge.terminal.paper.money import NoQuotes
from bridge.terminal.paper.order import DATED, STOP_LIMIT, Order, end_of, level_of
from bridge.terminal.paper.rules import Ask
from bridge.terminal.paper.script import IgnoreStops, PartialFill, Placed, RewriteComment, Twist

_INVALID = mt5.TRADE_RETCODE_INVALID


def order_check(desk: Desk, request: TradeRequest) -> OrderCheckResult:
    """Return whether the server would take ``request``, and the account as it would be."""
    ask = ask_of(desk, request)
    if isinstance(ask, int):
        return unchecked(desk, request, ask)
    code = _refusal(desk, ask)
    if code not in (0, mt5.TRADE_RETCODE_NO_MONEY):
        return unchecked(desk, request, code)
    booked, margin = _after(desk, ask)
    balance = desk.money.round(desk.ledger.balance + booked.balance)
    floating = desk.money.round(desk.floating() + booked.floating)
    equity = desk.money.round(balance + floating)
    free = desk.money.round(equity - margin)
    level = equity / margin * 100 if margin else 0.0
    money = (balance, equity, floating, margin, free, level)
    return OrderCheckResult((code, *money, text_of(desk, code), request))


def order_send(desk: Desk, request: TradeRequest) -> OrderSendResult:
    """Do what ``request`` asks for, or refuse it."""
    ask = ask_of(desk, request)
    if isinstance(ask, int):
        return refused(desk, request, ask)
    if code := _refusal(desk, ask):
        return refused(desk, request, code)
    return _ACTIONS[request.action].do(desk, ask)


def _refusal(desk: Desk, ask: Ask) -> int:
    try:
        return rules.first_refusal(desk, ask, _ACTIONS[ask.request.action].checks)
    except NoQuotes:
        return mt5.TRADE_RETCODE_PRICE_OFF


# The account after a request


@dataclass(frozen=True, slots=True)
class _Booked:
    """What a request adds to the account, account currency."""

    balance: float = 0.0
    floating: float = 0.0


def _after(desk: Desk, ask: Ask) -> tuple[_Booked, float]:
    """Return what the request books, and the account's margin afterwards."""
    request = ask.request
    if request.action == mt5.TRADE_ACTION_DEAL:
        return _booked(desk, ask), rules.margin_after(desk, ask)
    held = 0.0
    if request.action == mt5.TRADE_ACTION_PENDING:
        held = request.volume * pending_rules.held_margin(desk, ask)
    return _Booked(), desk.money.round(desk.margin() + held)


def _booked(desk: Desk, ask: Ask) -> _Booked:
    request, target = ask.request, ask.target
    cost = commission(desk, ask.info.name, request.volume, ask.opening, ask.price)
    closing = volume_of(request.volume - ask.opening)
    if target is None or not closing:
        return _Booked(-desk.money.round(cost))
    share = closing / target.volume
    floating = share * (desk.profit(target) + target.swap)
    return _Booked(desk.money.round(floating - cost), -desk.money.round(floating))


# What the actions do


def _deal(desk: Desk, ask: Ask) -> OrderSendResult:
    request, quote = ask.request, (ask.series.bid, ask.series.ask)
    if code := deal_rules.price_has_not_moved(desk, ask):
        return refused(desk, request, code, quote)
    twist = desk.script.twist(PartialFill, Placed, RewriteComment, IgnoreStops)
    order = _twisted(order_of(desk, request, ask.price), twist)
    # When netting, an order that names no position takes what is there when it is filled.
    names = ask.target is not None and (desk.is_hedging or bool(request.position))
    order.position_id = ask.target.identifier if ask.target and names else 0
    if twist.placed:
        order.fate = twist.placed
        desk.ledger.place(order)
        code, volume = mt5.TRADE_RETCODE_PLACED, order.volume
        return sent(desk, request, code, order=order.ticket, volume=volume, quote=quote)
    deal = fill_order(desk, order, ask.price, twist.volume)
    if deal is None:
        return refused(desk, request, mt5.TRADE_RETCODE_REJECT, quote)
    whole = deal.volume == order.volume_initial
    return sent(
        desk,
        request,
        mt5.TRADE_RETCODE_DONE if whole else mt5.TRADE_RETCODE_DONE_PARTIAL,
        deal=deal.ticket,
        order=order.ticket,
        volume=deal.volume,
        price=deal.price,
        quote=quote,
    )


def _place(desk: Desk, ask: Ask) -> OrderSendResult:
    request = ask.request
    twist = desk.script.twist(RewriteComment, IgnoreStops)
    order = _twisted(order_of(desk, request, request.price), twist)
    order.margin_per_lot = pending_rules.held_margin(desk, ask)
    desk.ledger.place(order)
    pending.placed(desk, order)
    return sent(desk, request, order=order.ticket, volume=order.volume_initial)


def _twisted(order: Order, twist: Twist) -> Order:
    if twist.comment is not None:
        order.comment = twist.comment
    if not twist.keeps_stops:
        order.sl = order.tp = 0.0
    return order


def _change_stops(desk: Desk, ask: Ask) -> OrderSendResult:
    position, request = ask.target, ask.request
    if position is not None:
        digits = ask.info.digits
        position.sl, position.tp = level_of(request.sl, digits), level_of(request.tp, digits)
        desk.ledger.touch(position)
    return sent(desk, request)


def _modify(desk: Desk, ask: Ask) -> OrderSendResult:
    order, request, digits = ask.order, ask.request, ask.info.digits
    if order is None:
        return refused(desk, request, _INVALID)
    order.price = round(request.price, digits)
    order.sl, order.tp = level_of(request.sl, digits), level_of(request.tp, digits)
    if order.type in STOP_LIMIT:
        order.stoplimit = round(request.stoplimit, digits)
    order.type_time = request.type_time
    order.expiration = request.expiration if request.type_time in DATED else 0
    order.ends = end_of(ask.info, request.type_time, request.expiration, desk.market.now)
    order.margin_per_lot = pending_rules.held_margin(desk, ask)
    desk.ledger.place(order)
    pending.placed(desk, order)
    return sent(desk, request, order=order.ticket)


def _remove(desk: Desk, ask: Ask) -> OrderSendResult:
    order = ask.order
    if order is None:
        return refused(desk, ask.request, _INVALID)
    price = desk.price_of(order)
    desk.ledger.finish(order, mt5.ORDER_STATE_CANCELED, desk.time_msc, price)
    return sent(desk, ask.request, order=order.ticket)


def _close_by(desk: Desk, ask: Ask) -> OrderSendResult:
    request, one, other = ask.request, ask.target, ask.opposite
    if one is None or other is None:
        return refused(desk, request, _INVALID)
    deal = close_by(desk, one, other, request.magic, request.comment)
    return sent(
        desk,
        request,
        deal=deal.ticket,
        order=deal.order,
        volume=deal.volume,
        price=deal.price,
    )


@dataclass(frozen=True, slots=True)
class _Action:
    """One action: what is refused, what it does."""

    checks: Sequence[rules.Check]
    do: Callable[[Desk, Ask], OrderSendResult]


_ACTIONS = {
    mt5.TRADE_ACTION_DEAL: _Action(deal_rules.DEAL_CHECKS, _deal),
    mt5.TRADE_ACTION_PENDING: _Action(pending_rules.PLACE_CHECKS, _place),
    mt5.TRADE_ACTION_SLTP: _Action(deal_rules.CHANGE_CHECKS, _change_stops),
    mt5.TRADE_ACTION_MODIFY: _Action(pending_rules.MODIFY_CHECKS, _modify),
    mt5.TRADE_ACTION_REMOVE: _Action(pending_rules.REMOVE_CHECKS, _remove),
    mt5.TRADE_ACTION_CLOSE_BY: _Action(deal_rules.CLOSE_BY_CHECKS, _close_by),
}
