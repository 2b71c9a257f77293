"""What the server refuses of any request. Each check answers a retcode, 0 when it has nothing.

What only concerns deals and positions is in :mod:`deal_rules`, pending orders in
:mod:`pending_rules`. Sources: MQL5 reference; where it is silent (the order of checks, some codes)
the choice is ours, see README.md.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo, TradeRequest
from bridge.terminal.paper.answers import HEDGE_PROHIBITED
from bridge.terminal.paper.dealing import commission, margin_per_lot
from bridge.terminal.paper.desk import Change, Desk
from bridge.terminal.paper.ledger import Position, volume_of
from bridge.terminal.paper.market import Series
from bridge.terminal.paper.order import PENDING, Order
from bridge.terminal.paper.script import Disabled

# Recorded requests carry the noise of doubles; a thousandth of a step moves nothing.
SLACK = 1e-3


class Ask(NamedTuple):
    """A request with what it is about.

    Attributes:
        info: The symbol's specification.
        series: Its prices.
        side: 0 buys, 1 sells.
        price: At which a market order is filled now.
        opening: Lots that a deal would open; 0.0 when it only closes.
        target: The position that the request closes, adds to or changes; None opens one.
        order: The waiting order that it changes or removes.
        opposite: The position that closes ``target``.
    """

    request: TradeRequest
    info: SymbolInfo
    series: Series
    side: int
    price: float
    opening: float
    target: Position | None
    order: Order | None
    opposite: Position | None


def asked(
    request: TradeRequest,
    series: Series,
    target: Position | None = None,
    order: Order | None = None,
    opposite: Position | None = None,
) -> Ask:
    """Return ``request`` with what it is about, at the prices of now."""
    side = request.type & 1
    opening = request.volume
    if target is not None and target.type != side:
        opening = max(0.0, volume_of(opening - target.volume))
    price = series.bid if side else series.ask
    return Ask(request, series.info, series, side, price, opening, target, order, opposite)


Check = Callable[[Desk, Ask], int]


def first_refusal(desk: Desk, ask: Ask, checks: Sequence[Check]) -> int:
    """Return the first retcode that refuses, or 0."""
    for check in checks:
        if code := check(desk, ask):
            return code
    return 0


def account_may_trade(desk: Desk, ask: Ask) -> int:
    """Investor logins and brokers without robots are refused, and what a script turned off."""
    if off := desk.switched_off():
        for switch, code in Disabled.CODES.items():
            if code and switch in off:
                return code
    if not desk.terms.trade_allowed:
        return mt5.TRADE_RETCODE_TRADE_DISABLED
    return 0 if desk.terms.trade_expert else mt5.TRADE_RETCODE_SERVER_DISABLES_AT


def symbol_may_trade(desk: Desk, ask: Ask) -> int:
    """Trade mode: disabled, long only, short only, close only."""
    mode = ask.info.trade_mode
    if mode == mt5.SYMBOL_TRADE_MODE_DISABLED:
        return mt5.TRADE_RETCODE_TRADE_DISABLED
    if not ask.opening:
        return 0
    return _ONE_SIDED.get((mode, ask.side), 0)


_ONE_SIDED = {
    (mt5.SYMBOL_TRADE_MODE_LONGONLY, mt5.ORDER_TYPE_SELL): mt5.TRADE_RETCODE_LONG_ONLY,
    (mt5.SYMBOL_TRADE_MODE_SHORTONLY, mt5.ORDER_TYPE_BUY): mt5.TRADE_RETCODE_SHORT_ONLY,
    (mt5.SYMBOL_TRADE_MODE_CLOSEONLY, mt5.ORDER_TYPE_BUY): mt5.TRADE_RETCODE_CLOSE_ONLY,
    (mt5.SYMBOL_TRADE_MODE_CLOSEONLY, mt5.ORDER_TYPE_SELL): mt5.TRADE_RETCODE_CLOSE_ONLY,
}


def hedging_is_allowed(desk: Desk, ask: Ask) -> int:
    """Where hedging is prohibited, nothing opens against a position of the symbol."""
    if not (desk.terms.hedge_prohibited and desk.is_hedging and ask.opening):
        return 0
    held = desk.positions_of(ask.info.name)
    return HEDGE_PROHIBITED if any(one.type != ask.side for one in held) else 0


def volume_is_legal(desk: Desk, ask: Ask) -> int:
    """Volume within the limits and on the step; no more than a named position has."""
    volume, info = volume_of(ask.request.volume), ask.info
    if not (info.volume_min <= volume <= info.volume_max):  # nan is refused too
        return mt5.TRADE_RETCODE_INVALID_VOLUME
    if not is_multiple(ask.request.volume, info.volume_step):
        return mt5.TRADE_RETCODE_INVALID_VOLUME
    if ask.request.position and ask.target and volume > ask.target.volume:
        return mt5.TRADE_RETCODE_INVALID_CLOSE_VOLUME
    return 0


def has_prices(desk: Desk, ask: Ask) -> int:
    """A symbol without a quote, its own or one that converts its money, can't be dealt."""
    if ask.series.bid <= 0:
        return mt5.TRADE_RETCODE_PRICE_OFF
    desk.money.check_quotes(ask.info)
    return 0


