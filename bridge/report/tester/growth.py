"""How evenly the balance grew: holding period returns, regression, order of wins."""

import math
from itertools import pairwise

import numpy as np

from bridge.report.course import Course, Numbers
from bridge.report.tester.values import Ratio, Score

# What the terminal shows from three deviations on: 2 x 0.4987, the last entry of a printed table.
_SURE = 0.9974


def ahpr(course: Course) -> Ratio | None:
    """Mean of the factors by which each trade changed the balance.

    Source: MetaTrader 5 help, Testing Report; balances after closing deals.
    """
    if not course.trades or course.closes.min() <= 0:
        return None
    return Ratio(float((course.closes[1:] / course.closes[:-1]).mean()))


def ghpr(course: Course) -> Ratio | None:
    """Factor that, the same at each trade, gives the last balance.

    Source: MetaTrader 5 help, Testing Report.
    """
    if not course.trades or course.closes[-1] <= 0 or course.deposit <= 0:
        return None
    growth = float(course.closes[-1]) / course.deposit
    return Ratio(growth ** (1 / len(course.trades)))


def lr_correlation(course: Course) -> float | None:
    """Correlation of the balance after closing deals with the number of the trade.

    The deposit has the number 1, as has the first trade.

    Source: MetaTrader 5 help, Testing Report; the numbering fits 14 of 14 reports, where 0, 1, 2
    misses the six decimals of five.
    """
    if len(course.closes) < 3:
        return None
    numbers = np.maximum(np.arange(len(course.closes)), 1)
    return correlation(numbers.astype(float), course.closes)


def lr_standard_error(course: Course) -> float | None:
    """Standard error of the balance after closing deals about its straight line.

    The deposit is the first of n points; the sum of squares is divided by n - 2.

    Source: MetaTrader 5 help, Testing Report; the division fits 14 of 14 reports.
    """
    points = len(course.closes)
    if points < 3:
        return None
    numbers = np.arange(points)
    rest = course.closes - np.polyval(np.polyfit(numbers, course.closes, 1), numbers)
    return math.sqrt(float(rest @ rest) / (points - 2))


def z_score(course: Course) -> Score | None:
    """Deviations by which the number of runs of wins and losses differs from chance.

    Below 0 a win tends to follow a win; above 0 a loss does.

    Source: MetaQuotes, Mathematics in trading, mql5.com/articles/1492. The confidence is that of
    the score rounded to two decimals, and no more than 99.74 %: so in 14 of 14 reports.
    """
    wins = course.wins
    count, won = len(wins), sum(wins)
    mixed = 2 * won * (count - won)
    if count < 2 or mixed <= count:
        return None
    runs = 1 + sum(one != other for one, other in pairwise(wins))
    deviation = math.sqrt(mixed * (mixed - count) / (count - 1))
    value = (count * (runs - 0.5) - mixed) / deviation
    certain = math.erf(abs(round(value, 2)) / math.sqrt(2))
    return Score(value, min(certain, _SURE))


def correlation(one: Numbers, other: Numbers) -> float | None:
    """Return Pearson's correlation; None where one of them does not vary."""
    if len(one) < 2 or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])
