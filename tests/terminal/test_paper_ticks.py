"""Recorded ticks that are played one by one, and hours of dealing."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec

from bridge.errors import ConfigError
from bridge.market.aggregate import bars_of_ticks
from bridge.mt5.rates import TICKS_DTYPE, RatesArray
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.prices import Prices

M1 = timeframe("M1")

TICKS = """   161 110000 110008 134
            20_468 110005 110008 130
            59_900 109990 110006 134
            60_100 109940 109950 134
            61_000 109940 109948   4
           125_250 109970 109980 134
           185_000 110060 110075 134
           185_000 110061 110075 130"""


def ticks(text: str = TICKS, **changes: Any) -> RatesArray:
    """Return ticks of rows ``milliseconds bid ask flags``, prices in points."""
    rows = [[int(word) for word in line.split()] for line in text.splitlines()]
    made = np.zeros(len(rows), dtype=TICKS_DTYPE)
    for place, (millisecond, bid, ask, flags) in enumerate(rows):
        msc = MONDAY * 1000 + millisecond
        made[place] = (msc // 1000, bid / 1e5, ask / 1e5, 0.0, 0, msc, flags, 0.0)
    for name, value in changes.items():
        made[name] = value
    return made


def play_ticks(recording: RatesArray | None = None, **options: Any) -> Play:
    options = {"prices": Prices.TICKS, "frame": M1, **options}
    return Play(ticks() if recording is None else recording, **options)


def at(play: Play, second: float) -> Any:
    """Go to a second after the first bar's open; return the tick that is seen."""
    play.clock.wait_until(MONDAY + second)
    return play.terminal.symbol_info_tick("EURUSD")


def test_each_tick_is_seen_from_its_millisecond_on() -> None:
    play = play_ticks()
    assert at(play, 0.16) is None
    tick = at(play, 0.161)
    assert (tick.time, tick.time_msc) == (MONDAY, MONDAY * 1000 + 161)
    assert (tick.bid, tick.ask, tick.flags) == (1.1, 1.10008, 134)
    assert at(play, 20.467).bid == 1.1
    assert at(play, 20.468).bid == 1.10005
    assert at(play, 61.5).flags == 4
    # Two ticks of one millisecond: the later one.
    assert at(play, 185).bid == 1.10061


def test_the_forming_minute_is_made_of_the_ticks_so_far() -> None:
    play = play_ticks()
    seen = []
    for second in (1, 21, 60, 61, 62):
        at(play, second)
        rows = play.terminal.copy_rates_from_pos("EURUSD", M1.value, 0, 9)
        seen.append([tuple(row)[0:1] + tuple(row)[2:7] for row in rows.tolist()])
    assert seen == [
        [(MONDAY, 1.1, 1.1, 1.1, 1, 8)],
        [(MONDAY, 1.10005, 1.1, 1.10005, 2, 3)],
        [(MONDAY, 1.10005, 1.0999, 1.0999, 3, 3)],
        [
            (MONDAY, 1.10005, 1.0999, 1.0999, 3, 3),
            (MONDAY + 60, 1.0994, 1.0994, 1.0994, 1, 8),
        ],
        [
            (MONDAY, 1.10005, 1.0999, 1.0999, 3, 3),
            (MONDAY + 60, 1.0994, 1.0994, 1.0994, 1, 8),
        ],
    ]
    coarse = play.terminal.copy_rates_from_pos("EURUSD", timeframe("M5").value, 0, 9)
    assert [tuple(row)[1:6] for row in coarse.tolist()] == [(1.1, 1.10005, 1.0994, 1.0994, 4)]


def test_the_next_bar_is_announced_for_the_second_by_which_it_is_there() -> None:
    play = play_ticks(start=MONDAY - 5)
    opens = []
    while (following := play.terminal.next_event_time()) is not None:
        opens.append(following - MONDAY)
        play.clock.wait_until(following)
        newest = play.terminal.copy_rates_from_pos("EURUSD", M1.value, 0, 1)["time"][0]
        assert newest == MONDAY + opens[-1] // 60 * 60
    assert opens == [1, 61, 126, 185]


