"""A terminal that fails on purpose: each kind does what its table says, as the account shows."""

from typing import Any

import pytest
from terminal.faults_desk import CALLS, EVER, FIRST, LIMIT, Desk, buying, said
from terminal.paper_desk import MONDAY

from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.mt5 import constants as mt5
from bridge.mt5.terminal import Terminal
from bridge.terminal.faults import kinds
from bridge.terminal.faults.effects import EFFECTS, Crash
from bridge.terminal.faults.kinds import TERMS, VERBS, Kind, When
from bridge.terminal.faults.schedule import Fault

# The table


def test_every_verb_of_a_terminal_is_known() -> None:
    verbs = [name for name in vars(Terminal) if not name.startswith("_")]
    assert list(VERBS) == verbs == list(CALLS)


def test_every_kind_is_in_the_tables() -> None:
    assert set(TERMS) == set(EFFECTS) == set(Kind)
    table = (kinds.__doc__ or "").partition("\n    kind ")[2].partition("\n\n")[0]
    rows = [line.split()[0] for line in table.splitlines()[1:] if line[4:5] != " "]
    assert rows == list(Kind)
    starred = {Kind(line.split()[0]) for line in table.splitlines() if " * " in line[:26]}
    assert starred == {kind for kind in Kind if TERMS[kind].is_state}


# Transparent


@pytest.mark.parametrize("verb", VERBS)
def test_without_faults_every_answer_is_the_terminals(verb: str) -> None:
    answers = []
    for is_wrapped in (False, True):
        desk = Desk()
        desk.play.buy(sl=1.05, comment="one")
        desk.play.place("buy limit", 1.09)
        answers.append(said(CALLS[verb](desk.faulty if is_wrapped else desk.true)))
    assert answers[0] == answers[1]
    assert (answers[0] is None) == (verb == "symbol_select")


def test_without_faults_an_error_is_the_terminals() -> None:
    desk = Desk()
    with pytest.raises(TerminalError) as plain:
        desk.true.symbol_info("USDJPY")
    with pytest.raises(TerminalError) as wrapped:
        desk.faulty.symbol_info("USDJPY")
    assert str(wrapped.value) == str(plain.value)
    assert desk.faulty.fired == ()
    assert desk.faulty.calls == {"symbol_info": 1}


# No answer

LOST = [
    (Fault(kind=Kind.NULL), TerminalError, -1, 0.0),
    (Fault(kind=Kind.TIMEOUT, seconds=20.0), NotConnected, -10_005, 20.0),
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("fault", "kind", "code", "seconds"), LOST, ids=["null", "timeout"])
@pytest.mark.parametrize("when", list(When))
def test_an_answer_is_lost_before_and_after_the_effect(
    verb: str, fault: Fault, kind: type[TerminalError], code: int, seconds: float, when: When
) -> None:
    desk = Desk(fault.model_copy(update={"when": when, "verb": verb}))
    before, began = desk.book(), desk.clock.now()
    if verb == "order_send":
        assert CALLS[verb](desk.faulty) is None
    else:
        with pytest.raises(TerminalError) as error:
            CALLS[verb](desk.faulty)
        assert (type(error.value), error.value.call, error.value.code) == (kind, verb, code)
    assert desk.clock.now() - began == seconds
    is_done = when is When.AFTER
    assert (desk.book() != before) == (is_done and verb == "order_send")
    assert desk.true.symbol_info("GBPUSD").select == (is_done and verb == "symbol_select")
    assert [(each.call, each.verb) for each in desk.faulty.fired] == [(1, verb)]
    # The next call is whole again.
    assert CALLS[verb](desk.faulty) is not None or verb == "symbol_select"
    assert len(desk.faulty.fired) == 1


@pytest.mark.parametrize("kind", [Kind.DISCONNECT, Kind.RESTART])
def test_without_connection_every_verb_fails_and_nothing_is_sent(kind: Kind) -> None:
    desk = Desk(Fault(kind=kind, count=len(VERBS)))
    before = desk.book()
    for verb in VERBS:
        with pytest.raises(NotConnected) as error:
            CALLS[verb](desk.faulty)
        assert (error.value.call, error.value.code) == (verb, -10_004)
    assert desk.book() == before
    assert len(desk.faulty.fired) == len(VERBS)
    assert desk.faulty.account_info().login == desk.true.account_info().login


