"""What the fault campaign has found, each as a plain test."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.test_crew import DIP, UTC, LosesTheAnswer, bars, decided, events, playing
from engine.test_execution import HILL, RISE_AND_FALL, LosesOneAnswer, SendsOneNowhere, later, sent
from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.engine.recover import recalled_standing
from bridge.engine.replay import replay
from bridge.engine.standing import Standing
from bridge.engine.watch import HALT_FILE, RESUME_FILE
from bridge.errors import TerminalError, WrongAccount
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
from bridge.risk.baselines import first_baselines
from bridge.risk.guard import TradingState
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


class ForgetsPositions(ModuleTerminal):
    """For some looks after the entry the terminal shows neither position nor deals."""

    looks = 0

    def _is_away(self) -> bool:
        return 16 <= self.looks < 24

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        self.looks += 1
        return () if self._is_away() else super().positions_get(symbol)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        return () if self._is_away() else super().history_deals_get(date_from, date_to)


class NeverShowsAgain(ForgetsPositions):
    """The position is gone for good, and so is the deal that would say why."""

    def _is_away(self) -> bool:
        return self.looks >= 16


def test_a_position_that_is_not_shown_for_a_while_is_not_opened_again(tmp_path: Path) -> None:
    """A terminal that was just restarted has no positions yet; nothing says that ours is closed."""
    with playing(tmp_path, np.concatenate([DIP, later(DIP)]), seam=ForgetsPositions) as run:
        run.play()
        standing = run.crew.steppers[0].standing
        assert len(run.paper.positions_get()) == 1
        assert standing.missing == frozenset()
        assert standing.declined is None
    assert len(events(tmp_path, "missing")) == 1
    assert [purpose for purpose, _, _ in sent(tmp_path)] == ["entry"]
    with reading(tmp_path / "journal.sqlite3") as journal:
        assert {row["denied"] for row in journal.rows("intents")} == {None, "unresolved"}


def test_a_person_s_closing_is_seen_when_its_deal_shows(tmp_path: Path) -> None:
    with playing(tmp_path, np.concatenate([DIP, later(DIP)]), seam=ForgetsPositions) as run:

        def on_step(step: Any) -> None:
            for held in run.paper.positions_get() if standing.missing else ():
                request = {**buying().as_dict(), "type": 1, "volume": 1.0, "magic": 0}
                run.paper.order_send({**request, "position": held.ticket})

        standing = run.crew.steppers[0].standing
        replay(run.crew.steppers, run.paper, run.clock, UTC, on_step, before=run.crew.attend)
        assert len(events(tmp_path, "human")) == 1
        assert events(tmp_path, "declined") == ["long"]


def test_a_position_that_never_shows_again_is_given_up_by_a_person(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal)
        journal.deals([deal(ticket=101, order=101, position_id=101)])
        journal.event("missing", "position #101 is not shown", 7)
        with reading(path) as past:
            assert recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).lots == {
                101: 0.1
            }
        journal.event("given_up", "position #101 is not shown, and is taken for closed", 7)
        journal.event("resume", "a person asked for entries again", 7)
        with reading(path) as past:
            recalled = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0)
    assert (recalled.lots, recalled.positions) == ({}, ())


def test_an_exit_that_waits_is_not_sent_again(tmp_path: Path) -> None:
    """Answered 10008; on a netting account a second exit would open the other side."""
    rates = np.concatenate([RISE_AND_FALL, later(RISE_AND_FALL)])
    with playing(tmp_path, rates, sides="both") as run:
        seen: list[int] = []

        def on_step(step: Any) -> None:
            seen.append(step.bar_time)
            if len(seen) == 3:  # the next bar closes the position
                run.paper.script.add(Placed("filled"))
            if len(seen) == 4:
                run.crew.attend()

        replay(run.crew.steppers, run.paper, run.clock, UTC, on_step, before=run.crew.attend)
    assert [code for purpose, code, _ in sent(tmp_path) if purpose == "exit"][:1] == [
        "found: deal #7000003"
    ]
    assert events(tmp_path, "deferred") == []


class ShowsOldLevels(ModuleTerminal):
    """Positions keep the stop that they had when they were first shown, for some looks."""

    looks = 0
    first: dict[int, float]

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        self.looks += 1
        shown = super().positions_get(symbol)
        if not hasattr(self, "first"):
            self.first = {}
        for each in shown:
            self.first.setdefault(each.ticket, each.sl)
        if self.looks > 34:
            return shown
        return tuple(
            TradePosition({**each._asdict(), "sl": self.first[each.ticket]}.values())
            for each in shown
        )


def test_levels_that_show_late_were_not_moved_by_a_person(tmp_path: Path) -> None:
    with playing(tmp_path, HILL, manage={"trail_points": 100}, seam=ShowsOldLevels) as run:
        run.play()
    assert [purpose for purpose, _, _ in sent(tmp_path)].count("protect") >= 2
    assert events(tmp_path, "human") == []


def test_a_run_that_died_after_its_first_order_leaves_no_deal_out(tmp_path: Path) -> None:
    """The next run reads deals from the journal's first run on, not from its own start."""
    with (
        playing(tmp_path, DIP, seam=LosesTheAnswer, deals_since=True) as run,
        pytest.raises(KeyboardInterrupt),
    ):
        run.play()
    last = decided(tmp_path)[-1]["bar_time"]
    with playing(tmp_path, DIP, after=last + 3_600, patience=True, deals_since=True) as run:
        run.play()
        true = [deal.ticket for deal in run.paper.history_deals_get(0, 2**31 - 1)[1:]]
    with reading(tmp_path / "journal.sqlite3") as journal:
        assert [deal.ticket for deal in journal.deals() if deal.position_id] == true


