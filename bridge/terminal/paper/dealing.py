"""Execution: what a fill does to positions, orders, deals and the balance. No rules here.

Every exit is an order and a deal. Commission is booked on entry and on exit, swap on exit, pro
rata when only a part is closed.
"""

from typing import NamedTuple

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal, TradeRequest
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position, volume_of
from bridge.terminal.paper.order import DATED, Order, end_of, level_of


class Fill(NamedTuple):
    """A deal about to be booked.

    Attributes:
        type: 0 buy, 1 sell: the deal's, opposite to that of a position that it closes.
        volume: Lots.
        price: At which it is filled.
        reason: Deal reason; the order's has the same number.
        order: The order that it fills; None makes one, which is done at once.
    """

    symbol: str
    type: int
    volume: float
    price: float
    magic: int
    comment: str
    reason: int = mt5.DEAL_REASON_EXPERT
    sl: float = 0.0
    tp: float = 0.0
    order: Order | None = None


def order_of(desk: Desk, request: TradeRequest, price: float) -> Order:
    """Return a new order as ``request`` asks for it.

    Args:
        desk: The account.
        request: A deal or a pending order that has passed its checks.
        price: The current one for a deal, its own for a pending order.
    """
    info, volume = desk.symbols[request.symbol], volume_of(request.volume)
    digits, now = info.digits, desk.market.now
    return Order(
        ticket=desk.ledger.next_order(),
        symbol=request.symbol,
        type=request.type,
        volume_initial=volume,
        volume=volume,
        price=round(price, digits),
        time_msc=desk.time_msc,
        magic=request.magic,
        reason=mt5.ORDER_REASON_EXPERT,
        comment=request.comment,
        stoplimit=level_of(request.stoplimit, digits),
        sl=level_of(request.sl, digits),
        tp=level_of(request.tp, digits),
        type_time=request.type_time,
        type_filling=request.type_filling,
        expiration=request.expiration if request.type_time in DATED else 0,
        ends=end_of(info, request.type_time, request.expiration, now),
    )


def fill_order(desk: Desk, order: Order, price: float, most: float) -> TradeDeal | None:
    """Fill an order at ``price`` with ``most`` lots; None when nothing is filled.

    With less than it wants, FOK is rejected, IOC is done with what there is, and the rest of
    others waits.
    """
    volume = order.volume if order.volume <= most else volume_of(most)
    if volume < order.volume and order.type_filling == mt5.ORDER_FILLING_FOK:
        desk.ledger.finish(order, mt5.ORDER_STATE_REJECTED, desk.time_msc, price)
        return None
    deal = execute(desk, _fill_of(order, volume, price), target_of(desk, order))
    if order.volume and order.type_filling == mt5.ORDER_FILLING_IOC:
        desk.ledger.finish(order, mt5.ORDER_STATE_PARTIAL, desk.time_msc, price)
    return deal


def _fill_of(order: Order, volume: float, price: float) -> Fill:
    return Fill(
        symbol=order.symbol,
        type=order.side,
        volume=volume,
        price=price,
        magic=order.magic,
        comment=order.comment,
        reason=order.reason,
        sl=order.sl,
        tp=order.tp,
        order=order,
    )


def target_of(desk: Desk, order: Order) -> Position | None:
    """Return the position that an order closes, adds to or reverses."""
    if not desk.is_hedging:
        held = desk.positions_of(order.symbol)
        return held[0] if held else None
    return desk.ledger.positions.get(order.position_id)


def execute(desk: Desk, fill: Fill, target: Position | None) -> TradeDeal:
    """Book a fill: open, or close, add to, reduce or reverse ``target``."""
    if target is None:
        return open_position(desk, fill)
    if target.type == fill.type:
        return _add(desk, fill, target)
    if fill.volume > target.volume:
        return _reverse(desk, fill, target)
    return close_position(desk, fill, target)


