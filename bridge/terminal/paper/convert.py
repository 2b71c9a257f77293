"""Amounts of one currency in another, at the market's current prices.

A gain is sold at the bid of its currency in the account's, a loss is bought at the ask. Recorded
tick values show it: a gain in JPY is divided by the ask of USDJPY, a loss by its bid.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.terminal.paper.market import Market, Series

FOREX = (mt5.SYMBOL_CALC_MODE_FOREX, mt5.SYMBOL_CALC_MODE_FOREX_NO_LEVERAGE)
"""Modes whose symbols exchange one currency for another."""
HUB = "USD"
"""Currency by which two others are connected that have no pair."""
# Currencies that brokers keep in hundredths of another: cents accounts, London's pence.
_HUNDREDTHS = {"USC": "USD", "EUC": "EUR", "GBX": "GBP"}
# Far below any currency's last digit, far above the noise of a product of doubles.
_NOISE_DIGITS = 6
# Distance from a whole number above which that noise may decide.
_NEAR_HALF = 0.5 - 1e-4


class NoQuotes(Exception):
    """A pair that is needed for a conversion has no prices yet."""


def units(value: float, scale: float) -> int:
    """Return ``value`` in units, of which ``scale`` make 1; halves of a decimal away from zero."""
    scaled = value * scale
    whole = round(scaled)
    if -_NEAR_HALF < scaled - whole < _NEAR_HALF:
        return whole
    whole = math.floor(round(abs(scaled), _NOISE_DIGITS) + 0.5)
    return -whole if value < 0 else whole


def whole(currency: str) -> tuple[str, float]:
    """Return the currency that ``currency`` is kept in hundredths of, and 0.01; or itself and 1."""
    major = _HUNDREDTHS.get(currency)
    return (currency, 1.0) if major is None else (major, 0.01)


@dataclass(frozen=True, slots=True)
class _Leg:
    """One conversion: multiply by the pair's price, or divide by it."""

    symbol: str
    divides: bool

    def rate(self, series: Series, *, gain: bool) -> float:
        price = series.bid if gain != self.divides else series.ask
        return 1.0 / price if self.divides else price


@dataclass(frozen=True, slots=True)
class _Route:
    factor: float
    legs: tuple[_Leg, ...]


class Rates:
    """Ways from any currency to the account's: a pair, its inverse, or two pairs with USD.

    Args:
        account: The account's currency.
        market: Prices of the connecting pairs.
    """

    def __init__(self, account: str, market: Market) -> None:
        self._account = account
        self._market = market
        self._routes = {account: _Route(1.0, ())}

    def learn(self, symbol: str, currencies: Iterable[str]) -> None:
        """Find the ways that a symbol's money needs.

        Raises:
            ConfigError: There are no bars of a pair that connects.
        """
        for currency in currencies:
            if currency not in self._routes:
                self._routes[currency] = self._route(symbol, currency)

    def _route(self, symbol: str, currency: str) -> _Route:
        (source, part), (target, share) = whole(currency), whole(self._account)
        direct = self._leg(source, target)
        if direct is not None:
            return _Route(part / share, direct)
        first, second = self._leg(source, HUB), self._leg(HUB, target)
        if first is None or second is None:
            raise ConfigError(
                f"{symbol} needs {source} in {target}: give the terminal bars of "
                f"{source}{target} or {target}{source}, or of pairs with {HUB}"
            )
        return _Route(part / share, first + second)

    def _leg(self, source: str, target: str) -> tuple[_Leg, ...] | None:
        if source == target:
            return ()
        for series in self._market:
            info = series.info
            if info.trade_calc_mode not in FOREX:
                continue
            if (info.currency_base, info.currency_profit) == (source, target):
                return (_Leg(info.name, divides=False),)
            if (info.currency_base, info.currency_profit) == (target, source):
                return (_Leg(info.name, divides=True),)
        return None

    def fixed(self, currency: str) -> float | None:
        """Return the rate of a currency that no price moves; None when there is none."""
        route = self._routes.get(currency)
        return None if route is None or route.legs else route.factor

    def rate(self, currency: str, *, gain: bool) -> float:
        """Return account currency for one unit of ``currency``.

        Raises:
            NoQuotes: The connecting pair has no prices yet, or no symbol with bars needs it.
        """
        if currency not in self._routes:
            raise NoQuotes(currency)
        route = self._routes[currency]
        rate = route.factor
        for leg in route.legs:
            series = self._market.at(leg.symbol)
            if series is None or not series.bid:
                raise NoQuotes(leg.symbol)
            rate *= leg.rate(series, gain=gain)
        return rate