@pytest.mark.parametrize("looks", [(200.0,), (60.05, 60.1, 61.0, 124.0, 126.0, 190.0)])
def test_stops_slip_and_targets_gain_to_the_tick_that_passes_them(looks: tuple[float, ...]) -> None:
    play = play_ticks(start=MONDAY + 1)
    play.buy(sl=1.0995)
    play.sell(sl=1.1007, tp=1.0996)
    play.sell(sl=1.1007)
    for second in looks:
        at(play, second)
        play.terminal.positions_total()
    exits = play.terminal.history_deals_get(0, 2**31 - 1)[-3:]
    assert [(one.time_msc - MONDAY * 1000, one.price, one.reason) for one in exits] == [
        (60_100, 1.0994, 4),
        (60_100, 1.0995, 5),
        (185_000, 1.10075, 4),
    ]


def test_pending_orders_are_filled_at_the_tick_that_passes_them() -> None:
    play = play_ticks(start=MONDAY + 1)
    order = {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type_filling": 2}
    for kind, price in ((2, 1.0998), (4, 1.1002)):  # buy limit, buy stop
        sent = play.terminal.order_send({**order, "type": kind, "price": price})
        assert sent.retcode == 10009
    at(play, 200)
    play.terminal.positions_total()
    deals = play.terminal.history_deals_get(0, 2**31 - 1)[-2:]
    assert [(one.time_msc - MONDAY * 1000, one.price) for one in deals] == [
        (60_100, 1.0995),
        (185_000, 1.10075),
    ]


def test_the_worst_tick_of_each_minute_is_remembered() -> None:
    play = play_ticks(start=MONDAY + 1)
    play.buy(volume=1.0)
    at(play, 300)
    assert play.terminal.lows(MONDAY) == [
        (MONDAY + 60.1, 9_982.0),
        (MONDAY + 125.25, 9_932.0),
        (MONDAY + 185.0, 9_962.0),
    ]


def test_ticks_come_as_they_were_recorded_and_by_what_changed() -> None:
    play = play_ticks()
    at(play, 126)
    copy = play.terminal.copy_ticks_from
    assert copy("EURUSD", MONDAY, 99, -1).tobytes() == ticks()[:6].tobytes()
    assert copy("EURUSD", MONDAY + 60, 2, -1).tobytes() == ticks()[3:5].tobytes()
    assert copy("EURUSD", MONDAY, 99, 1).tobytes() == ticks()[:6].tobytes()
    assert len(copy("EURUSD", MONDAY, 99, 2)) == 0
    ranged = play.terminal.copy_ticks_range("EURUSD", MONDAY + 20, MONDAY + 61, -1)
    assert ranged.tobytes() == ticks()[1:5].tobytes()


def test_ticks_are_played_as_bars_unless_asked_for() -> None:
    play = play_ticks(prices=Prices.OHLC)
    made = bars_of_ticks(ticks(), 1e-5)
    play.clock.wait_until(MONDAY + 600)
    assert play.terminal.copy_rates_from_pos("EURUSD", 1, 0, 9).tobytes() == made.tobytes()
    assert len(play.terminal.copy_ticks_from("EURUSD", MONDAY, 99, -1)) == 4 * len(made)


def test_bars_among_ticks_are_played_as_bars() -> None:
    both = profile({"EURUSD": spec(), "GBPUSD": spec(currency_base="GBP", currency_margin="GBP")})
    row = bars("130000 130100 129900 130050", step=60)
    play = play_ticks(broker=both, more={"GBPUSD": row})
    at(play, 20)
    assert play.terminal.symbol_info_tick("GBPUSD").bid == 1.299


@pytest.mark.parametrize(
    ("recording", "words"),
    [
        (ticks("0 1 2 6")[:0], "there are no ticks of EURUSD: leave the symbol out"),
        (ticks()[::-1].copy(), "have to be in order of time_msc"),
        (ticks(time=5), "and time is its full seconds"),
        (ticks(ask=0.0), "each tick of EURUSD needs a bid and an ask"),
        (ticks()[["time", "bid"]].copy(), "bars of EURUSD have to be one array of the rates dtype"),
    ],
)
def test_ticks_that_can_t_be_played_are_refused(recording: RatesArray, words: str) -> None:
    for prices in (Prices.TICKS, Prices.OHLC):
        with pytest.raises(ConfigError, match=words):
            play_ticks(recording, prices=prices)


def test_ticks_without_flags_count_as_quotes() -> None:
    play = play_ticks(ticks(flags=0))
    assert at(play, 1).flags == 6
    assert len(play.terminal.copy_ticks_from("EURUSD", MONDAY, 9, 1)) == 1


# Hours of dealing


HOURS = {"EURUSD": {"mon": ("00:05-12:00", "13:00-24:00"), "tue": ("00:05-24:00",)}}


@pytest.mark.parametrize(
    ("minute", "retcode"),
    [
        (0, 10018),
        (4.99, 10018),
        (5, 10009),
        (12 * 60 - 0.01, 10009),
        (12 * 60, 10018),
        (13 * 60, 10009),
        (24 * 60 - 0.01, 10009),
        (24 * 60, 10018),
        (48 * 60 + 30, 10018),
    ],
)
def test_outside_its_sessions_a_symbol_is_not_dealt(minute: float, retcode: int) -> None:
    broker = profile().model_copy(update={"sessions": HOURS})
    play = Play("\n".join(["110000 110010 109990 110000"] * 50), broker)
    play.clock.wait_until(MONDAY + 60 * minute)
    assert play.buy().retcode == retcode


def test_in_session_but_without_bars_the_market_is_closed_too() -> None:
    broker = profile().model_copy(update={"sessions": HOURS})
    play = Play("110000 110010 109990 110000", broker)
    play.clock.wait_until(MONDAY + 3 * 3_600)
    assert play.buy().retcode == 10018


@pytest.mark.parametrize(
    ("sessions", "words"),
    [
        ({"GBPUSD": {}}, "sessions names GBPUSD, which symbols does not have"),
        ({"EURUSD": {"monday": ()}}, "sessions of EURUSD name monday: days are sun, mon, tue"),
        ({"EURUSD": {"mon": ("5:00-24:00",)}}, "on mon have '5:00-24:00': write begin and end"),
        ({"EURUSD": {"mon": ("22:00-02:00",)}}, "on mon have '22:00-02:00': write begin and end"),
        ({"EURUSD": {"mon": ("00:00-24:01",)}}, "on mon have '00:00-24:01': write begin and end"),
    ],
)
def test_sessions_that_are_none_are_refused(sessions: Any, words: str) -> None:
    fields = profile().model_dump() | {"sessions": sessions}
    with pytest.raises(ConfigError, match=words):
        type(profile()).model_validate(fields)


# A real week


@cache
def real(name: str, dtype: Any = TICKS_DTYPE) -> RatesArray:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real ticks")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = parquet.read_table(Path(folder) / f"bars/{name}.parquet")
    found = np.zeros(table.num_rows, dtype=dtype)
    for column in found.dtype.names or ():
        found[column] = table[column].to_numpy()
    return found


def test_a_real_week_of_ticks_shows_the_recorded_minutes_and_stops_at_real_quotes() -> None:
    """10,066 of 10,067 minutes in every column; the other one was recorded while it formed."""
    recording = real("ticks/EURUSD_ticks_2025-09-22_2025-09-30")
    first, last = int(recording["time"][0]), int(recording["time"][-1])
    play = play_ticks(recording, start=float(first + 1))
    tick = play.terminal.symbol_info_tick("EURUSD")
    sl = round(tick.ask + 0.00300, 5)
    play.sell(sl=sl)
    play.clock.wait_until(last + 1)
    deal = play.terminal.history_deals_get(0, 2**31 - 1)[-1]
    after = recording[recording["time"] > first]
    hit = after[np.argmax(after["ask"] >= sl)]
    assert (deal.time_msc, deal.price, deal.reason) == (hit["time_msc"], hit["ask"], 4)
    made = play.terminal.copy_rates_from_pos("EURUSD", 1, 0, 20_000)
    minutes = real("icm/EURUSD_M1_2025", made.dtype)
    minutes = minutes[np.isin(minutes["time"], made["time"])]
    assert len(made) == len(minutes) == 10_067
    assert minutes["time"][made != minutes].tolist() == [parse("2025.09.22 01:43")]
