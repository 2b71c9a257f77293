"""What a back-test came to, read from its journal."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.cli.backtest_run import Played
from bridge.engine.honest.learned import Learned, learned
from bridge.engine.strategy import Strategy
from bridge.journal.columns import Decided
from bridge.journal.read import reading
from bridge.report.statistics import Statistics, net, statistics
from bridge.report.trades import TRADING, trades_of
from bridge.report.why_not import WhyNot, counted


@dataclass(frozen=True, slots=True)
class Tested:
    """A strategy in a back-test.

    Attributes:
        bars: Bars that it decided.
        learned: Those among them that its model was trained on.
    """

    title: str
    symbol: str
    timeframe: str
    model: str
    sha256: str
    bars: int
    learned: Learned


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a back-test came to. Money in the account currency.

    Attributes:
        first, last: Open times of the first and last bar decided, server epoch seconds; 0 when
            none was.
        deposit: Balance before the first deal.
        results: Net result of each closing deal with its part of the opening's costs, in order.
        halts: Why entries were ended for good, in words.
    """

    played: Played
    first: int
    last: int
    deposit: float
    statistics: Statistics
    results: tuple[float, ...]
    why_not: WhyNot
    halts: tuple[str, ...]
    tested: tuple[Tested, ...]

    @property
    def mean_result(self) -> float | None:
        """Net result of a trade, on average; None without any."""
        return sum(self.results) / len(self.results) if self.results else None


def outcome_of(played: Played) -> Outcome:
    """Read the journal of a back-test that has ended, at its end or before."""
    with reading(played.journal) as journal:
        deals, decided = journal.deals(), journal.columns("kind", "bar_time", "equity")
        counts = counted(journal, decided)
        halts = tuple(row["text"] for row in journal.rows("events", "kind = 'halt'"))
    times = {each.magic: each.columns["bar_time"] for each in decided}
    deposit = round(
        played.account.balance - sum(net(deal) for deal in deals if deal.type in TRADING), 8
    )
    return Outcome(
        played=played,
        first=min((int(each[0]) for each in times.values()), default=0),
        last=max((int(each[-1]) for each in times.values()), default=0),
        deposit=deposit,
        statistics=statistics(deals, [deposit, *_equity(decided).tolist(), played.account.equity]),
        results=tuple(each.net for each in trades_of(deals)),
        why_not=counts,
        halts=tuple(dict.fromkeys(halts)),
        tested=tuple(
            _tested(each, times.get(each.settings.magic, np.empty(0, np.int64)))
            for each in played.strategies
        ),
    )


def _equity(decided: Sequence[Decided]) -> NDArray[np.float64]:
    """Return the equity at each decision at which the terminal answered, oldest first."""
    if not decided:
        return np.empty(0)
    ids = np.concatenate([each.columns["id"] for each in decided])
    equity = np.concatenate([each.columns["equity"] for each in decided])[np.argsort(ids)]
    known: NDArray[np.float64] = equity[~np.isnan(equity)]
    return known


def _tested(strategy: Strategy, times: NDArray[np.int64]) -> Tested:
    settings, model = strategy.settings, strategy.model
    return Tested(
        title=settings.title,
        symbol=settings.symbol,
        timeframe=settings.timeframe,
        model=model.contract.name,
        sha256=model.sha256,
        bars=len(times),
        learned=learned(model.contract, times.tolist()),
    )
