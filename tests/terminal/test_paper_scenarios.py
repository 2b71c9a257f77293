"""Scenarios: bars as rows ``O H L C [spread]`` in points, what is sent, and the deals that follow.

EURUSD, five digits, one lot = 100000: ten points are one dollar for 0.1 lots. A line of deals is
``hour side entry volume price profit [sl|tp|so] [swap] [commission]``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, profile, spec

Step = tuple[int, Callable[[Play], Any]]


@dataclass(frozen=True)
class Scenario:
    name: str
    bars: str
    steps: list[Step]
    deals: str
    account: dict[str, Any] = field(default_factory=dict)
    symbol: dict[str, Any] = field(default_factory=dict)


def buy(**fields: Any) -> Callable[[Play], Any]:
    return lambda play: play.buy(**fields)


def sell(**fields: Any) -> Callable[[Play], Any]:
    return lambda play: play.sell(**fields)


def close(index: int = 0, volume: float | None = None) -> Callable[[Play], Any]:
    return lambda play: play.close(play.terminal.positions_get()[index].ticket, volume)


def nothing(play: Play) -> None:
    """Let time pass."""


NETTING = {"margin_mode": "netting"}

SCENARIOS = [
    Scenario(
        "a buy opens at the ask and is closed at the bid",
        """110000 110100 109900 110050 12
           110050 110100 110000 110060 12""",
        [(0, buy()), (1, close())],
        """0.00 buy in 0.1 1.10012 0
           1.00 sell out 0.1 1.1005 3.8""",
    ),
    Scenario(
        "a sell opens at the bid and is closed at the ask",
        """110000 110100 109900 110050 12
           109950 110100 109900 110060 12""",
        [(0, sell()), (1, close())],
        """0.00 sell in 0.1 1.1 0
           1.00 buy out 0.1 1.09962 3.8""",
    ),
    Scenario(
        "a stop loss within the bar is filled at its level when the price comes by",
        "110000 110100 109900 110050",
        [(0, buy(sl=1.0995)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           0.33 sell out 0.1 1.0995 -5 sl""",
    ),
    Scenario(
        "a take profit within the bar is filled at its level",
        "110000 110100 109900 110050",
        [(0, buy(tp=1.1005)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           0.67 sell out 0.1 1.1005 5 tp""",
    ),
    Scenario(
        "with both levels in one bar the stop loss comes first",
        "110000 110100 109900 110050",
        [(0, buy(sl=1.0995, tp=1.1005)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           0.33 sell out 0.1 1.0995 -5 sl""",
    ),
    Scenario(
        "a level that is only touched counts",
        "110000 110100 109900 110050",
        [(0, buy(sl=1.099)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           0.33 sell out 0.1 1.099 -10 sl""",
    ),
    Scenario(
        "a gap through the stop loss is filled at the open, worse than the level",
        """110000 110010 109990 110000
           109500 109600 109400 109500""",
        [(0, buy(sl=1.0995)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           1.00 sell out 0.1 1.095 -50 sl""",
    ),
    Scenario(
        "a gap through the take profit is filled at the open, better than the level",
        """110000 110010 109990 110000
           110500 110600 110400 110500""",
        [(0, buy(tp=1.1005)), (1, nothing)],
        """0.00 buy in 0.1 1.1 0
           1.00 sell out 0.1 1.105 50 tp""",
    ),
    Scenario(
        "a sell's stop loss is watched on the ask: the spread alone may reach it",
        "110000 110045 109990 110000 10",
        [(0, sell(sl=1.1005)), (1, nothing)],
        """0.00 sell in 0.1 1.1 0
           0.33 buy out 0.1 1.1005 -5 sl""",
    ),
    Scenario(
        "a sell's take profit is watched on the ask: the bid at the level is not enough",
        """110000 110010 109950 110000 10
           110000 110010 109940 110000 10""",
        [(0, sell(tp=1.0995)), (1, nothing), (2, nothing)],
        """0.00 sell in 0.1 1.1 0
           1.67 buy out 0.1 1.0995 5 tp""",
    ),
    Scenario(
        "a gap through a sell's stop is filled at the open's ask",
        """110000 110010 109990 110000 10
           110500 110600 110400 110500 10""",
        [(0, sell(sl=1.1005)), (1, nothing)],
        """0.00 sell in 0.1 1.1 0
           1.00 buy out 0.1 1.1051 -51 sl""",
    ),
    Scenario(
        "part of a position is closed, the ticket stays",
        """110000 110010 109990 110000
           110100 110110 110090 110100
           110200 110210 110190 110200""",
        [(0, buy(volume=0.3)), (1, close(volume=0.1)), (2, close())],
        """0.00 buy in 0.3 1.1 0
           1.00 sell out 0.1 1.101 10
           2.00 sell out 0.2 1.102 40""",
    ),
    Scenario(
        "hedging: an opposite deal opens a second position",
        """110000 110010 109990 110000
           110100 110110 110090 110100""",
        [(0, buy()), (0, sell()), (1, close(1)), (1, close(0))],
        """0.00 buy in 0.1 1.1 0
           0.00 sell in 0.1 1.1 0
           1.00 buy out 0.1 1.101 -10
           1.00 sell out 0.1 1.101 10""",
    ),
    Scenario(
        "netting: adding averages the open price",
        """110000 110010 109990 110000
           110300 110310 110290 110300
           110400 110410 110390 110400""",
        [(0, buy(volume=0.1)), (1, buy(volume=0.2)), (2, sell(volume=0.3))],
        """0.00 buy in 0.1 1.1 0
           1.00 buy in 0.2 1.103 0
           2.00 sell out 0.3 1.104 60""",
        account=NETTING,
    ),
    Scenario(
        "netting: an opposite deal reduces",
        """110000 110010 109990 110000
           110100 110110 110090 110100""",
        [(0, buy(volume=0.3)), (1, sell(volume=0.1))],
        """0.00 buy in 0.3 1.1 0
           1.00 sell out 0.1 1.101 10""",
        account=NETTING,
    ),
    Scenario(
        "netting: a larger opposite deal reverses",
        """110000 110010 109990 110000
           110100 110110 110090 110100
           110000 110010 109990 110000""",
        [(0, buy(volume=0.1)), (1, sell(volume=0.3)), (2, buy(volume=0.2))],
        """0.00 buy in 0.1 1.1 0
           1.00 sell inout 0.3 1.101 10
           2.00 buy out 0.2 1.1 20""",
        account=NETTING,
    ),
    Scenario(
        "commission is booked on entry and on exit",
        """110000 110010 109990 110000
           110100 110110 110090 110100""",
        [(0, buy(volume=0.2)), (1, close())],
        """0.00 buy in 0.2 1.1 0 commission=-0.7
           1.00 sell out 0.2 1.101 20 commission=-0.7""",
        account={"commission": 3.5},
    ),
    Scenario(
        "swap in points is charged at midnight, three times on Wednesday, and booked on exit",
        "\n".join(["110000 110010 109990 110000"] * 97),
        [(0, buy(volume=1.0)), (96, close())],
        # Monday, Tuesday, Wednesday three times, Thursday: six nights of 2 dollars.
        """0.00 buy in 1 1.1 0
           96.00 sell out 1 1.1 0 swap=-12""",
        symbol={"swap_mode": 1, "swap_long": -2.0, "swap_short": 1.0},
    ),
    Scenario(
        "no swap is charged for Saturday and Sunday",
        "\n".join(["110000 110010 109990 110000"] * (24 * 8 + 1)),
        [(24 * 4, sell(volume=1.0)), (24 * 7, close())],
        """96.00 sell in 1 1.1 0
           168.00 buy out 1 1.1 0 swap=1""",
        symbol={"swap_mode": 1, "swap_long": -2.0, "swap_short": 1.0},
    ),
    Scenario(
        "swap in account currency goes pro rata with a part that is closed",
        "\n".join(["110000 110010 109990 110000"] * 30),
        [(0, buy(volume=0.3)), (25, close(volume=0.1)), (26, close())],
        """0.00 buy in 0.3 1.1 0
           25.00 sell out 0.1 1.1 0 swap=-0.5
           26.00 sell out 0.2 1.1 0 swap=-1""",
        symbol={"swap_mode": 4, "swap_long": -5.0},
    ),
    Scenario(
        "stop-out closes the biggest loss first, and only as much as is needed",
        """110000 110010 109990 110000
           109000 109010 109000 109000""",
        [(0, buy(volume=0.5)), (0, buy(volume=0.3)), (1, nothing)],
        # Equity 1000 - 800 at margin 880: 22.73 %; after the larger loss 200 at 330: 60.6 %.
        """0.00 buy in 0.5 1.1 0
           0.00 buy in 0.3 1.1 0
           1.00 sell out 0.5 1.09 -500 so""",
        account={"deposit": 1_000.0, "margin_so_so": 50.0},
    ),
    Scenario(
        "stop-out looks at the worst price of the bar",
        "110000 110010 109000 110000",
        [(0, buy(volume=0.5)), (1, nothing)],
        """0.00 buy in 0.5 1.1 0
           0.33 sell out 0.5 1.09 -500 so""",
        account={"deposit": 700.0, "margin_so_so": 50.0},
    ),
    Scenario(
        "the specification's spread counts where the bar has none",
        """110000 110100 109900 110050
           110050 110100 110000 110060""",
        [(0, buy()), (1, close())],
        """0.00 buy in 0.1 1.1002 0
           1.00 sell out 0.1 1.1005 3""",
        symbol={"spread": 20},
    ),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_scenario(scenario: Scenario) -> None:
    broker = profile({"EURUSD": spec(**scenario.symbol)}, **scenario.account)
    play = Play(scenario.bars, broker)
    for bar, step in scenario.steps:
        play.bar(bar)
        result = step(play)
        assert result is None or result.retcode == 10009, result
    play.terminal.positions_total()
    assert play.deals() == [line.strip() for line in scenario.deals.splitlines()]


TWO_BARS = """110000 110100 109900 110050 10
              110050 110100 110000 110060 10"""

INSTANT = {"trade_exemode": 1}
LEVEL = {"trade_stops_level": 20}

REFUSALS = [
    ("volume below the minimum", {"volume": 0.001}, {}, {}, 10014),
    ("volume above the maximum", {"volume": 51.0}, {}, {}, 10014),
    ("volume off the step", {"volume": 0.105}, {}, {}, 10014),
    ("volume that is no number", {"volume": float("nan")}, {}, {}, 10014),
    ("negative volume", {"volume": -0.1}, {}, {}, 10014),
    ("stop loss of a buy above the bid", {"sl": 1.10005}, {}, {}, 10016),
    ("stop loss at the bid", {"sl": 1.1}, {}, {}, 10016),
    ("take profit inside the spread", {"tp": 1.1}, {}, {}, 10016),
    ("stop loss nearer than the stops level", {"sl": 1.09981}, LEVEL, {}, 10016),
    ("negative stop loss", {"sl": -1.0}, {}, {}, 10016),
    ("stop loss that is no number", {"sl": float("nan")}, {}, {}, 10016),
    ("endless take profit", {"tp": float("inf")}, {}, {}, 10016),
    ("stop loss off the tick", {"sl": 1.0991234567}, {}, {}, 10016),
    ("stop loss of a sell below the ask", {"type": 1, "sl": 1.10005}, {}, {}, 10016),
    ("take profit of a sell above the ask", {"type": 1, "tp": 1.1005}, {}, {}, 10016),
    ("instant execution without a price", {"price": 0.0}, INSTANT, {}, 10015),
    ("an instant price off the tick", {"price": 1.100123}, INSTANT, {}, 10015),
    ("instant execution at the wrong side", {"price": 1.1}, INSTANT, {}, 10004),
    ("a move beyond the deviation", {"price": 1.10004, "deviation": 5}, INSTANT, {}, 10004),
    ("fill or kill that the mask lacks", {"type_filling": 0}, {"filling_mode": 2}, {}, 10030),
    ("part or cancel that the mask lacks", {"type_filling": 1}, {"filling_mode": 1}, {}, 10030),
    ("return filling with market execution", {"type_filling": 2}, {"filling_mode": 3}, {}, 10030),
    ("book or cancel for a market order", {"type_filling": 3}, {"trade_exemode": 3}, {}, 10030),
    ("a symbol that is not traded", {}, {"trade_mode": 0}, {}, 10017),
    ("a sell of a long only symbol", {"type": 1}, {"trade_mode": 1}, {}, 10042),
    ("a buy of a short only symbol", {}, {"trade_mode": 2}, {}, 10043),
    ("an entry on a close only symbol", {}, {"trade_mode": 3}, {}, 10044),
    ("an investor's login", {}, {}, {"trade_allowed": False}, 10017),
    ("a broker without robots", {}, {}, {"trade_expert": False}, 10026),
    ("more than the free margin", {"volume": 9.1}, {}, {}, 10019),
    ("more than the volume limit", {"volume": 0.3}, {"volume_limit": 0.2}, {}, 10034),
    ("an unknown symbol", {"symbol": "EURXXX"}, {}, {}, 10013),
    ("a pending type as a deal", {"type": 2}, {}, {}, 10035),
    ("an unknown type", {"type": 99}, {}, {}, 10013),
    ("a position that is not there", {"position": 77}, {}, {}, 10036),
    ("a market type as a pending order", {"action": 5, "price": 1.0}, {}, {}, 10035),
    ("a removal", {"action": 8, "order": 1}, {}, {}, 10013),
    ("an unknown action", {"action": 99}, {}, {}, 10013),
    ("market orders that the symbol forbids", {}, {"order_mode": 126}, {}, 10035),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "symbol", "account", "code"),
    [row[1:] for row in REFUSALS],
    ids=[str(row[0]) for row in REFUSALS],
)
def test_the_server_refuses(
    fields: dict[str, Any], symbol: dict[str, Any], account: dict[str, Any], code: int
) -> None:
    play = Play(TWO_BARS, profile({"EURUSD": spec(**symbol)}, **account))
    request = {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0, "price": 1.1001, **fields}
    result = play.terminal.order_send(request)
    assert (result.retcode, result.deal, result.order, result.request_id) == (code, 0, 0, 0)
    assert play.terminal.last_error() == (1, "Success")
    assert result.request.volume == request["volume"] or request["volume"] != request["volume"]
    assert play.terminal.positions_total() == 0
    assert play.terminal.account_info().balance == 10_000.0
    if code != 10004:
        assert play.terminal.order_check(request).retcode == code
    else:
        assert (result.bid, result.ask) == (1.1, 1.1001)


ALLOWED = [
    ("noise of doubles in volume", {"volume": 0.1 + 0.2}, {}),
    ("noise of doubles in a stop", {"sl": 1.0990000000000002}, {}),
    ("market execution without a price", {"price": 0.0}, {}),
    ("a move within the deviation", {"price": 1.10005, "deviation": 5}, INSTANT),
    ("any filling with instant execution", {"type_filling": 2}, {**INSTANT, "filling_mode": 0}),
    ("return filling on an exchange", {"type_filling": 2}, {"trade_exemode": 3, "filling_mode": 0}),
    ("type_time DAY on a market order", {"type_time": 1}, {}),
    ("a stop exactly at the stops level", {"sl": 1.0998}, LEVEL),
    ("a buy of a long only symbol", {}, {"trade_mode": 1}),
    ("volume at the limit", {"volume": 0.2}, {"volume_limit": 0.2}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "symbol"), [row[1:] for row in ALLOWED], ids=[str(row[0]) for row in ALLOWED]
)
def test_the_server_allows(fields: dict[str, Any], symbol: dict[str, Any]) -> None:
    play = Play(TWO_BARS, profile({"EURUSD": spec(**symbol)}))
    request = {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0, "price": 1.1001, **fields}
    assert play.terminal.order_check(request).retcode == 0
    result = play.terminal.order_send(request)
    assert (result.retcode, result.comment, result.price) == (10009, "Request executed", 1.1001)
    assert result.request_id > 0


def test_closing_refusals() -> None:
    play = Play(TWO_BARS)
    ticket = play.buy().order
    assert play.buy(position=ticket).retcode == 10013
    assert play.sell(position=ticket, volume=0.2).retcode == 10038
    assert play.sell(position=ticket, volume=0.1).retcode == 10009
    assert play.sell(position=ticket, volume=0.1).retcode == 10036


def test_a_close_only_symbol_can_be_closed_and_a_full_account_too() -> None:
    play = Play(TWO_BARS, profile({"EURUSD": spec(trade_mode=1)}, deposit=111.0))
    ticket = play.buy().order
    assert play.buy().retcode == 10019
    assert play.close(ticket).retcode == 10009


def test_changing_stops() -> None:
    play = Play(TWO_BARS)
    ticket = play.buy(sl=1.099).order
    assert play.protect(ticket, sl=1.099).retcode == 10025
    assert play.protect(ticket, sl=1.0990000004).retcode == 10025
    assert play.protect(ticket, sl=1.1001).retcode == 10016
    assert play.protect(ticket, sl=1.098, symbol="GBPUSD").retcode == 10013
    assert play.protect(99, sl=1.098).retcode == 10036
    assert play.terminal.order_send({"action": 6, "sl": 1.098, "symbol": "EURUSD"}).retcode == 10013
    done = play.protect(ticket, sl=1.098, tp=1.102)
    assert (done.retcode, done.deal, done.order, done.volume, done.price) == (10009, 0, 0, 0.0, 0.0)
    held = play.terminal.positions_get()[0]
    assert (held.sl, held.tp, held.time_update_msc) == (1.098, 1.102, held.time_msc)
    assert play.protect(ticket, tp=1.102).retcode == 10009
    assert play.terminal.positions_get()[0].sl == 0.0


def test_a_netting_position_is_found_by_symbol() -> None:
    play = Play(TWO_BARS, profile(margin_mode="netting"))
    assert play.terminal.order_send({"action": 6, "symbol": "EURUSD", "sl": 1.0}).retcode == 10036
    play.buy()
    assert play.terminal.order_send({"action": 6, "symbol": "EURUSD", "sl": 1.0}).retcode == 10009


def test_within_the_freeze_level_nothing_is_changed_or_closed() -> None:
    rows = """110010 110020 109995 110010
              110050 110060 110040 110050"""
    play = Play(rows, profile({"EURUSD": spec(trade_freeze_level=30)}))
    ticket = play.buy(sl=1.0999).order
    assert play.protect(ticket, sl=1.0998).retcode == 10029
    assert play.close(ticket).retcode == 10029
    play.bar(1)
    assert play.protect(ticket, sl=1.1).retcode == 10009


def test_adding_on_a_netting_account_overwrites_the_stops() -> None:
    rows = """110000 110010 109990 110000
              110300 110310 110290 110300"""
    play = Play(rows, profile(margin_mode="netting"))
    first = play.buy(volume=0.1, sl=1.095).order
    play.bar(1)
    play.buy(volume=0.2, sl=1.099)
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.volume, held.price_open, held.sl) == (first, 0.3, 1.102, 1.099)


def test_a_reversal_keeps_the_identifier_and_changes_the_ticket() -> None:
    play = Play(TWO_BARS, profile(margin_mode="netting"))
    first = play.buy().order
    second = play.sell(volume=0.3).order
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.identifier, held.type, held.volume) == (second, first, 1, 0.2)
    ids = {deal.position_id for deal in play.terminal.history_deals_get(position=first)}
    assert ids == {first}


def test_tickets_of_position_result_order_and_deals_link_up() -> None:
    play = Play(TWO_BARS)
    result = play.buy(magic=2**64 - 1, comment="first", sl=1.0)
    (held,) = play.terminal.positions_get(ticket=result.order)
    assert (held.identifier, held.magic, held.comment) == (result.order, 2**64 - 1, "first")
    (deal,) = play.terminal.history_deals_get(ticket=result.deal)
    assert (deal.order, deal.position_id, deal.reason) == (result.order, result.order, 3)
    (order,) = play.terminal.history_orders_get(ticket=result.order)
    assert (order.state, order.volume_initial, order.volume_current) == (4, 0.1, 0.0)
    assert order.time_done == deal.time == held.time
    play.bar(1)
    play.close(result.order)
    deals = play.terminal.history_deals_get(position=result.order)
    assert [one.entry for one in deals] == [0, 1]
    assert play.terminal.history_deals_get(ticket=result.order) == ()


def test_a_stop_carries_the_magic_of_its_position_and_the_level_in_its_comment() -> None:
    play = Play(TWO_BARS)
    play.buy(magic=42, comment="mine", sl=1.0995)
    play.bar(1)
    deal = play.terminal.history_deals_get(0, 2**31 - 1)[-1]
    assert (deal.magic, deal.reason, deal.comment) == (42, 4, "[sl 1.09950]")
    (order,) = play.terminal.history_orders_get(ticket=deal.order)
    assert (order.reason, order.comment) == (4, "[sl 1.09950]")


def test_the_market_is_closed_once_its_bars_have_ended() -> None:
    play = Play(TWO_BARS)
    play.clock.wait_until(MONDAY + 3_600 * 2.5)
    assert play.buy().retcode == 10009
    play.bar(3)
    assert play.buy().retcode == 10018


def test_there_are_no_prices_before_the_first_bar() -> None:
    play = Play(TWO_BARS, start=0)
    assert play.terminal.symbol_info_tick("EURUSD") is None
    assert play.buy().retcode == 10021
    assert (
        play.terminal.order_check({"action": 1, "symbol": "EURUSD", "volume": 0.1}).retcode == 10021
    )
    assert play.terminal.symbol_info("EURUSD").bid == 0.0


def test_helpers_of_the_package_trade() -> None:
    play = Play(TWO_BARS)
    bought, sold = play.terminal.Buy("EURUSD", 0.1), play.terminal.Sell("EURUSD", 0.2)
    assert bought is not None
    assert sold is not None
    assert (bought.retcode, sold.retcode) == (10009, 10009)
    assert play.terminal.Close("EURUSD") is True
    assert play.terminal.Close("EURUSD") is False
    assert play.terminal.positions_total() == 0


DIPS = """
110000 110100 109500 110000
110000 110050 109900 110000
110000 110000 110000 110000
"""


def test_the_equity_at_the_worst_price_of_each_bar_is_remembered(tmp_path: Path) -> None:
    play = Play(DIPS, account=tmp_path / "account.sqlite3")
    play.buy(volume=1.0)
    play.bar(1)
    dip = (MONDAY + 3_599.0, 9_500.0)
    assert play.terminal.lows(MONDAY) == [dip]
    assert play.terminal.account_info().equity == 10_000.0
    play.terminal.close()
    again = Play(DIPS, account=tmp_path / "account.sqlite3", start=MONDAY + 3_600)
    assert again.terminal.lows(MONDAY) == [dip]
    again.bar(2)
    assert again.terminal.lows(dip[0]) == [(MONDAY + 7_199.0, 9_900.0)]
    again.terminal.close()
