"""Runs that kill themselves, each a process of its own, forked from this one: python mortal_run.py

For each line ``{"folder", "bars", "until"}`` a child replays the sample through the shipped model,
resuming what the folder holds, and counts the moments before and after each write of the journal
and each order. At the number ``until`` it is gone (SIGKILL); 0 never comes. The answer is a line
``{"status", "moments"}``: the child's exit code, below 0 for a signal, and how many moments it had.
"""

import json
import os
import signal
import sys
import traceback
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from journal_support import begin

from bridge.cli.sample import MAGIC, SYMBOL, TIMEFRAME, find_model, load_sample, make_crew
from bridge.clock import ManualClock
from bridge.engine.replay import flatten_all, replay
from bridge.engine.strategy import Strategy
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.model.load import load_model
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.mt5.timeframes import timeframe
from bridge.settings import StrategySettings
from bridge.terminal.adapter import ModuleTerminal

MOMENTS = LAST = 0


def moment() -> None:
    global MOMENTS
    MOMENTS += 1
    if MOMENTS == LAST:
        os.kill(os.getpid(), signal.SIGKILL)


class MortalTerminal(ModuleTerminal):
    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        moment()
        answer = super().order_send(request)
        moment()
        return answer


class MortalJournal(Journal):
    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in ("decision", "intent", "result", "deals", "denied", "event"):
            return found

        def mortal(*args: Any, **keywords: Any) -> Any:
            moment()
            answer = found(*args, **keywords)
            moment()
            return answer

        return mortal


def main(folder: Path, bars: int) -> None:
    # The file is one that was just tried; a child process for each start would only cost time.
    model = load_model(find_model("eurusd_h1_direction"), probe=False)
    settings = StrategySettings(
        model=str(model.path), symbol=SYMBOL, timeframe=TIMEFRAME, magic=MAGIC
    )
    strategy = Strategy(settings, model, timeframe(TIMEFRAME), model.contract.decision)
    sample = load_sample(strategy)
    sample = replace(sample, rates=sample.rates[: sample.first + bars])
    times = sample.rates["time"].tolist()
    clock = ManualClock(sample.server.to_utc(sample.opens))
    with MortalJournal(folder / "journal.sqlite3", clock) as journal, reading(journal.path) as past:
        last = past.last_decision(MAGIC, SYMBOL)
        decided = times[sample.first - 1] if last is None else last["bar_time"]
        clock.wait_until(sample.server.to_utc(times[times.index(decided) + 1]))
        with closing(sample.terminal(clock, folder / "account.sqlite3")) as paper:
            begin(journal)
            crew = make_crew(
                sample, strategy, paper, journal, past, clock, after=decided, seam=MortalTerminal
            )
            replay(
                crew.steppers, paper, clock, sample.server, lambda step: None, before=crew.attend
            )
            flatten_all(crew.steppers, "the recording has ended")


def live(folder: Path, bars: int, until: int) -> dict[str, int]:
    """Run in a child process; a new interpreter for each life would take longer than the life."""
    global LAST
    LAST = until
    end, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            main(folder, bars)
            os.write(writing, str(MOMENTS).encode())
            status = 0
        except BaseException:  # noqa: BLE001  the parent of the parent reads it
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(end) as told:
        return {"status": status, "moments": int(told.read() or 0)}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        answer = live(Path(asked["folder"]), asked["bars"], asked["until"])
        print(json.dumps(answer), flush=True)  # noqa: T201  the tests read it
