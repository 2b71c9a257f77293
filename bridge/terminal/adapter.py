"""A ``Terminal`` over any object with the API of the MetaTrader5 package.

The one place where a null answer becomes an exception, on the line after the call.
"""

from typing import Any, cast

from bridge.errors import NotConnected, TerminalError
from bridge.mt5.constants import (
    RES_E_INTERNAL_FAIL,
    RES_E_INTERNAL_FAIL_CONNECT,
    RES_E_INTERNAL_FAIL_INIT,
    RES_E_INTERNAL_FAIL_RECEIVE,
    RES_E_INTERNAL_FAIL_SEND,
    RES_E_INTERNAL_FAIL_TIMEOUT,
)
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

_UNCONNECTED = frozenset(
    {
        RES_E_INTERNAL_FAIL,
        RES_E_INTERNAL_FAIL_CONNECT,
        RES_E_INTERNAL_FAIL_INIT,
        RES_E_INTERNAL_FAIL_RECEIVE,
        RES_E_INTERNAL_FAIL_SEND,
        RES_E_INTERNAL_FAIL_TIMEOUT,
    }
)


def error_of(verb: str, code: int, text: str) -> TerminalError:
    """Return the exception that stands for a null answer.

    Args:
        verb: What was asked.
        code: Of ``last_error``.
        text: Likewise.
    """
    kind = NotConnected if code in _UNCONNECTED else TerminalError
    return kind(verb, code, text)


class ModuleTerminal:
    """The verbs of :class:`bridge.mt5.terminal.Terminal` on a module-like object.

    Args:
        module: The package itself or anything that answers like it, connected.
    """

    def __init__(self, module: Any) -> None:
        self._module = module

    def _ask(self, verb: str, *args: Any, **keywords: Any) -> Any:
        answer = getattr(self._module, verb)(*args, **keywords)
        if answer is None or answer is False:
            raise error_of(verb, *self._module.last_error())
        return answer

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state."""
        return cast(TerminalInfo, self._ask("terminal_info"))

    def account_info(self) -> AccountInfo:
        """Return the account."""
        return cast(AccountInfo, self._ask("account_info"))

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""
        return cast(tuple[SymbolInfo, ...], self._ask("symbols_get"))

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""
        return cast(SymbolInfo, self._ask("symbol_info", symbol))

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""
        self._ask("symbol_select", symbol, True)

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""
        return cast(Tick, self._ask("symbol_info_tick", symbol))

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest."""
        answer = self._ask("copy_rates_from_pos", symbol, timeframe, start_pos, count)
        return cast(RatesArray, answer)

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        """Return the open positions, of one symbol if it is given."""
        answer = self._ask("positions_get", **_symbol(symbol))
        return cast(tuple[TradePosition, ...], answer)

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        """Return the waiting orders, of one symbol if it is given."""
        return cast(tuple[TradeOrder, ...], self._ask("orders_get", **_symbol(symbol)))

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        """Return the orders done between two server times, ends included."""
        answer = self._ask("history_orders_get", date_from, date_to)
        return cast(tuple[TradeOrder, ...], answer)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        """Return the deals between two server times, ends included."""
        answer = self._ask("history_deals_get", date_from, date_to)
        return cast(tuple[TradeDeal, ...], answer)

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
        return cast(OrderCheckResult, self._ask("order_check", request))

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once; None means that nobody knows what became of it."""
        return cast(OrderSendResult | None, self._module.order_send(request))


def _symbol(symbol: str | None) -> dict[str, str]:
    return {} if symbol is None else {"symbol": symbol}
