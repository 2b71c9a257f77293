"""Wins and losses in a row."""

from itertools import groupby

from bridge.report.course import Course
from bridge.report.tester.values import Run


def maximum_consecutive_wins(course: Course) -> Run | None:
    """Most trades in a row that won, and their sum; of equal ones that with the larger sum.

    Source: MetaTrader 5 help, Testing Report.
    """
    return max(_runs(course, won=True), key=lambda run: (run.count, run.money), default=None)


def maximum_consecutive_losses(course: Course) -> Run | None:
    """Most trades in a row that lost, and their sum; of equal ones that with the larger loss.

    Source: MetaTrader 5 help, Testing Report.
    """
    return max(_runs(course, won=False), key=lambda run: (run.count, -run.money), default=None)


def maximal_consecutive_profit(course: Course) -> Run | None:
    """Largest sum of trades in a row that won, and their number; of equal ones the longer.

    Source: MetaTrader 5 help, Testing Report.
    """
    return max(_runs(course, won=True), key=lambda run: (run.money, run.count), default=None)


def maximal_consecutive_loss(course: Course) -> Run | None:
    """Largest loss of trades in a row that lost, and their number; of equal ones the longer.

    Source: MetaTrader 5 help, Testing Report.
    """
    return min(_runs(course, won=False), key=lambda run: (run.money, -run.count), default=None)


def average_consecutive_wins(course: Course) -> int | None:
    """Mean length of rows of wins, to a whole number.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _average(_runs(course, won=True))


def average_consecutive_losses(course: Course) -> int | None:
    """Mean length of rows of losses, to a whole number.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _average(_runs(course, won=False))


def _average(runs: list[Run]) -> int | None:
    return int(sum(run.count for run in runs) / len(runs) + 0.5) if runs else None


def _runs(course: Course, *, won: bool) -> list[Run]:
    groups = groupby(course.results, key=lambda result: result >= 0)
    rows = [list(results) for wins, results in groups if wins == won]
    return [Run(len(row), round(sum(row), 8)) for row in rows]
