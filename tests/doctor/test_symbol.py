"""The symbol at the broker: names, sides, bars."""

from dataclasses import replace
from pathlib import Path

import pytest
from doctor.doctor_desk import Odd, Patient, broker, sample

from bridge.clock import ManualClock
from bridge.doctor import symbol
from bridge.doctor.finding import Grade
from bridge.doctor.ground import Connection, Site
from bridge.doctor.names import closest
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import server_clock
from bridge.settings import Mode
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.terminal import PaperTerminal

BROKER = ["AUDUSD", "EURGBP", "EURJPY", "EURUSD.m", "EURUSDmicro", "GBPUSD", "USDJPY", "XAUUSD"]


@pytest.mark.parametrize(
    ("wanted", "names", "like"),
    [
        ("EURUSD", ["EURUSD.m", "GBPUSD.m"], ["EURUSD.m"]),
        ("EURUSD", ["mEURUSD", "XAUUSD"], ["mEURUSD"]),
        ("EURUSD", ["eurusd"], ["eurusd"]),
        ("EURUSD.raw", ["EURUSD", "EUR"], ["EURUSD"]),
        ("EURUSD", ["EUR/USD"], ["EUR/USD"]),
        ("US30", ["US30.cash", "US500.cash"], ["US30.cash"]),
        ("GER40", ["DE40", "GER30", "FRA40"], ["GER30", "DE40", "FRA40"]),
        ("EURUSB", ["GBPJPY", "EURUSD"], ["EURUSD"]),
        ("BTCUSD", ["ZZZ"], []),
        ("...", ["EURUSD"], []),
        ("EURUSD", [], []),
    ],
)
def test_names_like_one_that_is_not_there(wanted: str, names: list[str], like: list[str]) -> None:
    assert closest(wanted, names) == like


def test_variants_come_first_and_at_most_five_names_are_shown() -> None:
    assert closest("EURUSD", BROKER) == ["EURUSD.m", "EURUSDmicro"]
    many = [f"EURUSD.{suffix}" for suffix in ("cent", "i", "m", "pro", "raw", "stp")]
    assert closest("EURUSD", many) == [
        "EURUSD.i",
        "EURUSD.m",
        "EURUSD.pro",
        "EURUSD.raw",
        "EURUSD.stp",
    ]


def test_a_symbol_that_is_there_is_described(tmp_path: Path) -> None:
    found = symbol.symbol(Patient(folder=tmp_path).subject())
    assert found.grade is Grade.OK
    assert found.found == "EURUSD, 5 digits, Euro vs US Dollar"


def test_a_broker_with_a_suffix_is_a_fault_of_settings_with_a_suggestion(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, profile=broker(symbol="EURUSD.m"))
    findings = patient.examined()
    found = findings["symbol EURUSD"]
    assert (found.grade, found.exit_code) == (Grade.FAIL, 2)
    assert found.found == "the broker has no symbol EURUSD"
    assert 'symbol = "EURUSD.m"' in found.todo
    # What stands on the symbol is skipped, and is no further fault.
    of_symbol = ("sides mover", "history mover", "quote EURUSD", "volume mover")
    assert {findings[name].grade for name in of_symbol} == {Grade.SKIPPED}
    assert findings["history mover"].found == "the broker has no EURUSD"
    assert [each.check for each in findings.values() if each.grade is Grade.FAIL] == [
        "symbol EURUSD"
    ]


def test_a_name_like_no_other_is_looked_up_by_the_person(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, profile=broker(symbol="XYZ"))
    subject = Patient(folder=tmp_path).subject()
    site = Site(subject.site.settings, patient.link(), subject.site.clock)
    alone = replace(subject, site=site)
    assert "View, Symbols" in symbol.symbol(alone).todo


def test_a_symbol_outside_market_watch_is_added(tmp_path: Path) -> None:
    subject = Patient(folder=tmp_path).subject()
    terminal = subject.site.terminal
    assert isinstance(terminal, ModuleTerminal)
    module = terminal._module
    module.symbol_select("EURUSD", False)
    assert not terminal.symbol_info("EURUSD").select
    found = symbol.symbol(subject)
    assert found.grade is Grade.WARN
    assert "was not in Market Watch" in found.found
    assert "added now" in found.todo
    assert terminal.symbol_info("EURUSD").select
    assert symbol.symbol(subject).grade is Grade.OK


