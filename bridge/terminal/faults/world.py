"""The terminal as faults have left it: what is hidden, what only waits, what was forgotten.

A fault meets a call and is gone; what it changes for the calls after it is kept here. Nothing of it
is in the terminal inside, whose own state changes only through what is sent to it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bridge.clock import Clock
from bridge.errors import TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import (
    OrderSendResult,
    Record,
    SymbolInfo,
    Tick,
    TradeDeal,
    TradeOrder,
    TradePosition,
    TradeRequest,
)
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import ServerClock
from bridge.mt5.terminal import Terminal

# Tickets of orders that only this module knows: above any that a server gives in a test.
_FIRST_TICKET = 9_000_000_000
# The end of any history.
_NEVER = 2**31 - 1
_RecordT = TypeVar("_RecordT", bound=Record)


def changed(record: _RecordT, **fields: Any) -> _RecordT:
    """Return ``record`` with other values in some fields."""
    return type(record)({**record._asdict(), **fields}.values())


def filled(kind: type[_RecordT], fields: dict[str, Any]) -> _RecordT:
    """Return a record whose fields not given are 0, 0.0 or empty."""
    return kind(fields.get(name, of()) for name, of in kind.__annotations__.items())


@dataclass(frozen=True, slots=True)
class Hiding:
    """Deals that do not show, nor what they did to positions and orders.

    Attributes:
        until: Number of the last call for which it holds.
        after_ticket: Deals with a higher ticket are hidden.
        after_msc: What happened later is hidden, server epoch milliseconds.
    """

    until: int
    after_ticket: float = math.inf
    after_msc: float = math.inf

    def hides(self, deal: TradeDeal) -> bool:
        """Whether a deal does not show."""
        return deal.ticket > self.after_ticket or deal.time_msc > self.after_msc


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order that was answered 10008.

    Attributes:
        order: As it waits.
        until: Number of the last call that sees it waiting.
        is_rejected: Whether the history shows it afterwards; what is done shows by itself.
    """

    order: TradeOrder
    until: int
    is_rejected: bool


