"""The paper terminal's verbs for a program that shares its process and its types.

Same answers, errors and money as through the package's face. What is left out is what the package
does to strangers: it parses arguments of any kind, waits for other threads, keeps ``last_error``.
An order still goes the package's way, so that what it refuses is refused here, too.
"""

from typing import Any

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
from bridge.terminal.adapter import ModuleTerminal, error_of
from bridge.terminal.paper.backend import PaperBackend
from bridge.terminal.paper.package import Failure, Package

_ALL = ("", None)


class DirectTerminal:
    """The verbs of :class:`bridge.mt5.terminal.Terminal` on the account itself; for one thread.

    Args:
        package: The paper terminal, connected.
        backend: What stands behind it.
    """

    def __init__(self, package: Package, backend: PaperBackend) -> None:
        self._through = ModuleTerminal(package)
        self._answer = backend.answer

    def _ask(self, verb: str, *arguments: Any) -> Any:
        try:
            return self._answer(verb, arguments)
        except Failure as failure:
            raise error_of(verb, *failure.error) from None

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state."""
        state: TerminalInfo = self._ask("terminal_info")
        return state

    def account_info(self) -> AccountInfo:
        """Return the account."""
        account: AccountInfo = self._ask("account_info")
        return account

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""
        return self._through.symbols_get()

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""
        info: SymbolInfo = self._ask("symbol_info", symbol)
        return info

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""
        self._through.symbol_select(symbol)

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""
        tick: Tick = self._ask("symbol_info_tick", symbol)
        return tick

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest."""
        found: RatesArray = self._ask("copy_rates_from_pos", symbol, timeframe, start_pos, count)
        return found

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        """Return the open positions, of one symbol if it is given."""
        found: tuple[TradePosition, ...] = self._ask("positions_get", *_chosen(symbol))
        return found

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        """Return the waiting orders, of one symbol if it is given."""
        found: tuple[TradeOrder, ...] = self._ask("orders_get", *_chosen(symbol))
        return found

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        """Return the orders done between two server times, ends included."""
        found: tuple[TradeOrder, ...] = self._ask(
            "history_orders_get", "dates", (date_from, date_to, None)
        )
        return found

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        """Return the deals between two server times, ends included."""
        found: tuple[TradeDeal, ...] = self._ask(
            "history_deals_get", "dates", (date_from, date_to, None)
        )
        return found

    def order_calc_profit(
        self, action: int, symbol: str, volume: float, price_open: float, price_close: float
    ) -> float:
        """Return the profit of a deal, account currency."""
        answer = self._ask("order_calc_profit", action, symbol, volume, price_open, price_close)
        return float(answer)

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        """Return the margin of a deal on its own, account currency."""
        return float(self._ask("order_calc_margin", action, symbol, volume, price))

    def order_check(self, request: RequestDict) -> OrderCheckResult:
        """Return what the terminal thinks of ``request`` without sending it."""
        return self._through.order_check(request)

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once; None means that nobody knows what became of it."""
        return self._through.order_send(request)


def _chosen(symbol: str | None) -> tuple[str, str | None]:
    return _ALL if symbol is None else ("symbol", symbol)
