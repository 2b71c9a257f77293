"""What a back-test came to, read from its journal."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.cli.backtest_run import Played
from bridge.engine.honest.learned import Learned, learned
from bridge.engine.strategy import Strategy
from bridge.journal.read import JournalReader, reading
from bridge.report.statistics import Statistics, net, statistics
from bridge.report.trades import TRADING, trades_of
from bridge.report.why_not import WhyNot, counted, kind_of


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
        deals, found = journal.deals(), _decided(journal)
        counts = counted(journal, found.kinds)
        halts = tuple(row["text"] for row in journal.rows("events", "kind = 'halt'"))
    nothing: Sequence[int] = ()
    deposit = round(
        played.account.balance - sum(net(deal) for deal in deals if deal.type in TRADING), 8
    )
    return Outcome(
        played=played,
        first=min((each[0] for each in found.times.values()), default=0),
        last=max((each[-1] for each in found.times.values()), default=0),
        deposit=deposit,
        statistics=statistics(
            deals, array("d", [deposit]) + found.equity + array("d", [played.account.equity])
        ),
        results=tuple(each.net for each in trades_of(deals)),
        why_not=counts,
        halts=tuple(dict.fromkeys(halts)),
        tested=tuple(
            _tested(each, found.times.get(each.settings.magic, nothing))
            for each in played.strategies
        ),
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    """What the decisions of a run tell together, read in one go: there may be millions.

    Attributes:
        times: Magic -> open times of the bars decided, server epoch seconds.
        equity: At each decision at which the terminal answered.
        kinds: How many of each kind, as ``why_not`` names them.
    """

    times: dict[int, "array[int]"]
    equity: "array[float]"
    kinds: Counter[str]


def _decided(journal: JournalReader) -> _Decided:
    found = _Decided(defaultdict(lambda: array("q")), array("d"), Counter())
    for row in journal.rows("decisions"):
        found.times[row["magic"]].append(row["bar_time"])
        found.kinds[kind_of(row)] += 1
        if row["equity"] is not None:
            found.equity.append(row["equity"])
    return found


def _tested(strategy: Strategy, times: Sequence[int]) -> Tested:
    settings, model = strategy.settings, strategy.model
    return Tested(
        title=settings.title,
        symbol=settings.symbol,
        timeframe=settings.timeframe,
        model=model.contract.name,
        sha256=model.sha256,
        bars=len(times),
        learned=learned(model.contract, times),
    )
