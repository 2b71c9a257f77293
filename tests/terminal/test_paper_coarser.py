"""Timeframes coarser than the recorded one, as far as each moment knows them."""

import os
from functools import cache
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from terminal.paper_desk import MONDAY, Play, bars, profile

from bridge.market.aggregate import aggregate
from bridge.market.feed import ClosedBarFeed
from bridge.mt5.rates import RATES_DTYPE, RatesArray, rates_of
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import BY_NAME, Timeframe, timeframe
from bridge.terminal.adapter import ModuleTerminal

M1 = timeframe("M1")
DATA = os.environ.get("BRIDGE_TEST_DATA")


def minutes(first: int, count: int) -> RatesArray:
    """Return M1 bars of the minutes from ``first``, with a hole now and then."""
    rows = []
    for number in range(count):
        if number % 17 in (3, 4):
            continue
        price = 110_000 + number * 37 % 101
        prices = (price, price + number % 7, price - number % 5, price + number % 3 - 1)
        rows.append((first + 60 * number, *(each / 1e5 for each in prices), 3 + number % 9, 5, 0))
    return rates_of(rows)


def rates(play: Play, frame: Timeframe, start: int, count: int) -> RatesArray:
    found = play.terminal.copy_rates_from_pos("EURUSD", frame.value, start, count)
    assert found is not None, play.terminal.last_error()
    return np.asarray(found)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "M1"])
def test_each_timeframe_is_made_of_what_is_known(name: str) -> None:
    """Three days over a month's end, looked at in the middle of bars and at their edges."""
    frame, first = timeframe(name), parse("2024.01.30 12:00")
    play = Play(minutes(first, 3 * 1440), frame=M1, start=first)
    for moment in (0, 59, 60, 3_599, 3_600, 86_400, 129_599, 129_600, 200_000.5):
        play.clock.wait_until(first + moment)
        known = rates(play, M1, 0, 9_999)
        made = aggregate(known, M1, frame)
        assert rates(play, frame, 0, 9_999).tobytes() == made.tobytes()
        assert rates(play, frame, 0, 2).tobytes() == made[-2:].tobytes()
        if len(made) > 1:
            assert rates(play, frame, 1, 9_999).tobytes() == made[:-1].tobytes()


@settings(max_examples=30, deadline=None)
@given(moment=st.integers(0, 60 * 600), name=st.sampled_from(list(BY_NAME)))
def test_no_bar_shows_what_is_still_to_come(moment: int, name: str) -> None:
    whole = minutes(MONDAY, 600)
    seen = []
    for recording in (whole, whole[whole["time"] <= MONDAY + moment]):
        play = Play(recording, frame=M1)
        play.clock.wait_until(MONDAY + moment)
        seen.append(rates(play, timeframe(name), 0, 999).tobytes())
    assert seen[0] == seen[1]


