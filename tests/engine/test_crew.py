"""The crew on the paper terminal: watched at the worst price, started again, alike in any zone."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_support import begin
from models_support import write_last_move
from terminal.paper_desk import profile, spec

from bridge.clock import ManualClock
from bridge.engine.crew import Crew, Member, muster
from bridge.engine.replay import replay
from bridge.engine.settle import Search
from bridge.engine.strategy import load_strategy
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import timeframe
from bridge.risk.guard import TradingState
from bridge.settings import LimitSettings, StrategySettings
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.terminal import PaperTerminal

START = parse("2017.03.14 10:00")
UTC = server_clock("utc")
H1 = timeframe("H1")
PLAIN = LimitSettings(daily_loss_share=None, max_drawdown_share=None)


def bars(text: str, *, start: int = START) -> RatesArray:
    """Return H1 bars from rows ``O H L C`` in points above 1.05000."""
    rows = [[1.05 + int(word) / 100_000 for word in line.split()] for line in text.split("\n")]
    return rates_of(
        (start + 3600 * number, *[round(price, 5) for price in row], 100, 10, 0)
        for number, row in enumerate(rows)
    )


@dataclass
class Play:
    """A crew of one on a paper terminal whose account is kept in a file."""

    folder: Path
    paper: PaperTerminal
    clock: ManualClock
    crew: Crew

    def play(self) -> None:
        replay(
            self.crew.steppers,
            self.paper,
            self.clock,
            UTC,
            lambda step: None,
            before=self.crew.attend,
        )


@contextmanager
def playing(
    folder: Path,
    rates: RatesArray,
    *,
    limits: LimitSettings = PLAIN,
    volume: float = 1.0,
    after: int | None = None,
    seam: Callable[[PaperTerminal], Terminal] = ModuleTerminal,
    patience: bool = False,
    manage: dict[str, Any] | None = None,
    symbol: dict[str, Any] | None = None,
    sides: str = "long",
    deals_since: bool = False,
) -> Iterator[Play]:
    decision = {"open_at": 0.5, "stop_points": 5_000, "range_bars": 2, "sides": sides}
    model = write_last_move(folder / "model.onnx", server_clock="utc", decision=decision)
    strategy = load_strategy(
        StrategySettings.model_validate(
            {
                "model": str(model),
                "symbol": "EURUSD",
                "timeframe": "H1",
                "magic": 7,
                "manage": manage or {},
                "risk": {
                    "volume": volume,
                    "max_volume": 50.0,
                    "daily_loss_share": None,
                    "max_drawdown_share": None,
                },
            }
        )
    )
    broker = profile({"EURUSD": spec(**(symbol or {}))})
    first = strategy.depth - 1
    after = int(rates["time"][first - 1]) if after is None else after
    clock = ManualClock(float(rates["time"][int(rates["time"].searchsorted(after)) + 1]))
    with (
        closing(
            PaperTerminal(broker, {"EURUSD": (H1, rates)}, clock, folder / "account.sqlite3")
        ) as paper,
        Journal(folder / "journal.sqlite3", clock) as journal,
        reading(journal.path) as past,
    ):
        paper.initialize()
        begin(journal)
        crew = muster(
            [Member(strategy, after)],
            seam(paper),
            journal,
            past,
            clock=clock,
            server=UTC,
            limits=limits,
            state=folder,
            search=Search(seconds=5.0, is_certain=not patience),
            # The deposit is a deal of the first moment.
            deals_since=int(clock.now()) + 1 if deals_since else 0,
            lows=paper.lows,
        )
        yield Play(folder, paper, clock, crew)


def events(folder: Path, kind: str) -> list[str]:
    with reading(folder / "journal.sqlite3") as journal:
        return [row["text"] for row in journal.rows("events", "kind = ?", kind)]


def decided(folder: Path) -> list[dict[str, Any]]:
    with reading(folder / "journal.sqlite3") as journal:
        return list(journal.rows("decisions"))


# Long 1 lot at 1.05020 (a point is a dollar): the fifth bar dips by 600 points and comes back.
DIP = bars(
    "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 5 30\n30 50 -580 40\n40 60 35 50\n50 60 40 45\n"
    "45 70 40 60\n60 80 50 70\n70 90 60 80"
)


def test_the_worst_price_of_a_bar_counts_against_the_daily_loss(tmp_path: Path) -> None:
    limits = LimitSettings(daily_loss_share=0.05, max_drawdown_share=None)
    with playing(tmp_path, DIP, limits=limits) as run:
        run.play()
    told = events(tmp_path, "alarm")
    assert told == ["6.00% lost today, closed and floating; limit 5.00%"]
    equity = [row["equity"] for row in decided(tmp_path)]
    # At no look was the account that low.
    assert min(equity) > 9_900.0


def test_the_worst_price_of_a_bar_counts_against_the_drawdown(tmp_path: Path) -> None:
    limits = LimitSettings(daily_loss_share=None, max_drawdown_share=0.05)
    with playing(tmp_path, DIP, limits=limits) as run:
        run.play()
        assert run.crew.steppers[0].standing.state is TradingState.HALTED
    assert len(events(tmp_path, "halt")) == 1
    lenient = tmp_path / "lenient"
    lenient.mkdir()
    with playing(lenient, DIP, limits=LimitSettings(max_drawdown_share=0.07)) as run:
        run.play()
        assert run.crew.steppers[0].standing.state is TradingState.ACTIVE


def test_a_broken_day_stays_broken_over_a_restart_and_ends_with_it(tmp_path: Path) -> None:
    """The dip is in the second bar after the entry; the run is cut there and started again."""
    limits = LimitSettings(daily_loss_share=0.05, max_drawdown_share=None)
    day = np.concatenate([DIP[:5], bars("\n".join(["40 60 35 50"] * 20), start=START + 5 * 3600)])
    with playing(tmp_path, day[:6], limits=limits) as run:
        run.play()
    last = decided(tmp_path)[-1]["bar_time"]
    with playing(tmp_path, day, limits=limits, after=last) as run:
        standing = run.crew.steppers[0].standing
        assert standing.alarms == {"daily_loss"}
        run.play()
        assert standing.alarms == frozenset()  # it is the next day
    assert [text for text in events(tmp_path, "alarm") if "is over" in text] == [
        "daily_loss is over"
    ]


def test_kill_between_a_deposit_and_the_next_bar_forgets_no_deposit(tmp_path: Path) -> None:
    with playing(tmp_path, DIP[:6]) as run:
        replayed = run.paper
        run.play()
        replayed.deposit(5_000.0)
        run.crew.attend()
        # No decision follows: the process is gone here.
    last = decided(tmp_path)[-1]["bar_time"]
    with playing(tmp_path, DIP, after=last) as run:
        standing = run.crew.steppers[0].standing
        assert standing.baselines.peak_equity > 14_900.0
        run.crew.attend()
        assert events(tmp_path, "paid") == ["+5000.00 was paid in or out; limits follow"]


class LosesTheAnswer(ModuleTerminal):
    """The order goes out, and the process dies before the answer is written."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        super().order_send(request)
        raise KeyboardInterrupt


