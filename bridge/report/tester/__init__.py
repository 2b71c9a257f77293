"""The statistics of MetaTrader 5's tester report, by its names, each defined where it is made.

``STATISTICS`` lists them in the report's order. A statistic's definition is the docstring of its
function: the page shows it.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from bridge.report.course import Course
from bridge.report.tester import falls, gains, growth, rows, spans
from bridge.report.tester.values import Value
from bridge.report.tester.words import money


@dataclass(frozen=True, slots=True)
class Statistic:
    """One of them.

    Attributes:
        title: As the tester names it.
        of: Computes it; None is not known.
        is_money: Whether a plain number is account currency.
    """

    title: str
    of: Callable[[Course], Value | None]
    is_money: bool = False

    @property
    def name(self) -> str:
        """The name in JSON."""
        return self.of.__name__

    @property
    def definition(self) -> str:
        """What it is, in words."""
        text = inspect.getdoc(self.of) or ""
        return " ".join(text.partition("\n\nSource:")[0].split())

    def text(self, course: Course) -> str:
        """Return the value as the tester writes it; a dash when it is not known."""
        value = self.of(course)
        if value is None:
            return "-"
        if isinstance(value, float):
            return money(value) if self.is_money else f"{value:.2f}"
        return str(value)

    def plain(self, course: Course) -> Any:
        """Return the value for JSON: a number, an object with numbers, or None."""
        value = self.of(course)
        return asdict(value) if is_dataclass(value) else value


STATISTICS = (
    Statistic("Total Net Profit", gains.total_net_profit, is_money=True),
    Statistic("Gross Profit", gains.gross_profit, is_money=True),
    Statistic("Gross Loss", gains.gross_loss, is_money=True),
    Statistic("Profit Factor", gains.profit_factor),
    Statistic("Expected Payoff", gains.expected_payoff, is_money=True),
    Statistic("Recovery Factor", falls.recovery_factor),
    Statistic("Sharpe Ratio", falls.sharpe_ratio),
    Statistic("Z-Score", growth.z_score),
    Statistic("AHPR", growth.ahpr),
    Statistic("GHPR", growth.ghpr),
    Statistic("LR Correlation", growth.lr_correlation),
    Statistic("LR Standard Error", growth.lr_standard_error, is_money=True),
    Statistic("Balance Drawdown Absolute", falls.balance_drawdown_absolute, is_money=True),
    Statistic("Balance Drawdown Maximal", falls.balance_drawdown_maximal),
    Statistic("Balance Drawdown Relative", falls.balance_drawdown_relative),
    Statistic("Equity Drawdown Absolute", falls.equity_drawdown_absolute, is_money=True),
    Statistic("Equity Drawdown Maximal", falls.equity_drawdown_maximal),
    Statistic("Equity Drawdown Relative", falls.equity_drawdown_relative),
    Statistic("Total Trades", gains.total_trades),
    Statistic("Total Deals", gains.total_deals),
    Statistic("Short Trades (won %)", gains.short_trades),
    Statistic("Long Trades (won %)", gains.long_trades),
    Statistic("Profit Trades (% of total)", gains.profit_trades),
    Statistic("Loss Trades (% of total)", gains.loss_trades),
    Statistic("Largest profit trade", gains.largest_profit_trade, is_money=True),
    Statistic("Largest loss trade", gains.largest_loss_trade, is_money=True),
    Statistic("Average profit trade", gains.average_profit_trade, is_money=True),
    Statistic("Average loss trade", gains.average_loss_trade, is_money=True),
    Statistic("Maximum consecutive wins (money)", rows.maximum_consecutive_wins),
    Statistic("Maximum consecutive losses (money)", rows.maximum_consecutive_losses),
    Statistic("Maximal consecutive profit (count)", rows.maximal_consecutive_profit),
    Statistic("Maximal consecutive loss (count)", rows.maximal_consecutive_loss),
    Statistic("Average consecutive wins", rows.average_consecutive_wins),
    Statistic("Average consecutive losses", rows.average_consecutive_losses),
    Statistic("Correlation (Profits,MFE)", spans.correlation_profits_mfe),
    Statistic("Correlation (Profits,MAE)", spans.correlation_profits_mae),
    Statistic("Correlation (MFE,MAE)", spans.correlation_mfe_mae),
    Statistic("Minimal position holding time", spans.minimal_position_holding_time),
    Statistic("Maximal position holding time", spans.maximal_position_holding_time),
    Statistic("Average position holding time", spans.average_position_holding_time),
)


def plain(course: Course) -> dict[str, Any]:
    """Return all statistics by name, ready for JSON."""
    return {each.name: each.plain(course) for each in STATISTICS}


def texts(course: Course) -> Iterator[tuple[str, str, str]]:
    """Yield title, value as text, and definition of each statistic."""
    for each in STATISTICS:
        yield each.title, each.text(course), each.definition
