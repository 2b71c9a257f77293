"""What is held in each currency, valued in the account's. Pure arithmetic.

A position in EURUSD holds euros and owes dollars. Its value is what the terminal's tick value says:
account currency a tick and lot, so that no other symbol's price is needed. Both legs have that
value, one with each sign. A symbol that is priced in its own base currency (an index, a share)
holds no currency: what it is worth is limited by its volume.
"""

import math
from collections.abc import Iterable, Mapping

from bridge.mt5.records import SymbolInfo, TradePosition
from bridge.mt5.sides import BY_POSITION_TYPE, Side

Exposure = dict[str, float]
"""Currency -> net value, account currency; below 0 it is owed."""


def exposure_of(symbol: SymbolInfo, side: Side, volume: float, price: float) -> Exposure | None:
    """Return what a position holds; None where the symbol does not tell.

    Args:
        symbol: Its terms: currencies, tick size and tick value.
        side: Of the position.
        volume: Lots.
        price: Per unit, profit currency.

    Source: MQL5 reference, Symbol Properties, SYMBOL_TRADE_TICK_VALUE.
    """
    if not (symbol.currency_base and symbol.currency_profit and symbol.trade_tick_size > 0):
        return None
    value = volume * price * symbol.trade_tick_value / symbol.trade_tick_size
    if not (math.isfinite(value) and value > 0):
        return None
    if symbol.currency_base == symbol.currency_profit:
        return {}
    return {
        symbol.currency_base: side.sign * value,
        symbol.currency_profit: -side.sign * value,
    }


def net_exposure(
    positions: Iterable[TradePosition], terms: Mapping[str, SymbolInfo]
) -> Exposure | None:
    """Return what all ``positions`` hold together; None where one of them can't be valued.

    Args:
        positions: Of any symbols.
        terms: Of those symbols.
    """
    total: Exposure = {}
    for each in positions:
        symbol, side = terms.get(each.symbol), BY_POSITION_TYPE[each.type]
        if symbol is None:
            return None
        held = exposure_of(symbol, side, each.volume, each.price_current)
        if held is None:
            return None
        for currency, value in held.items():
            total[currency] = total.get(currency, 0.0) + value
    return total
