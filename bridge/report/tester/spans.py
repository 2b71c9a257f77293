"""How long trades were held, and how far they went meanwhile."""

import numpy as np

from bridge.mt5.servertime import DAY
from bridge.report.course import Course, Excursion, Numbers
from bridge.report.tester.growth import correlation
from bridge.report.tester.values import Span

_WEEK, _TRADED = 7 * DAY, 5 * DAY
# 1970-01-05 was a Monday.
_FIRST_MONDAY = 4 * DAY


def minimal_position_holding_time(course: Course) -> Span | None:
    """Shortest time from opening to closing; Saturdays and Sundays don't count.

    Source: MetaTrader 5 help, Testing Report; weekends left out fit 14 of 14 reports.
    """
    return _span(min(held(course), default=None))


def maximal_position_holding_time(course: Course) -> Span | None:
    """Longest time from opening to closing; Saturdays and Sundays don't count.

    Source: likewise.
    """
    return _span(max(held(course), default=None))


def average_position_holding_time(course: Course) -> Span | None:
    """Mean time from opening to closing; Saturdays and Sundays don't count.

    Source: likewise.
    """
    times = held(course)
    return _span(sum(times) / len(times) if times else None)


def correlation_profits_mfe(course: Course) -> float | None:
    """Correlation of the trades' results with the largest profit each showed while it was open.

    From quotes at the close of bars; the tester looks at every tick. Deals alone don't tell it.

    Source: MetaTrader 5 help, Testing Report.
    """
    results, best, _ = _far(course)
    return correlation(results, best)


def correlation_profits_mae(course: Course) -> float | None:
    """Correlation of the trades' results with the deepest loss (<= 0) each showed.

    Source: likewise.
    """
    results, _, worst = _far(course)
    return correlation(results, worst)


def correlation_mfe_mae(course: Course) -> float | None:
    """Correlation of the largest profit with the deepest loss (<= 0) of the trades.

    Source: likewise.
    """
    _, best, worst = _far(course)
    return correlation(best, worst)


def held(course: Course) -> list[int]:
    """Return the seconds each trade was held, weekends left out; unknown openings are skipped."""
    return [
        traded_seconds(trade.closed) - traded_seconds(trade.opened)
        for trade in course.trades
        if trade.opened is not None
    ]


def traded_seconds(server_time: int) -> int:
    """Return the seconds from Monday to Friday until ``server_time`` (server epoch seconds)."""
    weeks, inside = divmod(server_time - _FIRST_MONDAY, _WEEK)
    return int(weeks * _TRADED + min(inside, _TRADED))


def _span(seconds: float | None) -> Span | None:
    return None if seconds is None else Span(seconds)


def _far(course: Course) -> tuple[Numbers, Numbers, Numbers]:
    pairs: list[tuple[float, Excursion]] = [
        (trade.result, each)
        for trade, each in zip(course.trades, course.excursions, strict=False)
        if each is not None
    ]
    columns = [(result, each.best, each.worst) for result, each in pairs]
    results, best, worst = np.array(columns, dtype=float).reshape(-1, 3).T
    return results, best, worst
