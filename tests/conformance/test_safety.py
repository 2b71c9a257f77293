"""Conformance touches no real money, and leaves nothing behind."""

from typing import Any

import pytest
from conformance.conformance_desk import Planted, broker, differing, found, paper

from bridge.clock import ManualClock
from bridge.conformance.compare import Verdict, conform
from bridge.conformance.desk import MAGIC
from bridge.errors import BridgeError, ConfigError, StateMismatch
from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo
from bridge.terminal.paper.script import Answer, Disabled, MarketClosed

BUY = {
    "action": mt5.TRADE_ACTION_DEAL,
    "symbol": "EURUSD",
    "volume": 0.1,
    "type": mt5.ORDER_TYPE_BUY,
}


def as_account(**fields: Any) -> Any:
    """Return a change of ``account_info``'s answer."""

    def change(account: AccountInfo) -> AccountInfo:
        return AccountInfo({**account._asdict(), **fields}.values())

    return change


class Counted(Planted):
    """One that knows what was sent."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sent: list[dict[str, Any]] = []

    def order_send(self, request: dict[str, Any]) -> Any:
        self.sent.append(request)
        return self._module.order_send(request)


@pytest.mark.parametrize("kind", [mt5.ACCOUNT_TRADE_MODE_REAL, 7])
def test_a_real_account_is_refused_before_anything_is_sent(kind: int) -> None:
    subject = Counted(paper(), "account_info", as_account(trade_mode=kind))
    with pytest.raises(ConfigError, match="this one is REAL") as refused:
        found(subject)
    assert refused.value.exit_code == 2
    assert subject.sent == []


@pytest.mark.parametrize(
    "other", [{"trade_mode": mt5.ACCOUNT_TRADE_MODE_REAL}, {"login": 8}, {"server": "Other-Demo"}]
)
def test_another_account_gets_nothing_more(other: dict[str, Any]) -> None:
    """The terminal is logged in to another account in the middle; what is open is told."""
    module = paper()
    subject = Counted(module, "account_info", lambda account: account)
    asked = conform(subject, "EURUSD", ManualClock(0.0), may_trade=True)
    for outcome in asked:
        if outcome.probe == "trade: buy":
            break
    subject._change = as_account(**other)
    before = len(subject.sent)
    with pytest.raises(StateMismatch, match="LOOK AT THE TERMINAL") as told:
        list(asked)
    assert len(subject.sent) == before
    [held] = module.positions_get()
    assert f"position {held.ticket}" in str(told.value)


@pytest.mark.parametrize("last", ["trade: buy", "trade: move its levels", "trade: place a limit"])
def test_who_stops_in_the_middle_leaves_nothing_open(last: str) -> None:
    subject = paper()
    asked = conform(subject, "EURUSD", ManualClock(0.0), may_trade=True)
    for outcome in asked:
        if outcome.probe == last:
            break
    assert subject.positions_total() + subject.orders_total() == 1
    asked.close()
    assert subject.positions_total() + subject.orders_total() == 0


def test_what_others_hold_stays() -> None:
    """Also a position with the same magic that was there before."""
    subject = paper()
    for magic in (7, MAGIC):
        assert subject.order_send({**BUY, "magic": magic}).retcode == mt5.TRADE_RETCODE_DONE
    held = [one.ticket for one in subject.positions_get()]
    outcomes = found(subject)
    assert differing(outcomes) == []
    assert [one.ticket for one in subject.positions_get()] == held


@pytest.mark.parametrize("goes_on", [True, False])
def test_an_order_whose_answer_is_lost_is_found_and_closed(goes_on: bool) -> None:
    """The answer is null, and the order is done; also when it is the last that is sent."""
    buys = 0

    def lose(answer: Any, request: dict[str, Any]) -> Any:
        nonlocal buys
        is_buy = answer.retcode == mt5.TRADE_RETCODE_DONE and "position" not in request
        if is_buy and request["action"] == mt5.TRADE_ACTION_DEAL:
            buys += 1
            return None
        return answer

    subject = paper()
    asked = conform(
        Planted(subject, "order_send", lose), "EURUSD", ManualClock(0.0), may_trade=True
    )
    outcomes = []
    for outcome in asked:
        outcomes.append(outcome)
        if outcome.probe == "trade: buy" and not goes_on:
            assert subject.positions_total() == 1
            asked.close()
    assert buys == 1
    assert differing(outcomes) == ["trade: buy"]
    assert subject.positions_total() == 0


def test_what_can_not_be_closed_is_told_with_its_ticket() -> None:
    """Exits of the position are refused for good."""
    subject = paper()

    class Stuck(Planted):
        def order_send(self, request: dict[str, Any]) -> Any:
            if request.get("position", 1) > 1 and request["action"] == mt5.TRADE_ACTION_DEAL:
                subject.script.add(Answer(retcode=mt5.TRADE_RETCODE_REJECT))
            return subject.order_send(request)

    with pytest.raises(StateMismatch, match="STILL OPEN") as told:
        found(Stuck(subject, "", lambda answer: answer))
    assert told.value.exit_code == 6
    [held] = subject.positions_get()
    assert f"TradePosition {held.ticket} of EURUSD" in str(told.value)


def test_a_volume_that_is_taken_off_its_step_is_closed_and_told() -> None:
    """A broker that rounds: the refusal becomes a position, which is closed at once."""
    subject = paper()

    class Rounding(Planted):
        def order_send(self, request: dict[str, Any]) -> Any:
            volume = round(float(request.get("volume", 0.0)), 2)
            return subject.order_send({**request, "volume": volume} if volume else request)

    outcomes = found(Rounding(subject, "", lambda answer: answer))
    assert "send: volume off the step" in differing(outcomes)
    assert all(not name.startswith("trade:") for name in differing(outcomes))
    assert subject.positions_total() == 0


def test_a_closed_market_skips_what_it_decides() -> None:
    outcomes = found(paper(script=[MarketClosed()]))
    assert differing(outcomes) == []
    whys = {each.probe: each.why for each in outcomes if each.verdict is Verdict.SKIPPED}
    assert whys["trade: buy"] == "the market is closed"
    assert whys["trade: position"] == "there is no position"


@pytest.mark.parametrize("switch", ["terminal", "account", "robots", "python"])
def test_a_switch_that_is_off_skips_all_that_is_sent(switch: str) -> None:
    subject = Counted(paper(script=[Disabled(switch)]), "", lambda answer: answer)
    outcomes = found(subject)
    assert subject.sent == []
    sent = [each for each in outcomes if each.probe.startswith(("send:", "trade:"))]
    assert {each.verdict for each in sent} == {Verdict.SKIPPED}


def test_a_netting_position_of_somebody_keeps_trading_off() -> None:
    subject = paper(broker({"margin_mode": "netting"}))
    assert subject.order_send(BUY).retcode == mt5.TRADE_RETCODE_DONE
    [before] = subject.positions_get()
    outcomes = found(subject)
    [buy] = [each for each in outcomes if each.probe == "trade: buy"]
    assert buy.why == "EURUSD has a position, and the account is a netting one"
    assert subject.positions_get() == (before,)


def test_an_unknown_symbol_is_one_sentence() -> None:
    with pytest.raises(BridgeError, match="XYZ"):
        list(conform(paper(), "XYZ", ManualClock(0.0), may_trade=False))


def test_the_report_hides_whose_it_is() -> None:
    """Login, name, server, company and tickets, where a broker writes them into comments."""
    account = {"owner": "Fine", "server": "Fine-Demo", "company": "Fine Ltd"}
    subject = paper(broker(account))

    def tell(found: tuple[Any, ...], **keywords: Any) -> tuple[Any, ...]:
        text = "Fine 7745126 Fine-Demo Fine Ltd #{}"
        return tuple(
            type(one)({**one._asdict(), "comment": text.format(one.ticket)}.values())
            for one in found
        )

    outcomes = found_with(subject, tell)
    [position] = [each for each in outcomes if each.probe == "trade: position"]
    assert position.terminal == "comment 'NAME LOGIN SERVER COMPANY #TICKET-1'"
    told = repr(outcomes)
    for secret in ("7745126", "Fine", "500000"):
        assert secret not in told


def found_with(subject: Any, change: Any) -> Any:
    return found(Planted(subject, "positions_get", change))
