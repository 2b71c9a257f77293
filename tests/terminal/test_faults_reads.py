"""Old news on purpose: history, ticks and bars that show late, again or not yet."""

import pytest
from terminal.faults_desk import EVER, FIRST, HEDGING, LIMIT, ROWS, Desk, buying
from terminal.paper_desk import H1, MONDAY, Play, profile

from bridge.market.feed import ClosedBarFeed
from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import server_clock
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.faults.kinds import Kind
from bridge.terminal.faults.schedule import Fault, Schedule
from bridge.terminal.faults.terminal import FaultyTerminal


def test_what_happened_lately_does_not_show_for_some_calls() -> None:
    desk = Desk(Fault(kind=Kind.DELAYED_HISTORY, since=4, count=3, seconds=60.0))
    old = desk.buy()
    assert old is not None
    desk.clock.wait_until(desk.clock.now() + 600)
    assert len(desk.faulty.positions_get()) == 1
    closing = desk.buy(type=mt5.ORDER_TYPE_SELL, position=old.order)
    assert closing is not None
    new = desk.buy(volume=0.2)
    assert new is not None
    # The closing and the new position are not known yet.
    assert [each.ticket for each in desk.faulty.positions_get()] == [old.order]
    assert [each.order for each in desk.faulty.history_deals_get(0, EVER)] == [0, old.order]
    assert [each.ticket for each in desk.faulty.history_orders_get(0, EVER)] == [old.order]
    assert [each.ticket for each in desk.faulty.positions_get()] == [new.order]
    assert len(desk.faulty.history_deals_get(0, EVER)) == 4
    assert len(desk.faulty.history_orders_get(0, EVER)) == 3


def test_what_is_older_than_the_delay_shows() -> None:
    desk = Desk(Fault(kind=Kind.DELAYED_HISTORY, since=1, count=9, seconds=60.0))
    assert desk.buy() is not None
    assert desk.faulty.positions_get() == ()
    desk.clock.wait_until(desk.clock.now() + 59)
    assert desk.faulty.positions_get() == ()
    desk.clock.wait_until(desk.clock.now() + 2)
    assert len(desk.faulty.positions_get("EURUSD")) == 1
    assert len(desk.faulty.history_deals_get(0, EVER)) == 2


def test_what_was_seen_already_can_be_lost_from_sight_again() -> None:
    desk = Desk(Fault(kind=Kind.DELAYED_HISTORY, since=5, count=2, seconds=60.0))
    assert desk.buy() is not None
    pending = desk.buy(**LIMIT)
    assert pending is not None
    desk.faulty.order_send({"action": mt5.TRADE_ACTION_REMOVE, "order": pending.order})
    assert len(desk.faulty.positions_get()) == 1
    assert len(desk.faulty.history_orders_get(0, EVER)) == 2
    assert desk.faulty.positions_get() == ()
    assert desk.faulty.history_orders_get(0, EVER) == ()
    assert len(desk.faulty.positions_get()) == 1
    assert len(desk.faulty.history_orders_get(0, EVER)) == 2


def test_what_is_late_is_told_by_the_brokers_clock() -> None:
    ahead = profile(margin_mode="hedging").model_copy(update={"server_clock": "utc+3"})
    play = Play(ROWS, ahead, start=MONDAY + 3_600)
    faulty = FaultyTerminal(
        ModuleTerminal(play.terminal),
        Schedule.of(Fault(kind=Kind.DELAYED_HISTORY, since=1, count=9, seconds=60.0)),
        play.clock,
        server=server_clock("utc+3"),
    )
    assert faulty.order_send(buying()) is not None
    assert faulty.positions_get() == ()
    play.clock.wait_until(play.clock.now() + 61)
    assert len(faulty.positions_get()) == 1


def test_the_last_tick_is_repeated() -> None:
    desk = Desk(Fault(kind=Kind.STALE_TICKS, call=2, count=2))
    first = desk.faulty.symbol_info_tick("EURUSD")
    desk.play.bar(FIRST + 1)
    assert desk.true.symbol_info_tick("EURUSD") != first
    assert desk.faulty.symbol_info_tick("EURUSD") == first
    assert desk.faulty.symbol_info_tick("EURUSD") == first
    assert desk.faulty.symbol_info_tick("EURUSD") == desk.true.symbol_info_tick("EURUSD")


