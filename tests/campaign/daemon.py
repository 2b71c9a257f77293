"""The program on a stage: recovered from its journal, run by its live loop, gone at a doom."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from journal_support import begin

from bridge.cli.live_ready import members
from bridge.cli.particulars import account_facts
from bridge.clock import Clock
from bridge.engine.crew import Crew, muster
from bridge.engine.jobs import Jobs
from bridge.engine.live import Runner, live
from bridge.engine.pace import Pace
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5.terminal import Terminal
from campaign.stage import JOURNAL, M1, UTC, Stage

_WRITES = frozenset({"decision", "intent", "denied", "result", "deals", "event"})


class MortalJournal(Journal):
    """A journal that tells of the moment before and the moment after each write."""

    def __init__(self, path: Path, clock: Clock, moment: Callable[[], None]) -> None:
        self._moment = moment
        super().__init__(path, clock)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in _WRITES:
            return found

        def mortal(*args: Any, **keywords: Any) -> Any:
            self._moment()
            answer = found(*args, **keywords)
            self._moment()
            return answer

        return mortal


class Unhurried:
    """The daemon's clock: it waits longer than it is asked to, but not past a bar's open.

    Args:
        inner: The world's clock.
        quantum: Seconds of a wait.
        lag: Seconds after an open at which it is noticed.
    """

    def __init__(self, inner: Clock, quantum: float, lag: float) -> None:
        self._inner = inner
        self._quantum = quantum
        self._lag = lag

    def now(self) -> float:
        return self._inner.now()

    def wait_until(self, instant: float) -> None:
        now = self._inner.now()
        noticed = ((now - self._lag) // 60.0 + 1.0) * 60.0 + self._lag
        self._inner.wait_until(max(instant, min(now + self._quantum, noticed)))


class Daemon:
    """One life of the program, from its start to its end.

    Args:
        stage: Its world.
        moment: Called before and after each write of the journal.

    Raises:
        TerminalError: The terminal did not answer, so that it could not start.
    """

    def __init__(self, stage: Stage, moment: Callable[[], None] = lambda: None) -> None:
        self._stage = stage
        plan = stage.plan
        self._clock = Unhurried(stage.clock, plan.quantum, plan.lag)
        self._files = ExitStack()
        stage.is_alive = True
        try:
            path = stage.folder / JOURNAL
            journal = MortalJournal(path, self._clock, moment)
            self.journal = self._files.enter_context(journal)
            self.crew = self._start(stage.faulty)
        except BaseException:
            self.close()
            raise

    def _start(self, terminal: Terminal) -> Crew:
        stage, past = self._stage, self._files.enter_context(reading(self.journal.path))
        # The account that the settings name, whatever the terminal shows.
        begin(self.journal, account=account_facts(stage.paper.account_info()))
        for strategy in stage.strategies:
            terminal.symbol_select(strategy.settings.symbol)
        found = list(members(stage.strategies, terminal, past, self._clock, UTC))
        crew = muster(
            found,
            terminal,
            self.journal,
            past,
            clock=self._clock,
            server=UTC,
            limits=stage.plan.limits,
            state=stage.folder,
            search=Search(),
            deals_since=int(stage.clock.now()),
        )
        self._runners = [
            Runner(stepper, Pace(M1, UTC), member.after)
            for member, stepper in zip(found, crew.steppers, strict=True)
        ]
        return crew

    def run(self, until: float) -> None:
        """Live until an instant, UTC epoch seconds."""
        live(
            self._runners,
            clock=self._clock,
            journal=self.journal,
            jobs=Jobs(self.journal),
            stop=Stop(),
            on_step=lambda step: None,
            attend=self.crew.attend,
            is_over=lambda: self._clock.now() >= until,
        )

    def close(self) -> None:
        """End, however it came to that: the journal is let go as it is."""
        self._stage.is_alive = False
        self._files.close()
