"""What was won and lost: sums, factors and the trades behind them."""

from collections.abc import Callable

from bridge.report.course import Course
from bridge.report.statistics import net
from bridge.report.tester.values import Part
from bridge.report.trades import Trade


def total_net_profit(course: Course) -> float:
    """Profit, swap, commission and fee of all deals.

    Source: MetaTrader 5 help, Testing Report; equal in 14 of 14 reports.
    """
    return float(course.balance[-1] - course.balance[0])


def gross_profit(course: Course) -> float:
    """Sum of all deals that added to the balance.

    Source: MetaTrader 5 help, Testing Report, calls it the sum of profitable trades.
    """
    return sum(value for value in map(net, course.deals) if value > 0)


def gross_loss(course: Course) -> float:
    """Sum of all deals that took from the balance, <= 0: the commission of an entry is one, too.

    Source: reports with a commission on the opening deal; the help says losing trades only.
    """
    return sum(value for value in map(net, course.deals) if value < 0)


def profit_factor(course: Course) -> float | None:
    """Gross profit over gross loss; unknown without a loss.

    Source: MetaTrader 5 help, Testing Report.
    """
    lost = gross_loss(course)
    return -gross_profit(course) / lost if lost else None


def expected_payoff(course: Course) -> float | None:
    """Net profit over the number of trades.

    Source: MetaTrader 5 help, Testing Report.
    """
    return total_net_profit(course) / len(course.trades) if course.trades else None


def total_trades(course: Course) -> int:
    """Closing deals: a position closed in two parts counts twice.

    Source: MetaTrader 5 help, Testing Report.
    """
    return len(course.trades)


def total_deals(course: Course) -> int:
    """Deals that opened or closed something.

    Source: MetaTrader 5 help, Testing Report.
    """
    return len(course.deals)


def short_trades(course: Course) -> Part:
    """Trades that sold first, and the share of them that won.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _won(course, lambda trade: trade.side < 0)


def long_trades(course: Course) -> Part:
    """Trades that bought first, and the share of them that won.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _won(course, lambda trade: trade.side > 0)


def profit_trades(course: Course) -> Part:
    """Trades with a result of 0 or more, and their share of all.

    Source: MetaTrader 5 help, Testing Report; reports show that 0 counts as a profit.
    """
    return _of_all(course, sum(course.wins))


def loss_trades(course: Course) -> Part:
    """Trades with a result below 0, and their share of all.

    Source: MetaTrader 5 help, Testing Report.
    """
    return _of_all(course, len(course.wins) - sum(course.wins))


def largest_profit_trade(course: Course) -> float | None:
    """Largest result of a closing deal.

    Source: MetaTrader 5 help, Testing Report.
    """
    return max((result for result in course.results if result >= 0), default=None)


def largest_loss_trade(course: Course) -> float | None:
    """Smallest result of a closing deal.

    Source: MetaTrader 5 help, Testing Report.
    """
    return min((result for result in course.results if result < 0), default=None)


def average_profit_trade(course: Course) -> float | None:
    """Mean result of the trades that won; costs of entries are not in it.

    Source: MetaTrader 5 help, Testing Report, and reports with a commission on the opening deal.
    """
    return _mean([result for result in course.results if result >= 0])


def average_loss_trade(course: Course) -> float | None:
    """Mean result of the trades that lost; costs of entries are not in it.

    Source: likewise.
    """
    return _mean([result for result in course.results if result < 0])


def _mean(results: list[float]) -> float | None:
    return sum(results) / len(results) if results else None


def _won(course: Course, chosen: Callable[[Trade], bool]) -> Part:
    those = [trade.result for trade in course.trades if chosen(trade)]
    share = sum(result >= 0 for result in those) / len(those) if those else 0.0
    return Part(len(those), share)


def _of_all(course: Course, count: int) -> Part:
    return Part(count, count / len(course.trades) if course.trades else None)
