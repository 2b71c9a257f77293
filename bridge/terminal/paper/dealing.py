"""Execution: what a fill does to positions, orders, deals and the balance. No rules here.

Every exit is an order and a deal. Commission is booked on entry and on exit, swap on exit, pro
rata when only a part is closed.
"""

from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal, TradeRequest
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position, volume_of


@dataclass(frozen=True, slots=True)
class Fill:
    """A deal about to be booked.

    Attributes:
        type: 0 buy, 1 sell: the deal's, opposite to that of a position that it closes.
        volume: Lots.
        price: At which it is filled.
        reason: Deal reason; the order's has the same number.
        type_filling, type_time: As the request says.
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
    type_filling: int = 0
    type_time: int = 0


def fill_of(desk: Desk, request: TradeRequest, price: float) -> Fill:
    """Return the fill of a market order at ``price``."""
    digits = desk.symbols[request.symbol].digits
    return Fill(
        symbol=request.symbol,
        type=request.type,
        volume=volume_of(request.volume),
        price=price,
        magic=request.magic,
        comment=request.comment,
        sl=round(request.sl, digits),
        tp=round(request.tp, digits),
        type_filling=request.type_filling,
        type_time=request.type_time,
    )


def execute(desk: Desk, fill: Fill, target: Position | None) -> TradeDeal:
    """Book a market order: open, or close, add to, reduce or reverse ``target``."""
    if target is None:
        return open_position(desk, fill)
    if target.type == fill.type:
        return _add(desk, fill, target)
    if fill.volume > target.volume:
        return _reverse(desk, fill, target)
    return close_position(desk, fill, target)


def open_position(desk: Desk, fill: Fill) -> TradeDeal:
    """Open a new position; its ticket and identifier are the order's."""
    ticket = _order(desk, fill, None)
    desk.ledger.open(_position(desk, fill, ticket=ticket, identifier=ticket, volume=fill.volume))
    return _deal(desk, fill, ticket, ticket, mt5.DEAL_ENTRY_IN, opened=fill.volume)


def _position(desk: Desk, fill: Fill, *, ticket: int, identifier: int, volume: float) -> Position:
    return Position(
        ticket=ticket,
        identifier=identifier,
        symbol=fill.symbol,
        type=fill.type,
        volume=volume,
        price_open=fill.price,
        sl=fill.sl,
        tp=fill.tp,
        time_msc=desk.time_msc,
        time_update_msc=desk.time_msc,
        magic=fill.magic,
        reason=fill.reason,
        comment=fill.comment,
        swap=0.0,
        margin_per_lot=margin_per_lot(desk, fill.symbol, fill.type, fill.price),
    )


def close_position(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    """Close a position, or the part of it that the fill has."""
    profit, swap = _realise(desk, fill, position, fill.volume)
    order = _order(desk, fill, position.identifier)
    rest = volume_of(position.volume - fill.volume)
    if rest > 0:
        position.volume = rest
        position.swap = desk.money.round(position.swap - swap)
        position.time_update_msc = desk.time_msc
        desk.ledger.touch(position)
    else:
        desk.ledger.close(position)
    return _deal(
        desk, fill, order, position.identifier, mt5.DEAL_ENTRY_OUT, profit=profit, swap=swap
    )


def margin_per_lot(desk: Desk, symbol: str, side: int, price: float) -> float:
    """Return the margin of one lot at current rates, account currency."""
    return desk.money.margin(desk.symbols[symbol], 1.0, price, buy=not side)


def _add(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    order = _order(desk, fill, position.identifier)
    position.add(fill.volume, fill.price, margin_per_lot(desk, fill.symbol, fill.type, fill.price))
    # The last deal's levels win, when it has any.
    position.sl, position.tp = fill.sl or position.sl, fill.tp or position.tp
    position.time_update_msc = desk.time_msc
    desk.ledger.touch(position)
    return _deal(desk, fill, order, position.identifier, mt5.DEAL_ENTRY_IN, opened=fill.volume)


def _reverse(desk: Desk, fill: Fill, position: Position) -> TradeDeal:
    profit, swap = _realise(desk, fill, position, position.volume)
    order = _order(desk, fill, position.identifier)
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


def _commission(desk: Desk, fill: Fill, opened: float) -> float:
    info, closed = desk.symbols[fill.symbol], volume_of(fill.volume - opened)
    parts = ((opened, True), (closed, False))
    return sum(desk.commission(info, lots, fill.price, entry) for lots, entry in parts if lots)


def _order(desk: Desk, fill: Fill, position_id: int | None) -> int:
    ticket = desk.ledger.next_order()
    desk.ledger.order(
        desk.time_msc,
        ticket=ticket,
        type=fill.type,
        type_time=fill.type_time,
        type_filling=fill.type_filling,
        magic=fill.magic,
        position_id=ticket if position_id is None else position_id,
        reason=fill.reason,
        volume_initial=fill.volume,
        price_open=fill.price,
        sl=fill.sl,
        tp=fill.tp,
        price_current=fill.price,
        symbol=fill.symbol,
        comment=fill.comment,
    )
    return ticket


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
) -> TradeDeal:
    """Book a deal of which ``opened`` lots are new."""
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
        commission=desk.money.round(-_commission(desk, fill, opened)),
        swap=swap,
        profit=profit,
        symbol=fill.symbol,
        comment=fill.comment,
    )
