"""What the fault campaign has found, each as a plain test."""

from pathlib import Path
from typing import Any

import pytest
from engine.test_crew import DIP, LosesTheAnswer, decided, events, playing
from engine.test_execution import HILL, LosesOneAnswer, SendsOneNowhere, sent
from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.engine.recover import recalled_standing
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import (
    AccountInfo,
    OrderSendResult,
    TradeDeal,
    TradeOrder,
    TradePosition,
    TradeRequest,
)
from bridge.mt5.request import Purpose, Request, RequestDict
from bridge.mt5.retcodes import Outcome
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.script import IgnoreStops, Placed
from bridge.trade.reconcile import find_deal


def buying(magic: int = 7) -> Request:
    return Request(
        purpose=Purpose.ENTRY,
        action=mt5.TRADE_ACTION_DEAL,
        symbol="EURUSD",
        magic=magic,
        type=mt5.ORDER_TYPE_BUY,
        volume=0.1,
    )


def deal(**fields: Any) -> TradeDeal:
    plain = {"ticket": 1, "symbol": "EURUSD", "magic": 7, "volume": 0.1, "position_id": 55}
    found: TradeDeal = record(TradeDeal, {**plain, "reason": mt5.DEAL_REASON_EXPERT, **fields})
    return found


def test_each_of_two_strategies_recalls_its_own_positions(tmp_path: Path) -> None:
    """Orders of the other one were counted as own: after a restart both recalled both positions."""
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal)
        for magic, order in ((7, 101), (8, 102)):
            sent = {"retcode": 10009, "order": order, "request": record(TradeRequest, {})}
            answer = record(OrderSendResult, sent)
            journal.result(journal.intent(None, buying(magic), []), Outcome.DONE, "done", answer)
            opened = deal(ticket=order, order=order, position_id=order, magic=magic)
            journal.deals([opened])
    with reading(path) as past:
        recalled = {
            magic: recalled_standing(past, magic, "EURUSD", server_time=0, equity=1.0)
            for magic in (7, 8)
        }
    assert [each.identifier for each in recalled[7].positions] == [101]
    assert [each.identifier for each in recalled[8].positions] == [102]
    assert recalled[7].sent == {101}


def test_a_stop_loss_is_not_taken_for_the_exit_that_never_arrived() -> None:
    """The exit was lost on its way, the stop closed the position: its deal has our magic, too."""
    leaving = {**buying().as_dict(), "position": 55}
    out = {"entry": mt5.DEAL_ENTRY_OUT}
    by_server = [deal(reason=reason, **out) for reason in (4, 5, 6)]
    assert find_deal(leaving, by_server, known=(), since=0) is None
    ours = deal(ticket=2, **out)
    assert find_deal(leaving, [*by_server, ours], known=(), since=0) == ours


def test_moved_levels_are_searched_for_without_a_deal() -> None:
    """A stop was moved, no answer came, and the position was closed meanwhile: a KeyError."""
    moving = {"action": mt5.TRADE_ACTION_SLTP, "symbol": "EURUSD", "magic": 7, "position": 55}
    closed = deal(entry=mt5.DEAL_ENTRY_OUT)
    assert find_deal(moving, [closed], known=(), since=0) is None


def test_a_start_does_not_wait_for_an_order_that_waits(tmp_path: Path) -> None:
    """Answered 10008 and waiting at the server: until it ends nobody would watch positions."""
    with playing(tmp_path, DIP[:4]) as run:
        run.paper.script.add(Placed("filled"))
        run.play()
        assert len(run.paper.orders_get()) == 1
    last = decided(tmp_path)[-1]["bar_time"]
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        assert len(run.paper.orders_get()) == 1
        assert run.clock.now() <= DIP["time"][3] + 6.0
        run.play()
        assert len(run.paper.positions_get()) == 1
    assert sent(tmp_path) == [("entry", "found: deal #7000002", 1.0)]


def test_a_stop_that_the_broker_forgot_is_set_also_where_the_answer_was_lost(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, DIP, seam=LosesOneAnswer) as run:
        run.paper.script.add(IgnoreStops())
        run.play()
        (held,) = run.paper.positions_get()
    assert held.sl > 0.0
    assert [purpose for purpose, _, _ in sent(tmp_path)] == ["entry", "protect"]


def test_a_stop_that_the_broker_forgot_is_set_also_after_a_crash(tmp_path: Path) -> None:
    with playing(tmp_path, DIP, seam=LosesTheAnswer) as run:
        run.paper.script.add(IgnoreStops())
        with pytest.raises(KeyboardInterrupt):
            run.play()
    last = decided(tmp_path)[-1]["bar_time"]
    # One start finds the deal, and dies before it has set the stop; the next one sets it.
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        assert run.paper.positions_get()[0].sl == 0.0
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        run.crew.attend()
        assert run.paper.positions_get()[0].sl > 0.0


class LosesAnswerAndAccount(LosesOneAnswer):
    """The first answer is lost; what is read afterwards is of another account for a while."""

    reads = 0

    def _is_away(self) -> bool:
        self.reads += self.is_lost
        return 2 < self.reads < 20

    def account_info(self) -> AccountInfo:
        found = super().account_info()
        return AccountInfo({**found._asdict(), "login": 2}.values()) if self._is_away() else found

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        return () if self._is_away() else super().positions_get(symbol)

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        return () if self._is_away() else super().orders_get(symbol)

    def history_orders_get(self, date_from: int, date_to: int) -> tuple[TradeOrder, ...]:
        return () if self._is_away() else super().history_orders_get(date_from, date_to)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        return () if self._is_away() else super().history_deals_get(date_from, date_to)


def test_an_order_is_not_presumed_absent_on_another_account(tmp_path: Path) -> None:
    with playing(tmp_path, DIP, seam=LosesAnswerAndAccount) as run:
        run.play()
        assert len(run.paper.positions_get()) == 1
    assert events(tmp_path, "absent") == []
    assert events(tmp_path, "adopted") == []


class LosesLevelsAnswer(ModuleTerminal):
    """Levels are moved, and nobody says so."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        answer = super().order_send(request)
        return None if request["action"] == mt5.TRADE_ACTION_SLTP else answer


def test_a_stop_that_we_moved_without_an_answer_was_not_moved_by_a_person(tmp_path: Path) -> None:
    with playing(tmp_path, HILL, manage={"trail_points": 100}, seam=LosesLevelsAnswer) as run:
        run.play()
    assert [outcome for _, outcome, _ in sent(tmp_path)].count(10009) == 2
    assert events(tmp_path, "human") == []


def test_an_older_deal_is_not_taken_for_the_entry_that_never_arrived(tmp_path: Path) -> None:
    """With our magic, of the same size, an hour before: of another journal, or presumed absent."""
    with playing(tmp_path, DIP, seam=SendsOneNowhere) as run:
        one = {**buying().as_dict(), "volume": 1.0}
        opened = run.paper.order_send(one)
        run.paper.order_send({**one, "type": mt5.ORDER_TYPE_SELL, "position": opened.order})
        run.play()
    assert [outcome for _, outcome, _ in sent(tmp_path)] == [
        "the terminal does not show the order: presumed absent",
        10009,
    ]
