"""The seam: what the rest of the bridge knows of a terminal.

The verbs are those of the MetaTrader5 package, with two differences that every implementation
keeps: a null answer is raised as :class:`~bridge.errors.TerminalError` and never returned, and
times are integers (server epoch seconds). The exception is :meth:`Terminal.order_send`, whose
null is returned: the order may be out, so the caller has to search, not to handle an error.
"""

from typing import Protocol

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


class Terminal(Protocol):
    """A terminal that is connected and logged in.

    Every method raises ``TerminalError`` when the terminal answers with null.
    """

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state."""

    def account_info(self) -> AccountInfo:
        """Return the account."""

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest.

        Position 0 is the bar that is still forming. Shape ``(n,)``, oldest first, read-only.
        """

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        """Return the open positions, of one symbol if it is given."""

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        """Return the waiting orders, of one symbol if it is given."""

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        """Return the orders done between two server times, ends included."""

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        """Return the deals between two server times, ends included."""

    def order_calc_profit(
        self, action: int, symbol: str, volume: float, price_open: float, price_close: float
    ) -> float:
        """Return the profit of a deal, account currency."""

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        """Return the margin of a deal on its own, account currency."""

    def order_check(self, request: RequestDict) -> OrderCheckResult:
        """Return what the terminal thinks of ``request`` without sending it."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once; None means that nobody knows what became of it.

        Raises:
            TerminalError: Nothing was sent, for certain: another account, no connection before.
        """
