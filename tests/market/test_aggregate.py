"""Bars made of bars and of ticks: by example, against a plain loop, and against recorded ones."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from bridge.errors import DataError
from bridge.market.aggregate import aggregate, bars_of_ticks, can_make, opens_of
from bridge.market.quality import check_rates
from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE, RatesArray, rates_of
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import BY_NAME, timeframe

M1 = timeframe("M1")
DATA = Path(os.environ.get("BRIDGE_TEST_DATA", "")) / "bars"
needs_data = pytest.mark.skipif(
    not os.environ.get("BRIDGE_TEST_DATA"), reason="BRIDGE_TEST_DATA names no folder of real bars"
)
TEN = parse("2025.02.03 10:00")


def minutes(rows: dict[int, tuple[int, int, int, int, int, int]]) -> RatesArray:
    """Return M1 bars: minute after ten -> O H L C in points, ticks, spread."""
    return rates_of(
        (TEN + 60 * minute, *(price / 1e5 for price in prices), ticks, spread, 0)
        for minute, (*prices, ticks, spread) in rows.items()
    )


def test_what_was_not_traded_is_not_filled() -> None:
    """E13: minutes are missing; the bars are built from what exists."""
    made = aggregate(
        minutes(
            {
                0: (108800, 108808, 108799, 108807, 10, 7),
                1: (108807, 108818, 108807, 108813, 20, 3),
                4: (108813, 108814, 108757, 108760, 30, 9),
                # 5 to 9 were not traded
                10: (108770, 108775, 108770, 108772, 40, 5),
            }
        ),
        M1,
        timeframe("M5"),
    )
    assert [tuple(row) for row in made] == [
        (TEN, 1.08800, 1.08818, 1.08757, 1.08760, 60, 3, 0),
        (TEN + 600, 1.08770, 1.08775, 1.08770, 1.08772, 40, 5, 0),
    ]


DAYS = """2025.06.05 1.14400
2025.06.06 1.13950
2025.06.09 1.14210
2025.06.10 1.14240"""


def test_a_weekend_has_no_bars_and_a_week_begins_on_sunday() -> None:
    """B12: four days around a weekend are four bars, and two weeks."""
    days = [line.split() for line in DAYS.splitlines()]
    rates = rates_of((parse(day), *[float(close)] * 4, 9000, 7, 0) for day, close in days)
    daily = aggregate(rates, timeframe("D1"), timeframe("D1"))
    assert daily.tobytes() == rates.tobytes()
    means = [daily["close"][end - 3 : end].mean() for end in (3, 4)]
    assert [f"{mean:.6f}" for mean in means] == ["1.141867", "1.141333"]
    weeks = aggregate(rates, timeframe("D1"), timeframe("W1"))
    assert [text(time)[:10] for time in weeks["time"].tolist()] == ["2025.06.01", "2025.06.08"]
    months = aggregate(rates, timeframe("D1"), timeframe("MN1"))
    assert [text(time)[:10] for time in months["time"].tolist()] == ["2025.06.01"]


@given(
    times=st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=50),
    name=st.sampled_from(list(BY_NAME)),
)
def test_a_bar_opens_where_the_timeframe_says(times: list[int], name: str) -> None:
    opens = opens_of(np.array(times, dtype=np.int64), timeframe(name))
    assert opens.tolist() == [timeframe(name).open_of(time) for time in times]


PRICES = st.lists(st.integers(100, 200), min_size=4, max_size=4)


@given(
    rows=st.dictionaries(
        st.integers(0, 60 * 24 * 70), st.tuples(PRICES, st.integers(0, 9)), min_size=1, max_size=80
    ),
    name=st.sampled_from(list(BY_NAME)),
)
def test_each_bar_is_what_a_plain_loop_makes_of_it(
    rows: dict[int, tuple[list[int], int]], name: str
) -> None:
    target = timeframe(name)
    bars: dict[int, list[float]] = {}
    fine = []
    for minute, ((o, high, low, c), spread) in sorted(rows.items()):
        time = TEN + 60 * minute
        fine.append((time, float(o), float(high), float(low), float(c), 5, spread, 2))
        bar = bars.setdefault(target.open_of(time), [o, high, low, c, 0, spread, 0])
        bar[1:4] = max(bar[1], high), min(bar[2], low), c
        bar[4:] = bar[4] + 5, min(bar[5], spread), bar[6] + 2
    made = aggregate(rates_of(fine), M1, target)
    assert [list(row) for row in made.tolist()] == [[time, *bar] for time, bar in bars.items()]


def test_only_whole_bars_make_a_bar() -> None:
    assert can_make(timeframe("M15"), timeframe("M5"))
    assert can_make(timeframe("MN1"), timeframe("D1"))
    assert not can_make(timeframe("MN1"), timeframe("W1"))
    assert not can_make(timeframe("M1"), timeframe("M5"))
    with pytest.raises(DataError, match=r"bars of M15 can't be made of bars of M10: use bars"):
        aggregate(minutes({}), timeframe("M10"), timeframe("M15"))


def ticks(rows: list[tuple[float, int, int, int]]) -> RatesArray:
    """Return ticks: second after ten, bid and ask in points, flags."""
    made = np.zeros(len(rows), dtype=TICKS_DTYPE)
    for place, (second, bid, ask, flags) in enumerate(rows):
        made[place] = (TEN + int(second), bid / 1e5, ask / 1e5, 0.0, 0, 0, flags, 0.0)
    return made


def test_a_bar_of_ticks_follows_the_bid_and_counts_its_moves() -> None:
    made = bars_of_ticks(
        ticks(
            [
                (0, 110000, 110009, 134),
                (1, 110005, 110011, 130),
                (2, 110005, 110008, 4),
                (59, 109998, 110010, 134),
                (61, 109999, 110010, 134),
            ]
        ),
        1e-5,
    )
    assert [tuple(row) for row in made] == [
        (TEN, 1.1, 1.10005, 1.09998, 1.09998, 3, 3, 0),
        (TEN + 60, 1.09999, 1.09999, 1.09999, 1.09999, 1, 11, 0),
    ]


@pytest.mark.parametrize(
    ("points_and_flags", "spread"),
    [
        # As recorded on 2025-09-22 at 00:07, 00:16 and 00:19, and on 09-24 at 00:09.
        ([(82, 130), (80, 4), (81, 4), (82, 4)], 82),
        ([(62, 130), (63, 4)], 63),
        ([(61, 130), (67, 4), (69, 134), (68, 134), (69, 134)], 67),
        ([(37, 130), (36, 4), (37, 4), (39, 130), (42, 134)], 37),
    ],
)
def test_until_a_second_tick_counts_a_bar_has_the_newest_spread(
    points_and_flags: list[tuple[int, int]], spread: int
) -> None:
    rows = [(2.0, 110000, 110000 + points, flags) for points, flags in points_and_flags]
    other = [(62.0, 110000, 110001, 130)]
    assert bars_of_ticks(ticks(rows), 1e-5)["spread"].tolist() == [spread]
    assert bars_of_ticks(ticks(rows + other), 1e-5)["spread"].tolist() == [spread, 1]


def test_ticks_without_flags_all_count() -> None:
    made = bars_of_ticks(ticks([(0, 110000, 110009, 0), (1, 110000, 109999, 0)]), 1e-5)
    assert [tuple(row) for row in made] == [(TEN, 1.1, 1.1, 1.1, 1.1, 2, 0, 0)]


def test_nothing_makes_nothing() -> None:
    assert len(aggregate(minutes({}), M1, timeframe("H1"))) == 0
    assert len(bars_of_ticks(ticks([]), 1e-5)) == 0


@cache
def recorded(name: str, dtype: str = "rates") -> RatesArray:
    """Return a recording of a real terminal."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = parquet.read_table(DATA / f"{name}.parquet")
    made = np.zeros(table.num_rows, dtype=RATES_DTYPE if dtype == "rates" else TICKS_DTYPE)
    for column in made.dtype.names or ():
        made[column] = table[column].to_numpy()
    return made


