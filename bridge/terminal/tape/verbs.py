"""The verbs of a terminal, each as one call by name: for terminals that treat all of them alike."""

from abc import ABC, abstractmethod
from typing import Any, cast

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


class Verbs(ABC):
    """The protocol :class:`bridge.mt5.terminal.Terminal` over one method."""

    @abstractmethod
    def _call(self, verb: str, *args: Any) -> Any:
        """Return the answer of ``verb``; raise its ``TerminalError``."""

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state."""
        return cast(TerminalInfo, self._call("terminal_info"))

    def account_info(self) -> AccountInfo:
        """Return the account."""
        return cast(AccountInfo, self._call("account_info"))

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""
        return cast(tuple[SymbolInfo, ...], self._call("symbols_get"))

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""
        return cast(SymbolInfo, self._call("symbol_info", symbol))

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""
        self._call("symbol_select", symbol)

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""
        return cast(Tick, self._call("symbol_info_tick", symbol))

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest."""
        answer = self._call("copy_rates_from_pos", symbol, timeframe, start_pos, count)
        return cast(RatesArray, answer)

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        """Return the open positions, of one symbol if it is given."""
        return cast(tuple[TradePosition, ...], self._call("positions_get", symbol))

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        """Return the waiting orders, of one symbol if it is given."""
        return cast(tuple[TradeOrder, ...], self._call("orders_get", symbol))

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        """Return the orders done between two server times, ends included."""
        return cast(tuple[TradeOrder, ...], self._call("history_orders_get", date_from, date_to))

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        """Return the deals between two server times, ends included."""
        return cast(tuple[TradeDeal, ...], self._call("history_deals_get", date_from, date_to))

    def order_calc_profit(
        self, action: int, symbol: str, volume: float, price_open: float, price_close: float
    ) -> float:
        """Return the profit of a deal, account currency."""
        args = (action, symbol, volume, price_open, price_close)
        return cast(float, self._call("order_calc_profit", *args))

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        """Return the margin of a deal on its own, account currency."""
        return cast(float, self._call("order_calc_margin", action, symbol, volume, price))

    def order_check(self, request: RequestDict) -> OrderCheckResult:
        """Return what the terminal thinks of ``request`` without sending it."""
        return cast(OrderCheckResult, self._call("order_check", request))

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once; None means that nobody knows what became of it."""
        return cast(OrderSendResult | None, self._call("order_send", request))
