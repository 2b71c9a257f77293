"""When a terminal fails on purpose: counted, saved, drawn from a seed, and the same each time."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal.faults_desk import CALLS, EVER, Desk, said

from bridge.errors import ConfigError, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.faults.effects import Crash
from bridge.terminal.faults.kinds import TERMS, VERBS, Kind, When
from bridge.terminal.faults.schedule import Fault, Schedule

# When


def test_a_call_is_counted_by_its_verb_and_after_those_before() -> None:
    desk = Desk(
        Fault(kind=Kind.NULL, verb="account_info", call=2),
        Fault(kind=Kind.NULL, verb="terminal_info", call=2, since=3, count=2),
    )
    outcomes = []
    for verb in ("account_info", "terminal_info", "account_info", *["terminal_info"] * 5):
        try:
            CALLS[verb](desk.faulty)
            outcomes.append("")
        except TerminalError as error:
            outcomes.append(error.call)
    assert outcomes == ["", "", "account_info", "", "terminal_info", "terminal_info", "", ""]
    assert [str(each) for each in desk.faulty.fired] == [
        "call 3, account_info: null before",
        "call 5, terminal_info: null before count 2",
        "call 6, terminal_info: null before count 2",
    ]
    assert desk.faulty.calls == {"account_info": 2, "terminal_info": 6}


def test_of_two_faults_at_one_call_both_can_act() -> None:
    desk = Desk(
        Fault(kind=Kind.NULL, verb="order_send", when=When.AFTER),
        Fault(kind=Kind.PARTIAL_FILL, share=0.5),
        Fault(kind=Kind.COMMENT_EMPTIED),
    )
    assert desk.buy() is None
    (held,) = desk.true.positions_get()
    assert (held.volume, held.comment) == (0.05, "")
    kinds = [each.fault.kind for each in desk.faulty.fired]
    assert kinds == [Kind.COMMENT_EMPTIED, Kind.PARTIAL_FILL, Kind.NULL]


def test_a_terminal_goes_on_over_the_account_that_is_opened_again() -> None:
    desk = Desk(
        Fault(kind=Kind.PLACED_THEN_DONE, later=3),
        Fault(kind=Kind.CRASH, verb="account_info"),
    )
    answer = desk.buy()
    assert answer is not None
    with pytest.raises(Crash):
        desk.faulty.account_info()
    again = desk.faulty.over(ModuleTerminal(desk.paper), desk.clock)
    assert again.positions_get() == ()
    assert [each.ticket for each in again.orders_get()] == [answer.order]
    assert [each.ticket for each in again.positions_get()] == [answer.order]
    assert len(again.fired) == 2


# Schedules

_COUNTS = st.integers(1, 5)


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    kind = draw(st.sampled_from(Kind))
    terms = TERMS[kind]
    code = draw(st.sampled_from([10_004, 10_012, 10_019, 10_031, 10_099]))
    is_after = terms.has_after and (kind is not Kind.RETCODE or code not in (10_004, 10_019))
    positive = st.floats(1e-3, 1e6, exclude_min=True)
    values = {
        "seconds": draw(positive),
        "share": draw(st.floats(0, 1, exclude_min=True, exclude_max=True)),
        "retcode": code,
        "later": draw(_COUNTS),
    }
    return Fault(
        kind=kind,
        verb=draw(st.sampled_from(("any", *terms.verbs))),
        call=draw(_COUNTS),
        since=draw(st.integers(0, 20)),
        count=draw(_COUNTS),
        when=draw(st.sampled_from(When)) if is_after else When.BEFORE,
        **{name: values[name] for name in terms.needs},
    )


@given(st.lists(faults(), max_size=8))
def test_a_schedule_is_the_same_after_it_is_saved(made: list[Fault]) -> None:
    schedule = Schedule.of(*made)
    assert Schedule.from_json(schedule.to_json()) == schedule


def test_a_schedule_is_a_file(tmp_path: Path) -> None:
    schedule = Schedule.random(3, calls=50, density=0.2)
    schedule.save(tmp_path / "faults.json")
    assert Schedule.load(tmp_path / "faults.json") == schedule
    first = json.loads((tmp_path / "faults.json").read_text("utf-8"))["faults"][0]
    assert None not in first.values()


WRONG = [
    ('{"kind": "nul"}', "faults 1, kind = 'nul': has to be 'null', 'timeout', "),
    ('{"kind": "null", "wehn": "after"}', "faults 1 has no key wehn: did you mean when?"),
    ('{"kind": "requote", "verb": "account_info"}', "use any or order_send for verb"),
    ('{"kind": "null", "verb": "shutdown"}', "null is not about 'shutdown': use any or terminal_"),
    ('{"kind": "timeout"}', "faults 1: timeout needs seconds: give it"),
    ('{"kind": "null", "seconds": 3.0}', "faults 1: null takes no seconds: leave it out"),
    ('{"kind": "timeout", "seconds": 0}', "seconds = 0: has to be above 0"),
    ('{"kind": "timeout", "seconds": "3"}', "seconds = '3': has to be a number"),
    ('{"kind": "partial_fill", "share": 1.0}', "share = 1.0: has to be below 1"),
    ('{"kind": "null", "call": 0}', "call = 0: has to be at least 1"),
    ('{"kind": "null", "call": true}', "call = True: has to be a whole number"),
    ('{"kind": "null", "since": -1}', "since = -1: has to be at least 0"),
    ('{"kind": "requote", "when": "after"}', "requote has no 'after': leave when out"),
    ('{"kind": "retcode", "retcode": 10009}', "retcode 10009 says that the order was taken: "),
    ('{"kind": "retcode", "retcode": 10004, "when": "after"}', "so it has no 'after': use a code"),
    ('{"kind": "placed_then_done"}', "placed_then_done needs later: give it"),
    ("3", "faults 1 = 3: has to be a table"),
]


@pytest.mark.parametrize(("fault", "sentence"), WRONG, ids=[each[0] for each in WRONG])
def test_a_fault_that_is_not_possible_is_refused_in_one_sentence(fault: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        Schedule.from_json(f'{{"faults": [{fault}]}}')
    assert sentence in str(error.value)
    assert str(error.value).startswith("the schedule: faults 1")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"fault": []}', '{"faults": 3}'])
def test_what_is_no_schedule_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"faults\.json: ") as error:
        Schedule.load(path)
    assert "\n" not in str(error.value)
    with pytest.raises(ConfigError, match="can't be read"):
        Schedule.load(tmp_path / "absent.json")


# Drawn from a seed


def test_a_seed_is_a_schedule() -> None:
    draw = {seed: Schedule.random(seed, calls=100, density=0.1) for seed in range(20)}
    assert len({each.to_json() for each in draw.values()}) == 20
    assert all(draw[seed] == Schedule.random(seed, calls=100, density=0.1) for seed in draw)
    assert {len(each.faults) for each in draw.values()} == {10}
    assert all(fault.since < 100 for each in draw.values() for fault in each.faults)
    # As it was drawn when this was written, on any Python.
    assert [str(fault) for fault in Schedule.random(1, calls=9, density=0.4).faults] == [
        "slow before seconds 0.5",
        "wrong_account count 2",
        "disconnect after",
        "null before count 4",
    ]


def test_some_seeds_draw_every_kind_and_verb_before_and_after() -> None:
    met: Counter[tuple[Kind, str, When]] = Counter()
    codes = set()
    for seed in range(60):
        for fault in Schedule.random(seed, calls=1_000, density=0.1).faults:
            met[fault.kind, fault.verb, fault.when] += 1
            codes |= {fault.retcode} - {None}
    expected = {
        (kind, verb, when)
        for kind, terms in TERMS.items()
        for verb in terms.verbs
        for when in (When if terms.has_after else (When.BEFORE,))
    }
    assert set(met) == expected
    assert len(expected) == 6 * 2 * len(VERBS) + 6 + 8 + 1 + 3 + 3
    assert {10_004, 10_012, 10_019, 10_031, 10_099} <= codes


def test_a_draw_keeps_to_the_kinds_and_verbs_that_are_named() -> None:
    some = Schedule.random(
        5, calls=100, density=1.0, kinds=(Kind.NULL, Kind.STALE_TICKS), verbs=("order_send",)
    )
    assert {(fault.kind, fault.verb) for fault in some.faults} == {(Kind.NULL, "order_send")}
    assert Schedule.random(5, calls=0, density=1.0) == Schedule()
    with pytest.raises(ConfigError, match="none of the kinds"):
        Schedule.random(5, calls=9, density=0.5, kinds=[Kind.REQUOTE], verbs=["account_info"])
    with pytest.raises(ConfigError, match=r"density of 0 to 1: calls=9, density=1\.5"):
        Schedule.random(5, calls=9, density=1.5)
    with pytest.raises(ConfigError, match="calls=9, density=nan"):
        Schedule.random(5, calls=9, density=math.nan)


# Any schedule


def behave(schedule: Schedule, steps: int = 60) -> tuple[list[Any], Desk]:
    """Trade without looking; return what each call said, and the desk."""
    desk = Desk(schedule=schedule)
    heard: list[Any] = []
    verbs = ("order_send", *VERBS[:-1], "order_send", "positions_get")
    for step in range(steps):
        verb = verbs[step % len(verbs)]
        if step % 9 == 8:
            desk.clock.wait_until(desk.clock.now() + 900)
        before = desk.book()
        try:
            answer = said(CALLS[verb](desk.faulty))
        except Crash as crash:
            heard.append(str(crash))
            continue
        except TerminalError as error:
            heard.append((type(error).__name__, str(error)))
            assert desk.book() == before, "an error says that nothing was sent"
            continue
        heard.append(answer)
        if verb == "order_send" and answer is not None:
            check_the_word(answer, before, desk)
    return heard, desk


def check_the_word(answer: OrderSendResult, before: tuple[Any, ...], desk: Desk) -> None:
    """Hold the account to what the server has said."""
    deals = desk.book()[2] - before[2]
    if answer.retcode in (mt5.TRADE_RETCODE_DONE, mt5.TRADE_RETCODE_DONE_PARTIAL):
        newest = desk.true.history_deals_get(0, EVER)[-1]
        assert (deals, newest.ticket, newest.volume) == (1, answer.deal, answer.volume)
    elif answer.retcode == mt5.TRADE_RETCODE_PLACED:
        assert answer.order > 0
    elif answer.retcode not in (10_012, 10_031, 10_099):
        assert deals == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_goes_wrong_the_contract_holds_and_comes_again(seed: int) -> None:
    schedule = Schedule.random(seed, calls=60, density=0.5)
    heard, desk = behave(schedule)
    again, other = behave(Schedule.from_json(schedule.to_json()))
    assert heard == again
    assert desk.faulty.fired == other.faulty.fired
    assert desk.book() == other.book()


@settings(max_examples=30, deadline=None)
@given(st.lists(faults(), min_size=1, max_size=12))
def test_whatever_is_scripted_the_contract_holds(made: list[Fault]) -> None:
    behave(Schedule.of(*made), steps=40)


def test_faults_of_some_seeds_really_fire_in_every_kind() -> None:
    fired: Counter[Kind] = Counter()
    for seed in range(25):
        _, desk = behave(Schedule.random(seed, calls=60, density=0.4))
        fired.update(each.fault.kind for each in desk.faulty.fired)
    assert set(fired) == set(Kind)