def test_a_connection_that_breaks_after_the_order_is_out() -> None:
    desk = Desk(Fault(kind=Kind.DISCONNECT, verb="order_send", when=When.AFTER, count=3))
    assert desk.faulty.account_info()
    assert desk.buy() is None
    assert len(desk.true.positions_get()) == 1
    for _ in range(2):
        with pytest.raises(NotConnected):
            desk.buy()
    assert len(desk.true.positions_get()) == 1
    assert desk.buy() is not None


def test_after_a_restart_symbols_have_to_be_selected_again() -> None:
    desk = Desk(Fault(kind=Kind.RESTART, call=2))
    assert desk.faulty.symbol_info_tick("EURUSD").bid
    with pytest.raises(NotConnected):
        desk.faulty.symbol_info_tick("EURUSD")
    with pytest.raises(TerminalError) as error:
        desk.faulty.symbol_info_tick("EURUSD")
    assert error.value.code == mt5.RES_E_NOT_FOUND
    shown, _ = desk.faulty.symbols_get()
    assert shown == desk.faulty.symbol_info("EURUSD")
    assert (shown.select, shown.visible, shown.bid, shown.ask) == (False, False, 0.0, 0.0)
    desk.faulty.symbol_select("EURUSD")
    assert desk.faulty.symbol_info_tick("EURUSD") == desk.true.symbol_info_tick("EURUSD")
    assert desk.faulty.symbol_info("EURUSD") == desk.true.symbol_info("EURUSD")


def test_a_restart_that_another_fault_hides_at_first_is_one_all_the_same() -> None:
    desk = Desk(Fault(kind=Kind.NULL), Fault(kind=Kind.RESTART, count=2))
    with pytest.raises(TerminalError, match="-1"):
        desk.faulty.account_info()
    with pytest.raises(NotConnected):
        desk.faulty.account_info()
    with pytest.raises(TerminalError, match="Not found"):
        desk.faulty.symbol_info_tick("EURUSD")


def test_another_account_shows_its_own_book_and_takes_nothing() -> None:
    desk = Desk(Fault(kind=Kind.WRONG_ACCOUNT, since=1, count=6))
    assert desk.buy() is not None
    true = desk.true.account_info()
    shown = desk.faulty.account_info()
    assert (shown.login, shown.equity, shown.margin) == (true.login + 1, true.balance, 0.0)
    for verb in ("positions_get", "orders_get", "history_deals_get", "history_orders_get"):
        assert CALLS[verb](desk.faulty) == ()
    before = desk.book()
    with pytest.raises(WrongAccount, match="another account"):
        desk.buy()
    assert desk.book() == before
    assert desk.faulty.account_info() == true
    assert desk.faulty.positions_get() == desk.true.positions_get()


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("verb", VERBS)
def test_a_crash_is_stopped_by_no_ordinary_handler(verb: str, when: When) -> None:
    desk = Desk(Fault(kind=Kind.CRASH, verb=verb, when=when))
    before = desk.book()
    with pytest.raises(Crash, match=f"{verb}, {when} its effect") as crash:
        CALLS[verb](desk.faulty)
    assert not isinstance(crash.value, Exception)
    is_done = when is When.AFTER
    assert (desk.book() != before) == (is_done and verb == "order_send")
    assert desk.true.symbol_info("GBPUSD").select == (is_done and verb == "symbol_select")


def test_a_call_that_takes_long_is_done_late_or_answered_late() -> None:
    for when, hour in ((When.BEFORE, 5.5), (When.AFTER, 4.0)):
        desk = Desk(Fault(kind=Kind.SLOW, verb="order_send", when=when, seconds=5_400.0))
        assert desk.buy() is not None
        assert desk.clock.now() == MONDAY + 5.5 * 3_600
        (held,) = desk.true.positions_get()
        assert held.time == MONDAY + hour * 3_600


# Answers of the server

REFUSED = [
    (Fault(kind=Kind.REQUOTE), 10_004),
    (Fault(kind=Kind.PRICE_OFF), 10_021),
    (Fault(kind=Kind.RETCODE, retcode=10_019), 10_019),
    (Fault(kind=Kind.RETCODE, retcode=10_031), 10_031),
    (Fault(kind=Kind.RETCODE, retcode=10_099), 10_099),
]


