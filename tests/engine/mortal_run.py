"""A run that kills itself: python mortal_run.py FOLDER BARS MOMENTS

It replays the sample through the shipped model, resuming what FOLDER holds, and counts the moments
before and after each write of the journal and each order. At the given number it is gone (SIGKILL).
0 never comes: the run ends and prints how many moments there were.
"""

import os
import signal
import sys
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

MOMENTS = 0
LAST = int(sys.argv[3])


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
    print(MOMENTS)  # noqa: T201  the parent reads it


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
