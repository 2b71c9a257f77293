"""Whether a position's levels may be set now, by the broker's distances. Pure."""

from bridge.mt5.records import SymbolInfo, Tick, TradePosition
from bridge.mt5.sides import BY_POSITION_TYPE
from bridge.trade.build import to_tick

# Points; absorbs the rounding of differences of prices.
_NOISE = 1e-3


def level_fault(position: TradePosition, sl: float, symbol: SymbolInfo, tick: Tick) -> str | None:
    """Return why the stop loss can't be set to ``sl`` now, or None when it can.

    Within the freeze level of its own stop or target a position is left alone. A stop has to lie on
    the losing side of the closing price, and as far from it as the stops level says.

    Args:
        position: As the terminal shows it.
        sl: New stop loss, on the tick.
        symbol: Its distances, points.
        tick: Prices now.
    """
    side = BY_POSITION_TYPE[position.type]
    price = side.closing_price(tick)
    for level in (position.sl, position.tp):
        away = abs(price - level) / symbol.point
        if level and away <= symbol.trade_freeze_level - _NOISE:
            return (
                f"frozen: {level:g} is {away:.0f} points from {price:g}, the freeze level is "
                f"{symbol.trade_freeze_level}"
            )
    distance = side.sign * (price - sl) / symbol.point
    least = max(symbol.trade_stops_level, 1)
    if distance < least - _NOISE:
        return f"{sl:g} is {distance:.0f} points from {price:g}, the least is {least}"
    return None


def widened(position: TradePosition, sl: float, symbol: SymbolInfo, tick: Tick) -> float:
    """Return ``sl``, moved away from the price as far as the stops level wants it."""
    side = BY_POSITION_TYPE[position.type]
    price = side.closing_price(tick)
    if side.sign * (price - sl) / symbol.point >= symbol.trade_stops_level - _NOISE:
        return sl
    return to_tick(price - side.sign * symbol.trade_stops_level * symbol.point, symbol)
