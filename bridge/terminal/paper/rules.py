"""What the server refuses, and in which order. Each check answers a retcode, 0 when it has nothing.

Sources: MQL5 reference; where it is silent (the order of checks, some codes) the choice is ours,
see README.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo, TradeRequest
from bridge.terminal.paper.dealing import margin_per_lot
from bridge.terminal.paper.desk import Change, Desk
from bridge.terminal.paper.ledger import Position, volume_of
from bridge.terminal.paper.market import Series

TEXTS = {
    0: "Done",
    mt5.TRADE_RETCODE_REQUOTE: "Requote",
    mt5.TRADE_RETCODE_DONE: "Request executed",
    mt5.TRADE_RETCODE_INVALID: "Invalid request",
    mt5.TRADE_RETCODE_INVALID_VOLUME: "Invalid volume",
    mt5.TRADE_RETCODE_INVALID_PRICE: "Invalid price",
    mt5.TRADE_RETCODE_INVALID_STOPS: "Invalid stops",
    mt5.TRADE_RETCODE_TRADE_DISABLED: "Trade disabled",
    mt5.TRADE_RETCODE_MARKET_CLOSED: "Market closed",
    mt5.TRADE_RETCODE_NO_MONEY: "No money",
    mt5.TRADE_RETCODE_PRICE_OFF: "No prices",
    mt5.TRADE_RETCODE_NO_CHANGES: "No changes",
    mt5.TRADE_RETCODE_SERVER_DISABLES_AT: "AutoTrading disabled by server",
    mt5.TRADE_RETCODE_FROZEN: "Order or position frozen",
    mt5.TRADE_RETCODE_INVALID_FILL: "Unsupported filling mode",
    mt5.TRADE_RETCODE_LIMIT_VOLUME: "Volume limit reached",
    mt5.TRADE_RETCODE_INVALID_ORDER: "Invalid order",
    mt5.TRADE_RETCODE_POSITION_CLOSED: "Position closed",
    mt5.TRADE_RETCODE_INVALID_CLOSE_VOLUME: "Invalid close volume",
    mt5.TRADE_RETCODE_LONG_ONLY: "Long only",
    mt5.TRADE_RETCODE_SHORT_ONLY: "Short only",
    mt5.TRADE_RETCODE_CLOSE_ONLY: "Close only",
}

_SIDES = (mt5.ORDER_TYPE_BUY, mt5.ORDER_TYPE_SELL)
_PRICED = (mt5.SYMBOL_TRADE_EXECUTION_REQUEST, mt5.SYMBOL_TRADE_EXECUTION_INSTANT)
# Recorded requests carry the noise of doubles; a thousandth of a step moves nothing.
_SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class Ask:
    """A request with what it is about.

    Attributes:
        info: The symbol's specification.
        series: Its prices.
        target: The position that the request closes, adds to or changes; None opens one.
    """

    request: TradeRequest
    info: SymbolInfo
    series: Series
    target: Position | None

    @property
    def price(self) -> float:
        """The price at which a market order is filled now."""
        return self.series.bid if self.request.type else self.series.ask

    @property
    def opening(self) -> float:
        """Lots that the deal would open; 0.0 when it only closes."""
        if self.target is None or self.target.type == self.request.type:
            return self.request.volume
        return max(0.0, volume_of(self.request.volume - self.target.volume))


Check = Callable[[Desk, Ask], int]


def first_refusal(desk: Desk, ask: Ask, checks: Sequence[Check]) -> int:
    """Return the first retcode that refuses, or 0."""
    for check in checks:
        if code := check(desk, ask):
            return code
    return 0


def account_may_trade(desk: Desk, ask: Ask) -> int:
    """Investor logins and brokers without robots are refused."""
    if not desk.terms.trade_allowed:
        return mt5.TRADE_RETCODE_TRADE_DISABLED
    return 0 if desk.terms.trade_expert else mt5.TRADE_RETCODE_SERVER_DISABLES_AT


def type_is_market(desk: Desk, ask: Ask) -> int:
    """A deal buys or sells; a pending type is no deal."""
    if ask.request.type in _SIDES:
        return 0 if ask.info.order_mode & 1 else mt5.TRADE_RETCODE_INVALID_ORDER
    pending = ask.request.type <= mt5.ORDER_TYPE_CLOSE_BY
    return mt5.TRADE_RETCODE_INVALID_ORDER if pending else mt5.TRADE_RETCODE_INVALID


def symbol_may_trade(desk: Desk, ask: Ask) -> int:
    """Trade mode: disabled, long only, short only, close only."""
    mode = ask.info.trade_mode
    if mode == mt5.SYMBOL_TRADE_MODE_DISABLED:
        return mt5.TRADE_RETCODE_TRADE_DISABLED
    if not ask.opening:
        return 0
    return _ONE_SIDED.get((mode, ask.request.type), 0)


_ONE_SIDED = {
    (mt5.SYMBOL_TRADE_MODE_LONGONLY, mt5.ORDER_TYPE_SELL): mt5.TRADE_RETCODE_LONG_ONLY,
    (mt5.SYMBOL_TRADE_MODE_SHORTONLY, mt5.ORDER_TYPE_BUY): mt5.TRADE_RETCODE_SHORT_ONLY,
    (mt5.SYMBOL_TRADE_MODE_CLOSEONLY, mt5.ORDER_TYPE_BUY): mt5.TRADE_RETCODE_CLOSE_ONLY,
    (mt5.SYMBOL_TRADE_MODE_CLOSEONLY, mt5.ORDER_TYPE_SELL): mt5.TRADE_RETCODE_CLOSE_ONLY,
}


def closes_its_position(desk: Desk, ask: Ask) -> int:
    """A named position is closed by the opposite side on its own symbol."""
    if not ask.request.position or ask.target is None:
        return 0
    if ask.target.symbol != ask.request.symbol or ask.target.type == ask.request.type:
        return mt5.TRADE_RETCODE_INVALID
    return 0


def volume_is_legal(desk: Desk, ask: Ask) -> int:
    """Volume within the limits and on the step; no more than a named position has."""
    volume, info = ask.request.volume, ask.info
    if not (info.volume_min <= volume_of(volume) <= info.volume_max):  # nan is refused too
        return mt5.TRADE_RETCODE_INVALID_VOLUME
    if not _is_multiple(volume, info.volume_step):
        return mt5.TRADE_RETCODE_INVALID_VOLUME
    if ask.request.position and ask.target and volume_of(volume) > ask.target.volume:
        return mt5.TRADE_RETCODE_INVALID_CLOSE_VOLUME
    return 0


def has_prices(desk: Desk, ask: Ask) -> int:
    """A symbol without a quote, its own or one that converts its money, can't be dealt."""
    if ask.series.bid <= 0:
        return mt5.TRADE_RETCODE_PRICE_OFF
    desk.money.check_quotes(ask.info)
    return 0


