"""Buy and sell: what differs between them."""

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
        return 1 if self is Side.LONG else -1

    @property
    def opening_type(self) -> int:
        """Order type that opens the side."""
        return mt5.ORDER_TYPE_BUY if self is Side.LONG else mt5.ORDER_TYPE_SELL

    @property
    def closing_type(self) -> int:
        """Order type that closes the side."""
        return mt5.ORDER_TYPE_SELL if self is Side.LONG else mt5.ORDER_TYPE_BUY

    def opening_price(self, tick: Tick) -> float:
        """Return the price at which the side is opened: ask for long, bid for short."""
        return tick.ask if self is Side.LONG else tick.bid

    def closing_price(self, tick: Tick) -> float:
        """Return the price at which the side is closed, and at which its stops are watched."""
        return tick.bid if self is Side.LONG else tick.ask


BY_POSITION_TYPE = {
    mt5.POSITION_TYPE_BUY: Side.LONG,
    mt5.POSITION_TYPE_SELL: Side.SHORT,
}
BY_ORDER_TYPE = {mt5.ORDER_TYPE_BUY: Side.LONG, mt5.ORDER_TYPE_SELL: Side.SHORT}
