"""An object that is, to its caller, the module MetaTrader5: names, calling rules, errors.

What the answers mean is a :class:`Backend`'s; here is what the package itself does before and
after it asks its terminal. Without a backend there is no terminal on the machine.
"""

import threading
from collections.abc import Callable
from typing import Any, Protocol

from bridge.mt5 import constants, records
from bridge.mt5.records import OrderSendResult, TradePosition
from bridge.terminal.paper.calling import FUNCTIONS, Function, Refused

VERSION = "5.0.6231"
_SUCCESS = (1, "Success")
_TEXTS = {
    1: "Success",
    constants.RES_E_FAIL: "Terminal: Call failed",
    constants.RES_E_INVALID_PARAMS: "Terminal: Invalid params",
    constants.RES_E_NO_MEMORY: "Terminal: Out of memory",
    constants.RES_E_NOT_FOUND: "Terminal: Not found",
    constants.RES_E_INVALID_VERSION: (
        "Terminal: Incompatible versions, please install the latest version of Terminal and "
        "Python module"
    ),
    constants.RES_E_AUTH_FAILED: "Terminal: Authorization failed",
    constants.RES_E_UNSUPPORTED: "Terminal: Unsupported function",
    constants.RES_E_AUTO_TRADING_DISABLED: "Auto-Trading using Python API disabled in Terminal",
    constants.RES_E_INTERNAL_FAIL_SEND: "IPC send failed",
    constants.RES_E_INTERNAL_FAIL_RECEIVE: "IPC recv failed",
    constants.RES_E_INTERNAL_FAIL_TIMEOUT: "IPC timeout",
    constants.RES_E_INTERNAL_FAIL_CONNECT: "No IPC connection",
}
_TRIES = 10
_AGAIN = (constants.TRADE_RETCODE_REQUOTE, constants.TRADE_RETCODE_PRICE_OFF)


class Failure(Exception):
    """The terminal answers a call with an error.

    Args:
        code: Code of ``last_error``.
        text: Its text, when it is not the usual one.
        touches: Whether ``last_error`` shows it; market_book_add keeps silent.
    """

    def __init__(self, code: int, text: str = "", *, touches: bool = True) -> None:
        super().__init__(code, text)
        self.error = (code, text or _TEXTS.get(code, ""))
        self.touches = touches


class Backend(Protocol):
    """The terminal behind the package: ``answer`` does a verb, or raises :class:`Failure`."""

    def connect(self, login: int | None, server: str | None) -> None:
        """Log in as ``initialize`` and ``login`` ask for; None means the saved account."""

    def answer(self, verb: str, arguments: tuple[Any, ...]) -> Any:
        """Return what the verb gives; arguments are those that :mod:`calling` makes."""