class AwayAtStart(ModuleTerminal):
    """Once the account is known, the terminal is logged in to another one for some calls."""

    asked = 0

    def account_info(self) -> AccountInfo:
        self.asked += 1
        found = super().account_info()
        if self.asked == 1 or self.asked > 8:
            return found
        return AccountInfo({**found._asdict(), "login": 2}.values())

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        return () if self.asked < 9 else super().history_deals_get(date_from, date_to)


def test_a_start_on_another_account_presumes_nothing(tmp_path: Path) -> None:
    with playing(tmp_path, DIP, seam=LosesTheAnswer) as run, pytest.raises(KeyboardInterrupt):
        run.play()
    last = decided(tmp_path)[-1]["bar_time"]
    with (
        pytest.raises(TerminalError, match="instead of"),
        playing(tmp_path, DIP, after=last, seam=AwayAtStart, patience=True),
    ):
        pass
    assert events(tmp_path, "absent") == []


def test_an_order_that_was_presumed_absent_is_taken_over_also_after_a_restart(
    tmp_path: Path,
) -> None:
    """Its deal may be in the journal already: that alone does not make it the strategy's own."""
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal)
        journal.result(journal.intent(None, buying(), []), Outcome.ABSENT, "absent", None)
        journal.deals([deal(ticket=101, order=5, position_id=5)])
    with reading(path) as past:
        assert recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).sent == set()


def test_a_position_that_somebody_has_reversed_is_theirs(tmp_path: Path) -> None:
    """On a netting account: ours was short, another one's deal has made it long."""
    opened = deal(ticket=1, type=mt5.DEAL_TYPE_SELL)
    other = {"type": mt5.DEAL_TYPE_BUY, "entry": mt5.DEAL_ENTRY_INOUT, "magic": 0}
    reversed_ = deal(ticket=2, volume=0.3, **other)
    standing = Standing(magic=7, baselines=first_baselines(0, 1.0))
    for each in (opened, reversed_):
        standing.dealt(each, "EURUSD")
    assert (standing.lots, standing.gone) == ({}, {55})
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal).deals([opened, reversed_])
    with reading(path) as past:
        recalled = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0)
    assert (recalled.lots, recalled.gone, recalled.positions) == ({}, {55}, ())


def test_a_deal_that_only_a_result_names_is_read(tmp_path: Path) -> None:
    """An order of unknown end was filled and stopped out while the terminal hid both.

    When its deal was found at last, balance and positions gave no reason to read deals.
    """
    trailing = {"trail_points": 50}
    rates = bars(
        "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 110 5 100\n100 210 95 200\n200 205 90 110\n"
        "110 115 100 105\n105 106 95 100"
    )
    with playing(tmp_path, rates, manage=trailing, seam=LosesOneAnswer) as run:
        run.play()
        assert run.paper.positions_get() == ()
    path = next(tmp_path.rglob("journal.sqlite3"))
    with reading(path) as past:
        known = past.deals()
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        rows.execute("DELETE FROM deals")
    last = decided(tmp_path)[-1]["bar_time"]
    with playing(tmp_path, rates, manage=trailing, after=last) as run:
        run.crew.attend()
    with reading(path) as past:
        assert past.deals() == known


PLUNGE = bars(
    "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 110 5 100\n100 110 -6000 90\n90 95 85 88\n88 90 80 82\n"
    "82 84 78 80\n80 82 70 72"
)


class HidesWhatItDid(LosesOneAnswer):
    """The first answer is lost, and for a while neither position nor deals are shown."""

    def _is_dark(self) -> bool:
        return self.is_lost and self.symbol_info_tick("EURUSD").time < PLUNGE["time"][7]

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        return () if self._is_dark() else super().positions_get(symbol)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        return () if self._is_dark() else super().history_deals_get(date_from, date_to)


def test_deals_that_show_later_than_the_balance_are_read(tmp_path: Path) -> None:
    """Presumed absent, filled, stopped out, and all of it shown when the balance is old news."""
    with playing(tmp_path, PLUNGE, seam=HidesWhatItDid) as run:
        run.play()
        known = run.paper.history_deals_get(0, int(PLUNGE["time"][-1]) + 86_400)
        assert len(known) == 5
        assert run.crew.steppers[0].standing.owed == pytest.approx(0.0)
    with reading(tmp_path / "journal.sqlite3") as past:
        assert past.deals() == known


