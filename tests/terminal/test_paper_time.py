"""Prices inside a bar: in which order they come, what they fill, and when.

Rows are ``O H L C [spread]`` in points, an hour each unless a test says otherwise. The extremes
come after 20 and 40 minutes, the close in the last second.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from terminal.paper_desk import MONDAY, Play, bars, profile, spec

from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.prices import Prices

ROW = "110000 110100 109900 110050 10"
FLAT = "110050 110050 110050 110050 10"


def minute(play: Play, number: float) -> float:
    """Go to a minute after the first bar's open; return the bid."""
    play.clock.wait_until(MONDAY + 60 * number)
    bid: float = play.terminal.symbol_info_tick("EURUSD").bid
    return bid


def bids(play: Play, *minutes: float) -> list[float]:
    return [minute(play, number) for number in minutes]


# The path


def test_without_a_position_the_low_comes_first() -> None:
    play = Play(ROW)
    seen = bids(play, 0, 19.98, 20, 39.98, 40, 59.97, 59 + 59 / 60)
    assert seen == [1.1, 1.1, 1.099, 1.099, 1.101, 1.101, 1.1005]
    tick = play.terminal.symbol_info_tick("EURUSD")
    assert (tick.time, tick.time_msc, tick.ask) == (MONDAY + 3599, (MONDAY + 3599) * 1000, 1.1006)


def sell(play: Play) -> None:
    play.sell()


def buy(play: Play) -> None:
    play.buy()


def hedge(play: Play) -> None:
    play.buy(volume=0.2)
    play.sell(volume=0.2)


def hedge_short(play: Play) -> None:
    play.buy(volume=0.2)
    play.sell(volume=0.3)


@pytest.mark.parametrize(
    ("trade", "at", "first"),
    [
        (buy, 0, 1.099),
        (sell, 0, 1.101),
        (hedge, 0, 1.099),
        (hedge_short, 0, 1.101),
        # What is held when the first extreme comes counts, not what was when the bar opened.
        (sell, 19, 1.101),
        # Later is too late: the bar is on its way.
        (sell, 21, 1.099),
    ],
)
def test_the_extreme_that_is_worse_for_the_net_volume_comes_first(
    trade: Callable[[Play], None], at: int, first: float
) -> None:
    play = Play(ROW)
    minute(play, at)
    trade(play)
    assert bids(play, 30, 50) == [first, round(2.2 - first, 5)]


def test_the_order_is_chosen_anew_in_each_bar() -> None:
    play = Play("\n".join([ROW] * 3))
    minute(play, 0)
    play.sell()
    assert bids(play, 30) == [1.101]
    minute(play, 60)
    play.close(play.terminal.positions_get()[0].ticket)
    assert bids(play, 90) == [1.099]
    minute(play, 110)
    play.sell()
    assert bids(play, 150) == [1.101]


def test_a_bar_goes_on_as_it_has_begun_when_its_position_is_gone() -> None:
    play = Play(ROW)
    play.sell(sl=1.1005)
    assert bids(play, 30, 50, 59.99) == [1.101, 1.099, 1.1005]
    assert play.deals() == ["0.00 sell in 0.1 1.1 0", "0.33 buy out 0.1 1.1005 -5 sl"]


def test_the_order_does_not_tell_where_the_bar_will_close() -> None:
    up, down = "110000 110100 109900 110090", "110000 110100 109900 109910"
    assert bids(Play(up), 0, 20, 40, 59) == bids(Play(down), 0, 20, 40, 59)


def test_a_short_bar_has_all_its_points() -> None:
    play = Play(bars(f"{ROW}\n{ROW}", step=60), frame=timeframe("M1"))
    seen = bids(play, *(second / 60 for second in range(60)))
    assert [n for n in range(1, 60) if seen[n] != seen[n - 1]] == [20, 40, 59]


# What is filled on the way


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


