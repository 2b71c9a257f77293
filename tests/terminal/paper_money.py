"""Quotes and specifications for tests of money."""

from typing import Any

from terminal.paper_desk import MONDAY, Play, profile, spec

from bridge.mt5.rates import RatesArray, rates_of
from bridge.terminal.paper.terminal import PaperTerminal


def pair(base: str, quote: str, **changes: Any) -> dict[str, Any]:
    """Return the specification of a currency pair."""
    digits = 3 if quote == "JPY" else 5
    return spec(
        digits=digits,
        trade_tick_size=10.0**-digits,
        currency_base=base,
        currency_profit=quote,
        currency_margin=base,
        **changes,
    )


def one_bar(price: float, spread: int = 0) -> RatesArray:
    """Return a flat bar."""
    return rates_of([(MONDAY, price, price, price, price, 1, spread, 0)])


def desk(currency: str = "USD", /, **quotes: tuple[float, int]) -> PaperTerminal:
    """Return a terminal that shows ``SYMBOL=(bid, spread points)``."""
    symbols = {name: pair(name[:3], name[3:]) for name in quotes}
    series = {name: one_bar(*quote) for name, quote in quotes.items()}
    first = next(iter(quotes))
    return Play(series.pop(first), profile(symbols, currency=currency), more=series).terminal
