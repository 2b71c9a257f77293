"""Run a back-test: the daemon's path over a recording, in a folder and a journal of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import cast

from bridge.cli.begin import begin_run
from bridge.cli.paper_run import playing
from bridge.cli.recording import Beginning, Recording, beginning
from bridge.cli.state import ACCOUNT, JOURNAL
from bridge.clock import Clock, ManualClock
from bridge.engine.backtest import Playing, backtest
from bridge.engine.crew import Member
from bridge.engine.replay import Recorded
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy
from bridge.journal.buffered import BufferedJournal
from bridge.mt5.records import AccountInfo
from bridge.mt5.terminal import Terminal
from bridge.settings import BridgeSettings
from bridge.terminal.paper.terminal import PaperTerminal

ENDED = "the recording has ended"

Seam = Callable[[PaperTerminal, Recording, Clock], Terminal]
"""Makes a terminal of the paper terminal; a stress gives it faults."""


def plain(paper: PaperTerminal, recording: Recording, clock: Clock) -> Terminal:
    """Return the paper terminal as it is."""
    return paper.direct()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is tested.

    Attributes:
        settings: With all changes that the command line asks for.
        recording: The market.
        strategies: Makes the strategies; given the recording, which an honest one never looks at.
        since: Bars that open before this server time are seen, and not decided; None decides all.
    """

    settings: BridgeSettings
    recording: Recording
    strategies: Callable[[Recording], Sequence[Strategy]]
    since: int | None = None

    def span(self) -> tuple[int, int]:
        """Return the server times between which it plays, roughly: to show how far it is."""
        times = [bars["time"] for _, bars in self.recording.bars.values()]
        first = min(int(each[0]) for each in times)
        return max(first, self.since or first), max(int(each[-1]) for each in times)


@dataclass(frozen=True, slots=True)
class Played:
    """How a back-test ended.

    Attributes:
        folder: Where its journal and account are.
        has_ended: Whether it came to the end of the recording.
        account: At the end.
        positions: Open at the end.
        strategies: What was tested.
        begin: Where it began.
    """

    folder: Path
    has_ended: bool
    account: AccountInfo
    positions: int
    strategies: tuple[Strategy, ...]
    begin: Beginning

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self.folder / JOURNAL


def play(
    plan: Plan,
    folder: Path,
    *,
    stop: Stop | None = None,
    on_progress: Callable[[int], None] = lambda server_time: None,
    seam: Seam = plain,
    until: float = inf,
) -> Played:
    """Play a plan to its end, or until somebody asks to stop.

    Args:
        plan: What is tested.
        folder: Empty; journal and account are made in it.
        stop: Looked at between bars.
        on_progress: Told the server's time, epoch seconds, now and then.
        seam: Makes a terminal of the paper terminal.
        until: Server time of the last bar's open that is seen.

    Raises:
        ConfigError: There are too few bars.
        ContractError: The bars are not what a model was made for.
    """
    recording, stop = plan.recording, stop or Stop()
    # What is known ahead is known of the paper terminal, not of what a seam makes of it.
    is_plain = seam is plain and until == inf
    strategies = tuple(plan.strategies(recording))
    recording.check(strategies)
    begin = beginning(strategies, recording, since=plan.since)
    clock = ManualClock(recording.server.to_utc(begin.opens))
    with (
        playing(recording, plan.settings.paper, clock, folder / ACCOUNT) as paper,
        BufferedJournal(folder / JOURNAL, clock) as journal,
    ):
        terminal = seam(paper, recording, clock)
        begin_run(journal, plan.settings, strategies, terminal.account_info(), mode="backtest")
        members = [Member(*each) for each in zip(strategies, begin.after, strict=True)]
        _, has_ended = backtest(
            members,
            [recording.rates(each) for each in strategies],
            terminal,
            paper if is_plain else cast(Playing, _Until(paper, until)),
            journal,
            journal.reader(),
            clock=clock,
            server=recording.server,
            limits=plan.settings.limits,
            state=folder,
            lows=paper.lows,
            on_progress=on_progress,
            stop=stop,
        )
        journal.end_run(ENDED if has_ended else stop.reason)
        account, positions = terminal.account_info(), terminal.positions_get()
    return Played(folder, has_ended, account, len(positions), strategies, begin)


class _Until:
    """A recording that shows its end earlier, and tells nothing ahead."""

    def __init__(self, recorded: Recorded, until: float) -> None:
        self._recorded = recorded
        self._until = until

    def event_times(self) -> None:
        """Tell nothing: every bar is stepped to."""

    def next_event_time(self) -> int | None:
        opens = self._recorded.next_event_time()
        return None if opens is None or opens > self._until else opens
