"""Clock rules found again in bars that follow them, and doubt where history is too short."""

import gzip
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bridge.errors import ConfigError, DataError
from bridge.market.barfile import read_bars
from bridge.market.clockrule import Detection, confirm, detect_clock, market_is_open
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.mt5.servertime import parse, server_clock, weekday
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir

H1 = timeframe("H1")
DATA = Path(os.environ.get("BRIDGE_TEST_DATA", ""))
needs_data = pytest.mark.skipif(
    not os.environ.get("BRIDGE_TEST_DATA"), reason="BRIDGE_TEST_DATA names no folder of real bars"
)


@cache
def sample() -> RatesArray:
    return read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")


def rates_at(times: object) -> RatesArray:
    rates = np.zeros(len(np.asarray(times)), RATES_DTYPE)
    rates["time"] = times
    return rates


@cache
def under(rule: str) -> RatesArray:
    """Return the sample bars (eet-us) as a server with another clock would show them."""
    source, target = server_clock("eet-us"), server_clock(rule)
    moved = [int(target.from_utc(source.to_utc(each))) for each in sample()["time"].tolist()]
    # On a clock half an hour apart, the two halves of a bar are in two bars.
    halves = np.array([(start, start + 1800) for start in moved])
    return rates_at(np.unique(halves // 3600 * 3600))


def between(rates: RatesArray, first: str, last: str) -> RatesArray:
    times = rates["time"]
    return rates[(times >= parse(first)) & (times < parse(last))]


def detect(rates: RatesArray, name: str = "H1", symbol: str = "EURUSD") -> Detection:
    return detect_clock({symbol: rates}, timeframe(name))


def test_the_sample_bars_follow_eet_with_american_dates() -> None:
    found = detect(sample())
    assert found.rule == "eet-us"
    assert found.weeks == 51
    assert found.confidence == 0.75
    assert found.remaining == ()
    assert found.evidence == (
        "51 of 51 weeks of EURUSD end at Friday 17:00 New York under eet-us, "
        "3 of them unlike under eet-eu"
    )


WHOLE = [f"utc{hours:+d}" for hours in range(-12, 15) if hours]


@pytest.mark.parametrize("rule", ["utc", "eet-eu", "eet-us", *WHOLE, "utc+5:30", "utc-3:30"])
def test_bars_moved_to_another_clock_are_found_again(rule: str) -> None:
    assert detect(under(rule)).rule == rule


@pytest.mark.parametrize("rule", ["eet-eu", "eet-us", "utc", "utc+2"])
def test_a_broker_that_shows_no_bar_on_sunday_is_found_all_the_same(rule: str) -> None:
    times = under(rule)["time"]
    kept = times[[weekday(each) not in (0, 6) for each in times.tolist()]]
    assert detect(rates_at(kept)).rule == rule


@pytest.mark.parametrize("rule", ["utc", "eet-eu", "utc+2"])
def test_bars_on_sunday_are_no_weekend_trading(rule: str) -> None:
    assert 0 in {weekday(each) for each in under(rule)["time"].tolist()}
    assert detect(under(rule)).rule == rule


@pytest.mark.parametrize("rule", ["eet-eu", "eet-us"])
def test_metals_begin_an_hour_late_and_end_two_minutes_early(rule: str) -> None:
    source, target = server_clock("eet-us"), server_clock(rule)
    minutes: list[float] = []
    for each in sample()["time"].tolist():
        hour = (each // 3600) % 24
        if hour == 0:
            continue  # the daily break
        last = 58 if hour == 23 else 60
        start = target.from_utc(source.to_utc(each))
        minutes += [start + 60 * minute for minute in (0, 15, 30, last - 1)]
    assert detect(rates_at(minutes), "M1", "XAUUSD").rule == rule


@pytest.mark.parametrize(
    ("rule", "first", "last", "remaining"),
    [
        ("eet-us", "2017.01.05", "2017.03.04", ("eet-eu", "eet-us", "utc+2")),
        ("eet-us", "2017.05.01", "2017.09.01", ("eet-eu", "eet-us", "utc+3")),
        ("eet-eu", "2017.05.01", "2017.09.01", ("eet-eu", "eet-us", "utc+3")),
        ("utc+3", "2017.05.01", "2017.09.01", ("eet-eu", "eet-us", "utc+3")),
        ("utc", "2017.05.01", "2017.09.01", ("utc",)),
        ("utc+1", "2017.01.05", "2017.03.04", ("utc+1",)),
    ],
)
def test_one_season_leaves_the_rules_that_it_can_not_tell_apart(
    rule: str, first: str, last: str, remaining: tuple[str, ...]
) -> None:
    found = detect(between(under(rule), first, last))
    assert found.rule is None
    assert found.remaining == remaining
    assert found.confidence == 0.0
    assert "load more" in found.evidence


def test_the_weeks_between_the_two_switches_of_spring_decide() -> None:
    for rule in ("eet-eu", "eet-us"):
        assert detect(between(under(rule), "2017.02.01", "2017.04.30")).rule == rule


def test_one_early_close_is_a_holiday_until_there_is_another() -> None:
    times = under("eet-us")["time"]
    one = rates_at(times[times != parse("2017.06.16 23:00")])
    assert detect(one).rule == "eet-us"
    # In autumn a single Friday lies between the switches: closing early may be a holiday.
    kept = [each for each in under("eet-eu")["time"].tolist() if weekday(each) != 0]
    found = detect(between(rates_at(kept), "2017.09.01", "2017.12.20"))
    assert (found.rule, found.remaining) == (None, ("eet-eu", "eet-us"))


def test_one_bar_after_the_market_has_closed_is_proof() -> None:
    kept = [each for each in under("eet-us")["time"].tolist() if weekday(each) != 0]
    found = detect(between(rates_at(kept), "2017.09.01", "2017.12.20"))
    assert found.rule == "eet-us"
    assert found.confidence == 0.5


def test_weeks_that_speak_for_either_rule_decide_nothing() -> None:
    times = under("eet-us")["time"]
    found = detect(rates_at(times[times != parse("2017.03.17 23:00")]))
    assert (found.rule, found.remaining) == (None, ("eet-eu", "eet-us"))


def test_a_stray_bar_at_the_weekend_changes_nothing() -> None:
    stray = np.append(sample()["time"], parse("2017.06.17 00:00"))
    assert detect(rates_at(np.sort(stray))).rule == "eet-us"


def test_few_weekends_are_said_to_be_few() -> None:
    for rates, number in ((sample()[:200], 1), (sample()[:20], 0), (sample()[:0], 0)):
        found = detect(rates)
        assert (found.rule, found.weeks) == (None, number)
        assert found.evidence == f"EURUSD has {number} weekends, 4 are needed: load more history"


def test_a_symbol_that_trades_at_weekends_tells_nothing() -> None:
    days = rates_at(np.arange(parse("2017.01.01"), parse("2017.12.01"), 3600))
    found = detect(days, symbol="BTCUSD")
    assert found.rule is None
    assert "trades at weekends, which tells nothing; use a currency pair" in found.evidence
    both = detect_clock({"BTCUSD": days, "EURUSD": sample()}, H1)
    assert both.rule == "eet-us"


def test_a_clock_that_is_none_of_the_rules_is_not_pressed_into_one() -> None:
    # Central Europe: an hour behind eet-eu the whole year.
    found = detect(rates_at(under("eet-eu")["time"] - 3600))
    assert found.rule is None
    assert "as under no rule that brokers use" in found.evidence


def test_symbols_that_disagree_name_no_rule() -> None:
    found = detect_clock({"EURUSD": sample(), "GBPUSD": under("utc+2")}, H1)
    assert found.rule is None
    assert "the symbols disagree" in found.evidence


def test_bars_too_coarse_and_no_symbols_are_refused() -> None:
    with pytest.raises(DataError, match="H4 bars don't show the hour of a close"):
        detect_clock({"EURUSD": sample()}, timeframe("H4"))
    with pytest.raises(DataError, match="no symbol"):
        detect_clock({}, H1)


@pytest.fixture
def zones(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[str]]:
    if not hasattr(time, "tzset"):
        pytest.skip("this system can't change its zone inside a process")

    def walk() -> Iterator[str]:
        for zone in ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Sydney"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            yield zone

    yield walk()
    monkeypatch.undo()
    time.tzset()


def test_the_machines_zone_changes_nothing(zones: Iterator[str]) -> None:
    tick, now = parse("2017.03.20 12:00"), utc(2017, 3, 20, 10)
    answers = [
        (detect(sample()), detect(under("eet-eu")), confirm("eet-us", tick, now)) for _ in zones
    ]
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ((2017, 3, 12, 20, 59), False),  # New York went to summer time that morning
        ((2017, 3, 12, 21, 0), True),
        ((2017, 3, 5, 21, 59), False),
        ((2017, 3, 5, 22, 0), True),
        ((2017, 3, 17, 20, 59), True),
        ((2017, 3, 17, 21, 0), False),
        ((2017, 3, 18, 12, 0), False),
        ((2017, 3, 15, 0, 0), True),
    ],
)
def test_the_market_follows_new_york(moment: tuple[int, ...], is_open: bool) -> None:
    assert market_is_open(utc(*moment)) is is_open


# Between the switches of spring: eet-us is 3 hours from UTC, eet-eu still 2.
MONDAY = utc(2017, 3, 20, 9)


@pytest.mark.parametrize(
    ("rule", "tick", "words"),
    [
        ("eet-us", "2017.03.20 12:00", None),
        ("eet-us", "2017.03.20 11:55", None),
        ("eet-us", "2017.03.20 12:05", None),
        ("eet-eu", "2017.03.20 12:00", "60 minutes ahead of the clock rule eet-eu: the broker"),
        ("utc+4", "2017.03.20 12:00", "60 minutes behind the clock rule utc+4: the broker"),
        ("eet-us", "2017.03.20 12:06", "6 minutes ahead of the clock rule eet-us: the broker"),
        ("eet-us", "2017.03.20 11:43", "17 minutes behind the clock rule eet-us: quotes are old"),
    ],
)
def test_a_live_tick_confirms_the_rule_or_says_by_how_much_not(
    rule: str, tick: str, words: str | None
) -> None:
    said = confirm(rule, parse(tick), MONDAY)
    assert said is None if words is None else said is not None and words in said


def test_a_tick_while_the_market_is_closed_says_nothing() -> None:
    assert confirm("eet-us", parse("2017.03.17 23:59"), utc(2017, 3, 18, 12)) is None


def test_the_tolerance_is_the_callers_and_an_unknown_rule_is_refused() -> None:
    tick = parse("2017.03.20 12:02")
    assert confirm("eet-us", tick, MONDAY) is None
    assert confirm("eet-us", tick, MONDAY, tolerance_minutes=1) is not None
    with pytest.raises(ConfigError, match="'auto' is unknown"):
        confirm("auto", tick, MONDAY)


@needs_data
@pytest.mark.parametrize(
    ("file", "rule", "weeks"),
    [
        ("EURUSD_H1", None, 30),  # only the single Friday of autumn, and it closed early
        ("BRENT_H1", None, 30),
        ("SILVER_H1", None, 30),
        ("ADAUSD_H1", None, 0),  # trades at weekends
    ],
)
def test_real_exports_of_a_terminal(file: str, rule: str | None, weeks: int) -> None:
    found = detect(read_bars(DATA / f"bars/mt5_export/{file}.csv"))
    assert (found.rule, found.weeks) == (rule, weeks)


@needs_data
@pytest.mark.parametrize(
    ("file", "name", "rule"),
    [
        ("copy_rates_csv/EURUSD_H1_realvolume", "H1", "eet-eu"),
        ("copy_rates_csv/USDJPY_H1", "H1", "eet-eu"),
        ("copy_rates_csv/GOLD_M1", "M1", "eet-eu"),
        ("copy_rates_csv/USDJPY_M5_tz", "M5", None),  # seven weeks of summer
        ("copy_rates_csv/NAS100_H1", "H1", None),  # an index keeps other hours
        ("fxcm/USDJPY_M1_bid_2013-02", "M1", None),  # a month of winter
        ("fxpack/EURUSD_H1_2021_2026", "H1", "eet-us"),
        ("fxpack/XAUUSD_H1_2021_2026", "H1", "eet-us"),
    ],
)
def test_real_histories(file: str, name: str, rule: str | None) -> None:
    with gzip.open(DATA / f"bars/{file}.csv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        times = [parse(line.split(",")[0].removesuffix("+00:00")) for line in lines]
    assert detect(rates_at(times), name).rule == rule


@needs_data
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("EURUSD_H1_2025", "H1"),
        ("EURUSD_M15_2025", "M15"),
        ("EURUSD_M5_2023_2024", "M5"),
        ("USDCAD_H1_2025Q4", "H1"),
        ("XAUUSD_M1_2024-10_2025-01", "M1"),
    ],
)
def test_real_bars_of_one_broker(file: str, name: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    column = parquet.read_table(DATA / f"bars/icm/{file}.parquet", columns=["time"])["time"]
    assert detect(rates_at(column.to_numpy()), name).rule == "eet-us"
