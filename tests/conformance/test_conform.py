"""A terminal that answers as the paper terminal does has no differences; planted ones are found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conformance.conformance_desk import Planted, broker, differing, found, paper

from bridge.conformance.compare import PROBES, Verdict, exit_code
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult
from bridge.terminal.paper.script import Answer, Entry, IgnoreStops, PartialFill, RewriteComment


def changed(record: Any, **fields: Any) -> Any:
    """Return the record with other fields."""
    names = type(record).__annotations__
    assert set(fields) <= set(names)
    return type(record)(fields.get(name, getattr(record, name)) for name in names)


@pytest.mark.parametrize(
    "profile",
    [
        broker(),
        broker({"margin_mode": "netting"}),
        broker({"margin_mode": "netting"}, trade_exemode=mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE),
        broker({"trade_mode": mt5.ACCOUNT_TRADE_MODE_CONTEST, "currency": "EUR"}),
        broker(filling_mode=1, trade_stops_level=20, expiration_mode=1),
    ],
    ids=["hedging", "netting", "exchange", "contest in EUR", "narrow"],
)
def test_a_twin_does_not_differ(profile: Any) -> None:
    """And what was opened is closed."""
    subject = paper(profile)
    outcomes = found(subject)
    assert differing(outcomes) == []
    assert exit_code(outcomes) == 0
    assert [each.probe for each in outcomes] == [probe.name for probe in PROBES]
    traded = [each for each in outcomes if each.probe.startswith("trade:")]
    assert {each.verdict for each in traded} == {Verdict.SAME}
    assert (subject.positions_total(), subject.orders_total()) == (0, 0)


def test_without_trading_nothing_is_opened() -> None:
    """What can't be carried out is sent all the same."""
    subject, sent = paper(), []

    def watch(answer: OrderSendResult, request: dict[str, Any]) -> OrderSendResult:
        sent.append(answer.retcode)
        return answer

    outcomes = found(Planted(subject, "order_send", watch), may_trade=False)
    assert differing(outcomes) == []
    assert len(sent) == 10
    assert mt5.TRADE_RETCODE_DONE not in sent
    assert len(subject.history_deals_get(0, 2**31 - 1)) == 1  # the deposit
    skipped = [each for each in outcomes if each.why == "not asked for: add --trade"]
    assert len(skipped) > 25