def stops_from(ask: Ask, side: int, base: float) -> int:
    """Measure from ``base``: losing side and winning side, and the stops level.

    Args:
        ask: Has the two levels.
        side: 0 for a buy's, 1 for a sell's.
        base: The closing price, or a pending order's own.
    """
    sign, sl, tp = -1 if side else 1, ask.request.sl, ask.request.tp
    least, tick = least_distance(ask.info), ask.info.trade_tick_size
    for level, distance in ((sl, (base - sl) * sign), (tp, (tp - base) * sign)):
        # Written so that nan is refused, too.
        if level and not (level > 0 and distance >= least and is_multiple(level, tick)):
            return mt5.TRADE_RETCODE_INVALID_STOPS
    return 0


def levels_are_allowed(desk: Desk, ask: Ask) -> int:
    """A symbol may forbid stop losses or take profits."""
    mode, request = ask.info.order_mode, ask.request
    forbidden = (request.sl and not mode & _SL) or (request.tp and not mode & _TP)
    return mt5.TRADE_RETCODE_INVALID_ORDER if forbidden else 0


_SL, _TP = 16, 32


def least_distance(info: SymbolInfo) -> float:
    """Return the stops level as a distance of prices; without one, all that is not nothing."""
    slack = SLACK * info.point
    return max(info.trade_stops_level * info.point - slack, slack)


def market_is_open(desk: Desk, ask: Ask) -> int:
    """Without bars for long, the market is closed; or when a script says so."""
    now, script = desk.market.now, desk.script
    closed = ask.series.is_closed(now) or (not script.is_empty and script.is_closed(now))
    return mt5.TRADE_RETCODE_MARKET_CLOSED if closed else 0


def is_near(info: SymbolInfo, distance: float) -> bool:
    """Return whether ``distance`` is within the freeze level."""
    return abs(distance) <= (info.trade_freeze_level + SLACK) * info.point


def volume_limit_is_kept(desk: Desk, ask: Ask) -> int:
    """``volume_limit`` counts the symbol's positions and pending orders of the side."""
    limit, name = ask.info.volume_limit, ask.info.name
    if not limit or not ask.opening:
        return 0
    held = sum(one.volume for one in desk.positions_of(name) if one.type == ask.side)
    waiting = sum(
        one.volume for one in desk.waiting_of(name) if one.side == ask.side and one.type in PENDING
    )
    total = volume_of(held + waiting + ask.opening)
    return mt5.TRADE_RETCODE_LIMIT_VOLUME if total > limit else 0


def positions_limit_is_kept(desk: Desk, ask: Ask) -> int:
    """The account's limit of positions, for a deal that opens one."""
    limit = desk.terms.limit_positions
    if not limit or ask.target is not None:
        return 0
    return mt5.TRADE_RETCODE_LIMIT_POSITIONS if len(desk.ledger.positions) >= limit else 0


def money_is_enough(desk: Desk, ask: Ask) -> int:
    """Free margin after the deal and its commission may not be below zero."""
    if not ask.opening:
        return 0
    margin = margin_after(desk, ask)
    cost = commission(desk, ask.info.name, ask.request.volume, ask.opening, ask.price)
    enough = margin <= desk.margin() or desk.equity() - cost - margin >= 0
    return 0 if enough else mt5.TRADE_RETCODE_NO_MONEY


def margin_after(desk: Desk, ask: Ask) -> float:
    """Return the account's margin once the deal is done."""
    request = ask.request
    if ask.target is not None and request.position:
        return desk.money.round(
            desk.margin() - volume_of(request.volume) * ask.target.margin_per_lot
        )
    per_lot = margin_per_lot(desk, request.symbol, ask.side, ask.price)
    return desk.margin_after(Change(request.symbol, ask.side, request.volume, per_lot))


def is_multiple(value: float, step: float) -> bool:
    """Return whether ``value`` is on the step, but for the noise of doubles."""
    if not abs(value) < float("inf"):
        return False
    steps = value / step
    return abs(steps - round(steps)) < SLACK