class Package:
    """Functions, constants and records of MetaTrader5.

    Calls from several threads wait for one another. ``last_error`` is one for all, as in the
    package.
    """

    __version__ = VERSION
    __author__ = "MetaQuotes Ltd."

    initialize: Callable[..., bool]
    login: Callable[..., bool]
    shutdown: Callable[..., bool]
    version: Callable[..., tuple[int, int, str]]
    terminal_info: Callable[..., Any]
    account_info: Callable[..., Any]
    copy_ticks_from: Callable[..., Any]
    copy_ticks_range: Callable[..., Any]
    copy_rates_from: Callable[..., Any]
    copy_rates_from_pos: Callable[..., Any]
    copy_rates_range: Callable[..., Any]
    positions_total: Callable[..., Any]
    positions_get: Callable[..., Any]
    orders_total: Callable[..., Any]
    orders_get: Callable[..., Any]
    history_orders_total: Callable[..., Any]
    history_orders_get: Callable[..., Any]
    history_deals_total: Callable[..., Any]
    history_deals_get: Callable[..., Any]
    order_check: Callable[..., Any]
    order_send: Callable[..., Any]
    order_calc_margin: Callable[..., Any]
    order_calc_profit: Callable[..., Any]
    symbol_info: Callable[..., Any]
    symbol_info_tick: Callable[..., Any]
    symbol_select: Callable[..., bool]
    symbols_total: Callable[..., Any]
    symbols_get: Callable[..., Any]
    market_book_add: Callable[..., Any]
    market_book_release: Callable[..., Any]
    market_book_get: Callable[..., Any]

    def __init__(self, backend: Backend | None) -> None:
        self._backend = backend
        self._lock = threading.RLock()
        self._error: tuple[int, str] = (0, "")
        self._is_connected = False

    def last_error(self, *args: Any, **keywords: Any) -> tuple[int, str]:
        """Return code and text of the last call; (0, "") before the first."""
        _refuse_arguments("last_error", args, keywords)
        return self._error

    def _call(self, name: str, function: Function, args: Any, keywords: Any) -> Any:
        with self._lock:
            if name == "initialize":
                self._is_connected = False
            try:
                arguments = function.parse(name, args, keywords)
            except Refused as refused:
                return self._refuse(name, function, refused)
            self._error = _SUCCESS
            try:
                return self._perform(name, function, arguments)
            except Failure as failure:
                if failure.touches:
                    self._error = failure.error
                return function.failed

    def _refuse(self, name: str, function: Function, refused: Refused) -> Any:
        self._error = (constants.RES_E_INVALID_PARAMS, refused.text)
        if refused.late:
            self._error = _SUCCESS if self._is_connected else _no_connection(function)
        if refused.__cause__ is not None:
            raise SystemError(
                f"<built-in function {name}> returned a result with an exception set"
            ) from refused.__cause__
        return function.refused

    def _perform(self, name: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        if name == "shutdown":
            self._is_connected = False
            return True
        if name == "initialize":
            self._connect(*arguments)
            return True
        if self._backend is None or not self._is_connected:
            raise Failure(*_no_connection(function), touches=function.connect_code < 0)
        if name == "login":
            number, _, server, _ = arguments
            self._backend.connect(number, server)
            return True
        return self._backend.answer(name, arguments)

    def _connect(
        self,
        path: str | None,
        login: int | None,
        password: str | None,
        server: str | None,
        timeout: int | None,
        portable: bool | None,
    ) -> None:
        if self._backend is None:
            detail = f"Process create failed '{path}'" if path else "MetaTrader 5 x64 not found"
            code = constants.RES_E_INTERNAL_FAIL_INIT
            raise Failure(code, f"IPC initialize failed, {detail}")
        self._backend.connect(login, server)
        self._is_connected = True

    # The three helpers are Python in the package too, and as unguarded: without a tick or a
    # connection they end in AttributeError and TypeError.

    def Buy(  # noqa: N802  the package's name
        self,
        symbol: str,
        volume: float,
        price: float | None = None,
        *,
        comment: str | None = None,
        ticket: int | None = None,
    ) -> OrderSendResult | None:
        """Buy at market, deviation 10, filling FOK; up to ten tries while there is a requote."""
        return self._deal(constants.ORDER_TYPE_BUY, symbol, volume, price, comment, ticket)

    def Sell(  # noqa: N802  the package's name
        self,
        symbol: str,
        volume: float,
        price: float | None = None,
        *,
        comment: str | None = None,
        ticket: int | None = None,
    ) -> OrderSendResult | None:
        """Sell at market, as :meth:`Buy`."""
        return self._deal(constants.ORDER_TYPE_SELL, symbol, volume, price, comment, ticket)

    def Close(  # noqa: N802  the package's name
        self, symbol: str, *, comment: str | None = None, ticket: int | None = None
    ) -> bool | str | None:
        """Close the positions of a symbol, or one: True for all, "Partially", False for none."""
        which = {"symbol": symbol} if ticket is None else {"ticket": ticket}
        positions = self.positions_get(**which)
        done = 0
        for position in positions:
            result = self._close(position, comment)
            if result is None:
                return None
            done += result.retcode == constants.TRADE_RETCODE_DONE
        if not done:
            return False
        return True if done == len(positions) else "Partially"

    def _close(self, position: TradePosition, comment: str | None) -> OrderSendResult | None:
        kind = constants.ORDER_TYPE_BUY if position.type else constants.ORDER_TYPE_SELL
        return self._deal(kind, position.symbol, position.volume, None, comment, position.ticket)

    def _deal(
        self,
        kind: int,
        symbol: str,
        volume: float,
        price: float | None,
        comment: str | None,
        ticket: int | None,
    ) -> OrderSendResult | None:
        result: OrderSendResult | None = None
        for _ in range(1 if price is not None else _TRIES):
            at = price
            if at is None:
                tick = self.symbol_info_tick(symbol)
                at = tick.bid if kind else tick.ask
            result = self._RawOrder(kind, symbol, volume, at, comment, ticket)
            if result is None or result.retcode not in _AGAIN:
                break
        return result

    def _RawOrder(  # noqa: N802  the package's name
        self,
        order_type: int,
        symbol: str,
        volume: float,
        price: float,
        comment: str | None = None,
        ticket: int | None = None,
    ) -> OrderSendResult | None:
        request: dict[str, Any] = {
            "action": constants.TRADE_ACTION_DEAL,
            "symbol": symbol,
            "volume": volume,
            "type": order_type,
            "price": price,
            "deviation": 10,
        }
        if comment is not None:
            request["comment"] = comment
        if ticket is not None:
            request["position"] = ticket
        result: OrderSendResult | None = self.order_send(request)
        return result


def _no_connection(function: Function) -> tuple[int, str]:
    code = function.connect_code
    return code, _TEXTS[code]


def _refuse_arguments(name: str, args: Any, keywords: Any) -> None:
    FUNCTIONS["shutdown"].parse(name, args, keywords)


def _method(name: str, function: Function) -> Callable[..., Any]:
    def method(self: Package, *args: Any, **keywords: Any) -> Any:
        return self._call(name, function, args, keywords)

    method.__name__ = method.__qualname__ = name
    return method


def _furnish() -> None:
    for name, function in FUNCTIONS.items():
        setattr(Package, name, _method(name, function))
    for name, value in vars(constants).items():
        if name.isupper():
            setattr(Package, name, value)
    for name, record in vars(records).items():
        if isinstance(record, type) and records.Record in record.__bases__:
            setattr(Package, name, record)


_furnish()
