"""Back-test: the plain replay over bars that are all known, so that much can be done ahead.

The path is the live one. What is done ahead changes no number: it only makes the run shorter.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from bridge.clock import Clock
from bridge.engine.course import course_of
from bridge.engine.crew import Crew, Member, muster
from bridge.engine.leap import Foreseeing, Leap
from bridge.engine.replay import Recorded, replay
from bridge.engine.settle import Search
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.engine.watch import Lows
from bridge.journal.buffered import BufferedJournal
from bridge.journal.read import JournalReader
from bridge.journal.write import Journal
from bridge.model.batched import batched
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock
from bridge.mt5.terminal import Terminal
from bridge.settings import LimitSettings


class Playing(Recorded, Foreseeing, Protocol):
    """A terminal that plays a recording, and can tell ahead."""


def _nothing(step: Step) -> None:
    """Watch no step."""


def backtest(
    members: Sequence[Member],
    bars: Sequence[RatesArray],
    terminal: Terminal,
    recorded: Playing,
    journal: Journal,
    past: JournalReader,
    *,
    clock: Clock,
    server: ServerClock,
    limits: LimitSettings,
    state: Path,
    lows: Lows,
    on_step: Callable[[Step], None] = _nothing,
    on_progress: Callable[[int], None] = lambda bar_time: None,
    stop: Stop | None = None,
) -> tuple[Crew, bool]:
    """Play strategies over a recording to its end, or until somebody asks to stop.

    Args:
        members: The strategies, each with the last bar that is not to be decided.
        bars: For each member all bars of its timeframe, oldest first, closed ones and the last.
        terminal: Where they trade: over the paper terminal.
        recorded: The paper terminal itself.
        journal: Of the run, begun; ended by the caller.
        past: The same journal, to read.
        clock: A manual one, at the open of the first bar.
        server: The broker's clock rule.
        limits: Of the account.
        state: The state folder.
        lows: ``PaperTerminal.lows``.
        on_step: Told of steps that did something; those that held may be left out.
        on_progress: Told the newest bar's open, server epoch seconds, now and then.
        stop: Looked at between bars.

    Returns:
        The crew as it stands at the end, and whether the recording has ended.

    Raises:
        ConfigError: Two strategies on one symbol of a netting account, or the news can't be read.
        TerminalError: The terminal does not answer.
    """
    ready = [
        replace(each, strategy=replace(each.strategy, model=batched(each.strategy.model, rates)))
        for each, rates in zip(members, bars, strict=True)
    ]
    crew = muster(
        ready,
        terminal,
        journal,
        past,
        clock=clock,
        server=server,
        limits=limits,
        state=state,
        search=Search(is_certain=True),
        lows=lows,
    )

    def before() -> None:
        crew.attend()
        on_progress(int(server.from_utc(clock.now())))

    leap = _leap(
        crew, ready, bars, terminal, recorded, journal, clock=clock, server=server, limits=limits
    )
    has_ended = replay(
        crew.steppers, recorded, clock, server, on_step, before=before, stop=stop, leap=leap
    )
    return crew, has_ended


def _leap(
    crew: Crew,
    members: Sequence[Member],
    bars: Sequence[RatesArray],
    terminal: Terminal,
    recorded: Foreseeing,
    journal: Journal,
    *,
    clock: Clock,
    server: ServerClock,
    limits: LimitSettings,
) -> Callable[[], object]:
    """Return what moves over quiet bars; it does nothing where nothing can be said ahead."""
    stops = recorded.event_times()
    if stops is None or not isinstance(journal, BufferedJournal):
        return lambda: None
    courses, tracks = [], []
    for member, stepper, rates in zip(members, crew.steppers, bars, strict=True):
        made = course_of(member.strategy, stepper, rates, stops, recorded, limits)
        if made is None:
            return lambda: None
        courses.append(made[0])
        tracks.append(made[1])
    return Leap(
        crew,
        courses,
        [journal.track(each) for each in tracks],
        stops,
        terminal,
        recorded,
        journal,
        clock=clock,
        server=server,
        limits=limits,
    )