@pytest.mark.parametrize(("fault", "code"), REFUSED, ids=lambda value: str(value))
def test_a_refusal_does_nothing_and_shows_the_quote(fault: Fault, code: int) -> None:
    desk = Desk(fault)
    before, tick = desk.book(), desk.true.symbol_info_tick("EURUSD")
    answer = desk.buy(sl=1.05)
    assert answer is not None
    assert (answer.retcode, answer.order, answer.deal, answer.volume) == (code, 0, 0, 0.0)
    assert (answer.bid, answer.ask) == (tick.bid, tick.ask)
    assert (answer.request.volume, answer.request.sl, answer.request.tp) == (0.1, 1.05, 0.0)
    assert desk.book() == before
    done = desk.buy()
    assert done is not None
    assert done.retcode == mt5.TRADE_RETCODE_DONE


@pytest.mark.parametrize("code", [10_012, 10_031, 10_099])
def test_a_code_that_leaves_it_open_may_come_after_the_effect(code: int) -> None:
    desk = Desk(Fault(kind=Kind.RETCODE, retcode=code, when=When.AFTER))
    answer = desk.buy()
    assert answer is not None
    assert (answer.retcode, answer.order, answer.deal) == (code, 0, 0)
    assert len(desk.true.positions_get()) == 1


def test_a_request_without_symbol_is_refused_without_quote() -> None:
    desk = Desk(Fault(kind=Kind.REQUOTE))
    answer = desk.faulty.order_send({"action": mt5.TRADE_ACTION_SLTP, "position": 1, "sl": 1.0})
    assert answer is not None
    assert (answer.retcode, answer.bid, answer.ask) == (10_004, 0.0, 0.0)


@pytest.mark.parametrize(
    ("asked", "share", "filled"),
    [
        (0.1, 0.5, 0.05),
        (0.3, 0.34, 0.1),
        (0.1, 0.01, 0.01),
        (0.07, 0.99, 0.06),
        (0.02, 0.5, 0.01),
        (0.58, 0.5, 0.29),
    ],
)
def test_a_part_is_filled_on_the_step(asked: float, share: float, filled: float) -> None:
    desk = Desk(Fault(kind=Kind.PARTIAL_FILL, share=share))
    answer = desk.buy(volume=asked)
    assert answer is not None
    assert (answer.retcode, answer.volume) == (mt5.TRADE_RETCODE_DONE_PARTIAL, filled)
    assert answer.request.volume == asked
    assert [each.volume for each in desk.true.positions_get()] == [filled]


def test_the_smallest_volume_has_no_part_and_other_requests_neither() -> None:
    desk = Desk(Fault(kind=Kind.PARTIAL_FILL, share=0.5, count=3))
    first = desk.buy(volume=0.01)
    assert first is not None
    assert first.retcode == mt5.TRADE_RETCODE_DONE
    moved = desk.faulty.order_send(
        {"action": mt5.TRADE_ACTION_SLTP, "position": first.order, "sl": 1.05}
    )
    assert moved is not None
    assert moved.retcode == mt5.TRADE_RETCODE_DONE
    assert desk.faulty.fired == ()


def test_a_part_of_what_the_server_refuses_is_refused() -> None:
    desk = Desk(Fault(kind=Kind.PARTIAL_FILL, share=0.5))
    answer = desk.buy(volume=90.0, type=mt5.ORDER_TYPE_SELL)
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_NO_MONEY
    assert desk.true.positions_get() == ()


def test_a_placed_deal_waits_and_then_shows_as_done() -> None:
    desk = Desk(Fault(kind=Kind.PLACED_THEN_DONE, later=4))
    answer = desk.buy(sl=1.05)
    assert answer is not None
    assert (answer.retcode, answer.deal, answer.price) == (mt5.TRADE_RETCODE_PLACED, 0, 0.0)
    assert answer.volume == 0.1
    (waiting,) = desk.faulty.orders_get("EURUSD")
    assert (waiting.ticket, waiting.state) == (answer.order, mt5.ORDER_STATE_PLACED)
    assert (waiting.volume_current, waiting.sl, waiting.magic) == (0.1, 1.05, 7)
    assert desk.faulty.positions_get() == ()
    assert len(desk.faulty.history_deals_get(0, EVER)) == 1  # the deposit
    assert desk.faulty.history_orders_get(0, EVER) == ()
    # Four calls are over.
    (held,) = desk.faulty.positions_get()
    assert held.identifier == answer.order
    assert desk.faulty.orders_get() == ()
    (_, deal) = desk.faulty.history_deals_get(0, EVER)
    assert deal.order == answer.order
    assert len(desk.faulty.history_orders_get(0, EVER)) == 1