def test_without_a_tick_before_the_first_one_is_true() -> None:
    desk = Desk(Fault(kind=Kind.STALE_TICKS, count=2))
    first = desk.faulty.symbol_info_tick("EURUSD")
    assert first == desk.true.symbol_info_tick("EURUSD")
    desk.play.bar(FIRST + 1)
    assert desk.faulty.symbol_info_tick("EURUSD") == first
    assert [each.call for each in desk.faulty.fired] == [2]


def opens(desk: Desk, count: int = 3, start: int = 0) -> list[int]:
    """Return the numbers of the bars that the faulty terminal shows."""
    times = desk.faulty.copy_rates_from_pos("EURUSD", H1.value, start, count)["time"]
    return [(int(time) - MONDAY) // 3_600 for time in times]


def test_an_older_window_is_shown_again() -> None:
    desk = Desk(Fault(kind=Kind.DUPLICATE_BAR, call=2, count=3))
    assert opens(desk) == [2, 3, 4]
    assert opens(desk) == [1, 2, 3]
    desk.play.bar(FIRST + 2)
    assert opens(desk) == [1, 2, 3]
    assert opens(desk, start=1) == [0, 1, 2]
    assert opens(desk) == [4, 5, 6]


def test_no_window_is_older_than_the_first() -> None:
    desk = Desk(Fault(kind=Kind.DUPLICATE_BAR))
    assert opens(desk) == [2, 3, 4]
    assert desk.faulty.fired == ()


def test_bars_that_come_late_come_all_at_once() -> None:
    desk = Desk(Fault(kind=Kind.LATE_BAR, call=2, count=3))
    assert opens(desk) == [2, 3, 4]
    assert opens(desk) == [2, 3, 4]  # nothing new to hide
    desk.play.bar(FIRST + 1)
    assert opens(desk) == [2, 3, 4]
    desk.play.bar(FIRST + 2)
    assert opens(desk) == [2, 3, 4]
    assert opens(desk) == [4, 5, 6]
    assert [each.call for each in desk.faulty.fired] == [3, 4]


def test_the_first_bar_that_is_seen_can_be_late_too() -> None:
    desk = Desk(Fault(kind=Kind.LATE_BAR))
    assert opens(desk) == [1, 2, 3]
    assert opens(desk) == [2, 3, 4]


def test_many_bars_can_be_late() -> None:
    rows = "\n".join("110000 110100 109900 110050 10" for _ in range(100))
    play = Play(rows, HEDGING, start=MONDAY + 3_600 * FIRST)
    fault = Fault(kind=Kind.LATE_BAR, call=2)
    faulty = FaultyTerminal(ModuleTerminal(play.terminal), Schedule.of(fault), play.clock)
    before = faulty.copy_rates_from_pos("EURUSD", H1.value, 0, 2)
    play.bar(99)
    assert faulty.copy_rates_from_pos("EURUSD", H1.value, 0, 2)["time"].tolist() == (
        before["time"].tolist()
    )
    assert faulty.copy_rates_from_pos("EURUSD", H1.value, 0, 1)["time"] == MONDAY + 3_600 * 99


@pytest.mark.parametrize("kind", [Kind.DUPLICATE_BAR, Kind.LATE_BAR])
def test_the_feed_hands_each_bar_out_once_whatever_comes_again_or_late(kind: Kind) -> None:
    desk = Desk(*(Fault(kind=kind, call=call, count=2) for call in (2, 6, 9, 14)))
    feed = ClosedBarFeed(
        desk.faulty, symbol="EURUSD", timeframe=H1, depth=2, after=MONDAY + 3_600 * (FIRST - 2)
    )
    handed: list[int] = []
    for number in range(FIRST, 12):
        desk.play.bar(number)
        for _ in range(2):
            bars = feed.next()
            handed += [] if bars is None else [*bars.missed, bars.time]
    assert handed == [MONDAY + 3_600 * number for number in range(FIRST - 1, 11)]
    assert len(desk.faulty.fired) >= 2