# Name -> what is planted in a script, and which probes have to differ.
SCRIPTS: dict[str, tuple[list[Entry], list[str]]] = {
    "another retcode of a check": (
        [Answer(retcode=10015, verb="order_check")],
        ["check: a buy"],
    ),
    "another retcode of a refusal": (
        [Answer(retcode=10013)],
        ["send: volume 0"],
    ),
    "no answer to a refusal": (
        [Answer(error=mt5.RES_E_FAIL)],
        ["send: volume 0"],
    ),
    "another text": (
        [Answer(retcode=10014, text="Volume is wrong")],
        ["send: volume 0"],
    ),
    "a verb that fails": (
        [Answer(verb="symbols_total", error=mt5.RES_E_FAIL)],
        ["number of symbols"],
    ),
    "the comment is rewritten": (
        [RewriteComment("by broker")],
        ["trade: position", "trade: its deals", "trade: its orders"],
    ),
    "stops are ignored": (
        [IgnoreStops()],
        ["trade: position"],
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_script_plants_is_found_and_nothing_else(name: str) -> None:
    script, probes = SCRIPTS[name]
    subject = paper(script=script)
    outcomes = found(subject)
    assert differing(outcomes) == probes
    assert exit_code(outcomes) == 6
    assert (subject.positions_total(), subject.orders_total()) == (0, 0)


def test_a_partial_fill_is_found() -> None:
    """Less is bought than was asked for, so no part of it can be closed."""
    profile = broker(filling_mode=2)
    outcomes = found(paper(profile, [PartialFill(profile.symbols["EURUSD"]["volume_min"])]))
    assert "trade: buy" in differing(outcomes)
    assert "trade: position" in differing(outcomes)
    [part] = [each for each in outcomes if each.probe == "trade: close a part"]
    assert part.why == "the position is too small for a part"
    rest = ("trade: its orders", "trade: its deals")
    assert set(differing(outcomes)) <= {"trade: buy", "trade: position", *rest}


def test_a_brokers_own_text_is_found_wherever_it_is_said() -> None:
    profile = broker({"retcode_texts": {mt5.TRADE_RETCODE_NO_CHANGES: "Nix zu machen"}})
    outcomes = found(paper(profile))
    assert differing(outcomes) == ["trade: move nothing", "trade: change nothing"]
    [first, _] = [each for each in outcomes if each.verdict is Verdict.DIFFERS]
    assert first.terminal == "comment 'Nix zu machen'"
    assert first.paper == "comment 'No changes'"


def test_a_commission_that_no_dump_tells_is_no_difference() -> None:
    """It is money; the report is about answers."""
    assert differing(found(paper(broker({"commission": 3.5})))) == []


def _float_spread(answer: Any, *args: Any) -> Any:
    if answer is None:
        return None
    fields = [(n, "<f8" if n == "spread" else answer.dtype[n].str) for n in answer.dtype.names]
    made = answer.astype(fields)
    made.flags.writeable = False
    return made


def _writeable(answer: Any, *args: Any) -> Any:
    return None if answer is None else answer.copy()


def _empty_for_none(answer: Any, symbol: str, frame: int, start: int, count: int) -> Any:
    return np.zeros(0) if answer is None and count == 0 and isinstance(count, int) else answer


def _ticket_moved(answer: Any, **keywords: Any) -> Any:
    if keywords.get("ticket", 1) == 1 or not answer:
        return answer
    return tuple(changed(one, identifier=one.identifier + 1) for one in answer)


def _as_mobile(answer: Any, *args: Any, **keywords: Any) -> Any:
    return tuple(changed(one, reason=mt5.DEAL_REASON_MOBILE) for one in answer)


def _no_request_id(answer: Any, request: dict[str, Any]) -> Any:
    return changed(answer, request_id=0)


def _no_quote(answer: Any, request: dict[str, Any]) -> Any:
    if request["action"] != mt5.TRADE_ACTION_DEAL or answer.retcode != mt5.TRADE_RETCODE_DONE:
        return answer
    return changed(answer, bid=0.0, ask=0.0)


def _int_balance(answer: Any) -> Any:
    return changed(answer, balance=int(answer.balance))


def _cent_off(answer: Any, *args: Any) -> Any:
    return None if answer is None else answer + 0.01


_DONE = ["trade: buy", "trade: close a part", "trade: close"]
_TAKEN = [
    "trade: buy",
    "trade: move its levels",
    "trade: close a part",
    "trade: close",
    "trade: place a limit",
    "trade: change it",
    "trade: remove it",
]
# Name -> verb, what becomes of its answers, which probes have to differ.
WRAPPED: dict[str, tuple[str, Callable[..., Any], list[str]]] = {
    "a column of another type": ("copy_rates_from_pos", _float_spread, ["columns of bars"]),
    "an array that can be written": ("copy_rates_from_pos", _writeable, ["columns of bars"]),
    "an empty array for nothing": ("copy_rates_from_pos", _empty_for_none, ["bars, count 0"]),
    "an identifier that is no ticket": ("positions_get", _ticket_moved, ["trade: position"]),
    "another reason of deals": ("history_deals_get", _as_mobile, ["trade: its deals"]),
    "no request_id": ("order_send", _no_request_id, _TAKEN),
    "no quote in results": ("order_send", _no_quote, _DONE),
    "an int for a float": ("account_info", _int_balance, ["record account_info"]),
    "profits a cent off": ("order_calc_profit", _cent_off, ["profit of 100 points"]),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_wrapper_plants_is_found_and_nothing_else(name: str) -> None:
    verb, change, probes = WRAPPED[name]
    subject = paper()
    assert differing(found(Planted(subject, verb, change))) == probes
    assert (subject.positions_total(), subject.orders_total()) == (0, 0)


def test_another_error_code_is_found() -> None:
    """An unknown symbol is -1 instead of -4; an answer that is there keeps its code."""
    planted = Planted(
        paper(),
        "symbol_info",
        lambda answer, *args: answer,
        lambda known: (-1, known[1]) if known[0] == mt5.RES_E_NOT_FOUND else known,
    )
    outcomes = found(planted)
    assert differing(outcomes) == ["unknown symbol: specification", "empty symbol: specification"]
    [first, _] = [each for each in outcomes if each.verdict is Verdict.DIFFERS]
    assert (first.terminal, first.paper) == ("code -1", "code -4")
