"""The clock rule at a live start, on the real H1 bars of the sample (New York plus seven hours)."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from bridge.clock import ManualClock
from bridge.engine.clocks import settle_clock
from bridge.errors import ConfigError, StateMismatch
from bridge.market.barfile import read_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

SAMPLE = share_dir("models/sample_bars")
RATES = read_bars(SAMPLE / "EURUSD_H1_2017.csv")
US = server_clock("eet-us")
# A Wednesday in December, the market open.
NOW = parse("2017.12.06 15:00")


def terminal(rates: RatesArray, server_now: int) -> Iterator[ModuleTerminal]:
    clock = ManualClock(US.to_utc(server_now))
    profile = BrokerProfile.load(SAMPLE / "profile.json")
    series = {"EURUSD": (timeframe("H1"), rates)}
    with closing(PaperTerminal(profile, series, clock, None)) as paper:
        paper.initialize()
        yield ModuleTerminal(paper)


@pytest.fixture
def year() -> Iterator[ModuleTerminal]:
    yield from terminal(RATES, NOW)


@pytest.fixture
def two_weeks() -> Iterator[ModuleTerminal]:
    first = int(np.searchsorted(RATES["time"], NOW - 14 * 86_400))
    yield from terminal(RATES[first:], NOW)


def settled(
    at: ModuleTerminal, setting: str = "auto", known: str | None = None, *, late: float = 0.0
) -> tuple[str, list[str]]:
    said: list[str] = []
    utc = US.to_utc(NOW) - late
    rule = settle_clock(setting, at, ["EURUSD"], known=known, utc_now=utc, tell=said.append)
    return rule.name, said


def test_a_year_of_history_decides_and_the_tick_agrees(year: ModuleTerminal) -> None:
    assert settled(year) == ("eet-us", [])
    assert settled(year, known="eet-us") == ("eet-us", [])


def test_history_that_says_something_new_needs_a_person(year: ModuleTerminal) -> None:
    with pytest.raises(StateMismatch, match=r"was eet-eu at the last start, .* now says eet-us"):
        settled(year, known="eet-eu")


def test_a_named_rule_counts_and_history_s_objection_is_told(year: ModuleTerminal) -> None:
    rule, said = settled(year, "eet-eu")
    assert rule == "eet-eu"
    assert len(said) == 1
    assert "server_clock is eet-eu, history says eet-us" in said[0]


def test_two_weeks_decide_nothing(two_weeks: ModuleTerminal) -> None:
    with pytest.raises(ConfigError, match='server_clock = "auto" finds no rule'):
        settled(two_weeks)
    rule, said = settled(two_weeks, known="eet-us")
    assert rule == "eet-us"
    assert "as before" in said[0]


def test_a_tick_only_objects_and_never_decides(year: ModuleTerminal) -> None:
    """The computer's clock is an hour late: the rule stays, a person is told."""
    rule, said = settled(year, late=3_600.0)
    assert rule == "eet-us"
    assert len(said) == 1
    assert "60 minutes ahead of the clock rule eet-us" in said[0]
