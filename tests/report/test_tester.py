"""The tester's statistics, rebuilt from the deals of real tester reports, equal to their summaries.

What deals alone don't tell (equity between deals, excursions, margin) is not rebuilt here.
"""

import os
import re
from collections import Counter
from dataclasses import astuple, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tester_reports import Deal, deals_of, summary_of
from tests_support import record

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import parse
from bridge.report.course import Course, course_of
from bridge.report.tester import STATISTICS, Statistic
from bridge.report.tester.values import Fall, Span

NEEDS_MORE = {
    "recovery_factor",
    "sharpe_ratio",
    "equity_drawdown_absolute",
    "equity_drawdown_maximal",
    "equity_drawdown_relative",
    "correlation_profits_mfe",
    "correlation_profits_mae",
    "correlation_mfe_mae",
}
FROM_DEALS = [each for each in STATISTICS if each.name not in NEEDS_MORE]
REPORTS = 14
ENTRY = {"in": mt5.DEAL_ENTRY_IN, "out": mt5.DEAL_ENTRY_OUT}
# Contract sizes of the reports' symbols.
SIZES = (1.0, 100.0, 100_000.0)


@cache
def reports() -> tuple[Path, ...]:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder with real tester reports")
    found = (Path(folder) / "deals" / "tester").iterdir()
    return tuple(sorted(path for path in found if "Optimizer" not in path.name))


def opening(close: Deal, held: list[Deal]) -> Deal:
    """Return the open deal that a closing one fits: its volume, its profit; the oldest of equals.

    Reports name no position. Profit is the move times a contract size, in the price's currency or
    divided by the closing price.
    """

    def misfit(deal: Deal) -> float:
        move = (close.price - deal.price) * deal.sign * deal.volume
        guesses = (move * size * rate for size in SIZES for rate in (1.0, 1.0 / close.price))
        return min(abs(round(guess, 2) - close.profit) for guess in guesses)

    fits = [
        deal
        for deal in held
        if (deal.symbol, deal.volume, deal.sign) == (close.symbol, close.volume, -close.sign)
    ]
    return min(fits, key=misfit)


def as_records(deals: list[Deal]) -> list[TradeDeal]:
    found, held = [], list[Deal]()
    for deal in deals:
        of = deal
        if deal.entry == "out":
            of = opening(deal, held)
            held.remove(of)
        elif deal.entry == "in":
            held.append(deal)
        plain = {
            name: getattr(deal, name)
            for name in [
                "ticket",
                "type",
                "symbol",
                "volume",
                "price",
                "profit",
                "swap",
                "commission",
                "fee",
            ]
        }
        more = {"position_id": of.ticket, "time": parse(deal.time), "entry": ENTRY.get(deal.entry)}
        found.append(record(TradeDeal, {**plain, **more, "entry": more["entry"] or 0}))
    return found


@cache
def summary(path: Path) -> dict[str, str]:
    return summary_of(path)


@cache
def course(path: Path) -> Course:
    deals = deals_of(path)
    assert deals[0].type == 2
    return course_of(as_records(deals[1:]), deals[0].profit)


def printed(text: str) -> list[str]:
    return re.findall(r"-?\d+(?:\.\d+)?", text)


def ours(each: Statistic, of: Course) -> list[float]:
    """Return the numbers of a statistic in the order in which reports print them, shares in %."""
    value = each.of(of)
    if isinstance(value, Span):
        return [float(part) for part in str(value).split(":")]
    if value is None:
        return []
    numbers = [float(part) for part in (astuple(value) if is_dataclass(value) else (value,))]
    if each.name in ("ahpr", "ghpr"):
        return [numbers[0], 100 * (numbers[0] - 1)]
    if each.name == "z_score" or isinstance(value, Fall) or each.title.endswith(("%)", "total)")):
        numbers[1] *= 100
    if each.title.endswith("Relative") or each.title.endswith("(count)"):
        numbers.reverse()
    return numbers


def is_equal(value: float, text: str) -> bool:
    """Say whether ``value`` has the digits that were printed."""
    digits = len(text.partition(".")[2])
    return abs(value - float(text)) <= 0.5 * 10.0**-digits + 1e-9


@pytest.mark.parametrize("each", FROM_DEALS, ids=lambda each: each.name)
def test_a_statistic_is_that_of_every_report(each: Statistic) -> None:
    wrong = []
    for path in reports():
        theirs, mine = printed(summary(path)[each.name]), ours(each, course(path))
        if len(mine) != len(theirs) or not all(map(is_equal, mine, theirs)):
            wrong.append((path.name, theirs, mine))
    assert len(reports()) == REPORTS
    assert wrong == []


def test_recovery_is_that_of_the_reports_with_their_own_drawdown_of_equity() -> None:
    """Equity between deals is not in a report; given its deepest fall, the factor is."""
    for path in reports():
        known, printed_ones = course(path), summary(path)
        fall = float(printed(printed_ones["equity_drawdown_maximal"])[0])
        equity = np.array([known.deposit + fall, known.deposit])
        with_fall = course_of(known.deals, known.deposit, equity=equity)
        (value,) = ours(next(s for s in STATISTICS if s.name == "recovery_factor"), with_fall)
        assert is_equal(value, printed(printed_ones["recovery_factor"])[0]), path.name


def test_every_statistic_has_its_definition_and_source() -> None:
    assert len(STATISTICS) == len({each.name for each in STATISTICS}) == 40
    for each in STATISTICS:
        assert len(each.definition) > 20, each.title
        assert "Source: " in (each.of.__doc__ or ""), each.title


def test_an_account_without_trades_has_statistics() -> None:
    nothing = course_of([], 1_000.0)
    texts = Counter(each.text(nothing) for each in STATISTICS)
    assert texts["-"] >= 20
    assert all(each.plain(nothing) is not float("nan") for each in STATISTICS)
