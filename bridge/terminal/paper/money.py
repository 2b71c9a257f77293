"""Profit, margin and swap in the account currency.

Sources: MQL5 reference on calculation modes; the conversion of profits at the deal's own close
price and the rounding were found in tester reports (4,402 closes). A gain is converted at the
worse side of the connecting pair, a loss too, as recorded tick values are.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.market import Market, Series

_HUB = "USD"
# Far below any currency's last digit, far above the noise of a product of doubles.
_NOISE_DIGITS = 6
_FOREX = (mt5.SYMBOL_CALC_MODE_FOREX, mt5.SYMBOL_CALC_MODE_FOREX_NO_LEVERAGE)


class NoQuotes(Exception):
    """A pair that is needed for a conversion has no prices yet."""


def rounded(value: float, digits: int) -> float:
    """Return ``value`` with ``digits`` decimals, halves away from zero as decimals have them."""
    scaled = round(abs(value) * 10**digits, _NOISE_DIGITS)
    return math.copysign(math.floor(scaled + 0.5) / 10**digits, value) + 0.0


@dataclass(frozen=True, slots=True)
class _Leg:
    """One conversion: multiply by the pair's price, or divide by it."""

    symbol: str
    divides: bool

    def rate(self, series: Series, *, gain: bool) -> float:
        price = series.bid if gain != self.divides else series.ask
        return 1.0 / price if self.divides else price


class Money:
    """Arithmetic of one account on one market.

    Args:
        currency: Of the account.
        digits: Its decimals.
        leverage: Of the account.
        market: Prices of the connecting pairs.
        symbols: The specifications that are traded.

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
    ) -> None:
        self._currency = currency
        self._digits = digits
        self._leverage = leverage
        self._market = market
        self._legs: dict[str, tuple[_Leg, ...]] = {currency: ()}
        for info in symbols:
            for needed in _currencies(info):
                self._legs[needed] = self._route(info.name, needed)

    def _route(self, symbol: str, currency: str) -> tuple[_Leg, ...]:
        direct = self._leg(currency, self._currency)
        if direct is not None:
            return direct
        first, second = self._leg(currency, _HUB), self._leg(_HUB, self._currency)
        if first is None or second is None:
            raise ConfigError(
                f"{symbol} needs {currency} in {self._currency}: give the terminal bars of "
                f"{currency}{self._currency} or {self._currency}{currency}, or of pairs with {_HUB}"
            )
        return first + second

    def _leg(self, source: str, target: str) -> tuple[_Leg, ...] | None:
        if source == target:
            return ()
        for series in self._market:
            info = series.info
            if info.trade_calc_mode not in _FOREX:
                continue
            if (info.currency_base, info.currency_profit) == (source, target):
                return (_Leg(info.name, divides=False),)
            if (info.currency_base, info.currency_profit) == (target, source):
                return (_Leg(info.name, divides=True),)
        return None

    def round(self, value: float) -> float:
        """Return money with the account's decimals."""
        return rounded(value, self._digits)

    def rate(self, currency: str, *, gain: bool) -> float:
        """Return account currency for one unit of ``currency``.

        Raises:
            NoQuotes: The connecting pair has no prices yet, or no symbol with bars needs it.
        """
        rate = 1.0
        legs = self._legs.get(currency)
        if legs is None:
            raise NoQuotes(currency)
        for leg in legs:
            series = self._market.at(leg.symbol)
            if series is None or not series.bid:
                raise NoQuotes(leg.symbol)
            rate *= leg.rate(series, gain=gain)
        return rate

    def check_quotes(self, info: SymbolInfo) -> None:
        """Check that all money of a symbol can be converted now.

        Raises:
            NoQuotes: A connecting pair has no prices yet.
        """
        for currency in _currencies(info):
            self.rate(currency, gain=True)

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
        value = (closed - opened) * sign * info.trade_contract_size * volume
        if info.currency_profit == self._currency:
            return self.round(value)
        if info.currency_base == self._currency and info.trade_calc_mode in _FOREX:
            return self.round(value / closed)
        return self.round(value * self.rate(info.currency_profit, gain=value > 0))

    def margin(self, info: SymbolInfo, volume: float, price: float, *, buy: bool) -> float:
        """Return the margin of ``volume`` lots on their own, account currency, not rounded."""
        if info.margin_initial:
            amount = volume * info.margin_initial
        else:
            amount = _MARGIN[info.trade_calc_mode](info, volume, price, self._leverage)
        return amount * self.rate(info.currency_margin, gain=not buy)

    def swap(self, info: SymbolInfo, sign: int, volume: float, opened: float, bid: float) -> float:
        """Return one night's swap of a position, account currency, rounded."""
        amount = info.swap_long if sign > 0 else info.swap_short
        value, currency = _SWAP[info.swap_mode](info, amount * volume, opened, bid)
        if not value:
            return 0.0
        return self.round(value * self.rate(currency or self._currency, gain=value > 0))