class Full(Odd):
    """A terminal whose Market Watch takes no more."""

    def symbol_select(self, symbol: str) -> None:
        super().symbol_select("NIX")


def test_a_symbol_that_can_not_be_added_is_a_fault(tmp_path: Path) -> None:
    odd = {"symbol_info": {"select": False}}
    found = symbol.symbol(Patient(folder=tmp_path, odd=odd, kind=Full).subject())
    assert (found.grade, found.exit_code) == (Grade.FAIL, 3)
    assert "symbol_select failed with -1" in found.found
    assert "by hand" in found.todo


@pytest.mark.parametrize(
    ("mode", "sides", "grade", "says"),
    [
        (4, "both", Grade.OK, "may be bought and sold"),
        (1, "both", Grade.WARN, 'sides = "long"'),
        (2, "both", Grade.WARN, 'sides = "short"'),
        (1, "long", Grade.OK, "may be bought only"),
        (1, "short", Grade.FAIL, "may be bought only"),
        (3, "both", Grade.FAIL, "may be closed only"),
        (0, "both", Grade.FAIL, "may not be traded"),
        (9, "both", Grade.FAIL, "unknown trade mode 9"),
    ],
)
def test_what_the_broker_lets_be_opened_meets_what_the_strategy_opens(
    tmp_path: Path, mode: int, sides: str, grade: Grade, says: str
) -> None:
    patient = Patient(
        folder=tmp_path,
        odd={"symbol_info": {"trade_mode": mode}},
        strategy={"decision": {"sides": sides}},
    )
    found = symbol.sides(patient.subject())
    assert (found.grade, found.exit_code) == (grade, 2 if grade is Grade.FAIL else 0)
    assert says in found.found + found.todo


def test_sixty_of_120_bars(tmp_path: Path) -> None:
    """B08: the model wants 119 closed bars and the forming one, the terminal has 60 for ever."""
    patient = Patient(folder=tmp_path, bars=sample()[:60], window=119)
    found = symbol.history(patient.subject())
    assert (found.grade, found.exit_code) == (Grade.FAIL, 3)
    assert found.found == "60 of 120 bars of EURUSD H1"
    assert "Max bars in chart" in found.todo
    enough = Patient(folder=tmp_path, bars=sample()[:120], window=119)
    assert symbol.history(enough.subject()).found == "120 of 120 bars of EURUSD H1"


class Fetching(ModuleTerminal):
    """A terminal that fetches history: the first two answers are short."""

    polls = 0

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        self.polls += 1
        rates = super().copy_rates_from_pos(symbol, timeframe, start_pos, count)
        return rates[-60:] if self.polls < 3 else rates


def test_history_that_is_being_fetched_gets_some_seconds(tmp_path: Path) -> None:
    """B08: 60, 60, 120 bars on successive polls."""
    patient = Patient(folder=tmp_path, window=119)
    subject = patient.subject()
    clock = ManualClock(0.0)
    terminal = Fetching(patient.module(subject.site.link.clock))
    link = Connection(clock=subject.site.link.clock, terminal=terminal)
    live = subject.site.settings
    site = Site(live, link, clock)
    found = symbol.history(replace(subject, site=site))
    assert found.grade is Grade.OK
    assert (terminal.polls, clock.now()) == (3, 2.0)
    # A recording gets no longer by waiting.
    terminal.polls = 0
    site = Site(live.model_copy(update={"mode": Mode.PAPER}), link, clock)
    found = symbol.history(replace(subject, site=site))
    assert (found.grade, found.todo) == (Grade.FAIL, "name a longer recording")
    assert (terminal.polls, clock.now()) == (1, 2.0)


def test_a_symbol_without_any_bars_has_none_of_them(tmp_path: Path) -> None:
    """B08: the symbol is known and its history is empty: a count, no unexpected error."""
    patient = Patient(folder=tmp_path)
    subject = patient.subject()
    now = ManualClock(server_clock("eet-us").to_utc(int(sample()["time"][-1])))
    bare = PaperTerminal(patient.profile, {}, now, None)
    bare.initialize()
    site = Site(subject.site.settings, Connection(clock=now, terminal=Odd(bare, {})), now)
    found = symbol.history(replace(subject, site=site))
    assert (found.grade, found.found) == (Grade.FAIL, "0 of 4 bars of EURUSD H1")
