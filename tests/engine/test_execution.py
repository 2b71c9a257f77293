"""Orders whose server does what servers do: requotes, parts, late fills, stops forgotten, closed.

The paper terminal is told what to answer; the crew is the one of a run.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.test_crew import DIP, UTC, Play, bars, events, playing

from bridge.engine.replay import replay
from bridge.errors import TerminalError
from bridge.journal.read import reading
from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo, OrderSendResult, Tick, TradePosition
from bridge.mt5.request import RequestDict
from bridge.risk.guard import TradingState
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.script import (
    Answer,
    IgnoreStops,
    MarketClosed,
    PartialFill,
    Placed,
)


def sent(folder: Path) -> list[tuple[str, Any, Any]]:
    """Return (purpose, retcode or words, volume) of each request that went out."""
    with reading(folder / "journal.sqlite3") as journal:
        results = {row["intent"]: row for row in journal.rows("results")}
        found = []
        for row in journal.rows("intents", "denied IS NULL"):
            result = results[row["id"]]
            code = result["answer"]["retcode"] if result["answer"] else result["words"]
            found.append((row["purpose"], code, row["request"].get("volume")))
        return found


def requests(folder: Path) -> list[dict[str, Any]]:
    with reading(folder / "journal.sqlite3") as journal:
        return [row["request"] for row in journal.rows("intents", "denied IS NULL")]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([10004, 10004], [10004, 10004, 10009]),
        ([10020, 10021], [10020, 10021, 10009]),
        ([10004] * 3, [10004, 10004, 10004]),
        ([10019], [10019]),
        ([10016], [10016]),
        ([10013], [10013]),
        ([10006], [10006]),
    ],
)
def test_a20_a13_only_a_moved_price_is_tried_again_and_not_for_ever(
    tmp_path: Path, codes: list[int], expected: list[int]
) -> None:
    with playing(tmp_path, DIP[:5]) as run:
        run.paper.script.add(*[Answer(retcode=code) for code in codes])
        steps: list[int] = []
        replay(
            run.crew.steppers,
            run.paper,
            run.clock,
            UTC,
            lambda step: steps.append(len(step.results)),
            before=run.crew.attend,
        )
        first_bar = sent(tmp_path)[: steps[0]]
    assert [code for _, code, _ in first_bar] == expected
    assert all(request["magic"] == 7 for request in requests(tmp_path))


def test_a06_a_refused_entry_is_no_trade(tmp_path: Path) -> None:
    """10015: one rejected result, no position, and no stop or target for a trade that is none."""
    with playing(tmp_path, DIP[:4]) as run:
        run.paper.script.add(Answer(retcode=10015))
        run.play()
        assert run.paper.positions_total() == 0
    assert sent(tmp_path)[:1] == [("entry", 10015, 1.0)]
    assert all(purpose == "entry" for purpose, _, _ in sent(tmp_path))
    with reading(tmp_path / "journal.sqlite3") as journal:
        first = next(journal.rows("results"))
    assert (first["outcome"], first["answer"]["order"]) == ("rejected", 0)


def test_a19_placed_is_not_filled(tmp_path: Path) -> None:
    """10008 first, rejected a moment later: the journal ends with that, the next bar is free."""
    with playing(tmp_path, DIP) as run:
        run.paper.script.add(Placed("rejected"))
        run.play()
        standing = run.crew.steppers[0].standing
        assert standing.awaited == set()
        assert standing.state is TradingState.ACTIVE
    with reading(tmp_path / "journal.sqlite3") as journal:
        first, *later = journal.rows("results")
    assert first["outcome"] == "rejected"
    assert "was rejected later" in first["words"]
    assert later[0]["outcome"] == "done"


def test_placed_that_is_filled_later_is_our_own(tmp_path: Path) -> None:
    with playing(tmp_path, DIP) as run:
        run.paper.script.add(Placed("filled"))
        run.play()
        assert len(run.crew.steppers[0].standing.positions) == 1
    assert events(tmp_path, "adopted") == []
    with reading(tmp_path / "journal.sqlite3") as journal:
        entries = [row for row in journal.rows("results") if row["outcome"] == "done"]
    assert len(entries) == 1
    assert entries[0]["words"].startswith("found: deal #")


def test_a39_a_stop_that_the_broker_forgot_is_set(tmp_path: Path) -> None:
    with playing(tmp_path, DIP[:6]) as run:
        run.paper.script.add(IgnoreStops())
        run.play()
        (held,) = run.paper.positions_get()
        assert held.sl == requests(tmp_path)[0]["sl"] > 0
    assert [(purpose, code) for purpose, code, _ in sent(tmp_path)] == [
        ("entry", 10009),
        ("protect", 10009),
    ]
    assert events(tmp_path, "human") == []


def test_a39_a_stop_that_can_t_be_set_closes_the_position(tmp_path: Path) -> None:
    with playing(tmp_path, np.concatenate([DIP, later(DIP)])) as run:
        run.paper.script.add(IgnoreStops(), *[Answer(retcode=10006)] * 3)
        run.play()
    found = [(purpose, code) for purpose, code, _ in sent(tmp_path)]
    assert found[:5] == [
        ("entry", 10009),
        ("protect", 10006),
        ("protect", 10006),
        ("protect", 10006),
        ("exit", 10009),
    ]
    assert "can't be set: it is closed" in " ".join(events(tmp_path, "unprotected"))


def later(rates: Any) -> Any:
    """Return quiet bars that follow ``rates``."""
    last = int((rates["close"][-1] - 1.05) * 100_000 + 0.5)
    rows = "\n".join([f"{last} {last + 5} {last - 5} {last}"] * 6)
    return bars(rows, start=int(rates["time"][-1]) + 3_600)


# Rises, then falls for good: the strategy is long from the fourth bar to the seventh's open.
RISE_AND_FALL = bars(
    "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 5 30\n30 50 20 40\n40 45 10 20\n20 25 0 5\n5 9 0 5\n"
    "5 9 0 4\n4 8 0 3\n3 8 0 2"
)


def longs(run: Play) -> int:
    """Return how many long positions are open; a short one may have taken their place."""
    return sum(each.type == mt5.POSITION_TYPE_BUY for each in run.paper.positions_get())


def test_a_partial_exit_goes_on_with_what_is_left(tmp_path: Path) -> None:
    with playing(tmp_path, RISE_AND_FALL, sides="both", symbol={"filling_mode": 2}) as run:
        seen: list[int] = []

        def on_step(step: Any) -> None:
            seen.append(step.bar_time)
            if len(seen) == 3:  # the next bar closes the position
                run.paper.script.add(PartialFill(0.3))

        replay(run.crew.steppers, run.paper, run.clock, UTC, on_step, before=run.crew.attend)
        assert longs(run) == 0
    exits = [each for each in sent(tmp_path) if each[0] == "exit"]
    assert exits == [("exit", 10010, 1.0), ("exit", 10009, 0.7)]


def test_a23_an_exit_waits_for_the_market_and_goes_out_once(tmp_path: Path) -> None:
    until = float(RISE_AND_FALL["time"][8]) + 1.0
    with playing(tmp_path, RISE_AND_FALL, sides="both") as run:
        seen: list[int] = []

        def on_step(step: Any) -> None:
            seen.append(step.bar_time)
            if len(seen) == 3:
                run.paper.script.add(MarketClosed(until))

        replay(run.crew.steppers, run.paper, run.clock, UTC, on_step, before=run.crew.attend)
        assert longs(run) == 0
    codes = [code for purpose, code, _ in sent(tmp_path) if purpose == "exit"]
    assert codes[-1] == 10009
    assert codes.count(10009) == 1
    assert set(codes[:-1]) == {10018}
    assert len(events(tmp_path, "deferred")) == 1


def test_an_exit_that_was_put_off_is_remembered_over_a_restart(tmp_path: Path) -> None:
    until = float(RISE_AND_FALL["time"][8]) + 1.0
    with playing(tmp_path, RISE_AND_FALL[:8], sides="both") as run:
        seen: list[int] = []

        def on_step(step: Any) -> None:
            seen.append(step.bar_time)
            if len(seen) == 3:
                run.paper.script.add(MarketClosed(until))

        replay(run.crew.steppers, run.paper, run.clock, UTC, on_step, before=run.crew.attend)
        assert longs(run) == 1
    with playing(tmp_path, RISE_AND_FALL, after=seen[-1], sides="both") as run:
        run.play()
        assert longs(run) == 0


class LosesOneAnswer(ModuleTerminal):
    """The first order goes out and its answer is lost; the others are answered."""

    is_lost = False

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        answer = super().order_send(request)
        if not self.is_lost:
            self.is_lost = True
            return None
        return answer


class SendsOneNowhere(ModuleTerminal):
    """The first order never arrives, and nobody says so."""

    is_lost = False

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        if not self.is_lost:
            self.is_lost = True
            return None
        return super().order_send(request)


@pytest.mark.parametrize(
    ("seam", "outcome", "entries"), [(LosesOneAnswer, "done", 1), (SendsOneNowhere, "absent", 2)]
)
def test_an_order_without_answer_is_searched_for_between_bars(
    tmp_path: Path, seam: Callable[[Any], ModuleTerminal], outcome: str, entries: int
) -> None:
    with playing(tmp_path, DIP, seam=seam) as run:
        run.play()
        standing = run.crew.steppers[0].standing
        assert standing.state is TradingState.ACTIVE
        assert standing.unresolved == frozenset()
        assert len(run.paper.positions_get()) == 1
    with reading(tmp_path / "journal.sqlite3") as journal:
        assert next(journal.rows("results"))["outcome"] == outcome
        out = [row for row in journal.rows("intents") if row["denied"] is None]
    assert len(out) == entries
    assert len(events(tmp_path, "unresolved")) == 1
    assert len(events(tmp_path, "resolved")) == 1
    assert events(tmp_path, "adopted") == []


def managed(folder: Path, rates: Any, manage: dict[str, Any], **more: Any) -> Play:
    with playing(folder, rates, manage=manage, **more) as run:
        run.play()
    return run


# Opened at 1.05020 in the fourth bar; it rises to 1.05300 and comes back.
HILL = bars(
    "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 110 5 100\n100 210 95 200\n200 310 190 300\n"
    "300 305 290 301\n301 302 150 302\n302 310 300 303"
)


def test_f11_a_trailing_stop_is_raised_after_the_bar_and_tested_before(tmp_path: Path) -> None:
    """Trailing by 100 points: 1.05010 after the first bar, then 1.05110, then 1.05210.

    The eighth bar falls to 1.05150: out at 1.05210, the stop that stood when it began.
    """
    managed(tmp_path, HILL, {"trail_points": 100})
    with reading(tmp_path / "journal.sqlite3") as journal:
        levels = [row["request"]["sl"] for row in journal.rows("intents", "purpose = 'protect'")]
        exits = [deal for deal in journal.deals() if deal.entry == mt5.DEAL_ENTRY_OUT]
    assert levels == [1.0501, 1.0511, 1.0521]
    assert (exits[0].reason, exits[0].price) == (mt5.DEAL_REASON_SL, 1.0521)
    assert events(tmp_path, "human") == []


def test_a11_what_changes_nothing_is_not_sent(tmp_path: Path) -> None:
    """Break-even is asked for at each bar once it is reached, and sent once."""
    managed(tmp_path, HILL, {"breakeven_after_points": 50, "breakeven_plus_points": 5})
    levels = [request["sl"] for request in requests(tmp_path) if request["action"] == 6]
    assert levels == [1.05025]


def test_a_part_is_taken_once_and_the_rest_goes_on(tmp_path: Path) -> None:
    managed(tmp_path, HILL, {"partial_at_points": 70, "partial_share": 0.4}, volume=0.5)
    exits = [each for each in sent(tmp_path) if each[0] == "exit"]
    assert exits == [("exit", 10009, 0.2)]


def test_before_the_weekend_it_is_flat_and_stays_so(tmp_path: Path) -> None:
    # The tenth of March 2017 was a Friday: bars from 15:00 to Saturday.
    friday = DIP.copy()
    friday["time"] += 1_489_158_000 - int(friday["time"][0])
    with playing(tmp_path, friday, manage={"flat_before_weekend": "20:00"}) as run:
        run.play()
        assert run.paper.positions_total() == 0
    with reading(tmp_path / "journal.sqlite3") as journal:
        rows = list(journal.rows("decisions"))
    assert next(row["action"] for row in rows if "weekend" in row["reason"]) == "close"
    assert all(row["action"] != "open" for row in rows[-3:])


def test_a10_a_frozen_position_is_left_and_tried_at_the_next_bar(tmp_path: Path) -> None:
    """The freeze level is 30 points, and the stop lies within: nothing is sent, with a reason."""
    near = bars(
        "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 110 5 100\n100 110 15 20\n20 200 19 190\n"
        "190 195 180 185"
    )
    run = managed(tmp_path, near, {"trail_points": 100}, symbol={"trade_freeze_level": 30})
    assert run.folder == tmp_path
    with reading(tmp_path / "journal.sqlite3") as journal:
        rows = list(journal.rows("intents", "purpose = 'protect'"))
    assert [row["denied"] for row in rows].count("level") >= 0
    assert rows


def test_a05_every_request_takes_the_filling_of_the_symbol(tmp_path: Path) -> None:
    """A mask of IOC only: entry, part, exit carry it, and all of them succeed."""
    rates = np.concatenate([HILL[:6], later(HILL[:6])])
    managed(
        tmp_path,
        rates,
        {"partial_at_points": 70},
        volume=0.5,
        symbol={"filling_mode": 2, "trade_exemode": 2},
    )
    deals = [request for request in requests(tmp_path) if request["action"] == 1]
    assert {request["type_filling"] for request in deals} == {mt5.ORDER_FILLING_IOC}
    assert {code for _, code, _ in sent(tmp_path)} == {10009}


class SwitchesAccount(ModuleTerminal):
    """For some looks the terminal is logged in to another account, which holds nothing."""

    looks = 0

    def _is_away(self) -> bool:
        return 24 <= self.looks < 40

    def account_info(self) -> AccountInfo:
        self.looks += 1
        found = super().account_info()
        if not self._is_away():
            return found
        return AccountInfo({**found._asdict(), "login": 2}.values())

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        return () if self._is_away() else super().positions_get(symbol)


def test_what_another_account_shows_is_no_news(tmp_path: Path) -> None:
    """Somebody logs the terminal in elsewhere, and back: no second entry, nothing declined."""
    with playing(tmp_path, np.concatenate([DIP, later(DIP)]), seam=SwitchesAccount) as run:
        run.play()
        assert len(run.paper.positions_get()) == 1
        standing = run.crew.steppers[0].standing
        assert len(standing.positions) == 1
        assert standing.declined is None
    assert events(tmp_path, "human") == []
    assert any("instead of" in text for text in events(tmp_path, "alarm"))


class ForgetsSymbols(ModuleTerminal):
    """After its tenth tick the terminal was restarted: a symbol has no tick until selected."""

    ticks = 0
    is_selected = True

    def symbol_info_tick(self, symbol: str) -> Tick:
        self.ticks += 1
        if self.ticks == 10:
            self.is_selected = False
        if not self.is_selected:
            raise TerminalError("symbol_info_tick", -4, "Terminal: Not found")
        return super().symbol_info_tick(symbol)

    def symbol_select(self, symbol: str) -> None:
        self.is_selected = True
        super().symbol_select(symbol)


def test_a_symbol_that_a_restart_forgot_is_selected_again(tmp_path: Path) -> None:
    with playing(tmp_path, DIP, seam=ForgetsSymbols) as run:
        run.play()
    with reading(tmp_path / "journal.sqlite3") as journal:
        reasons = [row["reason"] for row in journal.rows("decisions")]
    assert reasons.count("the terminal did not answer") <= 1
    assert len(reasons) == len(DIP) - 3
