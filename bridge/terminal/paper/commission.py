"""Commission: what a deal costs at once.

Kinds as the platform's manual has them, without levels and daily or monthly charging: money a
lot, percent of the deal's value, a least amount a deal; on entry, on exit, or on both. A reversal
pays for its closed and for its opened lots, each as their own. Two positions that close each other
pay what is on exit only: what is on both has been paid twice when they were opened.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.masks import matches
from bridge.terminal.paper.money import Money

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import Commission

_PASSED_BY = {True: "exit", False: "entry"}


def cost(
    kinds: Iterable["Commission"],
    money: Money,
    info: SymbolInfo,
    volume: float,
    price: float,
    *,
    entry: bool,
    pair: bool = False,
) -> float:
    """Return what dealing ``volume`` lots costs, account currency, >= 0, not rounded.

    Args:
        kinds: The account's commissions; those whose mask has the symbol are added up.
        money: The account's arithmetic.
        info: The symbol.
        volume: Lots.
        price: Of the deal.
        entry: Whether the lots are opened, not closed.
        pair: Whether an opposite position closes them.
    """
    passed_by = (_PASSED_BY[entry], *(["both"] if pair else []))
    return sum(
        _amount(kind, money, info, volume, price)
        for kind in kinds
        if kind.on not in passed_by and matches(kind.symbols, info.name)
    )


def _amount(
    kind: "Commission", money: Money, info: SymbolInfo, volume: float, price: float
) -> float:
    amount = kind.per_lot * volume
    if kind.percent:
        amount += kind.percent / 100 * money.value(info, volume, price)
    return max(amount, kind.minimum)
