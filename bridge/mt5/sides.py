"""Buy and sell: what differs between them, as a table of two rows."""

from dataclasses import dataclass
from enum import StrEnum

from bridge.mt5 import constants as mt5
from bridge.mt5.records import Tick


class Side(StrEnum):
    """The side of a position."""

    LONG = "long"
    SHORT = "short"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.SHORT if self is Side.LONG else Side.LONG

    @property
    def sign(self) -> int:
        """+1 when a rising price wins, else -1."""
        return _ROWS[self].sign

    @property
    def opening_type(self) -> int:
        """Order type that opens the side."""
        return _ROWS[self].opening_type

    @property
    def closing_type(self) -> int:
        """Order type that closes the side."""
        return _ROWS[self.other].opening_type

    def opening_price(self, tick: Tick) -> float:
        """Return the price at which the side is opened: ask for long, bid for short."""
        return tick.ask if self is Side.LONG else tick.bid

    def closing_price(self, tick: Tick) -> float:
        """Return the price at which the side is closed, and at which its stops are watched."""
        return tick.bid if self is Side.LONG else tick.ask


@dataclass(frozen=True, slots=True)
class _Row:
    sign: int
    opening_type: int


_ROWS = {
    Side.LONG: _Row(1, mt5.ORDER_TYPE_BUY),
    Side.SHORT: _Row(-1, mt5.ORDER_TYPE_SELL),
}

BY_POSITION_TYPE = {
    mt5.POSITION_TYPE_BUY: Side.LONG,
    mt5.POSITION_TYPE_SELL: Side.SHORT,
}
BY_ORDER_TYPE = {mt5.ORDER_TYPE_BUY: Side.LONG, mt5.ORDER_TYPE_SELL: Side.SHORT}
