"""Margin: what volume costs by calculation mode, and what opposite volume costs together.

Source: the platform's manual. A margin that the broker fixes (``margin_initial``) replaces the
formula of every mode; FOREX and CFDLEVERAGE divide it by the leverage. ``margin_maintenance`` is
what a held position costs when the initial margin is fixed. Margin rates are not in the API and
count as 1.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.ledger import volume_of

FUTURES = (mt5.SYMBOL_CALC_MODE_FUTURES, mt5.SYMBOL_CALC_MODE_EXCH_FUTURES)
"""Modes whose margin is always fixed, and whose money is counted in ticks."""
IN_TICKS = (*FUTURES, mt5.SYMBOL_CALC_MODE_CFDINDEX)
"""Modes that need ``trade_tick_value``: in a profile, the profit currency's for a lot's tick."""
_LEVERAGED = (mt5.SYMBOL_CALC_MODE_FOREX, mt5.SYMBOL_CALC_MODE_CFDLEVERAGE)


def per_price(info: SymbolInfo) -> float:
    """Return what a lot gains when the price rises by 1, in ``currency_profit``."""
    if info.trade_calc_mode in FUTURES:
        return info.trade_tick_value / info.trade_tick_size
    return info.trade_contract_size


def margin(info: SymbolInfo, volume: float, price: float, leverage: int, *, held: bool) -> float:
    """Return the margin of ``volume`` lots on their own, in ``currency_margin``.

    Args:
        info: The symbol.
        volume: Lots.
        price: At which they are opened.
        leverage: Of the account.
        held: Whether the position is open, not about to be opened.
    """
    fixed = _fixed(info, held=held)
    if fixed or info.trade_calc_mode in FUTURES:
        amount = volume * fixed
    else:
        amount = volume * info.trade_contract_size * _PER_UNIT[info.trade_calc_mode](info, price)
    return amount / leverage if info.trade_calc_mode in _LEVERAGED else amount


def _fixed(info: SymbolInfo, *, held: bool) -> float:
    """Return the fixed margin of a lot; 0.0 where a formula counts."""
    if held and info.margin_initial:
        return info.margin_maintenance or info.margin_initial
    return info.margin_initial


_PER_UNIT: dict[int, Callable[[SymbolInfo, float], float]] = {
    mt5.SYMBOL_CALC_MODE_FOREX: lambda info, price: 1.0,
    mt5.SYMBOL_CALC_MODE_FOREX_NO_LEVERAGE: lambda info, price: 1.0,
    mt5.SYMBOL_CALC_MODE_CFD: lambda info, price: price,
    mt5.SYMBOL_CALC_MODE_CFDINDEX: lambda info, price: (
        price * info.trade_tick_value / info.trade_tick_size
    ),
    mt5.SYMBOL_CALC_MODE_CFDLEVERAGE: lambda info, price: price,
    mt5.SYMBOL_CALC_MODE_EXCH_STOCKS: lambda info, price: price,
    mt5.SYMBOL_CALC_MODE_EXCH_STOCKS_MOEX: lambda info, price: price,
}
CALC_MODES: Sequence[int] = (*_PER_UNIT, *FUTURES)
"""What the paper terminal plays."""


class Sides(NamedTuple):
    """Lots of a symbol and their margin, buys and sells apart.

    Attributes:
        info: The symbol.
        lots: Of buys, of sells.
        margin: Of buys, of sells, each on its own; account currency.
    """

    info: SymbolInfo
    lots: tuple[float, float] = (0.0, 0.0)
    margin: tuple[float, float] = (0.0, 0.0)

    def plus(self, side: int, lots: float, margin_per_lot: float) -> "Sides":
        """Return both with more volume; ``side`` is 0 for a buy, 1 for a sell."""
        (bought, sold), (of_buys, of_sells) = self.lots, self.margin
        if side:
            sold, of_sells = sold + lots, of_sells + lots * margin_per_lot
        else:
            bought, of_buys = bought + lots, of_buys + lots * margin_per_lot
        return Sides(self.info, (bought, sold), (of_buys, of_sells))

    def total(self, *, hedging: bool) -> float:
        """Return the margin of all, account currency."""
        if not (self.lots[0] and self.lots[1]):
            return self.margin[0] + self.margin[1]
        if hedging and self.info.margin_hedged_use_leg:
            return max(self.margin)
        larger = self.lots[1] > self.lots[0]
        covered = volume_of(min(self.lots))
        uncovered = volume_of(self.lots[larger] - covered)
        margin = uncovered * self.margin[larger] / self.lots[larger]
        if hedging:  # an opposite deal of a netting account reduces or reverses instead
            margin += covered * self._hedged_per_lot()
        return margin

    def _hedged_per_lot(self) -> float:
        """Return the margin of a covered lot: ``margin_hedged`` by the mode's own formula."""
        mean = sum(self.margin) / sum(self.lots)
        full = _fixed(self.info, held=True) or self.info.trade_contract_size
        return mean * self.info.margin_hedged / full

    def order(self, side: int, lots: float, margin_per_lot: float, *, hedging: bool) -> float:
        """Return what an order adds to the margin, account currency; it may be negative.

        Where a fixed margin has a maintenance part of its own, held positions keep theirs, and
        the order's volume costs the hedged margin where it is covered, the initial margin
        elsewhere. In all other cases the order counts as filled.
        """
        info = self.info
        has_parts = info.margin_initial and info.margin_maintenance
        if not (hedging and has_parts) or info.margin_hedged_use_leg:
            filled = self.plus(side, lots, margin_per_lot)
            return filled.total(hedging=hedging) - self.total(hedging=hedging)
        covered = min(lots, max(0.0, self.lots[1 - side] - self.lots[side]))
        return (
            covered * info.margin_hedged / info.margin_initial + lots - covered
        ) * margin_per_lot