def _currencies(info: SymbolInfo) -> set[str]:
    in_base = info.swap_mode == mt5.SYMBOL_SWAP_MODE_CURRENCY_SYMBOL
    return {info.currency_profit, info.currency_margin, *([info.currency_base] * in_base)}


def _forex(info: SymbolInfo, volume: float, price: float, leverage: int) -> float:
    return volume * info.trade_contract_size / leverage


def _forex_no_leverage(info: SymbolInfo, volume: float, price: float, leverage: int) -> float:
    return volume * info.trade_contract_size


def _cfd(info: SymbolInfo, volume: float, price: float, leverage: int) -> float:
    return volume * info.trade_contract_size * price


def _cfd_index(info: SymbolInfo, volume: float, price: float, leverage: int) -> float:
    ticks = info.trade_tick_value / info.trade_tick_size
    return volume * info.trade_contract_size * price * ticks


def _cfd_leverage(info: SymbolInfo, volume: float, price: float, leverage: int) -> float:
    return volume * info.trade_contract_size * price / leverage


_MARGIN: dict[int, Callable[[SymbolInfo, float, float, int], float]] = {
    mt5.SYMBOL_CALC_MODE_FOREX: _forex,
    mt5.SYMBOL_CALC_MODE_FOREX_NO_LEVERAGE: _forex_no_leverage,
    mt5.SYMBOL_CALC_MODE_CFD: _cfd,
    mt5.SYMBOL_CALC_MODE_CFDINDEX: _cfd_index,
    mt5.SYMBOL_CALC_MODE_CFDLEVERAGE: _cfd_leverage,
    mt5.SYMBOL_CALC_MODE_EXCH_STOCKS: _cfd,
}

_Swap = tuple[float, str]
"""Amount and its currency; no currency means the account's."""
_YEAR = 360


def _percent(info: SymbolInfo, lots: float, price: float) -> _Swap:
    return lots * info.trade_contract_size * price / 100 / _YEAR, info.currency_profit


_SWAP: dict[int, Callable[[SymbolInfo, float, float, float], _Swap]] = {
    mt5.SYMBOL_SWAP_MODE_DISABLED: lambda info, lots, opened, bid: (0.0, ""),
    mt5.SYMBOL_SWAP_MODE_POINTS: lambda info, lots, opened, bid: (
        lots * info.point * info.trade_contract_size,
        info.currency_profit,
    ),
    mt5.SYMBOL_SWAP_MODE_CURRENCY_SYMBOL: lambda info, lots, opened, bid: (
        lots,
        info.currency_base,
    ),
    mt5.SYMBOL_SWAP_MODE_CURRENCY_MARGIN: lambda info, lots, opened, bid: (
        lots,
        info.currency_margin,
    ),
    mt5.SYMBOL_SWAP_MODE_CURRENCY_DEPOSIT: lambda info, lots, opened, bid: (lots, ""),
    mt5.SYMBOL_SWAP_MODE_INTEREST_CURRENT: lambda info, lots, opened, bid: _percent(
        info, lots, bid
    ),
    mt5.SYMBOL_SWAP_MODE_INTEREST_OPEN: lambda info, lots, opened, bid: _percent(
        info, lots, opened
    ),
}
