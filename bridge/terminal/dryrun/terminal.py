"""The ``Terminal`` of a dry run: the real one is read, a paper account takes the orders.

Before each look at the paper account the newest tick of each of its symbols is fetched from the
real terminal. What the price did between two looks is not seen: a stop that was touched and left
again within the second is not hit.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.clock import Clock
from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.mt5.constants import RES_E_AUTH_FAILED, RES_E_INTERNAL_FAIL_CONNECT, RES_E_NOT_FOUND
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import (
    AccountInfo,
    OrderCheckResult,
    OrderSendResult,
    SymbolInfo,
    TerminalInfo,
    Tick,
    TradeDeal,
    TradeOrder,
    TradePosition,
)
from bridge.mt5.request import RequestDict
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.dryrun.broker import broker_of, symbols_needed
from bridge.terminal.dryrun.source import Source, tick_of
from bridge.terminal.paper.liveseries import LiveSeries
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.sessions import week_of
from bridge.terminal.paper.specification import complete
from bridge.terminal.paper.terminal import PaperTerminal

# How long a symbol that was just put into Market Watch may take to have a price, seconds.
_PATIENCE, _PAUSE = 15.0, 0.5


def open_dry(
    real: Source,
    traded: Sequence[str],
    *,
    clock: Clock,
    server_clock: str,
    account: Path,
    deposit: float | None = None,
    costs: BrokerProfile | None = None,
) -> "DryTerminal":
    """Return the terminal of a dry run; its account goes on, or begins.

    Args:
        real: Connected.
        traded: Symbols of the strategies; the broker has them.
        clock: UTC.
        server_clock: The broker's clock rule.
        account: File of the paper account.
        deposit: Money that a new account begins with; None takes what the real one has.
        costs: A profile that says what no terminal tells: commission, days of swap, sessions.

    Raises:
        ConfigError: The file is of another server, currency or margin mode, something can't be
            played, or the costs are in another currency.
        TerminalError: The terminal does not answer, or has no price of a symbol.
    """
    symbols = symbols_needed(real.symbols_get(), traded, real.account_info().currency)
    for symbol in symbols:
        real.symbol_select(symbol)
    ticks = {symbol: _first_tick(real, symbol, clock) for symbol in symbols}
    profile = broker_of(real, symbols, server_clock=server_clock, deposit=deposit, costs=costs)
    return DryTerminal(real, profile, ticks, clock, account)


def _first_tick(real: Source, symbol: str, clock: Clock) -> Tick:
    until = clock.now() + _PATIENCE
    while True:
        try:
            tick = real.symbol_info_tick(symbol)
        except NotConnected:
            raise
        except TerminalError as error:
            if error.code != RES_E_NOT_FOUND:
                raise
        else:
            if tick.bid and tick.ask:
                return tick
        if clock.now() >= until:
            raise TerminalError(
                "symbol_info_tick",
                RES_E_NOT_FOUND,
                f"{symbol} has no price after {_PATIENCE:g} s, and the paper account needs one: "
                "see that Market Watch shows its prices",
            )
        clock.wait_until(clock.now() + _PAUSE)


class DryTerminal:
    """Prices, bars and specifications of a real terminal; account and orders on paper.

    Every verb raises ``TerminalError`` when the real terminal does not answer: the paper account
    is not shown, and takes no order, at prices that nobody knows.

    Args:
        real: Read, and nothing else.
        profile: The broker, with a specification of each symbol of ``ticks``.
        ticks: The newest of each symbol.
        clock: UTC.
        account: File of the paper account; continued when it exists.

    Raises:
        ConfigError: The file is of another server, currency or margin mode.
    """

    def __init__(
        self,
        real: Source,
        profile: BrokerProfile,
        ticks: Mapping[str, Tick],
        clock: Clock,
        account: Path,
    ) -> None:
        self._real = real
        terms = profile.account
        self._owner = (terms.login, terms.server)
        self._symbols = tuple(ticks)
        series = {name: _series(name, profile, tick) for name, tick in ticks.items()}
        # Specifications change from day to day; whose account it is does not.
        identity = {
            "server": terms.server,
            "currency": terms.currency,
            "margin_mode": terms.margin_mode.value,
        }
        self._paper = PaperTerminal(profile, series, clock, account, identity=identity)
        self._paper.initialize()
        self._book = ModuleTerminal(self._paper)

    def close(self) -> None:
        """Write the paper account and release its file."""
        self._paper.close()

    # The real terminal's

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state; trading on paper is always allowed."""
        shown = self._real.terminal_info()._asdict()
        return TerminalInfo((shown | {"trade_allowed": True, "tradeapi_disabled": False}).values())

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""
        return self._real.symbols_get()

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""
        return self._real.symbol_info(symbol)

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""
        self._real.symbol_select(symbol)

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""
        return self._real.symbol_info_tick(symbol)

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest."""
        return self._real.copy_rates_from_pos(symbol, timeframe, start_pos, count)

    # The paper account's

    def _current(self) -> ModuleTerminal:
        """Return the paper account, brought up to the real terminal's prices.

        Raises:
            WrongAccount: The real terminal shows another account: its prices may be others', too.
        """
        seen = self._real.account_info()
        if (seen.login, seen.server) != self._owner:
            raise WrongAccount(
                "account_info",
                RES_E_AUTH_FAILED,
                f"the terminal shows account {seen.login} at {seen.server}, and the dry run began "
                f"with {self._owner[0]} at {self._owner[1]}: log it in there",
            )
        self._paper.hear({symbol: tick_of(self._real, symbol) for symbol in self._symbols})
        return self._book

    def account_info(self) -> AccountInfo:
        """Return the paper account."""
        return self._current().account_info()

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        """Return the open positions, of one symbol if it is given."""
        return self._current().positions_get(symbol)

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        """Return the waiting orders, of one symbol if it is given."""
        return self._current().orders_get(symbol)

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        """Return the orders done between two server times, ends included."""
        return self._current().history_orders_get(date_from, date_to)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        """Return the deals between two server times, ends included."""
        return self._current().history_deals_get(date_from, date_to)

    def order_calc_profit(
        self, action: int, symbol: str, volume: float, price_open: float, price_close: float
    ) -> float:
        """Return the profit of a deal, account currency."""
        return self._current().order_calc_profit(action, symbol, volume, price_open, price_close)

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        """Return the margin of a deal on its own, account currency."""
        return self._current().order_calc_margin(action, symbol, volume, price)

    def order_check(self, request: RequestDict) -> OrderCheckResult:
        """Return what the paper account thinks of ``request`` without taking it."""
        return self._current().order_check(request)

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Give ``request`` to the paper account.

        Raises:
            TerminalError: No prices, or no connection to the broker; nothing was done.
        """
        if not self._real.terminal_info().connected:
            raise NotConnected(
                "order_send",
                RES_E_INTERNAL_FAIL_CONNECT,
                "the terminal has no connection to the broker: nothing was ordered on paper either",
            )
        return self._current().order_send(request)


def _series(name: str, profile: BrokerProfile, tick: Tick) -> LiveSeries:
    sessions = profile.sessions.get(name)
    week = None if sessions is None else week_of(name, sessions)
    return LiveSeries(complete(name, profile.symbols[name]), tick, week)
