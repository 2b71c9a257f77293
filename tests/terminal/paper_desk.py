"""A small broker for tests, and scenarios that can be read as text.

A scenario's bars are rows ``O H L C [spread]`` in points around a base price; its steps are what
is sent while the bar with that number is open.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bridge.clock import ManualClock
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.script import Entry
from bridge.terminal.paper.terminal import PaperTerminal

H1 = timeframe("H1")
MONDAY = parse("2024.01.08 00:00")
EURUSD = {
    "digits": 5,
    "trade_contract_size": 100_000.0,
    "trade_tick_size": 0.00001,
    "volume_min": 0.01,
    "volume_max": 50.0,
    "volume_step": 0.01,
    "currency_base": "EUR",
    "currency_profit": "USD",
    "currency_margin": "EUR",
}


def spec(**changes: Any) -> dict[str, Any]:
    """Return the EURUSD specification with changes."""
    return {**EURUSD, **changes}


def profile(symbols: Mapping[str, dict[str, Any]] | None = None, **account: Any) -> BrokerProfile:
    """Return a USD account of 10000 at 1:100 on UTC servers, without costs."""
    terms = {"currency": "USD", "deposit": 10_000.0, **account}
    return BrokerProfile.model_validate(
        {
            "name": "test",
            "server_clock": "utc",
            "account": terms,
            "symbols": dict(symbols or {"EURUSD": EURUSD}),
        }
    )


def bars(text: str, *, start: int = MONDAY, step: int = 3_600, scale: float = 1e-5) -> RatesArray:
    """Return bars of rows ``O H L C [spread]`` in points."""
    rows = []
    for number, line in enumerate(text.strip().splitlines()):
        o, high, low, c, *spread = (int(word) for word in line.split())
        prices = [round(points * scale, 5) for points in (o, high, low, c)]
        rows.append((start + number * step, *prices, 100, spread[0] if spread else 0, 0))
    return rates_of(rows)


class Play:
    """A paper terminal and its clock, moved by bars.

    Args:
        text: Rows of the first symbol.
        broker: Its profile.
        more: Rows of other symbols.
        account: File of the account.
        script: What the terminal is told to answer.
        prices: How the rows are played.
        frame: Timeframe of the rows.
    """

    def __init__(
        self,
        text: str | RatesArray,
        broker: BrokerProfile | None = None,
        *,
        more: Mapping[str, RatesArray] | None = None,
        account: Path | None = None,
        start: float = MONDAY,
        script: Path | Iterable[Entry] = (),
        prices: Prices = Prices.OHLC,
        frame: Timeframe = H1,
    ) -> None:
        broker = broker or profile()
        first = bars(text) if isinstance(text, str) else text
        self.symbol = next(iter(broker.symbols))
        series = {self.symbol: (frame, first)}
        series |= {name: (frame, rates) for name, rates in (more or {}).items()}
        self.clock = ManualClock(start)
        self.terminal = PaperTerminal(
            broker, series, self.clock, account, script=script, prices=prices
        )
        assert self.terminal.initialize()

    def bar(self, number: int) -> None:
        """Go to the open of a bar, 0 is the first."""
        self.clock.wait_until(MONDAY + 3_600 * number)

    def send(self, **fields: Any) -> Any:
        """Send a deal of 0.1 lots unless told otherwise, at the current price."""
        tick = self.terminal.symbol_info_tick(fields.get("symbol", self.symbol))
        side = fields.get("type", 0)
        usual = {
            "action": mt5.TRADE_ACTION_DEAL,
            "symbol": self.symbol,
            "volume": 0.1,
            "type": side,
            "price": (tick.bid if side else tick.ask) if tick else 0.0,
        }
        return self.terminal.order_send({**usual, **fields})

    def buy(self, **fields: Any) -> Any:
        """Buy at market."""
        return self.send(type=mt5.ORDER_TYPE_BUY, **fields)

    def sell(self, **fields: Any) -> Any:
        """Sell at market."""
        return self.send(type=mt5.ORDER_TYPE_SELL, **fields)

    def close(self, ticket: int, volume: float | None = None) -> Any:
        """Close a position, or a part of it."""
        held = self.terminal.positions_get(ticket=ticket)[0]
        return self.send(
            type=1 - held.type,
            symbol=held.symbol,
            position=ticket,
            volume=held.volume if volume is None else volume,
        )

    def protect(self, ticket: int, **levels: Any) -> Any:
        """Change the levels of a position."""
        request = {"action": mt5.TRADE_ACTION_SLTP, "position": ticket, **levels}
        return self.terminal.order_send(request)

    def place(self, kind: str, price: float, **fields: Any) -> Any:
        """Place a pending order of 0.1 lots, e.g. of kind "buy limit"."""
        request = {
            "action": mt5.TRADE_ACTION_PENDING,
            "symbol": self.symbol,
            "volume": 0.1,
            "type": KINDS.index(kind),
            "price": price,
            "type_filling": mt5.ORDER_FILLING_RETURN,
        }
        return self.terminal.order_send({**request, **fields})

    def modify(self, ticket: int, **fields: Any) -> Any:
        """Change a pending order; what is not named stays."""
        (order,) = self.terminal.orders_get(ticket=ticket)
        request = {
            "action": mt5.TRADE_ACTION_MODIFY,
            "order": ticket,
            "price": order.price_open,
            "sl": order.sl,
            "tp": order.tp,
            "stoplimit": order.price_stoplimit,
            "type_time": order.type_time,
            "expiration": order.time_expiration,
        }
        return self.terminal.order_send({**request, **fields})

    def remove(self, ticket: int) -> Any:
        """Delete a pending order."""
        return self.terminal.order_send({"action": mt5.TRADE_ACTION_REMOVE, "order": ticket})

    def close_by(self, ticket: int, opposite: int, **fields: Any) -> Any:
        """Close two positions against each other."""
        request = {"action": mt5.TRADE_ACTION_CLOSE_BY, "position": ticket}
        return self.terminal.order_send({**request, "position_by": opposite, **fields})

    def orders(self) -> list[str]:
        """Return the orders of the history as lines of text."""
        return [_order(order) for order in self.terminal.history_orders_get(0, 2**31 - 1)]

    def waiting(self) -> list[str]:
        """Return the orders that wait as lines of text, without an hour."""
        return [_order(order).partition(" ")[2] for order in self.terminal.orders_get()]

    def deals(self) -> list[str]:
        """Return the deals but the deposit as lines of text."""
        return [_line(deal) for deal in self.terminal.history_deals_get(0, 2**31 - 1)[1:]]


KINDS = (
    "buy",
    "sell",
    "buy limit",
    "sell limit",
    "buy stop",
    "sell stop",
    "buy stop limit",
    "sell stop limit",
    "close by",
)
_STATES = ("started", "placed", "canceled", "partial", "filled", "rejected", "expired")
_ENTRIES = ("in", "out", "inout", "out by")
_REASONS = {3: "", 4: " sl", 5: " tp", 6: " so"}


def _line(deal: Any) -> str:
    """``hour side entry volume price profit``, with swap and commission where there are any."""
    hour = (deal.time - MONDAY) / 3_600
    side = "sell" if deal.type else "buy"
    text = (
        f"{hour:.2f} {side} {_ENTRIES[deal.entry]} {deal.volume:g} {deal.price:g} {deal.profit:g}"
    )
    text += _REASONS[deal.reason]
    for name in ("swap", "commission"):
        if value := getattr(deal, name):
            text += f" {name}={value:g}"
    return text


def _order(order: Any) -> str:
    """``hour kind volume price state``; the hour of its end, the volume that was not filled."""
    hour = (order.time_done - MONDAY) / 3_600
    state = _STATES[order.state]
    return f"{hour:.2f} {KINDS[order.type]} {order.volume_current:g} {order.price_open:g} {state}"