def of_times(rates: RatesArray, times: Any) -> RatesArray:
    return rates[np.isin(rates["time"], times)]


@needs_data
@pytest.mark.parametrize(
    ("file", "count"),
    [("EURUSD_ticks_2025-09-22_2025-09-30", 10_067), ("EURUSD_ticks_2025-12-01_00h", 60)],
)
def test_real_ticks_make_the_recorded_minutes_in_every_column(file: str, count: int) -> None:
    """One of 10,067 was recorded while it formed: it is the bar of its first seven ticks."""
    real = recorded(f"ticks/{file}", "ticks")
    made = bars_of_ticks(real, 1e-5)
    minutes = of_times(recorded("icm/EURUSD_M1_2025"), made["time"])
    assert len(made) == len(minutes) == count
    wrong = np.flatnonzero(made != minutes)
    assert [text(time) for time in minutes["time"][wrong].tolist()] == (
        ["2025.09.22 01:43:00"] if count == 10_067 else []
    )
    for time in minutes["time"][wrong].tolist():
        young = real[(real["time"] >= time) & (real["time"] < time + 60)][:7]
        assert bars_of_ticks(young, 1e-5).tolist() == of_times(minutes, [time]).tolist()


@needs_data
@pytest.mark.parametrize(
    ("source", "target", "symbol", "count"),
    [
        ("M1", "M5", "EURUSD_{}_2025", 74_305),
        ("M1", "M15", "EURUSD_{}_2025", 24_769),
        ("M1", "M30", "EURUSD_{}_2025", 12_385),
        ("M1", "H1", "EURUSD_{}_2025", 6_193),
        ("M1", "H4", "EURUSD_{}_2025", 1_549),
        ("M1", "D1", "EURUSD_{}_2025", 259),
        ("M1", "W1", "EURUSD_{}_2025", 52),
        ("M1", "MN1", "EURUSD_{}_2025", 12),
        ("M5", "H1", "EURUSD_{}_2025", 6_193),
        ("H1", "D1", "EURUSD_{}_2025", 259),
        ("M1", "H1", "USDCAD_{}_2025Q4", 1_537),
    ],
)
def test_real_bars_make_the_recorded_coarser_ones_in_every_column(
    source: str, target: str, symbol: str, count: int
) -> None:
    """All but the last, which was still forming when each file was recorded.

    The first week that is made began in the year before, and is not among those recorded.
    """
    fine = recorded("icm/" + symbol.format(source))
    coarse = recorded("icm/" + symbol.format(target))
    made = aggregate(fine, timeframe(source), timeframe(target))
    check_rates(made, what=target)
    first = "2024.12.29" if target == "W1" else text(int(coarse["time"][0]))[:10]
    assert text(int(made["time"][0]))[:10] == first
    same = of_times(made, coarse["time"])
    assert len(same) == len(coarse) == count
    assert np.flatnonzero(same != coarse).tolist() == [count - 1]


@needs_data
@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("M1", "W1", "MN1")])
def test_real_bars_make_the_same_in_one_step_or_in_two(name: str) -> None:
    """No recording has M2 or H8; days made of them are those made of minutes."""
    minutes, day = recorded("icm/USDCAD_M1_2025Q4"), timeframe("D1")
    between = aggregate(minutes, M1, timeframe(name))
    assert (aggregate(between, timeframe(name), day) == aggregate(minutes, M1, day)).all()
