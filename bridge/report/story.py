"""What a journal tells: strategies bar by bar, deals, and whose they are; read once, as columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.journal.columns import Decided, Kind
from bridge.journal.read import JournalReader, Row
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import DAY
from bridge.mt5.timeframes import timeframe
from bridge.report.course import Course, Numbers, course_of
from bridge.report.statistics import net
from bridge.report.trades import TRADING, open_volume, trades_of
from bridge.report.why_not import WhyNot, counted

Times = NDArray[np.int64]

# The columns of a decision that a report needs.
_NUMBERS = ("bid", "ask", "balance", "equity", "long", "short")
_TRADING_DAYS = 252


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A strategy, bar by bar; arrays of shape ``(bars,)``, NaN where a number is not known.

    Attributes:
        time: When each bar closed, server epoch seconds.
        bid, ask: Quote at which it was decided.
        balance, equity: Of the account then.
        long, short: The signal; NaN where it was not usable.
        models: Hashes of the models that answered, in order.
    """

    magic: int
    symbol: str
    timeframe: str
    models: tuple[str, ...]
    time: Times
    bid: Numbers
    ask: Numbers
    balance: Numbers
    equity: Numbers
    long: Numbers
    short: Numbers

    @property
    def title(self) -> str:
        """How a person calls it."""
        return f"{self.symbol} {self.timeframe}, strategy {self.magic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All of a journal that a report is about.

    Attributes:
        runs: Rows of the table ``runs``.
        time, balance, equity: Of the account at the close of bars, server epoch seconds and account
            currency, deposits and withdrawals on the way taken out.
        course: For the statistics, without excursions.
    """

    runs: tuple[Row, ...]
    lines: tuple[Line, ...]
    time: Times
    balance: Numbers
    equity: Numbers
    course: Course
    why_not: WhyNot

    @property
    def currency(self) -> str:
        """Of the account; empty when the journal does not say."""
        return str(_account(self.runs).get("currency", ""))

    @property
    def mode(self) -> str:
        """Of the last run."""
        return str(self.runs[-1]["mode"])


def story_of(journal: JournalReader) -> Story:
    """Read a journal.

    Raises:
        ConfigError: It has no run, or no decision: there is nothing to report.
    """
    runs = tuple(journal.rows("runs"))
    decided = journal.columns("bar_time", "kind", *_NUMBERS) if runs else ()
    lines = tuple(map(_line, decided))
    if not lines:
        raise ConfigError(
            "the journal has no decision yet, so there is nothing to report: run it first"
        )
    first = min(int(line.time[0]) for line in lines)
    deals = journal.deals()
    flows = [deal for deal in deals if deal.type not in TRADING and deal.time > first]
    time, balance, equity = _account_lines(lines, flows)
    trading = [deal for deal in deals if deal.type in TRADING]
    deposit = _deposit(runs, deals, balance)
    time, balance, equity = _with_end(time, balance, equity, trading, deposit)
    shortest = min(timeframe(line.timeframe).seconds for line in lines)
    return Story(
        runs=runs,
        lines=lines,
        time=time,
        balance=balance,
        equity=equity,
        course=course_of(
            trading,
            deposit,
            equity=equity,
            bars_a_year=_TRADING_DAYS * DAY / max(shortest, 1),
        ),
        why_not=counted(journal, decided),
    )


def _line(decided: Decided) -> Line:
    """Return a strategy's line; what an unusable signal says is not known."""
    columns = decided.columns
    unusable = columns["kind"] == Kind.UNUSABLE
    signal = {name: np.where(unusable, np.nan, columns[name]) for name in ("long", "short")}
    return Line(
        magic=decided.magic,
        symbol=decided.symbol,
        timeframe=decided.timeframe,
        models=decided.models,
        time=columns["bar_time"] + timeframe(decided.timeframe).seconds,
        **{name: columns[name] for name in ("bid", "ask", "balance", "equity")},
        **signal,
    )


def _account_lines(
    lines: tuple[Line, ...], flows: list[TradeDeal]
) -> tuple[Times, Numbers, Numbers]:
    """Return time, balance and equity of the account: what was seen last at each time."""
    time = np.concatenate([line.time for line in lines])
    balance = np.concatenate([line.balance for line in lines])
    equity = np.concatenate([line.equity for line in lines])
    known = np.isfinite(equity) & np.isfinite(balance)
    time, balance, equity = time[known], balance[known], equity[known]
    order = np.argsort(time, kind="stable")
    time, balance, equity = time[order], balance[order], equity[order]
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    time, balance, equity = time[last], balance[last], equity[last]
    moments = np.array([deal.time for deal in flows], dtype=np.int64)
    paid = np.concatenate([[0.0], np.cumsum([deal.profit for deal in flows])])
    so_far = paid[np.searchsorted(moments, time, side="right")]
    return time, balance - so_far, equity - so_far


def _with_end(
    time: Times, balance: Numbers, equity: Numbers, trading: list[TradeDeal], deposit: float
) -> tuple[Times, Numbers, Numbers]:
    """Add the end of an account whose last deal came after its last bar and left nothing open."""
    if not trading or (len(time) and trading[-1].time < time[-1]):
        return time, balance, equity
    if open_volume(trading):
        return time, balance, equity
    last = deposit + sum(map(net, trading))
    return (
        np.append(time, trading[-1].time),
        np.append(balance, last),
        np.append(equity, last),
    )


def _deposit(runs: tuple[Row, ...], deals: tuple[TradeDeal, ...], balance: Numbers) -> float:
    """Return the balance before the first trade: as the run found it, else as deals or bars say."""
    known = _account(runs[:1]).get("balance")
    if known is not None:
        return float(known)
    paid = 0.0
    for deal in deals:
        if deal.type in TRADING:
            break
        paid += deal.profit
    return paid or (float(balance[0]) if len(balance) else 0.0)


def _account(runs: tuple[Row, ...]) -> dict[str, Any]:
    account = runs[-1]["account"] if runs else {}
    return account if isinstance(account, dict) else {}


def quotes_of(story: Story, symbol: str) -> Line | None:
    """Return the line that has the most bars of ``symbol``; None when it was never decided."""
    those = [line for line in story.lines if line.symbol == symbol]
    return max(those, key=lambda line: len(line.time), default=None)


def symbols_of(story: Story) -> list[str]:
    """Return the symbols that were decided or traded, in order."""
    named = [line.symbol for line in story.lines]
    named += [trade.symbol for trade in trades_of(story.course.deals)]
    return list(dict.fromkeys(named))
