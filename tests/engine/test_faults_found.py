"""What the fault campaign has found, each as a plain test."""

from pathlib import Path
from typing import Any

from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.engine.recover import recalled_standing
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult, TradeDeal, TradeRequest
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome
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
