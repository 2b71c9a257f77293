"""What a probe stands on: one of the two terminals, and what has been opened there.

A module is anything with the API of the MetaTrader5 package, connected. Whatever a probe opens is
written down here, and closed by :meth:`Desk.tidy`, by its own ticket and magic number.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bridge.clock import Clock
from bridge.errors import ConfigError, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick
from bridge.mt5.request import RequestDict
from bridge.trade.build import filling_of

MAGIC = 745_190_263
"""Magic number of all that probes send; no strategy should have it."""
COMMENT = "conformance"
TRADED = (mt5.ACCOUNT_TRADE_MODE_DEMO, mt5.ACCOUNT_TRADE_MODE_CONTEST)
"""Values of ``trade_mode`` that anything is ever sent to."""
TAKEN = (mt5.TRADE_RETCODE_PLACED, mt5.TRADE_RETCODE_DONE, mt5.TRADE_RETCODE_DONE_PARTIAL)
DEVIATION = 50
_SETTLE_S, _PAUSE_S = 5.0, 0.1
# A server may show later what it has answered, or has not.
_SURE_S, _UNSURE_S = 1.0, 10.0
_UNSURE = (
    mt5.TRADE_RETCODE_ERROR,
    mt5.TRADE_RETCODE_TIMEOUT,
    mt5.TRADE_RETCODE_CONNECTION,
)
_TRIES = 3


class Skip(Exception):
    """A probe can't be asked here; the text says why."""


@dataclass(kw_only=True)
class Desk:
    """One terminal, and the symbol that probes are about.

    Attributes:
        module: The package, or what answers like it.
        symbol: Name; it is in Market Watch.
        clock: Times the waits for what a server does later.
        price: A bid that both terminals are asked about where the answer depends on it.
        other: Name of a symbol that is not in Market Watch; empty when all are.
        tickets: What probes have opened, by their own words for it.
        error: ``last_error`` after the newest call.
    """

    module: Any
    symbol: str
    clock: Clock
    price: float
    other: str = ""
    tickets: dict[str, int] = field(default_factory=dict)
    error: tuple[int, str] = (0, "")
    _who: tuple[int, str] | None = None
    _before: frozenset[int] | None = None
    _wait_s: float = 0.0

    def call(self, verb: str, *args: Any, **keywords: Any) -> Any:
        """Return the answer of a verb, and note the error beside it."""
        answer = getattr(self.module, verb)(*args, **keywords)
        self.error = tuple(self.module.last_error())
        return answer

    def need(self, verb: str, *args: Any, **keywords: Any) -> Any:
        """Return an answer that a probe builds on.

        Raises:
            TerminalError: There is none.
        """
        answer = self.call(verb, *args, **keywords)
        if answer is None or answer is False:
            raise TerminalError(verb, *self.error)
        return answer

    @property
    def info(self) -> SymbolInfo:
        """The symbol's specification."""
        info: SymbolInfo = self.need("symbol_info", self.symbol)
        return info

    @property
    def tick(self) -> Tick:
        """The symbol's newest tick."""
        tick: Tick = self.need("symbol_info_tick", self.symbol)
        return tick

    def check_account(self) -> None:
        """Refuse to send anything to an account that is not for practice, or is another one.

        Raises:
            ConfigError: It is.
        """
        account: AccountInfo = self.need("account_info")
        if account.trade_mode not in TRADED:
            raise ConfigError(
                "conformance sends orders to DEMO and CONTEST accounts only, and this one is REAL: "
                "log the terminal in to a demo account"
            )
        who = (account.login, account.server)
        if self._who not in (None, who):
            raise ConfigError(
                "the terminal was logged in to another account meanwhile: start again, and leave "
                "it alone until conformance ends"
            )
        self._who = who

    def send(self, request: RequestDict, note: str = "") -> Any:
        """Send a request to a practice account; what it opens is noted and closed at the end.

        Args:
            request: As the package takes it.
            note: Word for the order's ticket; empty keeps none.
        """
        self.check_account()
        if self._before is None:
            self._before = frozenset(one.ticket for one in self._all())
        # Until the answer says otherwise, whatever ends this call early leaves it in doubt.
        known, self._wait_s = self._wait_s, _UNSURE_S
        result = self.call("order_send", request)
        if result is not None and result.retcode not in _UNSURE:
            self._wait_s = max(known, _SURE_S if result.retcode in TAKEN else 0.0)
        if note and result is not None and result.retcode in TAKEN:
            self.tickets[note] = result.order
        return result

    def ticket(self, note: str) -> int:
        """Return the ticket that was noted.

        Raises:
            Skip: Nothing was.
        """
        if note not in self.tickets:
            raise Skip(f"there is no {note}")
        return self.tickets[note]

    def one(self, verb: str, **keywords: Any) -> Any:
        """Return the only record that a verb finds; a server may need a moment to show it.

        Raises:
            Skip: There is none, or more than one.
        """
        found = self.settled(lambda: self.call(verb, **keywords), lambda some: bool(some))
        if not found:
            raise Skip(f"{verb} shows nothing")
        return found[0]

    def settled(self, ask: Callable[[], Any], fits: Callable[[Any], bool]) -> Any:
        """Return the first answer that fits, or the last one after 5 s."""
        until = self.clock.now() + _SETTLE_S
        while not fits(answer := ask()) and self.clock.now() < until:
            self.clock.wait_until(self.clock.now() + _PAUSE_S)
        return answer

    def market(self, **changes: Any) -> RequestDict:
        """Return a buy of the smallest volume; changes are fields, None leaves one out."""
        info = self.info
        fields = {
            "action": mt5.TRADE_ACTION_DEAL,
            "symbol": self.symbol,
            "volume": float(info.volume_min),
            "type": mt5.ORDER_TYPE_BUY,
            "price": float(self.tick.ask),
            "deviation": DEVIATION,
            "type_filling": filling_of(info),
            "magic": MAGIC,
            "comment": COMMENT,
            **changes,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def closing(self, ticket: int, kind: int, volume: float) -> RequestDict:
        """Return what closes ``volume`` lots of a position of type ``kind``."""
        tick = self.tick
        other, price = (
            (mt5.ORDER_TYPE_BUY, tick.ask)
            if kind == mt5.POSITION_TYPE_SELL
            else (mt5.ORDER_TYPE_SELL, tick.bid)
        )
        return self.market(type=other, price=float(price), volume=volume, position=ticket)

    def tidy(self) -> tuple[str, ...]:
        """Close and remove what was opened; return what could not be, in words with its ticket."""
        if not self._wait_s:
            return ()
        self.clock.wait_until(self.clock.now() + self._wait_s)
        for _ in range(_TRIES):
            for one in self._ours():
                self._end(one)
            if not self.settled(self._ours, lambda left: not left):
                self._wait_s = 0.0
                return ()
        return tuple(f"{type(one).__name__} {one.ticket} of {one.symbol}" for one in self._ours())

    def _end(self, one: Any) -> None:
        if hasattr(one, "identifier"):
            self.send(self.closing(one.ticket, one.type, one.volume))
        else:
            self.send({"action": mt5.TRADE_ACTION_REMOVE, "order": one.ticket})

    def _all(self) -> list[Any]:
        held = self.need("positions_get", symbol=self.symbol)
        return [*held, *self.need("orders_get", symbol=self.symbol)]

    def _ours(self) -> list[Any]:
        before = self._before or frozenset()
        return [one for one in self._all() if one.magic == MAGIC and one.ticket not in before]