class SendsNothing(ModuleTerminal):
    """The process dies before the order goes out."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        raise KeyboardInterrupt


def die(folder: Path, seam: type[ModuleTerminal]) -> int:
    """Run until the first order, and return the bar behind it."""
    with playing(folder, DIP, seam=seam) as run, pytest.raises(KeyboardInterrupt):
        run.play()
    return int(decided(folder)[-1]["bar_time"])


def test_an_order_whose_answer_was_lost_is_found_after_a_restart(tmp_path: Path) -> None:
    last = die(tmp_path, LosesTheAnswer)
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        standing = run.crew.steppers[0].standing
        assert standing.state is TradingState.ACTIVE
        assert [held.volume for held in standing.positions] == [1.0]
    with reading(tmp_path / "journal.sqlite3") as journal:
        (result,) = journal.rows("results")
        (deal,) = [each for each in journal.deals() if each.type == mt5.DEAL_TYPE_BUY]
    assert result["words"] == f"found: deal #{deal.ticket}"
    assert events(tmp_path, "adopted") == []


def test_an_order_that_is_not_there_is_presumed_absent_and_adopted_later(tmp_path: Path) -> None:
    last = die(tmp_path, SendsNothing)
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        standing = run.crew.steppers[0].standing
        assert standing.state is TradingState.ACTIVE
        assert len(events(tmp_path, "absent")) == 1
        # It shows up late after all.
        answer = run.paper.order_send(
            {
                "action": mt5.TRADE_ACTION_DEAL,
                "symbol": "EURUSD",
                "volume": 1.0,
                "type": mt5.ORDER_TYPE_BUY,
                "magic": 7,
            }
        )
        assert answer.retcode == mt5.TRADE_RETCODE_DONE
        run.crew.attend()
        assert str(standing.state) == "reducing"
        assert events(tmp_path, "adopted")[0].startswith(f"position #{answer.order} (long 1 lots)")
        unprotected = f"position #{answer.order} has no stop loss: set one"
        assert events(tmp_path, "unprotected") == [unprotected]
        # A restart remembers.
    with playing(tmp_path, DIP, after=last, patience=True) as run:
        assert run.crew.steppers[0].standing.state is TradingState.REDUCING


def test_a_halt_made_while_nobody_ran_stops_what_a_crash_interrupted(tmp_path: Path) -> None:
    last = die(tmp_path, SendsNothing)
    (tmp_path / "HALT").touch()
    with playing(tmp_path, DIP, after=last) as run:
        assert run.paper.positions_total() == 0
    with reading(tmp_path / "journal.sqlite3") as journal:
        assert [row["denied"] for row in journal.rows("intents")] == [None, "state"]


SCRIPT = """
import json, sys
from pathlib import Path
from engine.test_crew import DIP, decided, playing
from bridge.settings import LimitSettings
folder = Path(sys.argv[1])
with playing(folder, DIP, limits=LimitSettings()) as run:
    run.play()
print(json.dumps(decided(folder)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no TZ")
def test_any_time_zone_of_the_computer_gives_the_same_run(tmp_path: Path) -> None:
    found = []
    tests = str(Path(__file__).parents[1])
    for number, zone in enumerate(("UTC", "Asia/Tokyo", "America/New_York")):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH", ""))))
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)],
            env={**os.environ, "TZ": zone, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))
    assert len(found[0]) > 5
    assert found[0] == found[1] == found[2]
