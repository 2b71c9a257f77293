"""Pending orders: scenarios as in test_paper_scenarios, with the orders of the history beside.

A line of orders is ``hour kind volume price state``: the hour of its end, the lots not filled.
Inside an hour's bar the low comes at .33 and the high at .67 for who is long or flat.
"""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec

Step = tuple[int, Callable[[Play], Any]]


@dataclass(frozen=True)
class Scenario:
    name: str
    bars: str
    steps: list[Step]
    deals: str
    orders: str
    account: dict[str, Any] = field(default_factory=dict)
    symbol: dict[str, Any] = field(default_factory=dict)


def place(kind: str, price: float, **fields: Any) -> Callable[[Play], Any]:
    return lambda play: play.place(kind, price, **fields)


def buy(**fields: Any) -> Callable[[Play], Any]:
    return lambda play: play.buy(**fields)


def nothing(play: Play) -> None:
    """Let time pass."""


def flat(count: int) -> str:
    return "\n".join(["110000 110010 109990 110000"] * count)


NETTING = {"margin_mode": "netting"}
EXCHANGE = {"trade_exemode": 3}
GAP_UP = """109900 109910 109890 109900
            110500 110510 110490 110500"""
F25 = (0, place("buy stop", 1.1, sl=1.096, tp=1.104))

