"""Orders whose end is not known: search the terminal until it is, or presume them absent.

An order is never sent again on a guess. What was sent is recognised by its order's ticket where the
answer gave one, else by magic, symbol, side, volume and time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.engine.standing import Standing
from bridge.journal.read import JournalReader, Row
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal, TradeOrder
from bridge.mt5.request import Purpose
from bridge.mt5.retcodes import Outcome
from bridge.mt5.servertime import DAY
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import timeframe
from bridge.trade.reconcile import find_deal

ABSENT = "never reached the terminal"
"""What is said of an order that is certainly not out."""
# Server time is within 14 hours of UTC, and this computer's clock may be late.
_SEARCH_AHEAD = 2 * DAY
_FOUND = "found: deal #"
# How an order ends without a deal.
_ENDED = {
    mt5.ORDER_STATE_CANCELED: "canceled",
    mt5.ORDER_STATE_REJECTED: "rejected",
    mt5.ORDER_STATE_EXPIRED: "expired",
}


@dataclass(frozen=True, slots=True)
class Search:
    """How long an order is searched for.

    Attributes:
        seconds: From its sending, by the run's clock, until it is presumed absent.
        is_certain: Whether an order that is not there is certainly not out: such a terminal lives
            in this process, and died with it.
    """

    seconds: float = 30.0
    is_certain: bool = False


class Settler:
    """Settles one strategy's orders.

    Args:
        terminal: Searched.
        journal: Where findings are written.
        past: The same journal, to read.
        standing: Of the strategy.
        symbol: Of the strategy.
        check: Raises ``TerminalError`` where the terminal shows another account.
    """

    def __init__(
        self,
        terminal: Terminal,
        journal: Journal,
        past: JournalReader,
        standing: Standing,
        symbol: str,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._terminal = terminal
        self._journal = journal
        self._past = past
        self._standing = standing
        self._symbol = symbol
        self._check = check

    def settle(self, utc_now: float, search: Search) -> int:
        """Search once for each open order, and return how many are still open.

        Args:
            utc_now: By the run's clock.
            search: How long to go on.

        Raises:
            TerminalError: The terminal does not answer.
        """
        opened = self._past.open_intents(self._standing.magic, self._symbol)
        if opened:
            self._check()  # another account shows no orders, either
        left = sum(not self._settle(intent, utc_now, search) for intent in opened)
        if not left:
            self._standing.settled()
            if any(intent["result"] is not None for intent in opened):
                self._tell("resolved", "every order's end is known")
        return left

    def _settle(self, intent: Row, utc_now: float, search: Search) -> bool:
        """Return whether the end of an intent is known now."""
        number, ticket = intent["id"], _order_of(intent)
        deal = self._deal(intent, ticket, utc_now)
        order = self._order(ticket, int(intent["at_utc"]), utc_now)
        if deal is not None:
            self._note(intent, deal)
            self._journal.result(number, Outcome.DONE, f"{_FOUND}{deal.ticket}", None)
        elif order is not None and order.state in _ENDED:
            self._standing.awaited.discard(order.ticket)
            words = f"order #{order.ticket} was {_ENDED[order.state]} later: {order.comment}"
            self._journal.result(number, Outcome.REJECTED, words, None)
        elif search.is_certain and intent["result"] is None:
            self._journal.result(number, Outcome.REJECTED, ABSENT, None)
        elif order is None and utc_now - intent["at_utc"] >= search.seconds:
            self._standing.awaited.discard(ticket)
            self._standing.sent.discard(ticket)
            words = "the terminal does not show the order: presumed absent"
            self._journal.result(number, Outcome.ABSENT, words, None)
            self._tell("absent", f"{words}; should it show up later, it is taken over")
        else:
            return False
        return True

    def _note(self, intent: Row, deal: TradeDeal) -> None:
        """Remember what an answer would have told."""
        standing = self._standing
        standing.sent |= {deal.order, deal.position_id}
        standing.awaited.discard(deal.order)
        if deal.ticket > standing.last_deal:
            standing.unread.add(deal.ticket)
        if intent["purpose"] == Purpose.ENTRY:
            standing.stops[deal.position_id] = intent["request"].get("sl", 0.0)

    def _deal(self, intent: Row, ticket: int, utc_now: float) -> TradeDeal | None:
        since = self._since(intent)
        deals = self._terminal.history_deals_get(since, int(utc_now) + _SEARCH_AHEAD)
        if ticket:
            return next((deal for deal in deals if deal.order == ticket), None)
        known = known_deals(self._past, intent["at_utc"] - 2 * DAY)
        return find_deal(intent["request"], deals, known=known, since=since)

    def _since(self, intent: Row) -> int:
        """Return the server time before which an intent can't have become a deal."""
        for decision in self._past.rows("decisions", "id = ?", intent["decision"]):
            return timeframe(decision["timeframe"]).next_open(decision["bar_time"])
        return int(intent["at_utc"]) - DAY  # server time is within 14 hours of UTC

    def _order(self, ticket: int, sent: int, utc_now: float) -> TradeOrder | None:
        if not ticket:
            return None
        waiting = self._terminal.orders_get(self._symbol)
        done = self._terminal.history_orders_get(sent - DAY, int(utc_now) + _SEARCH_AHEAD)
        return next((order for order in (*waiting, *done) if order.ticket == ticket), None)

    def _tell(self, kind: str, text: str) -> None:
        self._journal.event(kind, text, self._standing.magic)


def _order_of(intent: Row) -> int:
    """Return the ticket that the answer so far gave, or 0."""
    result = intent["result"]
    return int(result["answer"]["order"]) if result and result["answer"] else 0


def known_deals(reader: JournalReader, since: float) -> set[int]:
    """Return the tickets of the deals that results since ``since`` (run's UTC) name."""
    return {deal_of(result) for result in reader.rows("results", "at_utc >= ?", since)}


def deal_of(result: Mapping[str, Any]) -> int:
    """Return the ticket of the deal that a result names, or 0."""
    if result["answer"] is not None:
        return int(result["answer"]["deal"])
    found = result["words"].startswith(_FOUND)
    return int(result["words"].removeprefix(_FOUND)) if found else 0
