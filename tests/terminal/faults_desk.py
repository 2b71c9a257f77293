"""A paper terminal with a faulty one over it, and a call of each verb."""

from collections.abc import Callable
from typing import Any

import numpy as np
from terminal.paper_desk import H1, MONDAY, Play, profile, spec

from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.mt5.terminal import Terminal
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.faults.schedule import Fault, Schedule
from bridge.terminal.faults.terminal import FaultyTerminal

ROWS = "\n".join(
    f"{110_000 + 10 * n} {110_100 + 10 * n} {109_900 + 10 * n} {110_050 + 10 * n} 10"
    for n in range(12)
)
EVER = 2**31 - 1
# GBPUSD has no prices, and is not in Market Watch.
SYMBOLS = {"EURUSD": spec(), "GBPUSD": spec(currency_base="GBP", currency_margin="GBP")}
HEDGING = profile(SYMBOLS, margin_mode="hedging")
FIRST = 4  # the bar that is open when a test begins


class Desk:
    """A paper terminal with a faulty one over it, in the open of the fifth bar."""

    def __init__(self, *faults: Fault, schedule: Schedule | None = None) -> None:
        self.play = Play(ROWS, HEDGING, start=MONDAY + 3_600 * FIRST)
        self.paper, self.clock = self.play.terminal, self.play.clock
        self.true = ModuleTerminal(self.paper)
        self.faulty = FaultyTerminal(self.true, schedule or Schedule.of(*faults), self.clock)

    def buy(self, **fields: Any) -> OrderSendResult | None:
        return self.faulty.order_send(buying(**fields))

    def book(self) -> tuple[Any, ...]:
        """Return all that the account holds and has done, as it really is."""
        deals, orders = self.true.history_deals_get(0, EVER), self.true.history_orders_get(0, EVER)
        held = [(p.ticket, p.volume, p.sl, p.tp, p.comment) for p in self.true.positions_get()]
        return held, [o.ticket for o in self.true.orders_get()], len(deals), len(orders)

    def orders(self) -> list[Any]:
        """Return positions and waiting orders, as they really are."""
        return [*self.true.positions_get(), *self.true.orders_get()]


def buying(**fields: Any) -> RequestDict:
    usual: RequestDict = {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": "EURUSD",
        "volume": 0.1,
        "type": mt5.ORDER_TYPE_BUY,
        "magic": 7,
        "comment": "a signal",
    }
    return {**usual, **fields}


CALLS: dict[str, Callable[[Terminal], Any]] = {
    "terminal_info": lambda of: of.terminal_info(),
    "account_info": lambda of: of.account_info(),
    "symbols_get": lambda of: of.symbols_get(),
    "symbol_info": lambda of: of.symbol_info("EURUSD"),
    "symbol_select": lambda of: of.symbol_select("GBPUSD"),
    "symbol_info_tick": lambda of: of.symbol_info_tick("EURUSD"),
    "copy_rates_from_pos": lambda of: of.copy_rates_from_pos("EURUSD", H1.value, 0, 3),
    "positions_get": lambda of: of.positions_get(),
    "orders_get": lambda of: of.orders_get("EURUSD"),
    "history_orders_get": lambda of: of.history_orders_get(0, EVER),
    "history_deals_get": lambda of: of.history_deals_get(0, EVER),
    "order_calc_profit": lambda of: of.order_calc_profit(0, "EURUSD", 0.1, 1.1, 1.2),
    "order_calc_margin": lambda of: of.order_calc_margin(0, "EURUSD", 0.1, 1.1),
    "order_check": lambda of: of.order_check(buying()),
    "order_send": lambda of: of.order_send(buying(sl=1.05)),
}


def said(answer: Any) -> Any:
    """Return an answer as something that can be compared."""
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


LIMIT = {"action": mt5.TRADE_ACTION_PENDING, "type": mt5.ORDER_TYPE_BUY_LIMIT, "price": 1.09}
