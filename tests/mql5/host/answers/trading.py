"""Orders, positions and history, from the paper terminal."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeOrder, TradePosition
from bridge.mt5.request import clip_comment
from mql5.host.desktop import Desktop
from mql5.host.library import Refusal, Told
from mql5.host.prelude import properties

_TRADE_DISABLED = 4752
_NO_POSITION = 4753
_NO_ORDER = 4754
_NO_DEAL = 4755
_SEND_FAILED = 4756
_FIELDS = properties()
_REQUEST = [
    "action",
    "magic",
    "order",
    "symbol",
    "volume",
    "price",
    "stoplimit",
    "sl",
    "tp",
    "deviation",
    "type",
    "type_filling",
    "type_time",
    "expiration",
    "comment",
    "position",
    "position_by",
]
_ALWAYS = frozenset(("action", "type", "type_filling", "type_time"))
_TAKEN = (
    mt5.TRADE_RETCODE_PLACED,
    mt5.TRADE_RETCODE_DONE,
    mt5.TRADE_RETCODE_DONE_PARTIAL,
)


@dataclass(frozen=True, slots=True)
class Sent:
    """An order that a program sent, and what came of it."""

    time: int
    request: dict[str, Any]
    retcode: int


class Trading:
    """The trade functions of one program; its selections are its own."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._position: TradePosition | None = None
        self._order: TradeOrder | None = None
        self._deals: dict[int, Any] = {}
        self._orders: dict[int, Any] = {}
        self.sent: list[Sent] = []

    # Requests

    def _request(self, values: tuple[Any, ...]) -> dict[str, Any]:
        given = dict(zip(_REQUEST, values, strict=True))
        given["comment"] = clip_comment(given["comment"])
        return {name: value for name, value in given.items() if value or name in _ALWAYS}

    def order_send(self, *values: Any) -> Told:
        if not self._desktop.may_trade:
            raise Refusal(_TRADE_DISABLED)
        request = self._request(values)
        result = self._desktop.paper.order_send(request)
        self._desktop.changed()
        if result is None:
            code, text = self._desktop.paper.last_error()
            self._note(request, mt5.TRADE_RETCODE_INVALID)
            numbers = np.array([mt5.TRADE_RETCODE_INVALID] + [0] * 8, dtype=np.float64)
            return Told(0, f"{text} ({code})", numbers, _SEND_FAILED)
        self._note(request, result.retcode)
        numbers = np.array([*result[:7], *result[8:10]], dtype=np.float64)
        is_taken = result.retcode in _TAKEN
        return Told(int(is_taken), result.comment, numbers, 0 if is_taken else _SEND_FAILED)

    def _note(self, request: dict[str, Any], retcode: int) -> None:
        self.sent.append(Sent(self._desktop.server_now(), request, retcode))

    def order_check(self, *values: Any) -> Told:
        result = self._desktop.paper.order_check(self._request(values))
        if result is None:
            code, text = self._desktop.paper.last_error()
            numbers = np.array([mt5.TRADE_RETCODE_INVALID] + [0] * 6, dtype=np.float64)
            return Told(0, f"{text} ({code})", numbers)
        numbers = np.array(result[:7], dtype=np.float64)
        return Told(int(result.retcode == 0), result.comment, numbers)

    def order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        margin = self._desktop.read("order_calc_margin", action, symbol, volume, price)
        if margin is None:
            raise Refusal(_SEND_FAILED)
        return float(margin)

    def order_calc_profit(
        self, action: int, symbol: str, volume: float, opened: float, closed: float
    ) -> float:
        profit = self._desktop.read("order_calc_profit", action, symbol, volume, opened, closed)
        if profit is None:
            raise Refusal(_SEND_FAILED)
        return float(profit)

    # Positions

    def positions_total(self) -> int:
        return len(self._desktop.read("positions_get"))

    def position_get_ticket(self, index: int) -> int:
        held = self._desktop.read("positions_get")
        if not 0 <= index < len(held):
            raise Refusal(_NO_POSITION)
        self._position = held[index]
        return int(held[index].ticket)

    def position_get_symbol(self, index: int) -> str:
        self.position_get_ticket(index)
        return self.position_get_string(0)

    def position_select(self, symbol: str) -> bool:
        held = self._desktop.read("positions_get", symbol=symbol)
        if not held:
            raise Refusal(_NO_POSITION)
        self._position = min(held, key=lambda one: one.ticket)
        return True

    def position_select_by_ticket(self, ticket: int) -> bool:
        held = self._desktop.read("positions_get", ticket=ticket)
        if not held:
            raise Refusal(_NO_POSITION)
        self._position = held[0]
        return True

    def _held(self, kind: str, which: int) -> Any:
        if self._position is None:
            raise Refusal(_NO_POSITION)
        return getattr(self._position, _FIELDS[f"ENUM_POSITION_PROPERTY_{kind}"][which])

    def position_get_double(self, which: int) -> float:
        return float(self._held("DOUBLE", which))

    def position_get_integer(self, which: int) -> int:
        return int(self._held("INTEGER", which))

    def position_get_string(self, which: int) -> str:
        return str(self._held("STRING", which))

    # Waiting orders

    def orders_total(self) -> int:
        return len(self._desktop.read("orders_get"))

    def order_get_ticket(self, index: int) -> int:
        waiting = self._desktop.read("orders_get")
        if not 0 <= index < len(waiting):
            raise Refusal(_NO_ORDER)
        self._order = waiting[index]
        return int(waiting[index].ticket)

    def order_select(self, ticket: int) -> bool:
        waiting = self._desktop.read("orders_get", ticket=ticket)
        if not waiting:
            raise Refusal(_NO_ORDER)
        self._order = waiting[0]
        return True

    def _waiting(self, kind: str, which: int) -> Any:
        if self._order is None:
            raise Refusal(_NO_ORDER)
        return getattr(self._order, _FIELDS[f"ENUM_ORDER_PROPERTY_{kind}"][which])

    def order_get_double(self, which: int) -> float:
        return float(self._waiting("DOUBLE", which))

    def order_get_integer(self, which: int) -> int:
        return int(self._waiting("INTEGER", which))

    def order_get_string(self, which: int) -> str:
        return str(self._waiting("STRING", which))

    # History

    def history_select(self, begin: int, end: int) -> bool:
        self._take(
            self._desktop.read("history_deals_get", begin, end),
            self._desktop.read("history_orders_get", begin, end),
        )
        return True

    def history_select_by_position(self, position: int) -> bool:
        self._take(
            self._desktop.read("history_deals_get", position=position),
            self._desktop.read("history_orders_get", position=position),
        )
        return True

    def _take(self, deals: Any, orders: Any) -> None:
        self._deals = {one.ticket: one for one in deals or ()}
        self._orders = {one.ticket: one for one in orders or ()}

    def history_deals_total(self) -> int:
        return len(self._deals)

    def history_orders_total(self) -> int:
        return len(self._orders)

    def history_deal_get_ticket(self, index: int) -> int:
        return _ticket_at(self._deals, index, _NO_DEAL)

    def history_order_get_ticket(self, index: int) -> int:
        return _ticket_at(self._orders, index, _NO_ORDER)

    def history_deal_select(self, ticket: int) -> bool:
        found = self._desktop.read("history_deals_get", ticket=ticket)
        self._deals = {one.ticket: one for one in found or ()}
        return bool(found)

    def history_order_select(self, ticket: int) -> bool:
        found = self._desktop.read("history_orders_get", ticket=ticket)
        self._orders = {one.ticket: one for one in found or ()}
        return bool(found)

    def _deal(self, ticket: int, kind: str, which: int) -> Any:
        if ticket not in self._deals:
            raise Refusal(_NO_DEAL)
        return getattr(self._deals[ticket], _FIELDS[f"ENUM_DEAL_PROPERTY_{kind}"][which])

    def history_deal_get_double(self, ticket: int, which: int) -> float:
        return float(self._deal(ticket, "DOUBLE", which))

    def history_deal_get_integer(self, ticket: int, which: int) -> int:
        return int(self._deal(ticket, "INTEGER", which))

    def history_deal_get_string(self, ticket: int, which: int) -> str:
        return str(self._deal(ticket, "STRING", which))

    def _done(self, ticket: int, kind: str, which: int) -> Any:
        if ticket not in self._orders:
            raise Refusal(_NO_ORDER)
        return getattr(self._orders[ticket], _FIELDS[f"ENUM_ORDER_PROPERTY_{kind}"][which])

    def history_order_get_double(self, ticket: int, which: int) -> float:
        return float(self._done(ticket, "DOUBLE", which))

    def history_order_get_integer(self, ticket: int, which: int) -> int:
        return int(self._done(ticket, "INTEGER", which))

    def history_order_get_string(self, ticket: int, which: int) -> str:
        return str(self._done(ticket, "STRING", which))


def _ticket_at(records: dict[int, Any], index: int, code: int) -> int:
    tickets = list(records)
    if not 0 <= index < len(tickets):
        raise Refusal(code)
    return int(tickets[index])
