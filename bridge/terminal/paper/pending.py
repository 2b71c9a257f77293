"""Pending orders: what makes them fill while prices move."""

from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.market import Series


def moved(desk: Desk, series: Series, before: float | None) -> None:
    """Fill the pending orders of a symbol whose price has moved.

    Args:
        desk: The account.
        series: Prices of the symbol, at their new place.
        before: The bid that the price came from; all between has been traded, so that a level
            on the way is filled at the level. None when the price jumped (an open after a gap, a
            tick): what was jumped over is filled at the new price.
    """


def expire(desk: Desk, until: float) -> None:
    """End the pending orders whose time is over at ``until`` (server time), nothing later."""


def release(desk: Desk) -> bool:
    """Cancel the pending order that holds the most margin; return whether there was one."""
    return False
