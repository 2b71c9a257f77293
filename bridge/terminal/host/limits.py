"""How long each verb of the package may take before its process is given up."""

from typing import Annotated, Self

from pydantic import Field

from bridge.settings import Frozen

Seconds = Annotated[float, Field(gt=0, le=900, allow_inf_nan=False)]

SPARE_S = 10.0
"""The package's own wait for the broker ends so long before the limit of its process does."""


class Limits(Frozen):
    """Limits of an answer, real seconds."""

    start: Seconds = 60.0
    """Starting the interpreter and importing the package; slow under Wine."""
    connect: Seconds = 70.0
    """initialize and login, which wait for the broker up to ten seconds less."""
    state: Seconds = 5.0
    """What the terminal has at hand: account, symbols, ticks, positions, orders, calculations."""
    history: Seconds = 10.0
    """Bars, ticks, deals, orders of the past, lists of all symbols, and order_check."""
    send: Seconds = 30.0
    """order_send; afterwards nobody knows what became of the order."""
    stop: Seconds = 2.0
    """shutdown, and the end of the process after it."""

    @classmethod
    def within(cls, longest: float) -> Self:
        """Return the usual limits, none longer than ``longest`` seconds of waiting.

        Only connecting gets all of it, and the process the spare seconds more.
        """
        usual = cls()
        shorter = {name: min(getattr(usual, name), longest) for name in _CALLS}
        return cls(connect=longest + SPARE_S, **shorter)

    def of(self, verb: str) -> float:
        """Return the limit of ``verb``, seconds."""
        limit: float = getattr(self, VERBS[verb])
        return limit


_CALLS = ("state", "history", "send")

VERBS = {
    "initialize": "connect",
    "login": "connect",
    "shutdown": "stop",
    "version": "state",
    "terminal_info": "state",
    "account_info": "state",
    "symbols_total": "state",
    "symbols_get": "history",
    "symbol_info": "state",
    "symbol_info_tick": "state",
    "symbol_select": "state",
    "market_book_add": "state",
    "market_book_get": "state",
    "market_book_release": "state",
    "copy_rates_from": "history",
    "copy_rates_from_pos": "history",
    "copy_rates_range": "history",
    "copy_ticks_from": "history",
    "copy_ticks_range": "history",
    "orders_total": "state",
    "orders_get": "state",
    "positions_total": "state",
    "positions_get": "state",
    "history_orders_total": "history",
    "history_orders_get": "history",
    "history_deals_total": "history",
    "history_deals_get": "history",
    "order_calc_margin": "state",
    "order_calc_profit": "state",
    "order_check": "history",
    "order_send": "send",
}
"""Verb of the package -> field of :class:`Limits`."""
