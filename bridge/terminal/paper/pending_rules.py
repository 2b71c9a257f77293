"""What the server refuses of pending orders: placed, changed, removed, triggered.

Sources as in :mod:`rules`. Prices that keep no distance are 10016, those on the wrong side of the
market 10015.
"""

from collections.abc import Sequence

from bridge.mt5 import constants as mt5
from bridge.terminal.paper import rules
from bridge.terminal.paper.dealing import margin_per_lot
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.order import ABOVE, DATED, LIMIT, PENDING, STOP, STOP_LIMIT, end_of
from bridge.terminal.paper.rules import Ask, Check

# Order types and their bit in order_mode.
_MODES = ((LIMIT, 2), (STOP, 4), (STOP_LIMIT, 8))
_BOC_MASK = 4


def kind_of(ask: Ask) -> int:
    """Return the type of the order that is placed or changed."""
    return ask.order.type if ask.order else ask.request.type


def type_is_pending(desk: Desk, ask: Ask) -> int:
    """Buying and selling at market is no pending order; each kind may be forbidden."""
    kind = ask.request.type
    if kind not in PENDING:
        known = kind <= mt5.ORDER_TYPE_CLOSE_BY
        return mt5.TRADE_RETCODE_INVALID_ORDER if known else mt5.TRADE_RETCODE_INVALID
    allowed = any(kind in types and ask.info.order_mode & bit for types, bit in _MODES)
    return 0 if allowed else mt5.TRADE_RETCODE_INVALID_ORDER


def price_is_legal(desk: Desk, ask: Ask) -> int:
    """The price is on its side of the market and far enough; a limit of an exchange may pass it.

    A price that a change leaves alone is not measured again.
    """
    kind, price = kind_of(ask), ask.request.price
    if not (price > 0 and rules.is_multiple(price, ask.info.trade_tick_size)):
        return mt5.TRADE_RETCODE_INVALID_PRICE
    if ask.order and round(price, ask.info.digits) == ask.order.price:
        return 0
    market = ask.series.bid if kind & 1 else ask.series.ask
    if kind in LIMIT and ask.info.trade_exemode == mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE:
        return 0
    return _measured(ask, price - market if kind in ABOVE else market - price)


def stoplimit_is_legal(desk: Desk, ask: Ask) -> int:
    """A stop-limit's limit lies beyond its stop, on the side of a better price."""
    kind, limit = kind_of(ask), ask.request.stoplimit
    if kind not in STOP_LIMIT:
        return 0
    if not (limit > 0 and rules.is_multiple(limit, ask.info.trade_tick_size)):
        return mt5.TRADE_RETCODE_INVALID_PRICE
    depth = ask.request.price - limit
    return _measured(ask, -depth if kind & 1 else depth)


def _measured(ask: Ask, distance: float) -> int:
    if distance < rules.SLACK * ask.info.point:
        return mt5.TRADE_RETCODE_INVALID_PRICE
    near = distance < rules.least_distance(ask.info)
    return mt5.TRADE_RETCODE_INVALID_STOPS if near else 0


def filling_is_allowed(desk: Desk, ask: Ask) -> int:
    """Pending orders take any filling; book-or-cancel is for limits, where the mask has it."""
    filling = ask.request.type_filling
    if filling == mt5.ORDER_FILLING_BOC:
        fits = ask.request.type in LIMIT | STOP_LIMIT and ask.info.filling_mode & _BOC_MASK
        return 0 if fits else mt5.TRADE_RETCODE_INVALID_FILL
    return 0 if filling <= mt5.ORDER_FILLING_RETURN else mt5.TRADE_RETCODE_INVALID_FILL


def expiration_is_legal(desk: Desk, ask: Ask) -> int:
    """The symbol allows the way of expiring, and a date is not over."""
    kind, info = ask.request.type_time, ask.info
    known = kind <= mt5.ORDER_TIME_SPECIFIED_DAY and info.expiration_mode & 1 << kind
    now = desk.market.now
    late = kind in DATED and end_of(info, kind, ask.request.expiration, now) <= now
    return 0 if known and not late else mt5.TRADE_RETCODE_INVALID_EXPIRATION


