"""The desk of a paper terminal, opened: symbols, prices, money and the account's file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.errors import ConfigError
from bridge.mt5.rates import RatesArray
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.commission import Commissions
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Ledger
from bridge.terminal.paper.liveseries import LiveSeries
from bridge.terminal.paper.market import Market, Series, play
from bridge.terminal.paper.money import Money
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.script import Script
from bridge.terminal.paper.sessions import week_of
from bridge.terminal.paper.specification import complete
from bridge.terminal.paper.store import Store

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile

Recording = tuple[Timeframe, RatesArray]
"""Bars, or ticks and the timeframe of the bars that they make."""


def open_desk(
    profile: "BrokerProfile",
    bars: Mapping[str, Recording | LiveSeries],
    account: Path | None,
    identity: Mapping[str, str] | None,
    script: Script,
    prices: Prices,
) -> Desk:
    """Return the desk; the arguments are those of the paper terminal.

    Raises:
        ConfigError: Bars without a specification, a currency that can't be converted, or an
            account file that is another one's.
    """
    terms = profile.account
    symbols = {name: complete(name, fields) for name, fields in profile.symbols.items()}
    if unknown := sorted(set(bars) - set(symbols)):
        raise ConfigError(
            f"profile {profile.name} has no specification of {', '.join(unknown)}: add it"
        )
    weeks = {name: week_of(name, days) for name, days in profile.sessions.items()}

    def series(name: str) -> Series:
        given = bars[name]
        if isinstance(given, LiveSeries):
            return given
        return play(symbols[name], *given, prices, weeks.get(name))

    market = Market(series(name) for name in symbols if name in bars)
    money = Money(
        currency=terms.currency,
        digits=terms.currency_digits,
        leverage=terms.leverage,
        market=market,
        symbols=[one.info for one in market],
        swap_days=profile.swap_days,
    )
    store = Store(account, _identity(profile) if identity is None else identity)
    ledger = Ledger(store, terms.currency_digits)
    commissions = Commissions(terms.commissions, money)
    return Desk(terms, symbols, market, money, ledger, commissions, script)


def _identity(profile: "BrokerProfile") -> Mapping[str, str]:
    return {
        "profile": profile.name,
        "currency": profile.account.currency,
        "profile_sha256": profile.sha256,
    }
