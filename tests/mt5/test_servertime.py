from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bridge.errors import ConfigError
from bridge.mt5.servertime import parse, server_clock, server_day, text, weekday


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


# In the weeks between the American and the European switch the two EET rules differ.
@pytest.mark.parametrize(
    ("rule", "moment", "hours"),
    [
        ("utc", (2017, 7, 3, 12), 0),
        ("eet-eu", (2017, 1, 3, 12), 2),
        ("eet-eu", (2017, 3, 20, 12), 2),
        ("eet-eu", (2017, 7, 3, 12), 3),
        ("eet-us", (2017, 1, 3, 12), 2),
        ("eet-us", (2017, 3, 20, 12), 3),
        ("eet-us", (2017, 7, 3, 12), 3),
        ("eet-us", (2017, 11, 1, 12), 3),
        ("eet-eu", (2017, 11, 1, 12), 2),
        ("utc+3", (2017, 1, 3, 12), 3),
        ("utc-05:30", (2017, 1, 3, 12), -5.5),
    ],
)
def test_each_rule_has_its_offset(rule: str, moment: tuple[int, ...], hours: float) -> None:
    assert server_clock(rule).from_utc(utc(*moment)) - utc(*moment) == hours * 3600


@pytest.mark.parametrize("rule", ["utc", "eet-eu", "eet-us", "utc+2"])
def test_there_and_back_is_the_same_over_a_year_of_open_hours(rule: str) -> None:
    clock = server_clock(rule)
    for hour in range(0, 365 * 24, 7):
        moment = utc(2017, 1, 2) + hour * 3600
        # Clocks are switched on Sundays, when no market that follows them is open.
        if weekday(moment) != 0:
            assert clock.to_utc(clock.from_utc(moment)) == moment


@pytest.mark.parametrize(
    ("rule", "zone", "lead"), [("eet-eu", "Europe/Helsinki", 0), ("eet-us", "America/New_York", 7)]
)
def test_each_change_comes_at_the_second_that_the_zones_own_rules_say(
    rule: str, zone: str, lead: int
) -> None:
    clock, place, ahead = server_clock(rule), ZoneInfo(zone), timedelta(hours=lead)

    def offset(moment: datetime) -> float:
        return ((moment.utcoffset() or timedelta(0)) + ahead).total_seconds()

    changes = 0
    for day in range(0, 130 * 365, 2):
        begin = datetime.fromtimestamp(day * 86_400, place)
        assert clock.from_utc(day * 86_400) - day * 86_400 == offset(begin)
        if offset(begin) == offset(begin + timedelta(days=2)):
            continue
        changes += 1
        for second in (each + off for each in range(0, 2 * 86_400, 3_600) for off in (-1, 0)):
            utc = day * 86_400 + second
            assert clock.from_utc(utc) == utc + offset(datetime.fromtimestamp(utc, place))
            wall = datetime.fromtimestamp(utc, UTC).replace(tzinfo=None) - ahead
            assert clock.to_utc(utc) == wall.replace(tzinfo=place).timestamp()
    assert changes > 230


@pytest.mark.parametrize("rule", ["", "UTC", "utc+", "utc+15", "utc+x", "eet", "gmt+2"])
def test_an_unknown_rule_is_refused_with_those_that_exist(rule: str) -> None:
    with pytest.raises(ConfigError, match="use utc, eet-eu, eet-us or an offset"):
        server_clock(rule)


def test_the_same_whatever_the_machines_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    answers = set()
    for zone in ("UTC", "America/New_York", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        if hasattr(time, "tzset"):
            time.tzset()
        clock = server_clock("eet-us")
        answers.add((clock.from_utc(1.5e9), clock.to_utc(1.5e9), text(1.5e9), parse("2017.07.14")))
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()
    assert len(answers) == 1


def test_days_and_weekdays_are_the_servers() -> None:
    sunday = parse("2017.03.12 23:59")
    assert weekday(sunday) == 0
    assert weekday(sunday + 60) == 1
    assert server_day(sunday + 60) == server_day(sunday) + 1


def test_text_and_parse_are_inverse() -> None:
    assert text(parse("2017.03.12 23:59:30")) == "2017.03.12 23:59:30"
    assert parse("2017-03-12T23:59") == parse("2017.03.12 23:59")


@pytest.mark.parametrize("written", ["", "yesterday", "2017.13.01", "12.03.2017 23:00"])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="is not a time"):
        parse(written)


@pytest.mark.parametrize(
    ("server", "us", "eu"),
    [
        ("2025-03-17 00:00", (2025, 3, 16, 21), (2025, 3, 16, 22)),
        ("2025-07-01 12:00", (2025, 7, 1, 9), (2025, 7, 1, 9)),
        ("2025-10-27 00:00", (2025, 10, 26, 21), (2025, 10, 26, 22)),
        ("2025-11-10 00:00", (2025, 11, 9, 22), (2025, 11, 9, 22)),
    ],
)
def test_b03_weeks_in_which_the_two_rules_disagree(
    server: str, us: tuple[int, ...], eu: tuple[int, ...]
) -> None:
    moment = parse(server)
    assert server_clock("eet-us").to_utc(moment) == utc(*us)
    assert server_clock("eet-eu").to_utc(moment) == utc(*eu)
