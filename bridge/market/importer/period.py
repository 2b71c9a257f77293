"""The timeframe of bars, and the bars that are missing between them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.market.aggregate import opens_of
from bridge.market.importer.fault import Fault
from bridge.mt5.servertime import DAY, text
from bridge.mt5.timeframes import BY_NAME, Timeframe, timeframe

Ints = NDArray[np.int64]

_SHORTEST_MONTH = 28 * DAY
# Saturday 12:00 of the week in which 1970 began.
_SATURDAY_NOON = 2 * DAY + DAY // 2
_WEEK = 7 * DAY
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Gap:
    """Bars that are missing in a row.

    Attributes:
        first: Open time that the first would have, server epoch seconds.
        last: Of the last.
        bars: How many.
        weekend: Whether a Saturday noon is among them.
    """

    first: int
    last: int
    bars: int
    weekend: bool


def period_of(times: Ints, stated: str | None, in_name: str | None) -> Timeframe:
    """Return the timeframe of bars: what they show, and what is said of them, agree.

    Args:
        times: Open times, oldest first, each once; shape ``(n,)``, n > 0.
        stated: What was stated.
        in_name: What the file's name or its rows say.

    Raises:
        Fault: The bars are of another timeframe than is said, or it can't be told.
    """
    shown = _shown(times)
    said = stated or in_name
    if said is None:
        if shown is None:
            raise Fault("the bars do not show their timeframe: say it with --timeframe")
        return shown
    wanted = timeframe(said)
    if shown is not None and shown is not wanted:
        whence = "stated" if stated else "that the file's name says"
        raise Fault(
            f"the bars are of {shown.name}, not of {said}, {whence}: say --timeframe {shown.name}"
        )
    off = opens_of(times, wanted) != times
    if off.any():
        row = int(np.argmax(off))
        raise Fault(
            f"no {wanted.name} bar opens at {text(int(times[row]))}: say another --timeframe, or "
            "whose clock the times are with --times",
            row,
        )
    return wanted


def _shown(times: Ints) -> Timeframe | None:
    """Return the timeframe whose length most steps have and on whose grid all bars open."""
    if len(times) < 2:
        return None
    steps = np.diff(times)
    month = BY_NAME["MN1"]
    if steps.min() >= _SHORTEST_MONTH and (opens_of(times, month) == times).all():
        return month
    lengths, counts = np.unique(steps, return_counts=True)
    usual = int(lengths[np.argmax(counts)])
    for each in BY_NAME.values():
        if each.seconds == usual and (opens_of(times, each) == times).all():
            return each
    return None


def gaps_of(times: Ints, of: Timeframe) -> tuple[Gap, ...]:
    """Return the gaps between bars, oldest first; before the first and after the last is none."""
    after = _next_months(times) if of.name == "MN1" else times + of.seconds
    holes = np.flatnonzero(times[1:] > after[:-1])
    return tuple(_gap(int(after[hole]), int(times[hole + 1]), of) for hole in holes)


def _gap(first: int, end: int, of: Timeframe) -> Gap:
    last = of.open_of(end - 1)
    bars = _months(first, end) if of.name == "MN1" else (end - first) // of.seconds
    weekend = (end - _SATURDAY_NOON - 1) // _WEEK > (first - _SATURDAY_NOON - 1) // _WEEK
    return Gap(first, last, bars, weekend)


def _next_months(times: Ints) -> Ints:
    months = times.astype("datetime64[s]").astype("datetime64[M]") + np.timedelta64(1, "M")
    return months.astype("datetime64[s]").astype(np.int64)


def _months(first: int, end: int) -> int:
    both = np.array([first, end], dtype="datetime64[s]").astype("datetime64[M]")
    return int((both[1] - both[0]).astype(int))


def in_order(
    times: Ints, same: Callable[[Ints, Ints], NDArray[np.bool_]]
) -> tuple[NDArray[np.intp], int, bool, int]:
    """Return how to make rows sorted and unique.

    Args:
        times: Shape ``(n,)``, in the file's order.
        same: Given two arrays of rows, returns which pairs are equal in all columns.

    Returns:
        The rows to keep, oldest first; how many repeat another; whether the file is newest
        first; and how many rows are older than the one before, where it is not.

    Raises:
        Fault: Two rows have one time and different values.
    """
    steps = np.diff(times)
    back = int((steps < 0).sum())
    newest_first = back > 0 and not (steps > 0).any()
    rows = np.argsort(times, kind="stable") if back else np.arange(len(times))
    ordered = times[rows]
    repeats = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if len(repeats):
        equal = same(rows[repeats - 1], rows[repeats])
        if not equal.all():
            raise _contradiction(times, rows[repeats - 1][~equal], rows[repeats][~equal])
    kept = np.delete(rows, repeats)
    return kept, len(repeats), newest_first, 0 if newest_first else back


def _contradiction(times: Ints, before: Ints, after: Ints) -> Fault:
    one, two = sorted((int(before[0]), int(after[0])))
    when = text(int(times[one]))
    set_back = 0 < times[two - 1] - times[two] <= _HOUR
    local = "; if a clock was set back there, export its offset in each time" if set_back else ""
    return Fault(
        f"the bar of {when} contradicts that in {{other}}: export the bars again{local}", two, one
    )