SCENARIOS = [
    Scenario(
        "a buy limit waits for the ask to come down to it",
        """110000 110010 109990 110000 10
           110000 110010 109941 110000 10
           110000 110010 109940 110000 10""",
        [(0, place("buy limit", 1.0995)), (3, nothing)],
        "2.33 buy in 0.1 1.0995 0",
        "2.33 buy limit 0 1.0995 filled",
    ),
    Scenario(
        "a buy stop waits for the ask to come up to it",
        """110000 110010 109990 110000 10
           110000 110039 109990 110000 10
           110000 110040 109990 110000 10""",
        [(0, place("buy stop", 1.1005)), (3, nothing)],
        "2.67 buy in 0.1 1.1005 0",
        "2.67 buy stop 0 1.1005 filled",
    ),
    Scenario(
        "a sell limit waits for the bid to come up to it",
        """110000 110010 109990 110000 10
           110000 110049 109990 110000 10
           110000 110050 109990 110000 10""",
        [(0, place("sell limit", 1.1005)), (3, nothing)],
        "2.67 sell in 0.1 1.1005 0",
        "2.67 sell limit 0 1.1005 filled",
    ),
    Scenario(
        "a sell stop waits for the bid to come down to it",
        """110000 110010 109990 110000 10
           110000 110010 109951 110000 10
           110000 110010 109950 110000 10""",
        [(0, place("sell stop", 1.0995)), (3, nothing)],
        "2.33 sell in 0.1 1.0995 0",
        "2.33 sell stop 0 1.0995 filled",
    ),
    Scenario(
        "F16: a gap fills a buy stop at the open's ask",
        """109900 109910 109890 109900 10
           110510 110520 110500 110510 10""",
        [(0, place("buy stop", 1.1)), (1, nothing)],
        "1.00 buy in 0.1 1.1052 0",
        "1.00 buy stop 0 1.1 filled",
    ),
    Scenario(
        "F16: a gap fills a buy limit at the open's ask, which is better",
        """110500 110510 110490 110500 10
           109510 109520 109500 109510 10""",
        [(0, place("buy limit", 1.1)), (1, nothing)],
        "1.00 buy in 0.1 1.0952 0",
        "1.00 buy limit 0 1.1 filled",
    ),
    Scenario(
        "F16: a gap fills a sell stop at the open's bid",
        """110500 110510 110490 110500 10
           109520 109530 109510 109520 10""",
        [(0, place("sell stop", 1.1)), (1, nothing)],
        "1.00 sell in 0.1 1.0952 0",
        "1.00 sell stop 0 1.1 filled",
    ),
    Scenario(
        "F16: a gap fills a sell limit at the open's bid, which is better",
        """109900 109910 109890 109900 10
           110520 110530 110510 110520 10""",
        [(0, place("sell limit", 1.1)), (1, nothing)],
        "1.00 sell in 0.1 1.1052 0",
        "1.00 sell limit 0 1.1 filled",
    ),
    Scenario(
        "a buy stop-limit becomes a limit at its stop, and is filled at its limit",
        """110000 110010 109990 110000
           110000 110060 109970 110050
           110050 110060 109970 110000""",
        [(0, place("buy stop limit", 1.1005, stoplimit=1.0998)), (3, nothing)],
        "2.33 buy in 0.1 1.0998 0",
        "2.33 buy limit 0 1.0998 filled",
    ),
    Scenario(
        "a sell stop-limit becomes a limit at its stop, and is filled at its limit",
        """110000 110010 109990 110000
           110000 110010 109940 109950
           109950 110030 109940 110000""",
        [(0, place("sell stop limit", 1.0995, stoplimit=1.1002)), (3, nothing)],
        "2.67 sell in 0.1 1.1002 0",
        "2.67 sell limit 0 1.1002 filled",
    ),
    Scenario(
        "a gap beyond a stop-limit's stop leaves a limit that waits",
        """110000 110010 109990 110000
           110500 110510 110490 110500""",
        [(0, place("buy stop limit", 1.1005, stoplimit=1.0998)), (2, nothing)],
        "",
        "",
    ),
    Scenario(
        "the target of an order may be met on the way on which it was filled",
        """110000 110010 109990 110000
           110000 110200 109990 110000""",
        [(0, place("buy stop", 1.1005, sl=1.0995, tp=1.1015)), (2, nothing)],
        """1.67 buy in 0.1 1.1005 0
           1.67 sell out 0.1 1.1015 10 tp""",
        """1.67 buy stop 0 1.1005 filled
           1.67 sell 0 1.1015 filled""",
    ),
    Scenario(
        "orders are filled in the order of the way, not of their tickets",
        """110000 110010 109990 110000
           110000 110010 109800 110000""",
        [(0, place("buy limit", 1.099)), (0, place("buy limit", 1.0995)), (2, nothing)],
        """1.33 buy in 0.1 1.0995 0
           1.33 buy in 0.1 1.099 0""",
        """1.33 buy limit 0 1.0995 filled
           1.33 buy limit 0 1.099 filled""",
    ),
    Scenario(
        "netting: a stop loss on the way comes before a sell stop further down",
        """110000 110010 109990 110000
           110000 110010 109850 109900""",
        [(0, buy(sl=1.0995)), (0, place("sell stop", 1.099)), (2, nothing)],
        """0.00 buy in 0.1 1.1 0
           1.33 sell out 0.1 1.0995 -5 sl
           1.33 sell in 0.1 1.099 0""",
        """0.00 buy 0 1.1 filled
           1.33 sell 0 1.0995 filled
           1.33 sell stop 0 1.099 filled""",
        account=NETTING,
    ),
    Scenario(
        "netting: pending orders add to the position and reverse it",
        """110000 110010 109990 110000
           110000 110060 109990 110050
           110050 110060 109940 109950""",
        [
            (0, buy()),
            (0, place("buy stop", 1.1005)),
            (0, place("sell stop", 1.0995, volume=0.3)),
            (3, nothing),
        ],
        """0.00 buy in 0.1 1.1 0
           1.67 buy in 0.1 1.1005 0
           2.33 sell inout 0.3 1.0995 -15""",
        """0.00 buy 0 1.1 filled
           1.67 buy stop 0 1.1005 filled
           2.33 sell stop 0 1.0995 filled""",
        account=NETTING,
    ),
    Scenario(
        "an order that the account can't pay when it is triggered is rejected",
        """110000 110010 109990 110000
           110000 110100 109990 110000""",
        [(0, place("buy stop", 1.1005, volume=1.0)), (2, nothing)],
        "",
        "1.67 buy stop 1 1.1005 rejected",
        account={"deposit": 1_000.0},
    ),
    Scenario(
        "DAY ends with the server's day",
        flat(26),
        [(20, place("buy limit", 1.09, type_time=1)), (25, nothing)],
        "",
        "24.00 buy limit 0.1 1.09 expired",
    ),
    Scenario(
        "SPECIFIED ends at its second, SPECIFIED_DAY with its day",
        flat(50),
        [
            (0, place("buy limit", 1.09, type_time=3, expiration=MONDAY + 34 * 3_600)),
            (0, place("buy limit", 1.09, type_time=2, expiration=MONDAY + 5_400)),
            (49, nothing),
        ],
        "",
        """1.50 buy limit 0.1 1.09 expired
           48.00 buy limit 0.1 1.09 expired""",
    ),
    Scenario(
        "where all orders are daily, GTC ends with the day too",
        flat(26),
        [(20, place("buy limit", 1.09)), (25, nothing)],
        "",
        "24.00 buy limit 0.1 1.09 expired",
        symbol={"order_gtc_mode": 2},
    ),
    Scenario(
        "an order at the level of its own end is gone before the price comes",
        """110000 110010 109990 110000
           109000 109010 108990 109000""",
        [(0, place("buy limit", 1.095, type_time=2, expiration=MONDAY + 3_600)), (1, nothing)],
        "",
        "1.00 buy limit 0.1 1.095 expired",
    ),
    Scenario(
        "F25: what a gap has passed closes the position at once",
        GAP_UP,
        [F25, (1, nothing)],
        """1.00 buy in 0.1 1.105 0
           1.00 sell out 0.1 1.105 0 tp""",
        """1.00 buy stop 0 1.1 filled
           1.00 sell 0 1.105 filled""",
    ),
    Scenario(
        "F25: a broker that drops the levels which a gap has passed",
        GAP_UP,
        [F25, (1, nothing)],
        "1.00 buy in 0.1 1.105 0",
        "1.00 buy stop 0 1.1 filled",
        account={"gap_levels": "drop"},
    ),
    Scenario(
        "F25: a broker that rejects an order whose levels a gap has passed",
        GAP_UP,
        [F25, (1, nothing)],
        "",
        "1.00 buy stop 0.1 1.1 rejected",
        account={"gap_levels": "reject"},
    ),
    Scenario(
        "an exchange fills a limit through the market at once",
        flat(2),
        [(0, place("buy limit", 1.101)), (0, place("sell limit", 1.099))],
        """0.00 buy in 0.1 1.1 0
           0.00 sell in 0.1 1.1 0""",
        """0.00 buy limit 0 1.101 filled
           0.00 sell limit 0 1.099 filled""",
        symbol=EXCHANGE,
    ),
    Scenario(
        "book-or-cancel is canceled instead of being filled at once",
        flat(2),
        [(0, place("buy limit", 1.101, type_filling=3))],
        "",
        "0.00 buy limit 0.1 1.101 canceled",
        symbol={**EXCHANGE, "filling_mode": 7},
    ),
    Scenario(
        "a triggered order pays its commission",
        """110000 110010 109990 110000
           110000 110010 109940 110000""",
        [(0, place("buy limit", 1.0995, volume=0.3)), (2, nothing)],
        "1.33 buy in 0.3 1.0995 0 commission=-1.05",
        "1.33 buy limit 0 1.0995 filled",
        account={"commission": 3.5},
    ),
]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_scenario(scenario: Scenario) -> None:
    broker = profile({"EURUSD": spec(**scenario.symbol)}, **scenario.account)
    play = Play(scenario.bars, broker)
    for bar, step in scenario.steps:
        play.bar(bar)
        result = step(play)
        assert result is None or result.retcode == 10009, result
    assert play.deals() == lines(scenario.deals)
    assert play.orders() == lines(scenario.orders)


