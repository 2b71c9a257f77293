"""Mode paper: a settings file's strategies on the paper terminal, resumed where they stopped."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bridge.cli.begin import begin_run
from bridge.cli.chores import Chores, assign
from bridge.cli.log import Watcher
from bridge.cli.recording import Recording, beginning, load_recording
from bridge.cli.state import ACCOUNT, JOURNAL
from bridge.clock import Clock, ManualClock, ScaledClock
from bridge.engine.crew import Member, muster
from bridge.engine.jobs import Jobs
from bridge.engine.replay import replay
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy, load_strategies
from bridge.errors import StateMismatch
from bridge.journal.read import JournalReader, reading
from bridge.journal.schema import create
from bridge.journal.write import Journal
from bridge.mt5.servertime import text
from bridge.settings import BridgeSettings, PaperSettings
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.terminal import PaperTerminal

# How long a signal may go unnoticed in a replay that takes its time, real seconds.
_PATIENCE = 0.2


def run_paper(
    settings: BridgeSettings, *, speed: float | None, stop: Stop, watcher: Watcher
) -> bool:
    """Run until the recording ends or somebody asks to stop; what the state folder has goes on.

    Args:
        settings: Of mode paper.
        speed: Replay seconds a real second; None is as fast as it goes.
        stop: Looked at between bars.
        watcher: Told of each step and event.

    Returns:
        Whether the recording has ended.
    """
    recording = load_recording(settings)
    strategies = load_strategies(settings.strategy)
    recording.check(strategies)
    state = Path(settings.state)
    create(state / JOURNAL).close()
    with reading(state / JOURNAL) as past:
        known = [_decided(each, recording, past) for each in strategies]
        begin = beginning(strategies, recording, known=known)
        clock = _clock(recording.server.to_utc(begin.opens), recording, speed)
        with (
            playing(recording, settings.paper, clock, state / ACCOUNT) as paper,
            Journal(state / JOURNAL, clock, watcher.on_event) as journal,
        ):
            terminal = ModuleTerminal(paper)
            begin_run(journal, settings, strategies, terminal.account_info())
            crew = muster(
                [Member(*pair) for pair in zip(strategies, begin.after, strict=True)],
                terminal,
                journal,
                past,
                clock=clock,
                server=recording.server,
                limits=settings.limits,
                state=state,
                search=Search(is_certain=True),
                lows=paper.lows,
            )
            jobs = Jobs(journal)
            magics = frozenset(each.settings.magic for each in strategies)
            chores = Chores(terminal, journal, crew, clock, recording.server, state, magics)
            assign(jobs, settings, chores)

            def before() -> None:
                crew.attend()
                jobs.run_due()

            has_ended = replay(
                crew.steppers,
                paper,
                clock,
                recording.server,
                watcher.on_step,
                before=before,
                stop=stop,
                longest_wait=_PATIENCE * speed if speed else float("inf"),
            )
            chores.snapshot()
            journal.end_run("the recording has ended" if has_ended else stop.reason)
            return has_ended


def _clock(start: float, recording: Recording, speed: float | None) -> Clock:
    if speed is None:
        return ManualClock(start)
    longest = max(frame.seconds for frame, _ in recording.bars.values())
    return ScaledClock(start, speed=speed, longest_wait=longest)


@contextmanager
def playing(
    recording: Recording, settings: PaperSettings, clock: Clock, account: Path | None
) -> Iterator[PaperTerminal]:
    """Open the paper terminal on a recording, and close it.

    Args:
        recording: What is played.
        settings: How it is played.
        clock: Of the run.
        account: File of the account; None keeps it in memory.
    """
    prices = Prices(settings.prices)
    played = recording.played(prices)
    with closing(PaperTerminal(recording.profile, played, clock, account, prices=prices)) as paper:
        paper.initialize()
        yield paper


def _decided(strategy: Strategy, recording: Recording, past: JournalReader) -> int | None:
    """Return the last bar that the journal has, or None."""
    settings, times = strategy.settings, recording.times(strategy)
    last = past.last_decision(settings.magic, settings.symbol)
    if last is None:
        return None
    if last["bar_time"] not in times[:-1]:
        raise StateMismatch(
            f"{settings.title}: the journal decided the bar {text(last['bar_time'])}, which the "
            "recording does not have: name the bars of that run, or another state folder"
        )
    return int(last["bar_time"])