WAYS: list[tuple[str, str, Callable[[Play], Any], str, dict[str, Any]]] = [
    (
        "levels are met in the order in which the price comes by",
        ROW,
        lambda play: (play.buy(sl=1.0991), play.buy(sl=1.0995)),
        """0.00 buy in 0.1 1.1001 0
           0.00 buy in 0.1 1.1001 0
           0.33 sell out 0.1 1.0995 -6 sl
           0.33 sell out 0.1 1.0991 -10 sl""",
        {},
    ),
    (
        "a long account meets its stops before its targets, whatever their tickets",
        ROW,
        lambda play: (play.buy(tp=1.1005), play.buy(sl=1.0995)),
        """0.00 buy in 0.1 1.1001 0
           0.00 buy in 0.1 1.1001 0
           0.33 sell out 0.1 1.0995 -6 sl
           0.67 sell out 0.1 1.1005 4 tp""",
        {},
    ),
    (
        "with both levels in one bar a sell is stopped, too",
        ROW,
        lambda play: play.sell(sl=1.1005, tp=1.0995),
        """0.00 sell in 0.1 1.1 0
           0.33 buy out 0.1 1.1005 -5 sl""",
        {},
    ),
    (
        "a sell that hedges a larger buy has its target first, and its stop after the low",
        ROW,
        lambda play: (play.buy(volume=0.3), play.sell(tp=1.0995), play.sell(sl=1.1005)),
        """0.00 buy in 0.3 1.1001 0
           0.00 sell in 0.1 1.1 0
           0.00 sell in 0.1 1.1 0
           0.33 buy out 0.1 1.0995 5 tp
           0.67 buy out 0.1 1.1005 -5 sl""",
        {},
    ),
    (
        "without its hedge the account does not last to the low",
        # Equity at the low: 1000 + 50 - 505, at margin 550: 99 %; the hedge would have held it.
        "110000 110100 109000 110050 10",
        lambda play: (play.buy(volume=0.5), play.sell(volume=0.1, tp=1.0950)),
        """0.00 buy in 0.5 1.1001 0
           0.00 sell in 0.1 1.1 0
           0.33 buy out 0.1 1.095 50 tp
           0.33 sell out 0.5 1.09 -505 so""",
        {"deposit": 1_000.0, "margin_so_so": 100.0},
    ),
    (
        "what is short once the buy is stopped out is judged at the high",
        # At the low 1400 - 1212 + 990 at margin 1320: 89 %; at the high nothing is left.
        "110000 111000 109000 110500 10",
        lambda play: (play.buy(volume=1.2), play.sell(volume=1.0)),
        """0.00 buy in 1.2 1.1001 0
           0.00 sell in 1 1.1 0
           0.33 sell out 1.2 1.09 -1212 so
           0.67 buy out 1 1.1101 -1010 so""",
        {"deposit": 1_400.0, "margin_so_so": 90.0},
    ),
]


@pytest.mark.parametrize(
    ("name", "rows", "trade", "deals", "account"), WAYS, ids=[way[0] for way in WAYS]
)
def test_on_the_way(
    name: str, rows: str, trade: Callable[[Play], Any], deals: str, account: dict[str, Any]
) -> None:
    play = Play(f"{rows}\n{FLAT}", profile(**account))
    trade(play)
    play.bar(1)
    play.terminal.positions_total()
    assert play.deals() == lines(deals), name