def test_an_order_ends_on_a_weekend_and_the_gap_after_it_fills_nothing() -> None:
    friday = bars("110000 110010 109990 110000", start=MONDAY + 119 * 3_600)
    monday = bars("109000 109010 108990 109000", start=MONDAY + 168 * 3_600)
    play = Play(np.concatenate([friday, monday]), start=MONDAY + 119 * 3_600)
    saturday = MONDAY + 132 * 3_600
    play.place("buy limit", 1.095, type_time=2, expiration=saturday)
    kept = play.place("buy limit", 1.0951).order
    play.bar(168)
    assert play.orders() == [
        "132.00 buy limit 0.1 1.095 expired",
        "168.00 buy limit 0 1.0951 filled",
    ]
    assert [one.ticket for one in play.terminal.positions_get()] == [kept]
    assert play.terminal.history_orders_total(saturday, saturday) == 1


ROWS = """110000 110100 109900 110050 10
          110050 110100 110000 110060 10"""
LEVEL = {"trade_stops_level": 20}

# Bid 1.10000, ask 1.10010.
REFUSALS: list[tuple[str, str, float, dict[str, Any], dict[str, Any], dict[str, Any], int]] = [
    ("a buy limit at the ask", "buy limit", 1.1001, {}, {}, {}, 10015),
    ("A38: a sell limit below the bid", "sell limit", 1.0999, {}, {}, {}, 10015),
    ("A38: a buy stop within the spread", "buy stop", 1.10005, {}, {}, {}, 10015),
    ("a sell stop above the bid", "sell stop", 1.1001, {}, {}, {}, 10015),
    ("A07: a sell limit at the bid", "sell limit", 1.1, {}, {}, {}, 10015),
    ("no price", "buy limit", 0.0, {}, {}, {}, 10015),
    ("a price that is no number", "buy limit", float("nan"), {}, {}, {}, 10015),
    ("A08: a price off the tick", "buy limit", 1.0990051234, {}, {}, {}, 10015),
    ("a buy limit nearer than the stops level", "buy limit", 1.09991, {}, LEVEL, {}, 10016),
    ("a buy stop nearer than the stops level", "buy stop", 1.10029, {}, LEVEL, {}, 10016),
    ("a sell limit nearer than the stops level", "sell limit", 1.10019, {}, LEVEL, {}, 10016),
    ("a sell stop nearer than the stops level", "sell stop", 1.09981, {}, LEVEL, {}, 10016),
    ("A08: a buy's stop loss above its price", "buy limit", 1.099, {"sl": 1.0991}, {}, {}, 10016),
    ("a buy's target below its price", "buy stop", 1.101, {"tp": 1.1009}, {}, {}, 10016),
    ("a sell's stop loss below its price", "sell stop", 1.099, {"sl": 1.0989}, {}, {}, 10016),
    ("a stop loss nearer than the level", "buy stop", 1.101, {"sl": 1.10081}, LEVEL, {}, 10016),
    ("a stop-limit without a limit", "buy stop limit", 1.101, {}, {}, {}, 10015),
    ("a limit above a buy's stop", "buy stop limit", 1.101, {"stoplimit": 1.1011}, {}, {}, 10015),
    ("a limit below a sell's stop", "sell stop limit", 1.09, {"stoplimit": 1.0899}, {}, {}, 10015),
    ("a limit near its stop", "buy stop limit", 1.101, {"stoplimit": 1.10081}, LEVEL, {}, 10016),
    (
        "a stop-limit's levels are measured from its limit",
        "buy stop limit",
        1.101,
        {"stoplimit": 1.1, "sl": 1.1005},
        {},
        {},
        10016,
    ),
    ("no such type", "close by", 1.09, {"type": 9}, {}, {}, 10013),
    ("closing by as a pending order", "close by", 1.09, {}, {}, {}, 10035),
    ("limits that the symbol forbids", "buy limit", 1.09, {}, {"order_mode": 125}, {}, 10035),
    ("stops that the symbol forbids", "buy stop", 1.2, {}, {"order_mode": 123}, {}, 10035),
    (
        "stop-limits that the symbol forbids",
        "buy stop limit",
        1.2,
        {"stoplimit": 1.1},
        {"order_mode": 119},
        {},
        10035,
    ),
    (
        "stop losses that the symbol forbids",
        "buy limit",
        1.09,
        {"sl": 1.08},
        {"order_mode": 111},
        {},
        10035,
    ),
    ("targets that it forbids", "buy limit", 1.09, {"tp": 1.1}, {"order_mode": 95}, {}, 10035),
    ("a volume off the step", "buy limit", 1.09, {"volume": 0.105}, {}, {}, 10014),
    ("an unknown symbol", "buy limit", 1.09, {"symbol": "EURXXX"}, {}, {}, 10013),
    ("A41: a symbol for closing only", "buy limit", 1.09, {}, {"trade_mode": 3}, {}, 10044),
    ("A41: a sell of a long only symbol", "sell limit", 1.2, {}, {"trade_mode": 1}, {}, 10042),
    ("A41: a disabled symbol", "buy limit", 1.09, {}, {"trade_mode": 0}, {}, 10017),
    ("book-or-cancel of a stop", "buy stop", 1.2, {"type_filling": 3}, {}, {}, 10030),
    ("book-or-cancel off the mask", "buy limit", 1.0, {"type_filling": 3}, {}, {}, 10030),
    ("an unknown filling", "buy limit", 1.0, {"type_filling": 4}, {}, {}, 10030),
    ("a way of expiring off the mask", "buy limit", 1.0, {}, {"expiration_mode": 2}, {}, 10022),
    ("an unknown way of expiring", "buy limit", 1.0, {"type_time": 4}, {}, {}, 10022),
    ("an end without a date", "buy limit", 1.0, {"type_time": 2}, {}, {}, 10022),
    (
        "an end that is now",
        "buy limit",
        1.0,
        {"type_time": 2, "expiration": MONDAY},
        {},
        {},
        10022,
    ),
    (
        "a last day that is over",
        "buy limit",
        1.0,
        {"type_time": 3, "expiration": MONDAY - 1},
        {},
        {},
        10022,
    ),
    ("more than the volume limit", "buy limit", 1.0, {}, {"volume_limit": 0.05}, {}, 10034),
    ("A22: a broker without robots", "buy limit", 1.0, {}, {}, {"trade_expert": False}, 10026),
    (
        "margin that the account lacks, where orders hold margin",
        "buy limit",
        1.0,
        {"volume": 20.0},
        {},
        {"pending_margin": True},
        10019,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "price", "fields", "symbol", "account", "code"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_the_server_refuses(
    kind: str,
    price: float,
    fields: dict[str, Any],
    symbol: dict[str, Any],
    account: dict[str, Any],
    code: int,
) -> None:
    play = Play(ROWS, profile({"EURUSD": spec(**symbol)}, **account))
    result = play.place(kind, price, **fields)
    assert (result.retcode, result.order, result.request_id) == (code, 0, 0)
    assert play.terminal.order_check(result.request._asdict()).retcode == code
    assert play.terminal.orders_total() == 0


ALLOWED: list[tuple[str, str, float, dict[str, Any], dict[str, Any]]] = [
    ("A38: a buy limit below the ask", "buy limit", 1.0999, {}, {}),
    ("a buy limit within the spread", "buy limit", 1.10005, {}, {}),
    ("a buy limit at the stops level", "buy limit", 1.0999, {}, LEVEL),
    ("fill-or-kill, as published programs send it", "buy stop", 1.2, {"type_filling": 0}, {}),
    ("part-or-cancel, as published programs send it", "buy stop", 1.2, {"type_filling": 1}, {}),
    ("book-or-cancel", "buy limit", 1.0, {"type_filling": 3}, {"filling_mode": 7}),
    (
        "book-or-cancel of a stop-limit",
        "sell stop limit",
        1.0,
        {"type_filling": 3, "stoplimit": 1.01},
        {"filling_mode": 7},
    ),
    ("an end after now", "buy limit", 1.0, {"type_time": 2, "expiration": MONDAY + 1}, {}),
    ("today as the last day", "buy limit", 1.0, {"type_time": 3, "expiration": MONDAY}, {}),
    ("a date that nobody asks for", "buy limit", 1.0, {"expiration": 1}, {}),
    ("more than the free margin: waiting needs none", "buy limit", 1.0, {"volume": 50.0}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "price", "fields", "symbol"),
    [row[1:] for row in ALLOWED],
    ids=[row[0] for row in ALLOWED],
)
def test_the_server_allows(
    kind: str, price: float, fields: dict[str, Any], symbol: dict[str, Any]
) -> None:
    play = Play(ROWS, profile({"EURUSD": spec(**symbol)}))
    result = play.place(kind, price, **fields)
    assert (result.retcode, result.comment) == (10009, "Request executed")
    assert play.terminal.orders_total() == 1


def test_a_pending_order_is_shown_until_it_is_done() -> None:
    play = Play(ROWS)
    expiration = MONDAY + 86_400
    result = play.place(
        "buy stop limit",
        1.101,
        stoplimit=1.1005,
        sl=1.099,
        tp=1.103,
        volume=0.2,
        magic=2**64 - 1,
        comment="mine",
        type_time=2,
        expiration=expiration,
    )
    assert (result.deal, result.volume, result.price, result.bid) == (0, 0.2, 0.0, 0.0)
    (order,) = play.terminal.orders_get(symbol="EURUSD")
    assert order._asdict() == {
        "ticket": result.order,
        "time_setup": MONDAY,
        "time_setup_msc": MONDAY * 1000,
        "time_done": 0,
        "time_done_msc": 0,
        "time_expiration": expiration,
        "type": 6,
        "type_time": 2,
        "type_filling": 2,
        "state": 1,
        "magic": 2**64 - 1,
        "position_id": 0,
        "position_by_id": 0,
        "reason": 3,
        "volume_initial": 0.2,
        "volume_current": 0.2,
        "price_open": 1.101,
        "sl": 1.099,
        "tp": 1.103,
        "price_current": 1.1001,
        "price_stoplimit": 1.1005,
        "symbol": "EURUSD",
        "comment": "mine",
        "external_id": "",
    }
    assert play.terminal.orders_get(ticket=result.order) == (order,)
    assert play.terminal.orders_get(group="*USD") == (order,)
    assert play.terminal.orders_get(group="*JPY") == play.terminal.orders_get(ticket=1) == ()
    assert play.terminal.history_orders_total(0, 2**31 - 1) == 0
    assert play.terminal.symbol_select("EURUSD", False) is False


def test_a_filled_order_links_to_its_position_and_deal() -> None:
    play = Play("110000 110010 109990 110000\n110000 110060 109990 110000")
    ticket = play.place("buy stop", 1.1005, magic=7, comment="mine", sl=1.09, tp=1.2).order
    play.bar(2)
    assert play.terminal.orders_total() == 0
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.identifier, held.magic, held.comment) == (ticket, ticket, 7, "mine")
    assert (held.sl, held.tp, held.price_open, held.reason) == (1.09, 1.2, 1.1005, 3)
    (order,) = play.terminal.history_orders_get(ticket=ticket)
    assert (order.position_id, order.volume_current, order.volume_initial) == (ticket, 0.0, 0.1)
    (deal,) = play.terminal.history_deals_get(position=ticket)
    assert (deal.order, deal.entry, deal.magic, deal.reason) == (ticket, 0, 7, 3)
    assert deal.time == order.time_done == held.time == MONDAY + 6_000


def test_positions_are_listed_by_ticket_whenever_they_were_opened() -> None:
    play = Play("110000 110010 109990 110000\n110000 110060 109990 110000")
    waited = play.place("buy stop", 1.1005).order
    at_once = play.buy().order
    play.bar(2)
    assert [one.ticket for one in play.terminal.positions_get()] == [waited, at_once]


def test_what_a_refusal_at_the_trigger_says() -> None:
    play = Play("110000 110010 109990 110000\n110000 110060 109990 110000", profile(deposit=100.0))
    ticket = play.place("buy stop", 1.1005, comment="mine").order
    play.bar(2)
    (order,) = play.terminal.history_orders_get(ticket=ticket)
    assert (order.state, order.comment, order.position_id) == (5, "[No money]", 0)


def test_the_levels_that_a_gap_has_not_passed_stay() -> None:
    play = Play(GAP_UP, profile(gap_levels="drop"))
    F25[1](play)
    play.bar(1)
    (held,) = play.terminal.positions_get()
    assert (held.sl, held.tp) == (1.096, 0.0)
    # F25: the target below the market can't be set again.
    assert play.protect(held.ticket, sl=1.096, tp=1.104).retcode == 10016


def test_changing_a_pending_order() -> None:
    play = Play(ROWS)
    ticket = play.place("buy limit", 1.099, sl=1.098).order
    assert play.modify(ticket).retcode == 10025
    assert play.modify(ticket, price=1.0990000004).retcode == 10025
    assert play.modify(ticket, price=1.1001).retcode == 10015
    assert play.modify(ticket, sl=1.0995).retcode == 10016
    assert play.modify(ticket, type_time=2, expiration=MONDAY).retcode == 10022
    assert play.modify(ticket, symbol="GBPUSD").retcode == 10013
    assert play.terminal.order_send({"action": 7, "order": 99, "price": 1.0}).retcode == 10013
    changes = {"price": 1.0985, "sl": 0.0, "tp": 1.102, "type_time": 2, "volume": 9.0}
    done = play.modify(ticket, expiration=MONDAY + 600, **changes)
    assert (done.retcode, done.order, done.deal, done.volume, done.price) == (
        10009,
        ticket,
        0,
        0.0,
        0.0,
    )
    (order,) = play.terminal.orders_get()
    assert (order.price_open, order.sl, order.tp, order.volume_current) == (1.0985, 0.0, 1.102, 0.1)
    assert (order.type_time, order.time_expiration) == (2, MONDAY + 600)
    assert play.modify(ticket, type_time=0).retcode == 10009
    assert play.terminal.orders_get()[0].time_expiration == 0


def test_a_day_counts_from_the_last_change() -> None:
    play = Play(flat(60))
    ticket = play.place("buy limit", 1.09).order
    play.bar(30)
    assert play.modify(ticket, type_time=1).retcode == 10009
    play.bar(47)
    assert play.terminal.orders_total() == 1
    play.bar(48)
    assert play.orders() == ["48.00 buy limit 0.1 1.09 expired"]


def test_changing_the_limit_of_a_stop_limit() -> None:
    play = Play(ROWS)
    ticket = play.place("sell stop limit", 1.099, stoplimit=1.0995).order
    assert play.modify(ticket).retcode == 10025
    assert play.modify(ticket, stoplimit=1.0985).retcode == 10015
    assert play.modify(ticket, stoplimit=1.0996).retcode == 10009
    assert play.terminal.orders_get()[0].price_stoplimit == 1.0996


def test_a_price_that_stays_is_not_measured_again() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(**LEVEL)}))
    ticket = play.place("sell limit", 1.1011).order
    play.clock.wait_until(MONDAY + 6_100)  # the bid is 1.1010, at its highest
    assert play.modify(ticket, sl=1.11).retcode == 10009
    assert play.modify(ticket, sl=1.11, price=1.10115).retcode == 10016