def price_is_legal(desk: Desk, ask: Ask) -> int:
    """Request and instant execution want a price on the tick; the others don't look at it."""
    if ask.info.trade_exemode not in _PRICED:
        return 0
    price = ask.request.price
    legal = price > 0 and _is_multiple(price, ask.info.trade_tick_size)
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
    return _stops(ask, ask.request.type) if ask.opening else 0


def changed_stops_are_legal(desk: Desk, ask: Ask) -> int:
    """Stops that a position is to get."""
    return _stops(ask, ask.target.type) if ask.target else 0


def _stops(ask: Ask, side: int) -> int:
    """Measure from the closing price: losing side and winning side, and the stops level."""
    market = ask.series.ask if side else ask.series.bid
    sign = -1 if side else 1
    distances = []
    if ask.request.sl:
        distances.append((market - ask.request.sl) * sign)
    if ask.request.tp:
        distances.append((ask.request.tp - market) * sign)
    slack = _SLACK * ask.info.point
    least = max(ask.info.trade_stops_level * ask.info.point - slack, slack)
    levels = [level for level in (ask.request.sl, ask.request.tp) if level]
    on_tick = all(level > 0 and _is_multiple(level, ask.info.trade_tick_size) for level in levels)
    legal = on_tick and all(distance >= least for distance in distances)
    return 0 if legal else mt5.TRADE_RETCODE_INVALID_STOPS