def test_what_an_order_opens_on_the_way_can_be_stopped_on_the_way() -> None:
    play = Play(f"{ROW}\n{FLAT}")
    order = {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type_filling": 2}
    # Buy limits on the way down: the first is stopped before the second is reached, whose target
    # is on the way up.
    for price, sl, tp in ((1.0995, 1.0993, 1.105), (1.0991, 1.0900, 1.1)):
        sent = play.terminal.order_send({**order, "type": 2, "price": price, "sl": sl, "tp": tp})
        assert sent.retcode == 10009
    play.bar(1)
    play.terminal.positions_total()
    assert play.deals() == lines(
        """0.33 buy in 0.1 1.0995 0
           0.33 sell out 0.1 1.0993 -2 sl
           0.33 buy in 0.1 1.0991 0
           0.67 sell out 0.1 1.1 9 tp"""
    )


def test_the_dip_before_a_target_is_remembered() -> None:
    play = Play(f"{ROW}\n{FLAT}")
    play.buy(volume=1.0, tp=1.1005)
    play.bar(1)
    assert play.deals()[-1] == "0.67 sell out 1 1.1005 40 tp"
    assert play.terminal.lows(MONDAY) == [(MONDAY + 2400.0, 9_890.0)]


# Public cases


def quarter(text: str) -> RatesArray:
    """Return M15 bars: ``HH:MM O H L C ticks`` of 2025-09-09, spread 10."""
    rows = [line.split() for line in text.strip().splitlines()]
    return rates_of(
        (parse(f"2025.09.09 {time}"), *map(float, prices), int(ticks), 10, 0)
        for time, *prices, ticks in rows
    )


TWO = """10:00 1.09900 1.09960 1.09850 1.09940 200
         10:15 1.09940 1.10060 1.09930 1.10040 201
         10:30 1.10070 1.10110 1.10010 1.10090 202"""
F06 = f"{TWO}\n10:45 1.10090 1.10150 1.10060 1.10120 203"
F07 = f"{TWO}\n10:45 1.10090 1.10620 1.09500 1.10120 203\n11:00 1.10120 1.10140 1.10100 1.10130 9"
F11 = f"{TWO}\n10:45 1.10090 1.10600 1.09850 1.10500 203\n11:00 1.10500 1.10540 1.10480 1.10520 9"


def entered(rows: str, **levels: float) -> Play:
    """Buy when a bar has closed above 1.1000; return at the open of that moment."""
    play = Play(quarter(rows), frame=timeframe("M15"), start=parse("2025.09.09 10:00"))
    while (opens := play.terminal.next_event_time()) is not None:
        play.clock.wait_until(opens)
        closed = play.terminal.copy_rates_from_pos("EURUSD", 15, 1, 1)
        if len(closed) and closed["close"][0] > 1.1:
            assert opens == parse("2025.09.09 10:30")
            assert play.buy(**levels).price == 1.1008
            return play
    raise AssertionError("no bar closed above 1.1000")


def test_a_signal_of_a_close_is_filled_at_the_next_open() -> None:
    """F06: bought at 1.10080, the ask of the next open; +4.00 at the last close."""
    play = entered(F06)
    play.clock.wait_until(parse("2025.09.09 10:59:59"))
    (held,) = play.terminal.positions_get()
    assert (held.price_open, held.price_current, held.profit) == (1.1008, 1.1012, 4.0)


@pytest.mark.parametrize("prices", [Prices.OHLC, Prices.TICKS])
def test_a_bar_that_spans_stop_and_target_is_stopped(prices: Prices) -> None:
    """F07: stop and target 500 points away, both within the bar of 10:45: -50.00."""
    play = entered(F07, sl=1.0958, tp=1.1058)
    play.clock.wait_until(parse("2025.09.09 11:00"))
    deal = play.terminal.history_deals_get(0, 2**31 - 1)[-1]
    assert (deal.price, deal.profit, deal.reason) == (1.0958, -50.0, 4)
    assert deal.time == parse("2025.09.09 10:50")


@pytest.mark.parametrize(("trailed", "profit"), [(1.0988, -20.0), (1.0991, -17.0)])
def test_the_stop_of_the_bars_start_is_tested_before_its_high(
    trailed: float, profit: float
) -> None:
    """F11: at 10:45 the stop is 1.09880, or 1.09910 if the high before has trailed it."""
    play = entered(F11, sl=1.0988)
    play.clock.wait_until(parse("2025.09.09 10:45"))
    (held,) = play.terminal.positions_get()
    if trailed != held.sl:
        assert play.protect(held.ticket, sl=trailed).retcode == 10009
    play.clock.wait_until(parse("2025.09.09 11:00"))
    deal = play.terminal.history_deals_get(0, 2**31 - 1)[-1]
    assert (deal.price, deal.profit) == (trailed, profit)


# Opens only


def test_with_opens_only_nothing_happens_inside_a_bar() -> None:
    rows = """110000 110100 109000 110050
              110040 110050 109400 109500
              109450 109500 109400 109450"""
    play = Play(rows, prices=Prices.OPEN)
    play.buy(sl=1.0995)
    assert bids(play, 30, 59.99, 60, 119) == [1.1, 1.1, 1.1004, 1.1004]
    play.bar(2)
    play.terminal.positions_total()
    # The stop is noticed at an open, and filled there.
    assert play.deals()[-1] == "2.00 sell out 0.1 1.0945 -55 sl"
    ticks = play.terminal.copy_ticks_from("EURUSD", MONDAY, 9, -1)
    assert ticks["bid"].tolist() == [1.1, 1.1004, 1.0945]
    closed = play.terminal.copy_rates_from_pos("EURUSD", 16385, 1, 2)
    assert closed["low"].tolist() == [1.09, 1.094]
    assert play.terminal.lows(MONDAY) == [
        (MONDAY + 3_599.0, 10_000.0),
        (MONDAY + 7_199.0, 10_004.0),
    ]


# What a forming bar and its ticks show


def test_a_forming_bar_grows_with_its_path() -> None:
    play = Play(f"{ROW}\n{FLAT}")
    seen = []
    for number in (0, 20, 40, 59.99):
        minute(play, number)
        (row,) = play.terminal.copy_rates_from_pos("EURUSD", 16385, 0, 1)
        seen.append(tuple(row)[1:])
    assert seen == [
        (1.1, 1.1, 1.1, 1.1, 1, 10, 0),
        (1.1, 1.1, 1.099, 1.099, 2, 10, 0),
        (1.1, 1.101, 1.099, 1.101, 3, 10, 0),
        (1.1, 1.101, 1.099, 1.1005, 100, 10, 0),
    ]


def test_ticks_are_the_points_of_the_path() -> None:
    play = Play(f"{ROW}\n110060 110100 110000 110020 10")
    play.bar(1)
    play.sell()
    assert minute(play, 90) == 1.101
    ticks = play.terminal.copy_ticks_from("EURUSD", MONDAY, 9, 1)
    assert ticks["bid"].tolist() == [1.1, 1.099, 1.101, 1.1005, 1.1006, 1.101]
    minutes = [(time - MONDAY) / 60 for time in ticks["time"].tolist()]
    assert minutes == [0, 20, 40, 59 + 59 / 60, 60, 80]
    assert (ticks["ask"] - ticks["bid"]).round(5).tolist() == [1e-4] * 6
    part = play.terminal.copy_ticks_range("EURUSD", MONDAY + 1_200, MONDAY + 3_600, -1)
    assert part["bid"].tolist() == [1.099, 1.101, 1.1005, 1.1006]


# However often one looks


POINTS = st.integers(-80, 80)
MOVES = st.lists(st.tuples(POINTS, POINTS, POINTS), min_size=8, max_size=8)
SYMBOLS = {
    "EURUSD": spec(),
    "GBPUSD": spec(currency_base="GBP", currency_margin="GBP"),
    "EURGBP": spec(currency_profit="GBP"),
}
TRADES = st.lists(
    st.tuples(
        st.integers(0, 7 * 60),
        st.sampled_from(list(SYMBOLS)),
        st.sampled_from(["market", "limit", "stop"]),
        st.integers(0, 1),
        st.sampled_from([0.1, 0.3, 0.7]),
        st.integers(0, 90),
        st.integers(0, 90),
    ),
    max_size=6,
)


def walk(moves: list[tuple[int, int, int]]) -> RatesArray:
    rows, price = [], 110_000
    for move, up, down in moves:
        close = price + move
        high, low = max(price, close) + abs(up), min(price, close) - abs(down)
        rows.append(f"{price} {high} {low} {close} {7 + abs(up) % 5}")
        price = close + move // 3
    return bars("\n".join(rows))


def account(moves: list[tuple[int, int, int]], **options: Any) -> Play:
    """Return a small account of three symbols; one's profit is converted by another's price."""
    others = (moves[::-1], [(up, down, move) for move, up, down in moves])
    more = {name: walk(each) for name, each in zip(list(SYMBOLS)[1:], others, strict=True)}
    return Play(walk(moves), profile(SYMBOLS, deposit=800.0), more=more, **options)


def trade(play: Play, symbol: str, kind: str, side: int, volume: float, sl: int, tp: int) -> None:
    """Deal, or place an order 25 points away."""
    tick = play.terminal.symbol_info_tick(symbol)
    sign, price = (-1, tick.ask) if side else (1, tick.bid)
    request: dict[str, Any] = {"symbol": symbol, "type": side, "volume": volume}
    if kind != "market":
        opening = tick.bid if side else tick.ask
        price = round(opening + sign * (25 if kind == "stop" else -25) * 1e-5, 5)
        number = {"limit": 2, "stop": 4}[kind] + side
        request |= {"action": 5, "type": number, "price": price, "type_filling": 2}
    request["sl"] = round(price - sign * (5 + sl) * 1e-5, 5) if sl else 0.0
    request["tp"] = round(price + sign * (5 + tp) * 1e-5, 5) if tp else 0.0
    assert play.send(**request).retcode in (10009, 10019)


def records(play: Play) -> tuple[Any, ...]:
    return (
        play.terminal.history_deals_get(0, 2**31 - 1),
        play.terminal.positions_get(),
        play.terminal.orders_get(),
        play.terminal.history_orders_get(0, 2**31 - 1),
        play.terminal.account_info(),
        *map(play.terminal.symbol_info_tick, SYMBOLS),
        play.terminal.copy_rates_from_pos("EURUSD", 16385, 0, 9).tobytes(),
        play.terminal.copy_ticks_from("EURUSD", MONDAY, 99, -1).tobytes(),
    )


@settings(max_examples=60, deadline=None)
@given(moves=MOVES, trades=TRADES, prices=st.sampled_from([Prices.OHLC, Prices.OPEN]))
def test_it_does_not_matter_how_often_one_looks(
    moves: list[tuple[int, int, int]], trades: list[Any], prices: Prices
) -> None:
    plays = [account(moves, prices=prices) for _ in range(2)]
    for at, *what in sorted(trades, key=lambda it: it[0]):
        for play, step in zip(plays, (10**6, 7), strict=True):
            while play.clock.now() < MONDAY + 60 * at:
                play.clock.wait_until(min(play.clock.now() + 60 * step, MONDAY + 60 * at))
                play.terminal.positions_total()
            trade(play, *what)
    for play in plays:
        minute(play, 8 * 60)
    assert records(plays[0]) == records(plays[1])
    assert plays[0].terminal.lows(0) == plays[1].terminal.lows(0)


@pytest.mark.parametrize("sl", [0.0, 1.1005])
def test_a_short_account_comes_back_after_the_high(tmp_path: Path, sl: float) -> None:
    path = tmp_path / "account.sqlite"
    play = Play(ROW, account=path)
    play.sell(sl=sl)
    assert minute(play, 25) == 1.101
    play.terminal.close()
    again = Play(ROW, account=path, start=MONDAY + 1_500)
    assert again.terminal.positions_total() == (0 if sl else 1)
    assert bids(again, 30, 40) == [1.101, 1.099]
    again.terminal.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=MOVES, trades=TRADES, left=st.integers(0, 8 * 60))
def test_an_account_that_is_left_inside_a_bar_comes_back_into_it(
    tmp_path_factory: pytest.TempPathFactory,
    moves: list[tuple[int, int, int]],
    trades: list[Any],
    left: int,
) -> None:
    path = tmp_path_factory.mktemp("account") / "account.sqlite"
    whole, part = account(moves), account(moves, account=path)

    def restarted() -> Play:
        minute(part, left)
        part.terminal.close()
        return account(moves, account=path, start=MONDAY + 60 * left)

    again = None
    for at, *what in sorted(trades, key=lambda it: it[0]):
        if again is None and at > left:
            again = restarted()
        for play in (whole, again or part):
            minute(play, at)
            trade(play, *what)
    again = again or restarted()
    assert minute(again, max(left, 0)) == minute(whole, left)
    for play in (whole, again):
        minute(play, 8 * 60)
    assert records(again) == records(whole)
    again.terminal.close()
