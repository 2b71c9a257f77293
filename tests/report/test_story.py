"""What a report makes of a journal, by hand; and its figures beside another library's."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import empyrical
import numpy as np
import pandas as pd
import pytest
from journal_support import begin
from report.report_journal import DEPOSIT, START, deal, row, write
from tests_support import record

from bridge.clock import ManualClock
from bridge.errors import ConfigError
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.report import tables
from bridge.report.account import Account, account_of
from bridge.report.course import Excursion, course_of
from bridge.report.page.packing import kept
from bridge.report.tester import falls
from bridge.report.trades import open_volume, trades_of


def account(path: Path) -> Account:
    with reading(path) as journal:
        return account_of(journal)


def test_trades_costs_and_reach_by_hand(tmp_path: Path) -> None:
    found = account(write(tmp_path))
    won, lost = found.course.trades
    assert (won.side, won.opened, won.closed) == (1, START + 7_200, START + 18_000)
    assert (won.result, won.net, lost.net) == (49.0, 48.5, -20.5)
    # Bids at the closes from 3 h to 5 h: 1.0980, 1.1030, 1.1052; a point is 0.10.
    assert [found.course.excursions[0]] == [
        Excursion(pytest.approx(50.0), pytest.approx(-22.0))  # type: ignore[arg-type]
    ]
    costs = tables.costs(found.story)
    assert (costs.commission, costs.swap) == (-1.0, -1.0)
    assert costs.spread == pytest.approx(-4.0)  # 20 points, twice
    assert [month.net for month in tables.months(found.course)] == [pytest.approx(28.0)]
    assert found.story.equity[-1] == DEPOSIT + 28.0
    assert [(each.label, each.trades) for each in tables.by_hour(found.course.trades)][2:7:4] == [
        ("02", 1),
        ("06", 1),
    ]


def test_partly_closed_reversed_and_unknown_positions() -> None:
    opened, closed, turned = mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_OUT, mt5.DEAL_ENTRY_INOUT
    deals = [
        deal(1, 1, 0, entry=opened, type=0, price=1.0, volume=0.2, commission=-2.0),
        deal(2, 1, 1, entry=opened, type=0, price=1.3, volume=0.1, commission=-1.0),
        deal(3, 1, 2, entry=closed, type=1, price=1.2, volume=0.1, profit=10.0),
        deal(4, 1, 3, entry=turned, type=1, price=1.2, volume=0.5, profit=20.0),
        deal(5, 1, 4, entry=closed, type=0, price=1.1, volume=0.3, profit=30.0),
        deal(6, 9, 5, entry=closed, type=0, price=1.1, volume=0.3, profit=1.0),
    ]
    found: tuple[Any, ...] = trades_of(deals)
    part, turn, short, unknown = found
    assert (part.side, part.volume, part.price_open) == (1, 0.1, pytest.approx(1.1))
    assert part.entry_costs == pytest.approx(-1.0)
    assert (turn.side, turn.volume, turn.entry_costs) == (1, 0.2, pytest.approx(-2.0))
    assert (short.side, short.volume, short.price_open) == (-1, 0.3, pytest.approx(1.2))
    assert (unknown.opened, unknown.price_open, unknown.net) == (None, None, 1.0)
    assert [open_volume(deals[:count]) for count in (2, 3, 4, 6)] == [0.3, 0.2, 0.3, 0.0]


def test_money_paid_in_or_out_is_no_profit(tmp_path: Path) -> None:
    path = write(tmp_path)
    with Journal(path, ManualClock(START + 99_000.0)) as journal:
        begin(journal)
        paid = {"type": mt5.DEAL_TYPE_BALANCE, "profit": -4_000.0, "ticket": 9}
        journal.deals([record(TradeDeal, {**paid, "time": START + 10 * 3600})])
        journal.decision(row(20, 1.1, DEPOSIT + 28.0 - 4_000.0))
    found = account(path)
    assert found.course.balance[-1] == DEPOSIT + 28.0
    fall = falls.equity_drawdown_maximal(found.course)
    assert fall is not None
    assert fall.money == pytest.approx(20.5)


def test_an_empty_journal_has_nothing_to_report(tmp_path: Path) -> None:
    Journal(tmp_path / "journal.sqlite3", ManualClock(0.0)).close()
    with pytest.raises(ConfigError, match="no decision yet, so there is nothing to report"):
        account(tmp_path / "journal.sqlite3")


def test_calibration_finds_a_signal_that_knows_the_next_bar(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    moves = rng.choice([-1e-4, 1e-4], 400)
    bids = 1.1 + np.concatenate([[0.0], np.cumsum(moves)])
    rows = [
        row(number, float(bid), DEPOSIT, long=0.6 if move > 0 else 0.4, short=0.5)
        for number, (bid, move) in enumerate(zip(bids, [*moves, 0.0], strict=True))
    ]
    line = account(write(tmp_path, rows=rows)).story.lines[0]
    low, high = tables.calibration(line)
    assert (low.rose, high.rose) == (0.0, 1.0)
    blind = replace(line, long=rng.random(len(line.long)))
    assert {round(each.rose, 1) for each in tables.calibration(blind)} <= {0.3, 0.4, 0.5, 0.6, 0.7}


def test_returns_and_falls_are_those_of_empyrical() -> None:
    rng = np.random.default_rng(2)
    equity = 10_000 * np.exp(np.cumsum(rng.normal(0.0002, 0.01, 900)))
    course = course_of([], float(equity[0]), equity=equity, bars_a_year=252.0)
    simple = pd.Series(equity).pct_change().dropna()
    fall = falls.equity_drawdown_relative(course)
    assert fall is not None
    assert fall.share == pytest.approx(-empyrical.max_drawdown(simple))
    # The tester divides by the deviation of all, empyrical by that of a sample.
    logs = pd.Series(falls.log_returns(equity))
    sample = math.sqrt((len(logs) - 1) / len(logs))
    theirs = empyrical.sharpe_ratio(logs, period="daily")
    assert falls.sharpe_ratio(course) == pytest.approx(theirs / sample)


def test_thinning_keeps_every_extreme() -> None:
    values = np.cumsum(np.random.default_rng(3).normal(size=54_321))
    chosen = kept(values, 1_000)
    assert len(chosen) <= 1_002
    assert (chosen[0], chosen[-1]) == (0, len(values) - 1)
    assert {values.argmin(), values.argmax()} <= set(chosen)
    assert len(kept(values, 60_000)) == len(values)