def test_removing_a_pending_order() -> None:
    play = Play(ROWS)
    ticket = play.place("buy limit", 1.09).order
    assert play.terminal.order_send({"action": 8, "order": 99}).retcode == 10013
    done = play.remove(ticket)
    assert (done.retcode, done.order, done.volume, done.request_id > 0) == (
        10009,
        ticket,
        0.0,
        True,
    )
    assert play.terminal.orders_get() == ()
    assert play.orders() == ["0.00 buy limit 0.1 1.09 canceled"]
    assert play.remove(ticket).retcode == 10013


def test_within_the_freeze_level_an_order_is_left_alone() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(trade_freeze_level=30)}))
    ticket = play.place("buy limit", 1.0998).order  # 30 points from the ask
    assert play.modify(ticket, price=1.09).retcode == 10029
    assert play.remove(ticket).retcode == 10029
    far = play.place("buy limit", 1.09979).order
    assert play.modify(far, sl=1.09).retcode == 10009
    assert play.remove(far).retcode == 10009


def test_a_waiting_order_can_be_touched_only_while_the_market_is_open() -> None:
    play = Play(ROWS)
    ticket = play.place("buy limit", 1.09).order
    play.bar(4)
    assert play.place("buy limit", 1.09).retcode == 10018
    assert play.modify(ticket, price=1.08).retcode == 10018
    assert play.remove(ticket).retcode == 10018


