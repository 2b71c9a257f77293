"""How old quotes are, and by which clock."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doctor.doctor_desk import Patient, between, broker, sample

from bridge.clock import ManualClock
from bridge.doctor import clock
from bridge.doctor.finding import Finding, Grade
from bridge.doctor.ground import Connection, Missing, Site, Subject
from bridge.market.clockrule import Detection
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse
from bridge.settings import Mode
from bridge.terminal.adapter import ModuleTerminal

# 2025-09-16, 12:00:01.2 UTC and 15:00:00 by a server of GMT+3.
HOST = 1_758_024_001.2
SERVER = 1_758_034_800
SUMMER = between("2017.05.01 00:00", "2017.09.01 00:00")


def code(found: Finding) -> tuple[Grade, int]:
    return found.grade, found.exit_code


def september() -> RatesArray:
    first = parse("2025.09.15 00:00")
    count = (SERVER - first) // 3600 + 1
    return rates_of((first + 3600 * n, 1.1, 1.1, 1.1, 1.1, 9, 10, 0) for n in range(count))


def gmt3(tmp_path: Path, tick: dict[str, Any] | None = None, **top: Any) -> Patient:
    return Patient(
        folder=tmp_path,
        profile=broker(rule="utc+3"),
        bars=september(),
        now=HOST,
        odd={"symbol_info_tick": tick or {}},
        top={"server_clock": "utc+3", **top},
    )


def test_the_age_of_a_quote_is_server_now_minus_its_time(tmp_path: Path) -> None:
    """B14: server GMT+3, host 12:00:01.2 UTC, tick.time 1758034800: 1.2 s, not -10798.8 s."""
    subject = gmt3(tmp_path).subject()
    assert subject.read_tick().time == SERVER
    found = clock.quote(subject)
    assert code(found) == (Grade.OK, 0)
    assert found.found == "the quote of EURUSD is 1.2 s old"


def test_an_old_quote_is_a_fault(tmp_path: Path) -> None:
    """B14: tick.time 1758034680: age 121.2 s, the limit is 60 s."""
    found = clock.quote(gmt3(tmp_path, {"time": 1_758_034_680}).subject())
    assert code(found) == (Grade.FAIL, 3)
    assert found.found == "the quote of EURUSD is 121.2 s old, the limit is 60 s"


def test_without_a_limit_no_quote_is_too_old(tmp_path: Path) -> None:
    """B14: the limit is a setting."""
    limits = {"max_quote_age_seconds": None}
    found = clock.quote(gmt3(tmp_path, {"time": 1_758_034_680}, limits=limits).subject())
    assert code(found) == (Grade.OK, 0)


def test_a_quote_of_the_future_means_a_wrong_clock(tmp_path: Path) -> None:
    found = clock.quote(gmt3(tmp_path, server_clock="utc+2").subject())
    assert code(found) == (Grade.FAIL, 3)
    assert "3598.8 s ahead of server time by utc+2" in found.found


@pytest.mark.parametrize(("late", "grade"), [(59, Grade.OK), (61, Grade.WARN), (890, Grade.WARN)])
def test_a_computer_that_is_a_little_late_may_trade(
    tmp_path: Path, late: int, grade: Grade
) -> None:
    """The guard lets it, too."""
    found = clock.quote(replace(gmt3(tmp_path), now=HOST - 1.2 - late).subject())
    assert code(found) == (grade, 0)
    # However old a quote may be, it may not be of the next hour.
    limits = {"max_quote_age_seconds": 7_200.0}
    wide = replace(gmt3(tmp_path, limits=limits), now=HOST - 3_600)
    assert code(clock.quote(wide.subject())) == (Grade.FAIL, 3)


def test_a_rule_may_be_written_in_two_ways(tmp_path: Path) -> None:
    """utc+2 all year is another rule than eet in either of its forms, and the same as utc+02:00."""
    subject = Patient(folder=tmp_path, top={"server_clock": "utc+02:00"}).subject()
    evidence = Detection("utc+2", "52 of 52 weeks", 52)
    found = clock.clock(replace(subject, site=replace(subject.site, detection=evidence)))
    assert "52 of 52 weeks" in found.found
    assert found.grade is not Grade.FAIL
    for rule in ("eet-eu", "eet-us", "utc+3"):
        other = replace(evidence, rule=rule)
        found = clock.clock(replace(subject, site=replace(subject.site, detection=other)))
        assert code(found) == (Grade.FAIL, 2)


def test_what_one_symbol_tells_counts_for_all_of_the_broker(tmp_path: Path) -> None:
    """A symbol that trades at weekends tells nothing, as a run takes it, too."""
    patient = Patient(folder=tmp_path)
    settings = patient.settings()
    other = settings.strategy[0].model_copy(update={"name": "b", "magic": 8, "symbol": "BTCUSD"})
    both = settings.model_copy(update={"strategy": (other, *settings.strategy)})
    assert clock.detect(patient.site(both)).rule == "eet-us"


def test_at_the_weekend_no_quote_is_judged(tmp_path: Path) -> None:
    saturday = replace(gmt3(tmp_path), now=HOST + 4 * 86_400)
    found = clock.quote(saturday.subject())
    assert found.grade is Grade.SKIPPED
    assert "the last quote of EURUSD is of 2025.09.16 15:00:00" in found.found


def test_a_symbol_without_prices_has_no_quote_to_judge(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="EURUSD has no quote"):
        clock.quote(gmt3(tmp_path, {"bid": 0.0}).subject())


def test_the_rule_of_the_history_is_found_and_used(tmp_path: Path) -> None:
    subject = Patient(folder=tmp_path).subject()
    assert subject.site.rule == "eet-us"
    found = clock.clock(subject)
    assert code(found) == (Grade.OK, 0)
    assert "51 of 51 weeks of EURUSD end at Friday 17:00 New York under eet-us" in found.found


@pytest.mark.parametrize(
    ("named", "grade", "says"),
    [
        ("eet-us", Grade.OK, "51 of 51 weeks"),
        ("auto", Grade.OK, "eet-us: 51 of 51 weeks"),
        ("eet-eu", Grade.FAIL, 'server_clock = "eet-us"'),
        ("utc+2", Grade.FAIL, 'server_clock = "eet-us"'),
    ],
)
def test_a_rule_that_is_named_is_held_against_the_history(
    tmp_path: Path, named: str, grade: Grade, says: str
) -> None:
    found = clock.clock(Patient(folder=tmp_path, top={"server_clock": named}).subject())
    assert code(found) == (grade, 2 if grade is Grade.FAIL else 0)
    assert says in found.found + found.todo


@pytest.mark.parametrize(
    ("top", "grade"),
    [
        ({}, Grade.FAIL),
        ({"mode": "dry-run"}, Grade.FAIL),
        ({"server_clock": "eet-us"}, Grade.WARN),
    ],
)
def test_one_season_does_not_tell_the_rule(
    tmp_path: Path, top: dict[str, Any], grade: Grade
) -> None:
    subject = Patient(folder=tmp_path, bars=SUMMER, top=top).subject()
    found = clock.clock(subject)
    assert code(found) == (grade, 2 if grade is Grade.FAIL else 0)
    assert "eet-eu, eet-us, utc+3 apart are not in this history" in found.found
    assert "server_clock" in found.todo or "eet-us" in found.todo
    if "server_clock" not in top:
        with pytest.raises(Missing, match="clock is not known"):
            clock.quote(subject)


def test_a_live_tick_objects_to_a_wrong_computer_clock(tmp_path: Path) -> None:
    right = Patient(folder=tmp_path)
    now = right.link().clock.now()
    found = clock.clock(replace(right, now=now - 3600).subject())
    assert code(found) == (Grade.WARN, 0)
    assert "the newest tick is 60 minutes ahead of the clock rule eet-us" in found.found
    # Without a price nothing objects, and the history still tells.
    mute = replace(right, now=now - 3600, odd={"symbol_info_tick": {"bid": 0.0}})
    assert code(clock.clock(mute.subject())) == (Grade.OK, 0)


def recorded(tmp_path: Path, bars: RatesArray, rule: str, shift: float = 0.0) -> Subject:
    """Return a subject of mode paper: the rule is the profile's, and the clock the recording's."""
    patient = Patient(folder=tmp_path, profile=broker(rule=rule), bars=bars)
    settings = patient.settings().model_copy(update={"mode": Mode.PAPER})
    subject = patient.subject(patient.site(settings))
    link = subject.site.link
    known = Connection(
        clock=ManualClock(link.clock.now() + shift), terminal=link.terminal, server_clock=rule
    )
    site = Site(settings, known, subject.site.clock, subject.site.detection)
    return replace(subject, site=site)


def test_a_recording_is_read_as_its_profile_says(tmp_path: Path) -> None:
    assert code(clock.clock(recorded(tmp_path, sample(), "eet-us"))) == (Grade.OK, 0)
    found = clock.clock(recorded(tmp_path, sample(), "eet-eu"))
    assert code(found) == (Grade.WARN, 0)
    assert "write eet-us as server_clock in the profile" in found.todo
    # A season does not tell, and no live tick is asked.
    found = clock.clock(recorded(tmp_path, SUMMER, "utc+3", shift=7200))
    assert found.grade is Grade.WARN
    assert found.found.startswith("utc+3 is named, and history does not tell")


def test_recordings_that_end_at_different_times_are_told(tmp_path: Path) -> None:
    subject = recorded(tmp_path, SUMMER, "eet-us", shift=7200)
    found = clock.quote(subject)
    assert code(found) == (Grade.WARN, 0)
    assert "7200.0 s old" in found.found
    assert clock.quote(recorded(tmp_path, SUMMER, "eet-us")).grade is Grade.OK


class NoHistory(ModuleTerminal):
    """A terminal that has no history to give."""

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        return super().copy_rates_from_pos("NIX", timeframe, start_pos, count)


def test_a_terminal_without_history_leaves_the_clock_to_the_settings(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, top={"server_clock": "eet-us"})
    subject = patient.subject()
    link = subject.site.link
    terminal = NoHistory(patient.module(link.clock))
    site = Site(subject.site.settings, Connection(clock=link.clock, terminal=terminal), link.clock)
    bare = replace(subject, site=replace(site, detection=clock.detect(site)))
    found = clock.clock(bare)
    assert found.grade is Grade.WARN
    assert "there are no H1 bars" in found.found