def test_a_position_that_is_shown_again_is_not_given_up_by_a_resume(tmp_path: Path) -> None:
    """It was missing once, hours ago; after a restart a resume took it for closed."""
    with playing(tmp_path, np.concatenate([DIP, later(DIP)]), seam=ForgetsPositions) as run:
        run.play()
        (tmp_path / HALT_FILE).touch()
        run.crew.attend()
        (tmp_path / HALT_FILE).unlink()
        (tmp_path / RESUME_FILE).touch()
        run.crew.attend()
        (held,) = run.paper.positions_get()
    assert len(events(tmp_path, "missing")) == len(events(tmp_path, "resume")) == 1
    with reading(tmp_path / "journal.sqlite3") as past:
        recalled = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0)
    assert recalled.lots == {held.identifier: held.volume}


def test_a_resume_gives_up_what_is_missing(tmp_path: Path) -> None:
    """Nothing else was wrong, and nothing would ever have been opened again."""
    rates = np.concatenate([DIP, later(DIP)])
    with playing(tmp_path, rates, seam=NeverShowsAgain) as run:
        run.play()
        standing = run.crew.steppers[0].standing
        assert (standing.state, len(standing.missing)) == (TradingState.ACTIVE, 1)
        (tmp_path / RESUME_FILE).touch()
        run.crew.attend()
        assert (standing.missing, standing.lots) == (frozenset(), {})
    assert len(events(tmp_path, "given_up")) == 1


def test_a_stop_that_we_moved_before_a_crash_was_not_moved_by_a_person(tmp_path: Path) -> None:
    """A terminal shows the older level for a while; after a restart nobody knew it was ours."""
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal)
        moves: dict[Purpose, dict[str, Any]] = {
            Purpose.ENTRY: {"sl": 1.0},
            Purpose.PROTECT: {"sl": 1.1, "position": 101},
        }
        for purpose, changes in moves.items():
            request = buying()._replace(purpose=purpose, **changes)
            given = {"retcode": 10009, "order": 101, "request": record(TradeRequest, {})}
            answer = record(OrderSendResult, given)
            journal.result(journal.intent(None, request, []), Outcome.DONE, "done", answer)
        journal.deals([deal(ticket=101, order=101, position_id=101)])
        with reading(path) as past:
            (held,) = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).positions
        assert (held.sl, held.was) == (1.1, ((1.0, 0.0),))
        assert held.lagging(replace(held, sl=1.0, was=())) == held
        # What a person has moved is not ours to know.
        journal.event("human", "position #101 was moved: stop loss 1.2, take profit 0", 7)
        with reading(path) as past:
            (held,) = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).positions
        assert (held.sl, held.was) == (None, ())


def test_the_journal_of_another_account_is_refused(tmp_path: Path) -> None:
    """Its positions would be missing, and a resume would give them up."""
    with Journal(tmp_path / "journal.sqlite3", ManualClock(1_000.0)) as journal:
        begin(journal, account={"login": 4, "server": "Elsewhere"})
    with pytest.raises(WrongAccount, match="is of 4 at Elsewhere"), playing(tmp_path, DIP):
        pass


def test_an_order_that_a_resume_gives_up_is_awaited_no_more(tmp_path: Path) -> None:
    """Some server gives its orders other numbers in the history: entries would never go on."""
    with playing(tmp_path, DIP) as run:
        run.play()
        standing = run.crew.steppers[0].standing
        standing.awaited.add(999)
        (tmp_path / RESUME_FILE).touch()
        run.crew.attend()
        assert standing.awaited == set()
    assert [text.partition(" was")[0] for text in events(tmp_path, "given_up")] == ["order #999"]
    path = tmp_path / "other.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal, reading(path) as past:
        begin(journal)
        given = {"retcode": 10009, "order": 999, "request": record(TradeRequest, {})}
        answer = record(OrderSendResult, given)
        journal.result(journal.intent(None, buying(), []), Outcome.DONE, "done", answer)
        assert recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).awaited == {999}
        journal.event("given_up", "order #999 was taken by the server, is not shown", 7)
        assert recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).awaited == set()


def test_a_stop_that_was_refused_is_not_taken_for_ours_after_a_restart(tmp_path: Path) -> None:
    """The broker had forgotten it, too: then a person was said to have moved it away."""
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(1_000.0)) as journal:
        begin(journal)
        entry = buying()._replace(sl=1.0)
        given = {"retcode": 10009, "order": 101, "request": record(TradeRequest, {})}
        answer = record(OrderSendResult, given)
        journal.result(journal.intent(None, entry, []), Outcome.DONE, "done", answer)
        journal.deals([deal(ticket=101, order=101, position_id=101)])
        move = entry._replace(purpose=Purpose.PROTECT, position=101)
        journal.result(journal.intent(None, move, []), Outcome.REJECTED, "nothing was sent", None)
    with reading(path) as past:
        (held,) = recalled_standing(past, 7, "EURUSD", server_time=0, equity=1.0).positions
    assert (held.sl, held.was) == (None, ())