def test_the_limit_of_pending_orders() -> None:
    play = Play(ROWS, profile(limit_orders=2))
    first = play.place("buy limit", 1.09).order
    play.place("sell limit", 1.2)
    assert play.place("buy limit", 1.08).retcode == 10033
    play.remove(first)
    assert play.place("buy limit", 1.08).retcode == 10009
    unlimited = Play(ROWS, profile(limit_orders=0))
    assert unlimited.place("buy limit", 1.08).retcode == 10009


def test_the_volume_limit_counts_positions_and_orders_of_a_side() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(volume_limit=0.3)}))
    play.buy()
    play.place("buy limit", 1.09)
    assert play.buy(volume=0.2).retcode == 10034
    assert play.place("buy stop", 1.2, volume=0.2).retcode == 10034
    assert play.place("sell limit", 1.2, volume=0.3).retcode == 10009
    assert play.place("buy stop", 1.2).retcode == 10009


def test_waiting_orders_hold_margin_where_the_account_says_so() -> None:
    free = Play(ROWS)
    free.place("buy limit", 1.09)
    assert free.terminal.account_info().margin == 0.0
    play = Play(ROWS, profile(pending_margin=True))
    request = {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type": 2, "price": 1.09}
    checked = play.terminal.order_check({**request, "type_filling": 2})
    ticket = play.place("buy limit", 1.09).order
    assert play.terminal.account_info().margin == checked.margin == 110.01
    play.remove(ticket)
    assert play.terminal.account_info().margin == 0.0


def test_what_an_order_holds_is_there_for_its_position() -> None:
    rows = "110000 110010 109990 110000\n110000 110010 109940 110000"
    play = Play(rows, profile(deposit=115.0, pending_margin=True))
    play.place("buy limit", 1.0995)
    play.bar(2)
    assert play.terminal.positions_total() == 1
    assert play.terminal.account_info().margin == 109.95


def test_stop_out_takes_the_orders_that_hold_margin_first() -> None:
    rows = """110000 110010 109990 110000
              109300 109310 109290 109300"""
    account = profile(deposit=1_000.0, pending_margin=True, margin_so_so=70.0)
    play = Play(rows, account)
    play.buy(volume=0.5)
    play.place("buy limit", 1.08, volume=0.1)
    play.place("buy limit", 1.08, volume=0.25)
    play.bar(1)
    # Equity 650: 69.5 % of a margin of 550 + 110 + 275, and 98.5 % of the first two.
    assert play.terminal.account_info().equity == 650.0
    assert play.orders() == ["0.00 buy 0 1.1 filled", "1.00 buy limit 0.25 1.08 canceled"]
    assert play.waiting() == ["buy limit 0.1 1.08 placed"]


def test_daily_stops_end_with_the_day() -> None:
    play = Play(flat(26), profile({"EURUSD": spec(order_gtc_mode=1)}))
    ticket = play.buy(sl=1.09, tp=1.11).order
    play.bar(23)
    assert play.terminal.positions_get(ticket=ticket)[0].sl == 1.09
    play.bar(24)
    (held,) = play.terminal.positions_get()
    assert (held.sl, held.tp) == (0.0, 0.0)


def test_prohibited_hedging_is_refused_and_at_the_trigger_rejected() -> None:
    rows = "110000 110010 109990 110000\n110000 110060 109940 110000"
    play = Play(rows, profile(hedge_prohibited=True))
    play.place("sell stop", 1.0995)
    play.place("buy stop", 1.1005)
    play.bar(2)
    assert play.orders() == ["1.33 sell stop 0 1.0995 filled", "1.67 buy stop 0.1 1.1005 rejected"]
    assert play.terminal.history_orders_get(0, 2**31 - 1)[1].comment == "[Hedge prohibited]"


def test_orders_wait_on_while_nobody_is_there(tmp_path: Path) -> None:
    rows = "110000 110010 109990 110000\n110000 110060 109990 110000"
    path = tmp_path / "account.sqlite"
    play = Play(rows, account=path)
    play.place("buy stop", 1.1005)
    ending = play.place("buy stop", 1.1005, type_time=2, expiration=MONDAY + 60).order
    play.terminal.close()
    later = Play(rows, account=path, start=MONDAY + 2 * 3_600)
    assert later.deals() == ["1.67 buy in 0.1 1.1005 0"]
    assert later.terminal.history_orders_get(ticket=ending)[0].time_done == MONDAY + 60
    later.terminal.close()


def test_a_profile_of_the_first_version_has_the_hash_that_it_had() -> None:
    # Else every account file would be refused after an update.
    known = "044c803d2eec12a7081e363e68c64d08ee2ea41590b76eeb54dac5bed0b08355"
    assert profile().sha256 == known
    assert profile(fifo_close=False, gap_levels="keep").sha256 == known
    assert profile(fifo_close=True).sha256 != known


def test_an_account_of_the_first_version_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    play = Play(ROWS, account=path)
    play.buy()
    play.terminal.close()
    with sqlite3.connect(path) as file:  # as the first version has written it
        file.execute("DROP TABLE waiting")
        file.execute("UPDATE meta SET value = ? WHERE key = 'version'", (json.dumps("1"),))
    file.close()
    again = Play(ROWS, account=path)
    assert again.terminal.positions_total() == 1
    assert again.place("buy limit", 1.09).retcode == 10009
    again.terminal.close()
    assert Play(ROWS, account=path).waiting() == ["buy limit 0.1 1.09 placed"]
