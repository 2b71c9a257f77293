"""The one builder of requests: opening, closing in whole or part, moving levels.

Prices are rounded to the symbol's tick, the filling mode is the symbol's, the magic number is
always set, and what is absent stays absent: 0 is a price to no one here.
"""

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo, Tick, TradePosition
from bridge.mt5.request import Purpose, Request, clip_comment
from bridge.mt5.sides import BY_POSITION_TYPE, Side
from bridge.settings import ExecutionSettings

# filling_mode is a mask of these bits; type_filling is an enumeration of its own.
_MASK_FOK, _MASK_IOC = 1, 2
_FILLINGS = ((_MASK_FOK, mt5.ORDER_FILLING_FOK), (_MASK_IOC, mt5.ORDER_FILLING_IOC))


def to_tick(price: float, symbol: SymbolInfo) -> float:
    """Return ``price`` rounded to the nearest tick of ``symbol``, without float noise."""
    ticks = round(price / symbol.trade_tick_size)
    return round(ticks * symbol.trade_tick_size, symbol.digits)


def filling_of(symbol: SymbolInfo) -> int:
    """Return the ``type_filling`` of a market order on ``symbol``.

    Under market and exchange execution only what the mask allows is accepted; RETURN is what an
    exchange takes when the mask is empty. Under instant and request execution all are accepted.

    Source: MQL5 reference, Order Properties, filling policies by execution mode.
    """
    for bit, filling in _FILLINGS:
        if symbol.filling_mode & bit:
            return filling
    if symbol.trade_exemode == mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE:
        return mt5.ORDER_FILLING_RETURN
    return mt5.ORDER_FILLING_FOK


def stop_price(side: Side, stop_points: float, symbol: SymbolInfo, tick: Tick) -> float:
    """Return the stop loss that lies ``stop_points`` from the opening price of ``side``."""
    return to_tick(side.opening_price(tick) - side.sign * stop_points * symbol.point, symbol)


def build_entry(
    *,
    side: Side,
    volume: float,
    stop_points: float | None,
    take_points: float | None,
    symbol: SymbolInfo,
    tick: Tick,
    magic: int,
    settings: ExecutionSettings,
) -> Request:
    """Return the market order that opens ``side``.

    A level nearer than the broker's stops level is moved out to it where ``widen_stops`` says so;
    else it stays, and the guard refuses it.

    Args:
        side: What to open.
        volume: Lots, in whole steps.
        stop_points: Distance of the stop loss from the opening price, points; None for none.
        take_points: Distance of the take profit likewise.
        symbol: Specification of the symbol.
        tick: Its prices now.
        magic: The strategy's number.
        settings: Deviation and comment.
    """
    if settings.widen_stops:
        stop_points, take_points = _wide_enough(stop_points, take_points, symbol, tick)
    return Request(
        purpose=Purpose.ENTRY,
        action=mt5.TRADE_ACTION_DEAL,
        symbol=symbol.name,
        magic=magic,
        type=side.opening_type,
        volume=float(volume),
        price=to_tick(side.opening_price(tick), symbol),
        sl=None if stop_points is None else stop_price(side, stop_points, symbol, tick),
        tp=None if take_points is None else stop_price(side, -take_points, symbol, tick),
        deviation=settings.deviation_points,
        type_filling=filling_of(symbol),
        comment=clip_comment(settings.comment) or None,
    )


def _wide_enough(
    stop: float | None, take: float | None, symbol: SymbolInfo, tick: Tick
) -> tuple[float | None, float | None]:
    """Return both distances, points, at least as far as the broker wants them.

    The broker measures from the closing price: a spread nearer to the stop, farther from the
    target.
    """
    # Rounding to the tick may cost half of one.
    least = symbol.trade_stops_level + symbol.trade_tick_size / symbol.point / 2
    spread = (tick.ask - tick.bid) / symbol.point
    return (
        None if stop is None else max(stop, least + spread),
        None if take is None else max(take, least - spread),
    )


def build_close(
    *,
    position: TradePosition,
    symbol: SymbolInfo,
    tick: Tick,
    magic: int,
    settings: ExecutionSettings,
    volume: float | None = None,
) -> Request:
    """Return the market order that closes ``position``, in part when ``volume`` (lots) is given.

    It names the ticket: without it a hedging account would open an opposite position.
    """
    side = BY_POSITION_TYPE[position.type]
    return Request(
        purpose=Purpose.EXIT,
        action=mt5.TRADE_ACTION_DEAL,
        symbol=symbol.name,
        magic=magic,
        type=side.closing_type,
        volume=float(position.volume if volume is None else volume),
        price=to_tick(side.closing_price(tick), symbol),
        deviation=settings.deviation_points,
        type_filling=filling_of(symbol),
        position=position.ticket,
        comment=clip_comment(settings.comment) or None,
    )


def build_levels(
    *,
    position: TradePosition,
    sl: float | None,
    tp: float | None,
    symbol: SymbolInfo,
    magic: int,
) -> Request:
    """Return the request that sets both levels of ``position``; None removes a level."""
    return Request(
        purpose=Purpose.PROTECT,
        action=mt5.TRADE_ACTION_SLTP,
        symbol=symbol.name,
        magic=magic,
        sl=None if sl is None else to_tick(sl, symbol),
        tp=None if tp is None else to_tick(tp, symbol),
        position=position.ticket,
    )