def test_windows_of_made_bars_have_the_ends_of_recorded_ones() -> None:
    play = Play(minutes(MONDAY, 600), frame=M1)
    play.clock.wait_until(MONDAY + 7 * 3_600 + 60)
    module, h1 = play.terminal, timeframe("H1").value

    def hours(found: RatesArray) -> list[int]:
        return [(time - MONDAY) // 3_600 for time in found["time"].tolist()]

    assert hours(module.copy_rates_from("EURUSD", h1, MONDAY + 5 * 3_600, 2)) == [4, 5]
    assert hours(module.copy_rates_from("EURUSD", h1, MONDAY + 5 * 3_600 - 1, 2)) == [3, 4]
    window = (MONDAY + 3_600, MONDAY + 3 * 3_600)
    assert hours(module.copy_rates_range("EURUSD", h1, *window)) == [1, 2, 3]
    assert hours(module.copy_rates_from_pos("EURUSD", h1, 6, 9)) == [0, 1]
    assert module.copy_rates_from_pos("EURUSD", h1, 8, 1) is None
    assert module.last_error() == (-1, "Terminal: Call failed")


@pytest.mark.parametrize(
    ("recorded", "asked", "code"),
    [("H1", "M30", -1), ("H4", "H6", -1), ("W1", "MN1", -1), ("M20", "M30", -1)],
)
def test_what_is_not_made_of_whole_bars_is_not_there(recorded: str, asked: str, code: int) -> None:
    play = Play(bars("110000 110000 110000 110000"), frame=timeframe(recorded))
    assert play.terminal.copy_rates_from_pos("EURUSD", timeframe(asked).value, 0, 1) is None
    assert play.terminal.last_error()[0] == code
    assert play.terminal.copy_rates_from_pos("EURUSD", 7, 0, 1) is None
    assert play.terminal.last_error()[0] == -2


def test_a_forming_bar_is_decided_once_when_it_has_closed() -> None:
    """B06: polls around 10:15 see 1.1001, then 1.1004; the feed hands the bar out once."""
    ten = parse("2024.01.08 10:00")
    rows = [(ten + 60 * n, *[1.1001 + n // 14 * 0.0003] * 4, 9, 5, 0) for n in range(14)]
    last = (ten + 840, 1.1001, 1.1004, 1.1001, 1.1004, 9, 5, 0)
    after = (ten + 900, 1.1004, 1.1004, 1.1004, 1.1004, 9, 5, 0)
    play = Play(rates_of([*rows, last, after]), frame=M1, start=ten)
    m15 = timeframe("M15")
    feed = ClosedBarFeed(
        ModuleTerminal(play.terminal), symbol="EURUSD", timeframe=m15, depth=1, after=0
    )
    closes, decided = [], []
    for second in (840, 901, 902):
        play.clock.wait_until(ten + second)
        made = rates(play, m15, 0, 2)
        closes.append(made["close"][made["time"] == ten][0])
        decided += [bar.rates["close"][-1] for bar in [feed.next()] if bar is not None]
    assert closes == [1.1001, 1.1004, 1.1004]
    assert decided == [1.1004]


def test_days_around_a_weekend_are_those_that_were_traded() -> None:
    """B12: Thursday, Friday, Monday, Tuesday: four bars, and the mean of three of them."""
    closes = {"05": 1.14400, "06": 1.13950, "09": 1.14210, "10": 1.14240}
    hours = [
        (parse(f"2025.06.{day} {hour:02d}:00"), *[close] * 4, 9, 7, 0)
        for day, close in closes.items()
        for hour in range(24)
    ]
    play = Play(rates_of(hours), start=parse("2025.06.05 00:00"))
    play.clock.wait_until(parse("2025.06.11 00:00"))
    days = rates(play, timeframe("D1"), 0, 99)
    assert [text(time)[:10] for time in days["time"].tolist()] == [
        f"2025.06.{day}" for day in closes
    ]
    means = [f"{days['close'][end - 3 : end].mean():.6f}" for end in (3, 4)]
    assert means == ["1.141867", "1.141333"]
    weeks = rates(play, timeframe("W1"), 0, 99)
    assert [text(time)[:10] for time in weeks["time"].tolist()] == ["2025.06.01", "2025.06.08"]


@cache
def recorded(name: str) -> RatesArray:
    if not DATA:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real bars")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = parquet.read_table(Path(DATA) / f"bars/icm/EURUSD_{name}_2025.parquet")
    found = np.zeros(table.num_rows, dtype=RATES_DTYPE)
    for column in RATES_DTYPE.names or ():
        found[column] = table[column].to_numpy()
    return found


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("M5", 74_305),
        ("M15", 24_769),
        ("M30", 12_385),
        ("H1", 6_193),
        ("H4", 1_549),
        ("D1", 259),
        ("W1", 52),
        ("MN1", 12),
    ],
)
def test_a_year_of_minutes_shows_the_recorded_coarser_bars(name: str, count: int) -> None:
    """A year of a real broker, every column; all but the last, which was recorded forming."""
    minutes, coarse = recorded("M1"), recorded(name)
    play = Play(minutes, profile(), frame=M1, start=float(minutes["time"][0]))
    play.clock.wait_until(float(minutes["time"][-1]))
    made = rates(play, timeframe(name), 0, count)
    assert len(made) == len(coarse) == count
    assert np.flatnonzero(made != coarse).tolist() == [count - 1]
