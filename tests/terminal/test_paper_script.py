"""Scripted answers: each quirk of a broker, once and on purpose."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, profile, spec

from bridge.errors import ConfigError
from bridge.terminal.paper.script import (
    Answer,
    Disabled,
    IgnoreStops,
    MarketClosed,
    PartialFill,
    Placed,
    RewriteComment,
    load_script,
)

ROWS = """110000 110100 109900 110050 10
          110100 110200 110050 110150 10
          110200 110300 110150 110250 10
          110300 110400 110250 110350 10"""
IOC, RETURN = {"type_filling": 1}, {"type_filling": 2}
EXCHANGE = profile({"EURUSD": spec(trade_exemode=3)}, margin_mode="exchange")


def test_without_a_script_nothing_is_told() -> None:
    assert Play(ROWS).terminal.script.left == ()


# Answers


def test_a20_requotes_and_then_a_fill_at_the_price_of_its_time() -> None:
    play = Play(ROWS, script=[Answer(10004), Answer(10004)])
    answers = []
    for number in range(3):
        play.bar(number)
        answers.append(play.buy())
    assert [one.retcode for one in answers] == [10004, 10004, 10009]
    assert [(one.bid, one.ask) for one in answers[:2]] == [(1.1, 1.1001), (1.101, 1.1011)]
    assert answers[0].comment == "Requote"
    assert (answers[0].order, answers[0].request_id, answers[2].price) == (0, 0, 1.1021)
    assert play.terminal.positions_total() == 1
    assert play.terminal.script.left == ()


@pytest.mark.parametrize("code", [10006, 10013, 10016, 10018, 10019, 10026, 10027, 10031, 10099])
def test_a20_any_code_is_answered_once_and_nothing_is_done(code: int) -> None:
    play = Play(ROWS, script=[Answer(code)])
    refused = play.buy()
    assert (refused.retcode, refused.deal, refused.order, refused.volume) == (code, 0, 0, 0.0)
    assert play.terminal.last_error() == (1, "Success")
    assert play.terminal.positions_total() == 0
    assert play.buy().retcode == 10009


def test_a_timeout_after_the_order_is_out() -> None:
    play = Play(ROWS, script=[Answer(10012, effect="before")])
    unknown = play.buy(magic=5)
    assert (unknown.retcode, unknown.comment) == (10012, "Request timeout")
    assert (unknown.order, unknown.deal) == (0, 0)
    (held,) = play.terminal.positions_get()
    assert held.magic == 5


def test_a_request_that_is_done_after_its_answer() -> None:
    play = Play(ROWS, script=[Answer(10012, effect="after", text="try later")])
    unknown = play.buy()
    assert (unknown.retcode, unknown.comment) == (10012, "try later")
    assert play.terminal.positions_total() == 1


def test_an_answer_that_says_less_than_was_done() -> None:
    play = Play(ROWS, script=[Answer(10008, effect="before")])
    placed = play.buy()
    assert (placed.retcode, placed.comment) == (10008, "Order placed")
    assert play.terminal.positions_get()[0].ticket == placed.order


def test_null_instead_of_a_result_before_and_after_the_effect() -> None:
    lost = Answer(error=-10001)
    play = Play(ROWS, script=[lost, Answer(error=-10002, effect="before")])
    assert play.buy() is None
    assert play.terminal.last_error() == (-10001, "IPC send failed")
    assert play.terminal.positions_total() == 0
    assert play.buy() is None
    assert play.terminal.last_error() == (-10002, "IPC recv failed")
    assert play.terminal.positions_total() == 1


def test_any_function_can_fail_once() -> None:
    play = Play(ROWS, script=[Answer(verb="account_info", error=-10005)])
    assert play.terminal.terminal_info() is not None
    assert play.terminal.account_info() is None
    assert play.terminal.last_error() == (-10005, "IPC timeout")
    assert play.terminal.account_info().balance == 10_000.0


def test_a_check_is_answered_as_told() -> None:
    play = Play(ROWS, script=[Answer(10019, verb="order_check")])
    request = {"action": 1, "symbol": "EURUSD", "volume": 0.1}
    assert play.buy().retcode == 10009
    assert play.terminal.order_check(request).retcode == 10019
    assert play.terminal.order_check(request).retcode == 0


# Fills


def test_part_of_an_ioc_order_is_filled_and_the_rest_canceled() -> None:
    play = Play(ROWS, script=[PartialFill(0.05)])
    part = play.buy(**IOC)
    assert (part.retcode, part.comment) == (10010, "Request executed partially")
    assert (part.volume, part.price) == (0.05, 1.1001)
    assert play.terminal.positions_get()[0].volume == 0.05
    assert play.terminal.orders_total() == 0
    assert play.orders() == ["0.00 buy 0.05 1.1001 partial"]


def test_a_fok_order_gets_all_or_nothing() -> None:
    play = Play(ROWS, script=[PartialFill(0.05), PartialFill(0.1)])
    assert play.buy().retcode == 10006
    assert play.terminal.positions_total() == 0
    assert play.orders() == ["0.00 buy 0.1 1.1001 rejected"]
    assert play.buy().retcode == 10009


def test_the_rest_of_a_return_order_waits_for_the_next_price() -> None:
    play = Play(ROWS, EXCHANGE, script=[PartialFill(0.03)])
    part = play.buy(**RETURN)
    assert (part.retcode, part.volume) == (10010, 0.03)
    assert play.waiting() == ["buy 0.07 1.1001 partial"]
    play.bar(1)
    assert play.waiting() == []
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.volume) == (part.order, 0.1)
    assert play.deals() == ["0.00 buy in 0.03 1.1001 0", "0.33 buy in 0.07 1.0991 0"]
    assert play.orders() == ["0.33 buy 0 1.1001 filled"]


def test_the_rest_of_a_return_order_adds_to_its_position_when_hedging() -> None:
    hedging = profile({"EURUSD": spec(trade_exemode=1)})
    play = Play(ROWS, hedging, script=[PartialFill(0.03)])
    part = play.buy(**RETURN)
    play.bar(1)
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.volume) == (part.order, 0.1)


@pytest.mark.parametrize(("stop", "left", "state"), [(0.0, [0.05], 4), (1.1008, [], 2)])
def test_the_rest_of_a_close_closes_or_goes_with_the_position(
    stop: float, left: list[float], state: int
) -> None:
    play = Play(ROWS, profile({"EURUSD": spec(trade_exemode=1)}))
    play.clock.wait_until(MONDAY + 3_599)
    ticket = play.sell(volume=0.2, sl=stop, **RETURN).order
    play.terminal.script.add(PartialFill(0.05))
    part = play.buy(position=ticket, volume=0.15, **RETURN)
    assert (part.retcode, play.terminal.positions_get()[0].volume) == (10010, 0.15)
    second = play.close(ticket)
    assert (second.retcode, second.comment) == (10039, "Close order exists")
    play.bar(1)  # opens beyond the stop
    assert [one.volume for one in play.terminal.positions_get()] == left
    assert play.terminal.history_orders_get(ticket=part.order)[0].state == state


def test_a_pending_order_is_filled_in_part() -> None:
    rows = "110000 110010 109990 110000\n110000 110060 109990 110000\n110000 110010 109990 110000"
    for filling, orders, volume in (
        (0, ["1.67 buy stop 0.1 1.1005 rejected"], 0.0),
        (1, ["1.67 buy stop 0.06 1.1005 partial"], 0.04),
        (2, ["1.67 buy stop 0 1.1005 filled"], 0.1),
    ):
        play = Play(rows, script=[PartialFill(0.04)])
        play.place("buy stop", 1.1005, type_filling=filling)
        play.bar(2)
        assert play.orders() == orders
        assert sum(one.volume for one in play.terminal.positions_get()) == volume


def test_the_rest_of_a_stop_takes_the_next_price() -> None:
    rows = "110000 110010 109990 110000\n110000 110050 109990 110010\n110010 110010 109990 110000"
    play = Play(rows, script=[PartialFill(0.04)])
    play.place("buy stop", 1.1005)
    play.bar(2)
    assert play.deals() == ["1.67 buy in 0.04 1.1005 0", "2.00 buy in 0.06 1.1001 0"]


def test_the_rest_of_a_limit_waits_for_its_price() -> None:
    rows = "110000 110010 109950 110000\n110000 110010 109990 110000\n110000 110010 109950 110000"
    play = Play(rows, script=[PartialFill(0.04)])
    play.place("buy limit", 1.0995)
    play.bar(1)
    assert play.waiting() == ["buy limit 0.06 1.0995 partial"]
    play.bar(2)
    assert play.waiting() == ["buy limit 0.06 1.0995 partial"]
    play.clock.wait_until(MONDAY + 3 * 3_600 - 1)
    assert play.waiting() == []
    assert play.deals() == ["0.33 buy in 0.04 1.0995 0", "2.33 buy in 0.06 1.0995 0"]
    assert len(play.terminal.positions_get()) == 1


# Accepted only


def test_a19_placed_and_then_rejected() -> None:
    play = Play(ROWS, script=[Placed("rejected")])
    placed = play.buy()
    assert (placed.retcode, placed.comment, placed.deal) == (10008, "Order placed", 0)
    assert (placed.volume, placed.price) == (0.1, 0.0)
    assert play.terminal.positions_total() == 0
    (order,) = play.terminal.orders_get()
    assert (order.ticket, order.state, order.type) == (placed.order, 1, 0)
    play.bar(1)
    assert play.terminal.orders_total() == play.terminal.positions_total() == 0
    assert play.orders() == ["0.33 buy 0.1 1.1001 rejected"]


def test_placed_and_then_filled_at_the_next_price() -> None:
    play = Play(ROWS, script=[Placed()])
    ticket = play.buy(sl=1.09).order
    play.bar(1)
    assert play.deals() == ["0.33 buy in 0.1 1.0991 0"]
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.sl) == (ticket, 1.09)


def test_a_placed_exit_opens_nothing_when_its_position_is_gone() -> None:
    """When netting, somebody closes the position while the server is at our exit."""
    play = Play(ROWS, profile({"EURUSD": spec()}, margin_mode="netting"))
    ticket = play.buy().order
    play.terminal.script.add(Placed())
    assert play.close(ticket).retcode == 10008
    assert play.sell().retcode == 10009
    play.bar(1)
    assert play.terminal.positions_get() == ()
    assert play.orders()[-1].endswith("canceled")


def test_a_placed_order_can_be_removed_and_not_changed() -> None:
    play = Play(ROWS, script=[Placed()])
    ticket = play.buy().order
    assert play.modify(ticket, price=1.0).retcode == 10013
    assert play.remove(ticket).retcode == 10009
    play.bar(1)
    assert play.deals() == []


def test_a_placed_order_ends_as_told_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    play = Play(ROWS, account=path, script=[Placed("rejected")])
    play.buy()
    play.terminal.close()
    again = Play(ROWS, account=path, start=MONDAY + 3_600)
    assert again.orders() == ["0.33 buy 0.1 1.1001 rejected"]
    again.terminal.close()


# Comments and stops


def test_a_comment_is_rewritten() -> None:
    play = Play(ROWS, script=[RewriteComment("broker"), RewriteComment()])
    ticket = play.buy(comment="mine").order
    assert play.terminal.positions_get(ticket=ticket)[0].comment == "broker"
    assert play.terminal.history_orders_get(ticket=ticket)[0].comment == "broker"
    waiting = play.place("buy limit", 1.09, comment="mine").order
    assert play.terminal.orders_get(ticket=waiting)[0].comment == ""


def test_a39_a_position_opens_without_its_stops() -> None:
    refused = Answer(10006)
    play = Play(ROWS, script=[IgnoreStops(), refused])
    ticket = play.buy(sl=1.09, tp=1.11).order
    (held,) = play.terminal.positions_get()
    assert (held.sl, held.tp) == (0.0, 0.0)
    assert play.protect(ticket, sl=1.09, tp=1.11).retcode == 10006
    assert play.protect(ticket, sl=1.09, tp=1.11).retcode == 10009
    assert play.terminal.positions_get()[0].sl == 1.09


def test_several_steps_act_together_or_one_after_the_other() -> None:
    together = (RewriteComment("x"), IgnoreStops(), PartialFill(0.05))
    play = Play(ROWS, script=[together, IgnoreStops(), RewriteComment("y")])
    for comment, sl, volume in (("x", 0.0, 0.05), ("", 0.0, 0.1), ("y", 1.09, 0.1)):
        result = play.buy(sl=1.09, **IOC)
        (held,) = play.terminal.positions_get(ticket=result.order)
        assert (held.comment, held.sl, held.volume) == (comment, sl, volume)


def test_steps_that_act_together_wait_for_what_all_are_about() -> None:
    together = (RewriteComment("x"), PartialFill(0.05))
    play = Play(ROWS, script=[together])
    play.place("buy limit", 1.09, comment="mine")
    assert play.terminal.orders_get()[0].comment == "mine"
    assert play.buy(**IOC).retcode == 10010


def test_a_step_waits_for_what_it_is_about() -> None:
    play = Play(ROWS, script=[PartialFill(0.05), Answer(10006)])
    assert play.buy(volume=0.001).retcode == 10014
    ticket = play.place("buy limit", 1.09).order
    assert play.remove(ticket).retcode == 10009
    assert play.terminal.script.left == (PartialFill(0.05), Answer(10006))
    assert play.buy(**IOC).retcode == 10010
    assert play.buy().retcode == 10006


# Switches


@pytest.mark.parametrize(
    ("switch", "code", "record", "field"),
    [
        ("link", 10031, "terminal_info", "connected"),
        ("terminal", 10027, "terminal_info", "trade_allowed"),
        ("account", 10017, "account_info", "trade_allowed"),
        ("robots", 10026, "account_info", "trade_expert"),
    ],
)
def test_a22_trading_that_is_switched_off(switch: str, code: int, record: str, field: str) -> None:
    play = Play(ROWS, script=[Disabled(switch, until=MONDAY + 3_600)])
    requests: list[dict[str, Any]] = [
        {"action": 1, "symbol": "EURUSD", "volume": 0.1},
        {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type": 2, "price": 1.09},
    ]
    for request in requests:
        assert play.terminal.order_send(request).retcode == code
        assert play.terminal.order_check(request).retcode == code
    assert getattr(getattr(play.terminal, record)(), field) is False
    assert play.terminal.symbol_info_tick("EURUSD").bid == 1.1
    play.bar(1)
    assert getattr(getattr(play.terminal, record)(), field) is True
    assert play.buy().retcode == 10009


def test_python_that_is_switched_off_in_the_terminal() -> None:
    play = Play(ROWS, script=[Disabled("python")])
    assert play.buy() is None
    assert play.terminal.last_error() == (
        -8,
        "Auto-Trading using Python API disabled in Terminal",
    )
    assert play.terminal.terminal_info().tradeapi_disabled is True
    play.bar(3)
    assert play.buy() is None


def test_a23_the_market_opens_later_than_its_bar() -> None:
    play = Play(ROWS)
    ticket = play.buy(sl=1.09).order
    waiting = play.place("buy limit", 1.05).order
    play.terminal.script.add(MarketClosed(MONDAY + 5_400))
    play.bar(1)
    refused = [
        play.buy(),
        play.close(ticket),
        play.protect(ticket, sl=1.08),
        play.place("buy limit", 1.09),
        play.modify(waiting, price=1.06),
        play.remove(waiting),
    ]
    assert {(one.retcode, one.comment) for one in refused} == {(10018, "Market closed")}
    play.clock.wait_until(MONDAY + 5_400)
    assert play.close(ticket).retcode == 10009


def test_what_lasts_begins_when_it_is_reached() -> None:
    play = Play(ROWS, script=[Answer(10004), MarketClosed(MONDAY + 600), Disabled("terminal")])
    assert play.terminal.terminal_info().trade_allowed is True
    assert play.buy().retcode == 10004
    assert play.terminal.terminal_info().trade_allowed is False
    assert play.terminal.script.left == ()
    play.clock.wait_until(MONDAY + 600)
    assert play.buy().retcode == 10027


# Files


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    entries = [
        {"step": "answer", "retcode": 10004},
        {"step": "answer", "verb": "account_info", "error": -10001},
        [{"step": "partial_fill", "volume": 0.05}, {"step": "rewrite_comment", "text": "x"}],
        {"step": "placed", "then": "rejected"},
        {"step": "ignore_stops"},
        {"step": "disabled", "switch": "terminal", "until": MONDAY + 60},
        {"step": "market_closed", "until": "2024.01.08 12:00"},
        {"step": "market_closed"},
    ]
    path.write_text(json.dumps(entries))
    assert load_script(path) == [
        Answer(10004),
        Answer(verb="account_info", error=-10001),
        (PartialFill(0.05), RewriteComment("x")),
        Placed("rejected"),
        IgnoreStops(),
        Disabled("terminal", MONDAY + 60),
        MarketClosed(MONDAY + 12 * 3_600),
        MarketClosed(),
    ]
    play = Play(ROWS, script=path)
    assert play.buy().retcode == 10004


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "script.json can't be read"),
        ("{}", "has to be a list of steps"),
        ("[1]", "step 1: 1 names no step: use one of answer, partial_fill"),
        ('[{"step": "ignore_stops"}, {"step": "x"}]', "step 2: "),
        ('[{"step": "answer"}]', "give either a retcode or an error"),
        ('[{"step": "answer", "retcode": 1, "error": -1}]', "give either a retcode or an error"),
        ('[{"step": "answer", "retcode": "1"}]', "retcode is '1', it has to be an integer"),
        ('[{"step": "answer", "retcode": true}]', "retcode is True, it has to be an integer"),
        ('[{"step": "answer", "retcode": 1, "verb": "login"}]', "'login' is no function"),
        ('[{"step": "answer", "retcode": 1, "verb": "version"}]', "version has no retcode"),
        ('[{"step": "answer", "error": -1, "effect": "maybe"}]', "use one of none, before, after"),
        (
            '[{"step": "answer", "error": -1, "verb": "version", "effect": "after"}]',
            "'after' is for order_send, not for version",
        ),
        ('[{"step": "partial_fill"}]', "partial_fill lacks a field: give volume"),
        ('[{"step": "partial_fill", "volume": 0}]', "volume is 0, it has to be above 0"),
        ('[{"step": "ignore_stops", "x": 1}]', "ignore_stops has no 'x': use nothing"),
        ('[{"step": "placed", "then": "lost"}]', "then is 'lost': use one of filled, rejected"),
        ('[{"step": "disabled", "switch": "all"}]', "switch is 'all': use one of link, terminal"),
        ('[{"step": "market_closed", "until": "soon"}]', "'soon' is not a time"),
        ('[[{"step": "placed"}, {"step": "market_closed"}]]', "can't act together"),
    ],
)
def test_a_script_that_is_none_is_refused_with_its_step(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"script\.json") as caught:
        Play(ROWS, script=path)
    assert words in str(caught.value)


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        load_script(tmp_path / "none.json")
