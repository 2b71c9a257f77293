"""The ``Terminal`` that fails as its schedule says."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

from bridge.clock import Clock
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
from bridge.mt5.servertime import ServerClock, server_clock
from bridge.mt5.terminal import Terminal
from bridge.terminal.faults.effects import EFFECTS, Meeting
from bridge.terminal.faults.schedule import Fault, Schedule
from bridge.terminal.faults.world import World


@dataclass(frozen=True, slots=True)
class Fired:
    """A fault that changed a call.

    Attributes:
        call: Number of the call among those of all verbs, from 1.
    """

    call: int
    verb: str
    fault: Fault

    def __str__(self) -> str:
        """Say what happened, such as ``call 12, order_send: null after``."""
        return f"call {self.call}, {self.verb}: {self.fault}"


class _Armed:
    """A fault on the look-out for its calls."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._verbs = frozenset(fault.verbs)
        self._counted = 0
        self._began = 0
        self.has_met = False

    def meets(self, number: int, verb: str) -> bool:
        """Whether the call with this number is one that it changes; each call is shown once."""
        fault = self.fault
        if number <= fault.since:
            return False
        is_counted = verb in self._verbs
        self._counted += is_counted
        if is_counted and self._counted == fault.call:
            self._began = number
        if not self._began:
            return False
        if fault.terms.is_state:
            return verb in fault.terms.verbs and number < self._began + fault.count
        return is_counted and self._counted < fault.call + fault.count


class FaultyTerminal:
    """Any terminal, with faults; it keeps the contract of ``Terminal``, and so do the faults.

    The same schedule and the same calls give the same faults. One thread at a time may call.

    Args:
        inner: The terminal that does the work.
        schedule: What goes wrong; an empty one leaves every answer as it is.
        clock: Waited on where a call takes time; the clock of ``inner``.
        server: The broker's clock rule, to tell what is recent.
    """

    def __init__(
        self,
        inner: Terminal,
        schedule: Schedule,
        clock: Clock,
        *,
        server: ServerClock | None = None,
    ) -> None:
        self.schedule = schedule
        self._world = World(inner, clock, server or server_clock("utc"))
        self._armed = [_Armed(fault) for fault in schedule.faults]
        self._fired: list[Fired] = []
        self._calls: Counter[str] = Counter()

    @property
    def fired(self) -> tuple[Fired, ...]:
        """What really went wrong so far; of several faults at one call the innermost first."""
        return tuple(self._fired)

    @property
    def calls(self) -> Mapping[str, int]:
        """How often each verb was called."""
        return dict(self._calls)

    def over(self, inner: Terminal, clock: Clock) -> Self:
        """Go on over another object: the same account, opened again after a crash.

        Counts, lasting faults and waiting orders stay: a caller that died does not change them.
        """
        self._world.inner, self._world.clock = inner, clock
        return self

    def _call(self, verb: str, *args: Any) -> Any:
        world = self._world
        world.begin()
        self._calls[verb] += 1
        # All of them count the call, also those that an earlier one keeps from it.
        met = [armed for armed in self._armed if armed.meets(world.number, verb)]
        ask: Callable[..., Any] = partial(self._ask, verb)
        for armed in reversed(met):
            ask = partial(self._meet, armed, verb, ask)
        answer = ask(*args)
        world.note(verb, args, answer)
        return answer

    def _ask(self, verb: str, *args: Any) -> Any:
        return self._world.answer(verb, args)

    def _meet(self, armed: _Armed, verb: str, go_on: Callable[..., Any], *args: Any) -> Any:
        number, fault = self._world.number, armed.fault
        at = Meeting(self._world, fault, verb, args, go_on, is_first=not armed.has_met)
        armed.has_met = True
        try:
            return EFFECTS[fault.kind](at)
        finally:
            if at.is_felt:
                self._fired.append(Fired(number, verb, fault))

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
        return cast(
            float, self._call("order_calc_profit", action, symbol, volume, price_open, price_close)
        )

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        """Return the margin of a deal on its own, account currency."""
        return cast(float, self._call("order_calc_margin", action, symbol, volume, price))

    def order_check(self, request: RequestDict) -> OrderCheckResult:
        """Return what the terminal thinks of ``request`` without sending it."""
        return cast(OrderCheckResult, self._call("order_check", request))

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once; None means that nobody knows what became of it.

        Raises:
            TerminalError: Nothing was sent, for certain.
            Crash: The schedule ends the process here.
        """
        return cast(OrderSendResult | None, self._call("order_send", request))
