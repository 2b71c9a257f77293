"""Drawdowns of balance and equity, and what they say about profit."""

import math

import numpy as np

from bridge.report.course import Course, Numbers
from bridge.report.tester.gains import total_net_profit
from bridge.report.tester.values import Fall

_LEAST_SHARPE = -5.0


def balance_drawdown_absolute(course: Course) -> float:
    """How far the balance fell below the deposit, >= 0.

    Source: MetaTrader 5 help, Testing Report; the balance after every deal counts.
    """
    return _below(course.deposit, course.balance)


def balance_drawdown_maximal(course: Course) -> Fall:
    """Largest fall of the balance in money from a height before it, and its share of that height.

    Source: MetaTrader 5 help, Testing Report.
    """
    return largest(course.balance, relative=False)


def balance_drawdown_relative(course: Course) -> Fall:
    """Largest fall of the balance as a share of a height before it, and its money.

    Source: MetaTrader 5 help, Testing Report.
    """
    return largest(course.balance, relative=True)


def equity_drawdown_absolute(course: Course) -> float | None:
    """How far equity fell below the deposit, >= 0, at the close of bars.

    The tester looks at every tick, so its number is a little larger. Deals alone don't tell it.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _below(course.deposit, course.equity) if len(course.equity) else None


def equity_drawdown_maximal(course: Course) -> Fall | None:
    """Largest fall of equity in money from a height before it, at the close of bars.

    Source: MetaTrader 5 help, Testing Report; see the note of the absolute one.
    """
    return largest(_with_deposit(course), relative=False) if len(course.equity) else None


def equity_drawdown_relative(course: Course) -> Fall | None:
    """Largest fall of equity as a share of a height before it, at the close of bars.

    Source: MetaTrader 5 help, Testing Report; see the note of the absolute one.
    """
    return largest(_with_deposit(course), relative=True) if len(course.equity) else None


def recovery_factor(course: Course) -> float | None:
    """Net profit over the maximal drawdown of equity; unknown without one.

    Source: MetaTrader 5 help, Testing Report.
    """
    fall = equity_drawdown_maximal(course)
    return total_net_profit(course) / fall.money if fall and fall.money else None


def sharpe_ratio(course: Course) -> float | None:
    """Mean over deviation of the log returns of equity a bar, for a year of 252 days.

    Bars at which equity stood still are left out, no risk-free rate is taken off, and -5 is the
    least. The tester builds equity from its own ticks, so deals alone don't tell its number.

    Source: MetaQuotes, Mathematics in trading: Sharpe and Sortino ratios, mql5.com/articles/9171;
    the least is what a report of a steep loss shows.
    """
    returns = log_returns(course.equity)
    moved = returns[returns != 0]
    if len(moved) < 2 or course.bars_a_year is None:
        return None
    deviation = float(moved.std())
    if not deviation:
        return None
    return max(float(moved.mean()) / deviation * math.sqrt(course.bars_a_year), _LEAST_SHARPE)


def log_returns(equity: Numbers) -> Numbers:
    """Return the log returns from bar to bar; none once equity is not above 0."""
    if len(equity) < 2 or equity.min() <= 0:
        return np.zeros(0)
    found: Numbers = np.diff(np.log(equity))
    return found


def drawdowns(values: Numbers) -> Numbers:
    """Return how far each value is below the largest before it, >= 0."""
    found: Numbers = np.maximum.accumulate(values) - values
    return found


def largest(values: Numbers, *, relative: bool) -> Fall:
    """Return the largest fall, by money or by share of the height; shape of ``values`` ``(n,)``."""
    if not len(values):
        return Fall(0.0, 0.0)
    falls, peaks = drawdowns(values), np.maximum.accumulate(values)
    shares = np.divide(falls, peaks, out=np.zeros_like(falls), where=peaks > 0)
    deepest = int((shares if relative else falls).argmax())
    return Fall(round(float(falls[deepest]), 8), float(shares[deepest]))


def _with_deposit(course: Course) -> Numbers:
    return np.concatenate([[course.deposit], course.equity])


def _below(deposit: float, values: Numbers) -> float:
    return round(max(deposit - float(values.min()), 0.0), 8)