class World:
    """A terminal, and what faults have made of it.

    Args:
        inner: The terminal itself.
        clock: Waited on.
        server: Makes server time of it.

    Attributes:
        number: Of the present call, counted from 1.
        ticks: The last tick that the caller has seen of each symbol.
        newest: Open of the newest bar that the caller has seen, by symbol and timeframe.
        selected: Symbols in Market Watch since a restart; None before one.
    """

    def __init__(self, inner: Terminal, clock: Clock, server: ServerClock) -> None:
        self.inner = inner
        self.clock = clock
        self.server = server
        self.number = 0
        self.ticks: dict[str, Tick] = {}
        self.newest: dict[tuple[str, int], int] = {}
        self.selected: set[str] | None = None
        self._hidings: list[Hiding] = []
        self._waiting: list[Waiting] = []
        self._held: dict[int, TradePosition] = {}

    def begin(self) -> None:
        """Begin the next call; what has lasted long enough is over."""
        self.number += 1
        self._hidings = [each for each in self._hidings if self.number <= each.until]

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.wait_until(self.clock.now() + seconds)

    def server_msc(self) -> int:
        """Return server time, epoch milliseconds."""
        return int(self.server.from_utc(self.clock.now()) * 1_000 + 1e-3)

    # What the caller sees

    def answer(self, verb: str, args: Sequence[Any]) -> Any:
        """Return what the terminal answers, as it shows after the faults so far.

        Raises:
            TerminalError: It does not answer.
        """
        view = _VIEWS.get(verb)
        return getattr(self.inner, verb)(*args) if view is None else view(self, *args)

    def note(self, verb: str, args: Sequence[Any], answer: Any) -> None:
        """Remember what the caller has seen."""
        if verb == "symbol_info_tick":
            self.ticks[args[0]] = answer
        elif verb == "positions_get":
            self._held.update({each.identifier: each for each in answer})
        elif verb == "copy_rates_from_pos" and args[2] == 0 and len(answer):
            series, newest = (args[0], args[1]), int(answer["time"][-1])
            self.newest[series] = max(newest, self.newest.get(series, newest))

    # What faults do

    def hide(self, hiding: Hiding) -> None:
        """Hide deals from now on."""
        self._hidings.append(hiding)

    def last_deal(self) -> int:
        """Return the ticket of the newest deal, and remember the positions of before."""
        self._held.update({each.identifier: each for each in self.inner.positions_get()})
        deals = self.inner.history_deals_get(0, _NEVER)
        return max((deal.ticket for deal in deals), default=0)

    def put_off(
        self, request: RequestDict, *, calls: int, ticket: int | None = None
    ) -> OrderSendResult:
        """Let an order wait for some calls, and return the answer 10008.

        Args:
            request: What was sent.
            calls: For how many calls.
            ticket: Of the order that is done; None for one that will be rejected.
        """
        number = _FIRST_TICKET + self.number if ticket is None else ticket
        until = self.number + calls
        self._waiting.append(Waiting(self._order(request, number), until, ticket is None))
        volume = float(request.get("volume", 0.0))
        return self.result(request, mt5.TRADE_RETCODE_PLACED, order=number, volume=volume)

    def result(
        self, request: RequestDict, code: int, *, order: int = 0, volume: float = 0.0
    ) -> OrderSendResult:
        """Return an answer of the server with the current quote."""
        bid, ask = self._quote(str(request.get("symbol", "")))
        sent = filled(TradeRequest, request)
        return OrderSendResult((code, 0, order, volume, 0.0, bid, ask, "", 0, 0, sent))

    def newer(self, symbol: str, timeframe: int, time: int) -> int:
        """Return how many bars the terminal has that opened after ``time``."""
        count = 8
        while True:
            rates = self.inner.copy_rates_from_pos(symbol, timeframe, 0, count)
            newer = int((rates["time"] > time).sum())
            if newer < len(rates) or len(rates) < count:
                return newer
            count *= 8

    def _quote(self, symbol: str) -> tuple[float, float]:
        try:
            tick = self.inner.symbol_info_tick(symbol)
        except TerminalError:  # a request that names no symbol
            return 0.0, 0.0
        return tick.bid, tick.ask

    def _order(self, request: RequestDict, ticket: int) -> TradeOrder:
        now, volume = self.server_msc(), request.get("volume", 0.0)
        bid, ask = self._quote(str(request.get("symbol", "")))
        given = {name: request[name] for name in TradeOrder.__annotations__ if name in request}
        return filled(
            TradeOrder,
            {
                **given,
                "ticket": ticket,
                "time_setup": now // 1_000,
                "time_setup_msc": now,
                "state": mt5.ORDER_STATE_PLACED,
                "reason": mt5.ORDER_REASON_EXPERT,
                "position_id": request.get("position", 0),
                "volume_initial": volume,
                "volume_current": volume,
                "price_open": request.get("price", 0.0),
                "price_current": bid if request.get("type") == mt5.ORDER_TYPE_SELL else ask,
            },
        )

    # Views

    def _symbol(self, symbol: str) -> SymbolInfo:
        return self._shown(self.inner.symbol_info(symbol))

    def _symbols(self) -> tuple[SymbolInfo, ...]:
        return tuple(self._shown(each) for each in self.inner.symbols_get())

    def _shown(self, info: SymbolInfo) -> SymbolInfo:
        if self._is_watched(info.name):
            return info
        return changed(info, select=False, visible=False, bid=0.0, ask=0.0)

    def _is_watched(self, symbol: str) -> bool:
        return self.selected is None or symbol in self.selected

    def _select(self, symbol: str) -> None:
        self.inner.symbol_select(symbol)
        if self.selected is not None:
            self.selected.add(symbol)

    def _tick(self, symbol: str) -> Tick:
        if not self._is_watched(symbol):
            raise TerminalError("symbol_info_tick", mt5.RES_E_NOT_FOUND, "Terminal: Not found")
        return self.inner.symbol_info_tick(symbol)

    def _hidden(self) -> tuple[TradeDeal, ...]:
        if not self._hidings:
            return ()
        return tuple(d for d in self.inner.history_deals_get(0, _NEVER) if self._hides(d))

    def _hides(self, deal: TradeDeal) -> bool:
        return any(hiding.hides(deal) for hiding in self._hidings)

    def _is_late(self, time_msc: int) -> bool:
        return any(time_msc > hiding.after_msc for hiding in self._hidings)

    def _positions(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        if not self._hidings:
            return self.inner.positions_get(symbol)
        moved = {deal.position_id for deal in self._hidden()}
        kept = [each for each in self.inner.positions_get() if each.identifier not in moved]
        before = [self._held[number] for number in moved if number in self._held]
        kept += [each for each in before if not self._is_late(each.time_msc)]
        kept.sort(key=lambda each: each.ticket)
        return tuple(each for each in kept if symbol in (None, each.symbol))

    def _orders(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        waiting = [each.order for each in self._waiting if self.number <= each.until]
        shown = [each for each in waiting if symbol in (None, each.symbol)]
        return (*self.inner.orders_get(symbol), *shown)

    def _past_orders(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        hidden = {deal.order for deal in self._hidden()}
        known = [
            order
            for order in self.inner.history_orders_get(date_from, date_to)
            if order.ticket not in hidden and not self._is_late(order.time_done_msc)
        ]
        failed = [_rejected(each.order) for each in self._waiting if self._has_failed(each)]
        return (*known, *(each for each in failed if date_from <= each.time_done <= date_to))

    def _has_failed(self, waiting: Waiting) -> bool:
        return waiting.is_rejected and self.number > waiting.until

    def _past_deals(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        deals = self.inner.history_deals_get(date_from, date_to)
        return tuple(d for d in deals if not self._hides(d)) if self._hidings else deals


def _rejected(order: TradeOrder) -> TradeOrder:
    """Return what became of a waiting order that the server refused, at the time it was sent."""
    return changed(
        order,
        state=mt5.ORDER_STATE_REJECTED,
        time_done=order.time_setup,
        time_done_msc=order.time_setup_msc,
    )


_VIEWS: dict[str, Callable[..., Any]] = {
    "symbol_info": World._symbol,
    "symbols_get": World._symbols,
    "symbol_select": World._select,
    "symbol_info_tick": World._tick,
    "positions_get": World._positions,
    "orders_get": World._orders,
    "history_orders_get": World._past_orders,
    "history_deals_get": World._past_deals,
}
