"""Pending orders as time passes: triggered, filled, expired, and what a refusal makes of them."""

from math import inf

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeRequest
from bridge.mt5.servertime import server_day
from bridge.terminal.paper.answers import text_of
from bridge.terminal.paper.dealing import fill_order, target_of
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.market import Series
from bridge.terminal.paper.order import ABOVE, LIMIT, MARKET, STOP_LIMIT, Order
from bridge.terminal.paper.pending_rules import TRIGGER_CHECKS
from bridge.terminal.paper.rules import asked, first_refusal
from bridge.terminal.paper.script import PartialFill


def moved(desk: Desk, series: Series, before: float | None) -> None:
    """Fill the pending orders of a symbol whose price has moved.

    Args:
        desk: The account.
        series: Prices of the symbol, at their new place.
        before: The bid that the price came from; all between has been traded, and no order's
            level lies there. None when the price jumped (an open after a gap, a tick): what was
            jumped over is filled at the new price.
    """
    for order in desk.waiting_of(series.info.name):
        now = desk.price_of(order)
        start = now
        if before is not None:
            start = before if order.side else series.ask_of(before)
        if _is_due(order, now):
            _activate(desk, series, order, _met(order, start, now))


def bounds(desk: Desk, symbol: str) -> tuple[float, float, float, float]:
    """Return the bids, then the asks, between which no order of a symbol is triggered."""
    bids, asks = [-inf, inf], [-inf, inf]
    for order in desk.waiting_of(symbol):
        prices = bids if order.side else asks
        if order.type in ABOVE:
            prices[1] = min(prices[1], order.price)
        else:
            prices[0] = max(prices[0], order.price)
        if order.type in MARKET or _is_rest_of_stop(order):  # any price will do
            prices[0] = inf
    return bids[0], bids[1], asks[0], asks[1]


def _is_due(order: Order, price: float) -> bool:
    """Return whether ``price`` (ask for buys, bid for sells) triggers the order."""
    if order.type in MARKET or _is_rest_of_stop(order):
        return True
    return price >= order.price if order.type in ABOVE else price <= order.price


def _is_rest_of_stop(order: Order) -> bool:
    return order.type not in LIMIT and order.state == mt5.ORDER_STATE_PARTIAL


def _met(order: Order, start: float, now: float) -> float:
    """Return the first price on the way from ``start`` to ``now`` that triggers the order."""
    if order.type in MARKET or _is_rest_of_stop(order):
        return now
    return max(order.price, start) if order.type in ABOVE else min(order.price, start)


def _activate(desk: Desk, series: Series, order: Order, price: float) -> None:
    if order.fate == "rejected":
        _end(desk, order, mt5.ORDER_STATE_REJECTED, price)
    elif order.type in STOP_LIMIT:
        limits = (mt5.ORDER_TYPE_BUY_LIMIT, mt5.ORDER_TYPE_SELL_LIMIT)
        order.type, order.price = limits[order.side], order.stoplimit
        order.type_filling = mt5.ORDER_FILLING_RETURN
        desk.ledger.place(order)
    else:
        _fill(desk, series, order, price)


def _fill(desk: Desk, series: Series, order: Order, price: float) -> None:
    """Fill an order, or end it when the account can't take it."""
    order.margin_per_lot = 0.0  # what it held is free for its position
    desk.ledger.place(order)
    target = target_of(desk, order)
    closes = order.position_id not in (0, order.ticket)
    is_there = target is not None and target.identifier == order.position_id
    is_bound = desk.is_hedging or order.type in MARKET
    if is_bound and closes and not is_there:  # what it was to close is gone
        _end(desk, order, mt5.ORDER_STATE_CANCELED, price)
        return
    ask = asked(_activation(order), series, target)
    code = first_refusal(desk, ask, TRIGGER_CHECKS) or _judge_levels(desk, order, price)
    if code:
        order.comment = f"[{text_of(desk, code)}]"
        _end(desk, order, mt5.ORDER_STATE_REJECTED, price)
        return
    fill_order(desk, order, price, desk.script.twist(PartialFill).volume)


def _judge_levels(desk: Desk, order: Order, price: float) -> int:
    """Do with a stop or target that the fill has passed what the account's terms say."""
    stop = order.sl > 0 and (price - order.sl) * order.sign <= 0
    target = order.tp > 0 and (order.tp - price) * order.sign <= 0
    if not (stop or target) or desk.terms.gap_levels == "keep":
        return 0
    if desk.terms.gap_levels == "reject":
        return mt5.TRADE_RETCODE_INVALID_STOPS
    order.sl, order.tp = (0.0 if stop else order.sl), (0.0 if target else order.tp)
    return 0


def _activation(order: Order) -> TradeRequest:
    """Return the deal that an order asks for when it is triggered."""
    fields = {
        "action": mt5.TRADE_ACTION_DEAL,
        "order": order.ticket,
        "symbol": order.symbol,
        "volume": order.volume,
        "type": order.side,
        "type_filling": order.type_filling,
    }
    kinds = TradeRequest.__annotations__.items()
    return TradeRequest(fields.get(name, kind()) for name, kind in kinds)


def placed(desk: Desk, order: Order) -> None:
    """Fill an order at once that is new or changed, if its limit is through the market.

    Only an exchange takes such a limit. Book-or-cancel never fills at once.
    """
    series, price = desk.series(order.symbol), desk.price_of(order)
    if order.type not in LIMIT or not _is_due(order, price):
        return
    if order.type_filling == mt5.ORDER_FILLING_BOC:
        _end(desk, order, mt5.ORDER_STATE_CANCELED, price)
    else:
        _fill(desk, series, order, price)


def expire(desk: Desk, until: float) -> None:
    """End what is over at ``until`` (server time), nothing later.

    Pending orders go at their own time; where a symbol's day takes stops and targets with it,
    they go from its positions.
    """
    if server_day(until) > server_day(desk.market.now):
        _drop_levels(desk)
    if not desk.ledger.waiting:
        return
    over = [one for one in desk.ledger.waiting.values() if 0 < one.ends <= until]
    for order in sorted(over, key=lambda one: one.ends):
        price = desk.price_of(order)
        desk.ledger.finish(order, mt5.ORDER_STATE_EXPIRED, int(order.ends * 1000), price)


def _drop_levels(desk: Desk) -> None:
    for position in desk.ledger.positions.values():
        daily = desk.symbols[position.symbol].order_gtc_mode == mt5.SYMBOL_ORDERS_DAILY
        if daily and (position.sl or position.tp):
            position.sl = position.tp = 0.0
            desk.ledger.touch(position)


def release(desk: Desk) -> bool:
    """Cancel the pending order that holds the most margin; return whether there was one."""
    held = [one for one in desk.ledger.waiting.values() if one.margin_per_lot]
    if not held:
        return False
    most = max(held, key=lambda one: (one.volume * one.margin_per_lot, -one.ticket))
    _end(desk, most, mt5.ORDER_STATE_CANCELED, desk.price_of(most))
    return True


def _end(desk: Desk, order: Order, state: int, price: float) -> None:
    desk.ledger.finish(order, state, desk.time_msc, price)
