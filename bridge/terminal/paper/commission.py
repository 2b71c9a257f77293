"""Commission: what a deal costs at once.

Kinds as the platform's manual has them, without levels and daily or monthly charging: money a
lot, percent of the deal's value, a least amount a deal; on entry, on exit, or on both. A reversal
pays for its closed and for its opened lots, each as their own. Two positions that close each other
pay what is on exit only: what is on both has been paid twice when they were opened.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.masks import matches
from bridge.terminal.paper.money import Money

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import Commission

_PASSED_BY = {True: "exit", False: "entry"}


class Commissions:
    """What deals cost on an account.

    Args:
        kinds: Its commissions; those whose mask has the symbol are added up.
        money: Its arithmetic.
    """

    def __init__(self, kinds: Iterable["Commission"], money: Money) -> None:
        self._kinds = tuple(kinds)
        self._money = money
        # Symbol and the two facts about a deal -> the kinds that count: they stay what they are.
        self._counting: dict[tuple[str, bool, bool], list[Commission]] = {}

    def cost(
        self, info: SymbolInfo, volume: float, price: float, *, entry: bool, pair: bool = False
    ) -> float:
        """Return what dealing ``volume`` lots costs, account currency, >= 0, not rounded.

        Args:
            info: The symbol.
            volume: Lots.
            price: Of the deal.
            entry: Whether the lots are opened, not closed; a reversal asks for each part.
            pair: Whether an opposite position closes them.
        """
        key = (info.name, entry, pair)
        kinds = self._counting.get(key)
        if kinds is None:
            kinds = self._counting[key] = list(self._chosen(*key))
        total = 0.0
        for kind in kinds:
            total += _amount(kind, self._money, info, volume, price)
        return total

    def _chosen(self, symbol: str, entry: bool, pair: bool) -> Iterator["Commission"]:
        passed_by = (_PASSED_BY[entry], *(["both"] if pair else []))
        for kind in self._kinds:
            if kind.on not in passed_by and matches(kind.symbols, symbol):
                yield kind


def _amount(
    kind: "Commission", money: Money, info: SymbolInfo, volume: float, price: float
) -> float:
    amount = kind.per_lot * volume
    if kind.percent:
        amount += kind.percent / 100 * money.value(info, volume, price)
    return max(amount, kind.minimum)
