"""Swap: what holding a position over the end of a server day costs or brings.

Sources: the platform's manual for the modes and their currencies; tester reports for the
rounding: a charge is the night's amount times the days it counts for, rounded once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.convert import FOREX
from bridge.terminal.paper.margin import FUTURES, per_price

CURRENCY_PROFIT = 9
"""Swap mode that the manual has and the package does not name: money of the profit currency."""
REOPENING = (mt5.SYMBOL_SWAP_MODE_REOPEN_CURRENT, mt5.SYMBOL_SWAP_MODE_REOPEN_BID)
"""Modes that charge by closing and opening again at a moved price."""
PERCENT = (mt5.SYMBOL_SWAP_MODE_INTEREST_CURRENT, mt5.SYMBOL_SWAP_MODE_INTEREST_OPEN)
"""Modes of yearly interest."""
_YEAR = 360
_WORKDAYS = range(mt5.DAY_OF_WEEK_MONDAY, mt5.DAY_OF_WEEK_SATURDAY)
_TRIPLE = 3.0


@dataclass(frozen=True, slots=True)
class Held:
    """What a night's swap depends on.

    Attributes:
        info: The symbol.
        sign: +1 for a buy, -1 for a sell.
        volume: Lots.
        opened: Open price.
        price: At which the position would be closed now.
    """

    info: SymbolInfo
    sign: int
    volume: float
    opened: float
    price: float

    @property
    def rate(self) -> float:
        """The specification's number for the side."""
        return self.info.swap_long if self.sign > 0 else self.info.swap_short


def days(info: SymbolInfo, ended: int, week: Sequence[float] | None) -> float:
    """Return how many days the server day that ends counts for.

    Args:
        info: The symbol.
        ended: The day, 0 is Sunday.
        week: Days by weekday, Sunday first, where the broker has its own; None is one for each
            workday, three for ``swap_rollover3days``.
    """
    if week is not None:
        return week[ended]
    if ended not in _WORKDAYS:
        return 0.0
    return _TRIPLE if ended == info.swap_rollover3days else 1.0


def night(held: Held) -> tuple[float, str]:
    """Return a night's swap and its currency; no currency means the account's."""
    return _NIGHT[held.info.swap_mode](held)


def reopened_at(held: Held, count: float, bid: float) -> float:
    """Return the price at which a position is opened again that is charged in this way.

    Args:
        held: The position.
        count: Days that the night counts for.
        bid: Of the symbol now.
    """
    base = bid if held.info.swap_mode == mt5.SYMBOL_SWAP_MODE_REOPEN_BID else held.price
    moved = base - held.sign * held.rate * count * held.info.point
    return round(moved, held.info.digits)


def _points(held: Held) -> tuple[float, str]:
    info = held.info
    return held.rate * info.point * per_price(info) * held.volume, info.currency_profit


def _percent(held: Held, price: float) -> tuple[float, str]:
    info = held.info
    share = held.rate / 100 / _YEAR * held.volume * info.trade_contract_size
    if info.trade_calc_mode in FOREX:
        return share, info.currency_base
    if info.trade_calc_mode in FUTURES:
        share *= info.trade_tick_value / info.trade_tick_size
    return share * price, info.currency_profit


_NIGHT: dict[int, Callable[[Held], tuple[float, str]]] = {
    mt5.SYMBOL_SWAP_MODE_DISABLED: lambda held: (0.0, ""),
    mt5.SYMBOL_SWAP_MODE_POINTS: _points,
    mt5.SYMBOL_SWAP_MODE_CURRENCY_SYMBOL: lambda held: (
        held.rate * held.volume,
        held.info.currency_base,
    ),
    mt5.SYMBOL_SWAP_MODE_CURRENCY_MARGIN: lambda held: (
        held.rate * held.volume,
        held.info.currency_margin,
    ),
    mt5.SYMBOL_SWAP_MODE_CURRENCY_DEPOSIT: lambda held: (held.rate * held.volume, ""),
    mt5.SYMBOL_SWAP_MODE_INTEREST_CURRENT: lambda held: _percent(held, held.price),
    mt5.SYMBOL_SWAP_MODE_INTEREST_OPEN: lambda held: _percent(held, held.opened),
    mt5.SYMBOL_SWAP_MODE_REOPEN_CURRENT: lambda held: (0.0, ""),
    mt5.SYMBOL_SWAP_MODE_REOPEN_BID: lambda held: (0.0, ""),
    CURRENCY_PROFIT: lambda held: (held.rate * held.volume, held.info.currency_profit),
}
MODES: Sequence[int] = tuple(_NIGHT)
"""What the paper terminal plays."""


def needs_base(info: SymbolInfo) -> bool:
    """Return whether a symbol's swap is reckoned in its base currency."""
    if info.swap_mode == mt5.SYMBOL_SWAP_MODE_CURRENCY_SYMBOL:
        return True
    return info.swap_mode in PERCENT and info.trade_calc_mode in FOREX
