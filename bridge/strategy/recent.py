"""What decisions need of recent bars besides the model's answer. Pure."""

import numpy as np

from bridge.mt5.rates import RatesArray


def range_points(rates: RatesArray, *, bars: int, point: float) -> float:
    """Return the mean true range of the last ``bars`` closed bars, points.

    The true range of a bar also counts the gap from the close before it.

    Args:
        rates: Closed bars, at least ``bars + 1``, oldest first.
        bars: How many.
        point: Price of one point.
    """
    last = rates[-bars:]
    before = rates["close"][-bars - 1 : -1]
    top = np.maximum(last["high"], before)
    bottom = np.minimum(last["low"], before)
    return float((top - bottom).mean() / point)


def bars_since(rates: RatesArray, opened: int) -> int:
    """Return how many of the closed bars opened at or after the bar that holds ``opened``.

    Args:
        rates: Closed bars, oldest first.
        opened: Open time of the bar in which the position was opened, server epoch seconds.
    """
    return int(len(rates) - np.searchsorted(rates["time"], opened, side="left"))