def open_position(desk: Desk, fill: Fill) -> TradeDeal:
    """Open a new position; its ticket and identifier are the order's."""
    ticket = _ordered(desk, fill, None)
    desk.ledger.open(_position(desk, fill, ticket=ticket, identifier=ticket, volume=fill.volume))
    return _deal(desk, fill, ticket, ticket, mt5.DEAL_ENTRY_IN, opened=fill.volume)


def _position(desk: Desk, fill: Fill, *, ticket: int, identifier: int, volume: float) -> Position:
    now = desk.time_msc
    return Position(
        ticket=ticket,
        identifier=identifier,
        symbol=fill.symbol,
        type=fill.type,
        volume=volume,
        price_open=fill.price,
        sl=fill.sl,
        tp=fill.tp,
        time_msc=now,
        time_update_msc=now,
        magic=fill.magic,
        reason=fill.reason,
        comment=fill.comment,
        swap=0.0,
        margin_per_lot=margin_per_lot(desk, fill.symbol, fill.type, fill.price, held=True),
    )


def close_position(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    """Close a position, or the part of it that the fill has."""
    profit, swap = _realise(desk, fill, position, fill.volume)
    order = _ordered(desk, fill, position.identifier)
    _reduce(desk, position, fill.volume, swap)
    return _deal(
        desk, fill, order, position.identifier, mt5.DEAL_ENTRY_OUT, profit=profit, swap=swap
    )


def close_by(
    desk: Desk, position: Position, opposite: Position, magic: int, comment: str
) -> TradeDeal:
    """Close two opposite positions, each at the other's open price, as far as both have volume.

    Two deals of one order; the first has all profit and commission, each has its own swap.
    """
    volume = min(position.volume, opposite.volume)
    order = Order(
        ticket=desk.ledger.next_order(),
        symbol=position.symbol,
        type=mt5.ORDER_TYPE_CLOSE_BY,
        volume_initial=volume,
        volume=0.0,
        price=opposite.price_open,
        time_msc=desk.time_msc,
        magic=magic,
        reason=mt5.ORDER_REASON_EXPERT,
        comment=comment or f"close #{position.ticket} by #{opposite.ticket}",
        position_id=position.identifier,
        position_by_id=opposite.identifier,
    )
    desk.ledger.finish(order, mt5.ORDER_STATE_FILLED, desk.time_msc, opposite.price_open)
    deals: list[TradeDeal] = []
    prices = (opposite.price_open, position.price_open)
    info = desk.symbols[position.symbol]
    charge = desk.commissions.cost
    cost = sum(charge(info, volume, price, entry=False, pair=True) for price in prices)
    for one, price in zip((position, opposite), prices, strict=True):
        kind = mt5.ORDER_TYPE_BUY if one.type else mt5.ORDER_TYPE_SELL
        exit_ = Fill(one.symbol, kind, volume, price, magic, order.comment)
        profit, swap = _realise(desk, exit_, one, volume)
        _reduce(desk, one, volume, swap)
        deal = _deal(
            desk,
            exit_,
            order.ticket,
            one.identifier,
            mt5.DEAL_ENTRY_OUT_BY,
            profit=0.0 if deals else profit,
            swap=swap,
            cost=0.0 if deals else cost,
        )
        deals.append(deal)
    return deals[0]


def margin_per_lot(
    desk: Desk, symbol: str, side: int, price: float, *, held: bool = False
) -> float:
    """Return the margin of one lot, of an order or a held one, at current rates."""
    return desk.money.margin(desk.symbols[symbol], 1.0, price, buy=not side, held=held)


def _add(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    order = _ordered(desk, fill, position.identifier)
    per_lot = margin_per_lot(desk, fill.symbol, fill.type, fill.price, held=True)
    position.add(fill.volume, fill.price, per_lot)
    # The last deal's levels win, when it has any.
    position.sl, position.tp = fill.sl or position.sl, fill.tp or position.tp
    position.time_update_msc = desk.time_msc
    desk.ledger.touch(position)
    return _deal(desk, fill, order, position.identifier, mt5.DEAL_ENTRY_IN, opened=fill.volume)


def _reverse(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    profit, swap = _realise(desk, fill, position, position.volume)
    order = _ordered(desk, fill, position.identifier)
    desk.ledger.close(position)
    rest = volume_of(fill.volume - position.volume)
    desk.ledger.open(
        _position(desk, fill, ticket=order, identifier=position.identifier, volume=rest)
    )
    return _deal(
        desk,
        fill,
        order,
        position.identifier,
        mt5.DEAL_ENTRY_INOUT,
        opened=rest,
        profit=profit,
        swap=swap,
    )


def _realise(desk: Desk, fill: Fill, position: Position, volume: float) -> tuple[float, float]:
    """Return profit and swap that closing ``volume`` lots brings."""
    info = desk.symbols[position.symbol]
    profit = desk.money.profit(info, position.sign, volume, position.price_open, fill.price)
    return profit, desk.money.round(position.swap * volume / position.volume)


def _reduce(desk: Desk, position: Position, volume: float, swap: float) -> None:
    """Take lots and their swap from a position; nothing left closes it."""
    rest = volume_of(position.volume - volume)
    if rest <= 0:
        desk.ledger.close(position)
        return
    position.volume = rest
    position.swap = desk.money.round(position.swap - swap)
    position.time_update_msc = desk.time_msc
    desk.ledger.touch(position)


def commission(desk: Desk, symbol: str, volume: float, opened: float, price: float) -> float:
    """Return what a deal of ``volume`` lots costs of which ``opened`` are new, not rounded."""
    info, cost = desk.symbols[symbol], 0.0
    if opened:
        cost += desk.commissions.cost(info, opened, price, entry=True)
    if opened != volume and (closed := volume_of(volume - opened)):
        cost += desk.commissions.cost(info, closed, price, entry=False)
    return cost


def _ordered(desk: Desk, fill: Fill, position_id: int | None) -> int:
    """Note in the fill's order what is filled, and return its ticket."""
    order = fill.order or _own_order(desk, fill)
    order.position_id = order.ticket if position_id is None else position_id
    order.volume = volume_of(order.volume - fill.volume)
    if order.volume:
        order.state = mt5.ORDER_STATE_PARTIAL
        desk.ledger.place(order)
    else:
        desk.ledger.finish(order, mt5.ORDER_STATE_FILLED, desk.time_msc, fill.price)
    return order.ticket


def _own_order(desk: Desk, fill: Fill) -> Order:
    return Order(
        ticket=desk.ledger.next_order(),
        symbol=fill.symbol,
        type=fill.type,
        volume_initial=fill.volume,
        volume=fill.volume,
        price=fill.price,
        time_msc=desk.time_msc,
        magic=fill.magic,
        reason=fill.reason,
        comment=fill.comment,
        sl=fill.sl,
        tp=fill.tp,
    )


def _deal(
    desk: Desk,
    fill: Fill,
    order: int,
    position_id: int,
    entry: int,
    *,
    opened: float = 0.0,
    profit: float = 0.0,
    swap: float = 0.0,
    cost: float | None = None,
) -> TradeDeal:
    """Book a deal of which ``opened`` lots are new; ``cost`` is its commission when it is known."""
    if cost is None:
        cost = commission(desk, fill.symbol, fill.volume, opened, fill.price)
    return desk.ledger.deal(
        desk.time_msc,
        order=order,
        type=fill.type,
        entry=entry,
        magic=fill.magic,
        position_id=position_id,
        reason=fill.reason,
        volume=fill.volume,
        price=fill.price,
        commission=desk.money.round(-cost),
        swap=swap,
        profit=profit,
        symbol=fill.symbol,
        comment=fill.comment,
    )
