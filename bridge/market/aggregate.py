"""Bars made of finer bars, and of ticks, as MetaTrader 5 makes them in server time.

Bars of minutes and hours begin at multiples of their length within the server's day, D1 at its
midnight, W1 on Sunday, MN1 on the first. Where nothing was traded there is no bar. The spread of
a bar is the smallest of the bars in it.

Source: recorded bars of 2025 in nine timeframes and the ticks behind 10,067 of them; these rules
give every column of all of them that were complete when they were recorded.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import DataError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.mt5.timeframes import Timeframe, timeframe

_M1 = timeframe("M1")
_VOLUMES = ("tick_volume", "real_volume")
# The undocumented bit of the ticks that a terminal counts; where no tick has it, a new bid counts.
_COUNTED = (128, mt5.TICK_FLAG_BID)


def can_make(target: Timeframe, source: Timeframe) -> bool:
    """Return whether each bar of ``target`` is whole bars of ``source``: M15 of M5, not of M10."""
    return target.seconds % source.seconds == 0


def opens_of(times: NDArray[np.int64], target: Timeframe) -> NDArray[np.int64]:
    """Return the open time of the ``target`` bar that holds each time (server epoch seconds)."""
    if target.name == "MN1":
        months = times.astype("datetime64[s]").astype("datetime64[M]")
        return months.astype("datetime64[s]").astype(np.int64)
    return times - (times - target.open_of(0)) % target.seconds


def starts_of(opens: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where each run of equal values in ``opens`` begins."""
    return np.flatnonzero(np.append(True, opens[1:] != opens[:-1])[: len(opens)])


def aggregate(rates: RatesArray, source: Timeframe, target: Timeframe) -> RatesArray:
    """Return bars of ``target`` made of ``rates``; the last one is made of what is there.

    Args:
        rates: Shape ``(n,)``, oldest first, each time once.
        source: Their timeframe.
        target: The coarser one.

    Raises:
        DataError: Bars of ``target`` are not made of whole bars of ``source``.
    """
    if not can_make(target, source):
        raise DataError(
            f"bars of {target.name} can't be made of bars of {source.name}: "
            f"use bars whose length divides that of {target.name}"
        )
    opens = opens_of(rates["time"], target)
    return merged(rates, opens, starts_of(opens))


def merged(rates: RatesArray, opens: NDArray[np.int64], starts: NDArray[np.intp]) -> RatesArray:
    """Return one bar for each run of bars.

    Args:
        rates: Shape ``(n,)``, oldest first.
        opens: Open time of the bar that each is a part of, shape ``(n,)``.
        starts: Where each run begins, ascending.
    """
    made = np.zeros(len(starts), dtype=RATES_DTYPE)
    if not len(starts):
        return sealed(made)
    made["time"] = opens[starts]
    made["open"] = rates["open"][starts]
    made["high"] = np.maximum.reduceat(rates["high"], starts)
    made["low"] = np.minimum.reduceat(rates["low"], starts)
    made["close"] = rates["close"][_lasts(starts, len(rates))]
    made["spread"] = np.minimum.reduceat(rates["spread"], starts)
    for name in _VOLUMES:
        made[name] = np.add.reduceat(rates[name], starts)
    return sealed(made)


def bars_of_ticks(ticks: RatesArray, point: float, target: Timeframe = _M1) -> RatesArray:
    """Return bid bars made of ``ticks``, those of a currency or a CFD.

    ``tick_volume`` counts the ticks that moved the bid, not those of the ask alone.
    ``real_volume`` is 0.

    Args:
        ticks: Ticks dtype, shape ``(n,)``, oldest first.
        point: Price of a point; the spread is in points.
        target: Timeframe of the bars.
    """
    opens = opens_of(ticks["time"], target)
    starts = starts_of(opens)
    made = np.zeros(len(starts), dtype=RATES_DTYPE)
    if not len(starts):
        return sealed(made)
    bid = ticks["bid"]
    counted = _counted(ticks["flags"])
    made["time"] = opens[starts]
    made["open"], made["close"] = bid[starts], bid[_lasts(starts, len(ticks))]
    made["high"], made["low"] = np.maximum.reduceat(bid, starts), np.minimum.reduceat(bid, starts)
    made["tick_volume"] = np.maximum(np.add.reduceat(counted.astype(np.int64), starts), 1)
    made["spread"] = _spreads(np.rint((ticks["ask"] - bid) / point), counted, starts)
    return sealed(made)


def _spreads(points: Any, counted: NDArray[np.bool_], starts: NDArray[np.intp]) -> Any:
    """Return the smallest spread of each bar.

    A bar that one tick was counted for so far has the newest spread, not the smallest.
    """
    total = np.cumsum(counted)
    before: NDArray[np.int64] = np.repeat(
        total[starts] - counted[starts], np.diff(starts, append=len(points))
    )
    young = total - before < 2
    replaced = np.zeros(len(points), dtype=bool)
    # What the next tick of the same young bar writes over.
    replaced[:-1] = young[:-1] & young[1:]
    replaced[starts[1:] - 1] = False
    smallest = np.minimum.reduceat(np.where(replaced, np.inf, points), starts)
    return np.maximum(smallest, 0)


def _counted(flags: NDArray[np.uint32]) -> NDArray[np.bool_]:
    for bit in _COUNTED:
        counted = (flags & bit) > 0
        if counted.any():
            return counted
    return np.ones(len(flags), dtype=bool)


def _lasts(starts: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    return np.append(starts[1:], count) - 1
