"""What the account owns and what happened to it: positions, orders, deals, balance, tickets.

The balance changes through deals alone. :meth:`Ledger.commit` writes what has changed since the
last one, in one transaction.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal, TradeOrder
from bridge.terminal.paper.order import Order
from bridge.terminal.paper.store import Store

# Apart on purpose: a program that takes a deal's ticket for a position's finds nothing.
FIRST_ORDER = 5_000_001
FIRST_DEAL = 7_000_001
_VOLUME_DIGITS = 8
_PRICE_DIGITS = 8
# Bars whose worst equity is remembered: more than end between two looks at the account.
_LOWS = 32


def volume_of(value: float) -> float:
    """Return lots without the noise of adding and subtracting them."""
    return round(value, _VOLUME_DIGITS) if value else value


@dataclass(slots=True)
class Position:
    """An open position; the one value here that changes.

    Attributes:
        ticket: Changes when a netting position is reversed; ``identifier`` never does.
        type: 0 buy, 1 sell.
        swap: Account currency, charged so far.
        margin_per_lot: Account currency, at the prices of its opening.
    """

    ticket: int
    identifier: int
    symbol: str
    type: int
    volume: float
    price_open: float
    sl: float
    tp: float
    time_msc: int
    time_update_msc: int
    magic: int
    reason: int
    comment: str
    swap: float
    margin_per_lot: float

    @property
    def sign(self) -> int:
        """+1 for a buy, -1 for a sell."""
        return -1 if self.type else 1

    def add(self, volume: float, price: float, margin_per_lot: float) -> None:
        """Grow: open price and margin become weighted means."""
        total = volume_of(self.volume + volume)
        cost = self.volume * self.price_open + volume * price
        margin = self.volume * self.margin_per_lot + volume * margin_per_lot
        self.price_open = round(cost / total, _PRICE_DIGITS)
        self.margin_per_lot = margin / total
        self.volume = total


class Ledger:
    """The account's books.

    Attributes:
        positions: Ticket -> position, in order of ticket.
        waiting: Ticket -> order that is not done, in order of ticket.
        orders: History, in order of the time at which they were done.
        balance: Account currency.
        revision: Counts the changes of positions and waiting orders.
        changes: Counts all changes.
        lows: Server time and equity (account currency) at the worst price of the last bars that
            positions went through, oldest first.
    """

    def __init__(self, store: Store, digits: int) -> None:
        self._store = store
        self._digits = digits
        state = store.load()
        self.positions = {row["ticket"]: Position(**row) for row in state.positions}
        self.waiting = {row["ticket"]: Order(**row) for row in state.waiting}
        self.orders = [TradeOrder(row) for row in state.orders]
        self.deals = [TradeDeal(row) for row in state.deals]
        self._order_times: list[int] = [order.time_done for order in self.orders]
        self._deal_times: list[int] = [deal.time for deal in self.deals]
        meta = state.meta
        self.balance: float = meta.get("balance", 0.0)
        self.now: float = meta.get("now", 0.0)
        self._order: int = meta.get("order", FIRST_ORDER)
        self._deal: int = meta.get("deal", FIRST_DEAL)
        self._request: int = meta.get("request", 0)
        lows = ((time, low) for time, low in meta.get("lows", ()))
        self.lows: deque[tuple[float, float]] = deque(lows, maxlen=_LOWS)
        self.revision = 0
        self.changes = self._committed = 0
        self._touched: set[int] = set()
        self._touched_orders: set[int] = set()
        self._written = (len(self.orders), len(self.deals))

    def next_order(self) -> int:
        """Return a new order ticket."""
        self._order += 1
        return self._order - 1

    def next_request(self) -> int:
        """Return a new request number."""
        self._request += 1
        self.changes += 1
        return self._request

    def deposit(self, amount: float, time_msc: int) -> None:
        """Put money on the account: a deal of type balance."""
        self.deal(
            time_msc, type=mt5.DEAL_TYPE_BALANCE, profit=amount, reason=mt5.DEAL_REASON_CLIENT
        )

    def deal(
        self,
        time_msc: int,
        *,
        order: int = 0,
        type: int = 0,
        entry: int = 0,
        magic: int = 0,
        position_id: int = 0,
        reason: int = 0,
        volume: float = 0.0,
        price: float = 0.0,
        commission: float = 0.0,
        swap: float = 0.0,
        profit: float = 0.0,
        fee: float = 0.0,
        symbol: str = "",
        comment: str = "",
    ) -> TradeDeal:
        """Book a deal, by the names of its fields. The balance follows."""
        ticket, time = self._deal, time_msc // 1000
        deal = TradeDeal(
            (
                ticket,
                order,
                time,
                time_msc,
                type,
                entry,
                magic,
                position_id,
                reason,
                volume,
                price,
                commission,
                swap,
                profit,
                fee,
                symbol,
                comment,
                "",
            )
        )
        self._deal = ticket + 1
        self.deals.append(deal)
        self._deal_times.append(time)
        self.balance = round(self.balance + profit + swap + commission + fee, self._digits)
        self.changes += 1
        return deal

    def place(self, order: Order) -> None:
        """Let an order wait, or note that a waiting one has changed."""
        self.waiting[order.ticket] = order
        self._note_order(order)

    def finish(self, order: Order, state: int, time_msc: int, price: float) -> None:
        """Move an order into the history; ``price`` is that of its fill, or the current one."""
        if self.waiting.pop(order.ticket, None) is not None:
            self._note_order(order)
        order.state = state
        self.orders.append(order.record(price, time_msc))
        self._order_times.append(time_msc // 1000)
        self.changes += 1

    def open(self, position: Position) -> None:
        """Add a position."""
        self.positions[position.ticket] = position
        if position.ticket < max(self.positions):  # of an order that has waited
            self.positions = dict(sorted(self.positions.items()))
        self.touch(position)

    def touch(self, position: Position) -> None:
        """Note that a position has changed."""
        self._touched.add(position.ticket)
        self.revision += 1
        self.changes += 1

    def close(self, position: Position) -> None:
        """Remove a position."""
        del self.positions[position.ticket]
        self.touch(position)

    def _note_order(self, order: Order) -> None:
        self._touched_orders.add(order.ticket)
        self.revision += 1
        self.changes += 1

    def orders_between(self, first: int, last: int) -> Sequence[TradeOrder]:
        """Return orders done from ``first`` to ``last``, server seconds, both included."""
        times = self._order_times
        return self.orders[bisect_left(times, first) : bisect_right(times, last)]

    def deals_between(self, first: int, last: int) -> Sequence[TradeDeal]:
        """Return deals from ``first`` to ``last``, server seconds, both included."""
        times = self._deal_times
        return self.deals[bisect_left(times, first) : bisect_right(times, last)]

    def commit(self, now: float) -> None:
        """Write what has changed, with the server time up to which it is true."""
        if self.changes == self._committed:
            return
        if self._store.is_kept:
            self._write(now)
        self.now = now
        self._touched.clear()
        self._touched_orders.clear()
        self._committed = self.changes

    def _write(self, now: float) -> None:
        self._store.write(
            now=now,
            balance=self.balance,
            numbers={"order": self._order, "deal": self._deal, "request": self._request},
            lows=list(self.lows),
            positions={ticket: self.positions.get(ticket) for ticket in self._touched},
            waiting={ticket: self.waiting.get(ticket) for ticket in self._touched_orders},
            orders=self.orders[self._written[0] :],
            deals=self.deals[self._written[1] :],
        )
        self._written = (len(self.orders), len(self.deals))

    def shut(self, now: float) -> None:
        """Write everything and release the file."""
        self.changes += 1
        self.commit(now)
        self._store.close()