def market_is_open(desk: Desk, ask: Ask) -> int:
    """Without bars for long, the market is closed."""
    return mt5.TRADE_RETCODE_MARKET_CLOSED if ask.series.is_closed(desk.market.now) else 0


def position_is_not_frozen(desk: Desk, ask: Ask) -> int:
    """Within the freeze level of its stop or target a position is left alone."""
    level, position = ask.info.trade_freeze_level, ask.target
    if not level or position is None:
        return 0
    market = desk.closing_price(position)
    near = (level + _SLACK) * ask.info.point
    frozen = any(one and abs(market - one) <= near for one in (position.sl, position.tp))
    return mt5.TRADE_RETCODE_FROZEN if frozen else 0


def volume_limit_is_kept(desk: Desk, ask: Ask) -> int:
    """``volume_limit`` counts the symbol's positions of the deal's side."""
    limit = ask.info.volume_limit
    if not limit or not ask.opening:
        return 0
    open_lots = sum(
        one.volume for one in desk.positions_of(ask.info.name) if one.type == ask.request.type
    )
    return mt5.TRADE_RETCODE_LIMIT_VOLUME if volume_of(open_lots + ask.opening) > limit else 0


def price_has_not_moved(desk: Desk, ask: Ask) -> int:
    """Request and instant execution: a move beyond the deviation is a requote."""
    if ask.info.trade_exemode not in _PRICED:
        return 0
    moved = abs(ask.request.price - ask.price) / ask.info.point
    return mt5.TRADE_RETCODE_REQUOTE if moved > ask.request.deviation + _SLACK else 0


def money_is_enough(desk: Desk, ask: Ask) -> int:
    """Free margin after the deal and its commission may not be below zero."""
    if not ask.opening:
        return 0
    margin = margin_after(desk, ask)
    closing = volume_of(ask.request.volume - ask.opening)
    commission = desk.commission(ask.info, ask.opening, ask.price, entry=True)
    if closing:
        commission += desk.commission(ask.info, closing, ask.price, entry=False)
    enough = margin <= desk.margin() or desk.equity() - commission - margin >= 0
    return 0 if enough else mt5.TRADE_RETCODE_NO_MONEY


def margin_after(desk: Desk, ask: Ask) -> float:
    """Return the account's margin once the deal is done."""
    request = ask.request
    if ask.target is not None and request.position:
        return desk.money.round(
            desk.margin() - volume_of(request.volume) * ask.target.margin_per_lot
        )
    per_lot = margin_per_lot(desk, request.symbol, request.type, ask.price)
    return desk.margin_after(Change(request.symbol, request.type, request.volume, per_lot))


def something_changes(desk: Desk, ask: Ask) -> int:
    """Levels equal to those already set change nothing."""
    if ask.target is None:
        return 0
    digits = ask.info.digits
    asked = (round(ask.request.sl, digits), round(ask.request.tp, digits))
    same = asked == (ask.target.sl, ask.target.tp)
    return mt5.TRADE_RETCODE_NO_CHANGES if same else 0


def _is_multiple(value: float, step: float) -> bool:
    if not abs(value) < float("inf"):
        return False
    steps = value / step
    return abs(steps - round(steps)) < _SLACK


DEAL_CHECKS: Sequence[Check] = (
    account_may_trade,
    type_is_market,
    closes_its_position,
    symbol_may_trade,
    volume_is_legal,
    has_prices,
    price_is_legal,
    filling_is_allowed,
    entry_stops_are_legal,
    market_is_open,
    position_is_not_frozen,
    volume_limit_is_kept,
    money_is_enough,
)
CHANGE_CHECKS: Sequence[Check] = (
    account_may_trade,
    has_prices,
    something_changes,
    position_is_not_frozen,
    changed_stops_are_legal,
    market_is_open,
)