def test_a_placed_closing_shows_the_position_as_long_as_it_waits() -> None:
    desk = Desk(Fault(kind=Kind.PLACED_THEN_DONE, since=1, later=1))
    bought = desk.buy()
    assert bought is not None
    closing = desk.buy(type=mt5.ORDER_TYPE_SELL, position=bought.order)
    assert closing is not None
    assert closing.retcode == mt5.TRADE_RETCODE_PLACED
    assert desk.true.positions_get() == ()
    (held,) = desk.faulty.positions_get()
    assert (held.ticket, held.volume) == (bought.order, 0.1)
    assert desk.faulty.positions_get() == ()


def test_a_placed_deal_that_is_rejected_never_happens() -> None:
    desk = Desk(Fault(kind=Kind.PLACED_THEN_REJECTED, later=2))
    before = desk.book()
    answer = desk.buy(type=mt5.ORDER_TYPE_SELL)
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_PLACED
    assert [each.ticket for each in desk.faulty.orders_get()] == [answer.order]
    assert desk.faulty.history_orders_get(0, EVER) == ()
    assert desk.faulty.orders_get() == ()
    (order,) = desk.faulty.history_orders_get(0, EVER)
    assert (order.ticket, order.state) == (answer.order, mt5.ORDER_STATE_REJECTED)
    assert (order.volume_current, order.price_current) == (0.1, answer.bid)
    assert order.time_done == MONDAY + FIRST * 3_600
    assert desk.faulty.history_orders_get(0, MONDAY) == ()
    assert desk.book() == before


@pytest.mark.parametrize("kind", [Kind.PLACED_THEN_DONE, Kind.PLACED_THEN_REJECTED])
def test_only_deals_are_placed(kind: Kind) -> None:
    desk = Desk(Fault(kind=kind, later=2))
    pending = buying(action=mt5.TRADE_ACTION_PENDING, type=mt5.ORDER_TYPE_BUY_LIMIT, price=1.09)
    answer = desk.faulty.order_send(pending)
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_DONE
    assert desk.faulty.fired == ()


def test_a_deal_that_the_server_refuses_is_not_placed() -> None:
    desk = Desk(Fault(kind=Kind.PLACED_THEN_DONE, later=2))
    answer = desk.buy(volume=90.0)
    assert answer is not None
    assert answer.retcode not in (mt5.TRADE_RETCODE_PLACED, mt5.TRADE_RETCODE_DONE)
    assert desk.faulty.orders_get() == ()
    assert desk.faulty.fired == ()


@pytest.mark.parametrize("fields", [{}, LIMIT], ids=["deal", "pending"])
def test_an_order_goes_out_without_its_comment(fields: dict[str, Any]) -> None:
    desk = Desk(Fault(kind=Kind.COMMENT_EMPTIED))
    answer = desk.buy(sl=1.05, tp=1.2, **fields)
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_DONE
    (order,) = desk.orders()
    assert (order.comment, order.magic, order.sl, order.tp) == ("", 7, 1.05, 1.2)
    assert answer.request.comment == "a signal"


@pytest.mark.parametrize("fields", [{}, LIMIT], ids=["deal", "pending"])
def test_an_order_goes_out_without_its_stops(fields: dict[str, Any]) -> None:
    desk = Desk(Fault(kind=Kind.STOPS_IGNORED))
    answer = desk.buy(sl=1.05, tp=1.2, **fields)
    assert answer is not None
    (order,) = desk.orders()
    assert (order.comment, order.sl, order.tp) == ("a signal", 0.0, 0.0)
    assert (answer.request.sl, answer.request.tp) == (1.05, 1.2)


def test_stops_that_are_set_later_are_taken() -> None:
    desk = Desk(Fault(kind=Kind.STOPS_IGNORED, count=2))
    bought = desk.buy()
    assert bought is not None
    desk.faulty.order_send({"action": mt5.TRADE_ACTION_SLTP, "position": bought.order, "sl": 1.05})
    assert [each.sl for each in desk.true.positions_get()] == [1.05]
    assert desk.faulty.fired == ()