def stops_are_legal(desk: Desk, ask: Ask) -> int:
    """Stop and target are measured from the price at which the order will be filled."""
    kind, request = kind_of(ask), ask.request
    base = request.stoplimit if kind in STOP_LIMIT else request.price
    return rules.stops_from(ask, kind & 1, base)


def orders_limit_is_kept(desk: Desk, ask: Ask) -> int:
    """``limit_orders`` counts the pending orders of all symbols."""
    limit = desk.terms.limit_orders
    full = limit and sum(one.type in PENDING for one in desk.ledger.waiting.values()) >= limit
    return mt5.TRADE_RETCODE_LIMIT_ORDERS if full else 0


def margin_is_enough(desk: Desk, ask: Ask) -> int:
    """Where waiting orders hold margin, there has to be enough of it."""
    short = desk.equity() - desk.margin() < held_margin(desk, ask) * ask.request.volume
    return mt5.TRADE_RETCODE_NO_MONEY if desk.terms.pending_margin and short else 0


def held_margin(desk: Desk, ask: Ask) -> float:
    """Return what a pending order holds for each lot while it waits, account currency."""
    if not desk.terms.pending_margin:
        return 0.0
    kind, request = kind_of(ask), ask.request
    price = request.stoplimit if kind in STOP_LIMIT else request.price
    return margin_per_lot(desk, ask.info.name, kind & 1, price)


def something_changes(desk: Desk, ask: Ask) -> int:
    """Prices, stops and time equal to those of the order change nothing."""
    order, request, digits = ask.order, ask.request, ask.info.digits
    if order is None:
        return 0
    asked = [round(price, digits) for price in (request.price, request.sl, request.tp)]
    same = asked == [order.price, order.sl, order.tp]
    if order.type in STOP_LIMIT:
        same = same and round(request.stoplimit, digits) == order.stoplimit
    dated = request.expiration if request.type_time in DATED else 0
    same = same and (request.type_time, dated) == (order.type_time, order.expiration)
    return mt5.TRADE_RETCODE_NO_CHANGES if same else 0


def order_is_not_frozen(desk: Desk, ask: Ask) -> int:
    """Within the freeze level of its price a pending order is left alone."""
    order = ask.order
    if order is None or order.type not in PENDING or not ask.info.trade_freeze_level:
        return 0
    near = rules.is_near(ask.info, desk.price_of(order) - order.price)
    return mt5.TRADE_RETCODE_FROZEN if near else 0


PLACE_CHECKS: Sequence[Check] = (
    rules.account_may_trade,
    type_is_pending,
    rules.symbol_may_trade,
    rules.hedging_is_allowed,
    rules.volume_is_legal,
    rules.has_prices,
    price_is_legal,
    stoplimit_is_legal,
    filling_is_allowed,
    expiration_is_legal,
    rules.levels_are_allowed,
    stops_are_legal,
    rules.market_is_open,
    orders_limit_is_kept,
    rules.volume_limit_is_kept,
    margin_is_enough,
)
MODIFY_CHECKS: Sequence[Check] = (
    rules.account_may_trade,
    rules.has_prices,
    something_changes,
    order_is_not_frozen,
    price_is_legal,
    stoplimit_is_legal,
    expiration_is_legal,
    rules.levels_are_allowed,
    stops_are_legal,
    rules.market_is_open,
)
REMOVE_CHECKS: Sequence[Check] = (
    rules.account_may_trade,
    order_is_not_frozen,
    rules.market_is_open,
)
TRIGGER_CHECKS: Sequence[Check] = (
    rules.hedging_is_allowed,
    rules.positions_limit_is_kept,
    rules.money_is_enough,
)
