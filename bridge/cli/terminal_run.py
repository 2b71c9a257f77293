"""What live and dry runs share: strategies on a connected terminal, resumed where they stopped."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bridge.cli.begin import begin_run
from bridge.cli.chores import Chores, assign
from bridge.cli.live_ready import members, settled_server
from bridge.cli.log import Watcher
from bridge.cli.state import JOURNAL
from bridge.clock import Clock
from bridge.engine.crew import muster
from bridge.engine.jobs import Jobs
from bridge.engine.live import Runner, live
from bridge.engine.pace import Pace
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy
from bridge.errors import ConfigError
from bridge.journal.read import JournalReader, reading
from bridge.journal.schema import create
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo
from bridge.mt5.servertime import ServerClock
from bridge.mt5.terminal import Terminal
from bridge.settings import BridgeSettings

Desk = Callable[[ServerClock], AbstractContextManager[Terminal]]
"""Given the broker's clock rule, opens the terminal that takes the orders."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run on a terminal.

    Attributes:
        settings: Of mode live or dry-run.
        strategies: Theirs, loaded.
        terminal: Connected; bars and prices are its.
        account: That it shows.
        desk: Opens what takes the orders: the same terminal, or another one.
        search: How long orders are searched for.
        clock: The computer's.
        stop: Looked at between bars; breaks off what reads or loads.
        watcher: Told of steps, events and of what is waited for.
    """

    settings: BridgeSettings
    strategies: Sequence[Strategy]
    terminal: Terminal
    account: AccountInfo
    desk: Desk
    search: Search
    clock: Clock
    stop: Stop
    watcher: Watcher

    @property
    def state(self) -> Path:
        """The state folder."""
        return Path(self.settings.state)


def trade(run: Run) -> None:
    """Trade until somebody asks to stop; what the state folder has goes on.

    Raises:
        ConfigError: A symbol, the clock rule or the journal is not what the settings say.
        TerminalError: The terminal does not answer while the run is made ready.
        Stopped: Somebody asked to stop before the run had begun.
    """
    path = run.state / JOURNAL
    create(path).close()
    with reading(path) as past, Journal(path, run.clock, run.watcher.on_event) as journal:
        _check_mode(past, run)
        begin_run(journal, run.settings, run.strategies, run.account)
        try:
            with run.stop.breaking_off():
                server = settled_server(run.settings, run.terminal, journal, past, run.clock)
                run.watcher.note(f"the server's clock follows {server.name}")
                desk = run.desk(server)
            with desk as terminal:
                _trade(run, terminal, journal, past, server)
        finally:
            journal.end_run(run.stop.reason or "an error ended it")


def _check_mode(past: JournalReader, run: Run) -> None:
    """Refuse a journal of another mode: what it holds is in another account."""
    mode = run.settings.mode
    if others := sorted({row["mode"] for row in past.rows("runs")} - {mode}):
        raise ConfigError(
            f"the state folder {run.state} is of mode {', '.join(others)}, this run is of mode "
            f"{mode}, and its positions are elsewhere: name another folder as state"
        )


def _trade(
    run: Run, terminal: Terminal, journal: Journal, past: JournalReader, server: ServerClock
) -> None:
    clock = run.clock
    with run.stop.breaking_off():
        found = list(members(run.strategies, terminal, past, clock, server))
    crew = muster(
        found,
        terminal,
        journal,
        past,
        clock=clock,
        server=server,
        limits=run.settings.limits,
        state=run.state,
        search=run.search,
        deals_since=int(server.from_utc(clock.now())),
    )
    jobs = Jobs(journal)
    magics = frozenset(each.settings.magic for each in run.strategies)
    chores = Chores(terminal, journal, crew, clock, server, run.state, magics)
    assign(jobs, run.settings, chores)
    live(
        [
            Runner(stepper, Pace(member.strategy.timeframe, server), member.after)
            for member, stepper in zip(found, crew.steppers, strict=True)
        ],
        clock=clock,
        journal=journal,
        jobs=jobs,
        stop=run.stop,
        on_step=run.watcher.on_step,
        attend=crew.attend,
    )
    chores.snapshot()
