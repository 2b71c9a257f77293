"""Profit, margin, swap and the value of a deal in the account currency.

Sources: the platform's manual on calculation modes; the conversion of profits and the rounding
were found in tester reports. A profit of a pair on the account currency is divided by the deal's
own close price. Any other is converted at one price whether it is a gain or a loss: what a buy
made at the bid of its currency in the account's, what a sell made at the ask.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper import margin as margins
from bridge.terminal.paper import swap as swaps
from bridge.terminal.paper.convert import FOREX, NoQuotes, Rates, units, whole
from bridge.terminal.paper.margin import IN_TICKS, per_price
from bridge.terminal.paper.market import Market

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rate = NDArray[np.float64] | float

__all__ = ["Money", "NoQuotes", "currencies_of"]


class Money:
    """Arithmetic of one account on one market.

    Args:
        currency: Of the account.
        digits: Its decimals.
        leverage: Of the account.
        market: Prices of the connecting pairs.
        symbols: The specifications that are traded.
        swap_days: Symbol -> days that each weekday's swap counts for, Sunday first, where they
            are not those of ``swap_rollover3days``.

    Raises:
        ConfigError: A currency of a symbol can't be converted, since its pair has no bars.
    """

    def __init__(
        self,
        *,
        currency: str,
        digits: int,
        leverage: int,
        market: Market,
        symbols: Iterable[SymbolInfo],
        swap_days: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        self._currency, self._part = whole(currency)
        self._scale: int = 10**digits
        self._leverage = leverage
        self._swap_days = swap_days or {}
        self._rates = Rates(currency, market)
        # Symbol -> the currencies that its money is reckoned in.
        self._currencies = {info.name: currencies_of(info) for info in symbols}
        for name, currencies in self._currencies.items():
            self._rates.learn(name, currencies)

    def round(self, value: float) -> float:
        """Return money with the account's decimals."""
        return units(value, self._scale) / self._scale

    def rate(self, currency: str, *, gain: bool) -> float:
        """Return account currency for one unit of ``currency``.

        Raises:
            NoQuotes: The connecting pair has no prices yet, or no symbol with bars needs it.
        """
        return self._rates.rate(currency, gain=gain)

    def check_quotes(self, info: SymbolInfo) -> None:
        """Check that all money of a symbol can be converted now.

        Raises:
            NoQuotes: A connecting pair has no prices yet.
        """
        for currency in self._currencies[info.name]:
            self._rates.rate(currency, gain=True)

    def profit(
        self, info: SymbolInfo, sign: int, volume: float, opened: float, closed: float
    ) -> float:
        """Return the profit of ``volume`` lots, account currency, rounded.

        Args:
            info: The symbol.
            sign: +1 for a buy, -1 for a sell.
            volume: Lots.
            opened: Open price.
            closed: Close price; a pair on the account currency is converted at it.
        """
        value = (closed - opened) * sign * per_price(info) * volume
        return self.round(value * self._rate_of(info, closed, at_bid=sign > 0))

    def _rate_of(self, info: SymbolInfo, price: float, *, at_bid: bool) -> float:
        """Return account currency for one unit of a symbol's profit currency."""
        if info.currency_base == self._currency and info.trade_calc_mode in FOREX:
            return 1.0 / price / self._part
        return self._rates.rate(info.currency_profit, gain=at_bid)

    def own_rate(self, info: SymbolInfo, prices: "Rate") -> "Rate | None":
        """Return what :meth:`profit` converts with at each price; None: other prices count, too."""
        if info.currency_base == self._currency and info.trade_calc_mode in FOREX:
            return 1.0 / prices / self._part
        return self._rates.fixed(info.currency_profit)

    def value(self, info: SymbolInfo, volume: float, price: float) -> float:
        """Return what ``volume`` lots are worth at ``price``, account currency, not rounded."""
        value = price * per_price(info) * volume
        return value * self._rate_of(info, price, at_bid=False)

    def tick_values(self, info: SymbolInfo) -> tuple[float, float]:
        """Return what a tick of one lot gains and loses, account currency, not rounded.

        Raises:
            NoQuotes: The connecting pair has no prices yet.
        """
        tick, currency = info.trade_tick_value, info.currency_profit
        if info.trade_calc_mode not in IN_TICKS:
            tick = info.trade_contract_size * info.trade_tick_size
        rate = self._rates.rate
        return tick * rate(currency, gain=True), tick * rate(currency, gain=False)

    def margin(
        self, info: SymbolInfo, volume: float, price: float, *, buy: bool, held: bool = False
    ) -> float:
        """Return the margin of ``volume`` lots on their own, account currency, not rounded.

        Args:
            info: The symbol.
            volume: Lots.
            price: At which they are opened.
            buy: Which side; a buy is converted at the ask, a sell at the bid.
            held: Whether they are a position, not an order.
        """
        amount = margins.margin(info, volume, price, self._leverage, held=held)
        return amount * self._rates.rate(info.currency_margin, gain=not buy)

    def swap(self, held: swaps.Held, ended: int) -> float:
        """Return the swap of a position for the server day that ends, account currency, rounded.

        Args:
            held: The position.
            ended: The weekday, 0 is Sunday.
        """
        count = self.swap_days(held.info, ended)
        value, currency = swaps.night(held)
        if not value or not count:
            return 0.0
        return self.round(count * value * self._swap_rate(held, value, currency))

    def swap_days(self, info: SymbolInfo, ended: int) -> float:
        """Return how many days the swap of the server day that ends counts for."""
        return swaps.days(info, ended, self._swap_days.get(info.name))

    def _swap_rate(self, held: swaps.Held, value: float, currency: str) -> float:
        """Return account currency for one unit: as a profit, by side, or the worse one."""
        is_buy = held.sign > 0
        if not currency:
            return 1.0
        if held.info.swap_mode == mt5.SYMBOL_SWAP_MODE_POINTS:
            return self._rate_of(held.info, held.price, at_bid=is_buy)
        if held.info.swap_mode in swaps.PERCENT:
            return self.rate(currency, gain=is_buy)
        return self.rate(currency, gain=value > 0)


def currencies_of(info: SymbolInfo) -> Sequence[str]:
    """Return the currencies of a symbol that its money is reckoned in."""
    base = [info.currency_base] if swaps.needs_base(info) else []
    return (info.currency_profit, info.currency_margin, *base)
