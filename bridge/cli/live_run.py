"""Mode live: a settings file's strategies on a real terminal, resumed where they stopped."""

from collections.abc import Sequence
from pathlib import Path

from bridge.cli.begin import begin_run
from bridge.cli.chores import Chores, assign
from bridge.cli.live_connect import check_real, connect, kind_of, tenure
from bridge.cli.live_ready import members, settled_server
from bridge.cli.log import Watcher
from bridge.cli.state import JOURNAL
from bridge.clock import Clock
from bridge.engine.crew import muster
from bridge.engine.jobs import Jobs
from bridge.engine.lease import leased
from bridge.engine.live import Runner, live
from bridge.engine.pace import Pace
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy, load_strategies
from bridge.journal.read import JournalReader, reading
from bridge.journal.schema import create
from bridge.journal.write import Journal
from bridge.settings import BridgeSettings
from bridge.terminal.host.terminal import HostTerminal


def run_live(
    settings: BridgeSettings,
    terminal: HostTerminal,
    *,
    clock: Clock,
    stop: Stop,
    watcher: Watcher,
    leases: Path,
) -> None:
    """Run until somebody asks to stop; what the state folder has goes on.

    Args:
        settings: Of mode live.
        terminal: Not connected yet.
        clock: The computer's.
        stop: Looked at between bars; breaks off what connects or loads.
        watcher: Told of steps, events and of what is waited for.
        leases: Folder of the locks that keep two programs off one strategy.

    Raises:
        NotConnected: There is no terminal, or it does not answer in time.
        WrongAccount: It is logged in to another account.
        ConfigError: A symbol, the clock rule or the account is not what the settings say, or
            another program trades the same.
        Stopped: Somebody asked to stop before the run had begun.
    """
    strategies = load_strategies(settings.strategy)
    with stop.breaking_off():
        connect(terminal, clock, settings.terminal, watcher)
        account = terminal.account_info()
        check_real(account, settings)
        watcher.note(f"live on {kind_of(account)} account {account.login} at {account.server}")
    state = Path(settings.state)
    with leased(leases, tenure(account, settings)):
        create(state / JOURNAL).close()
        with (
            reading(state / JOURNAL) as past,
            Journal(state / JOURNAL, clock, watcher.on_event) as journal,
        ):
            begin_run(journal, settings, strategies, account)
            try:
                _trade(settings, strategies, terminal, journal, past, clock, stop, watcher)
            finally:
                journal.end_run(stop.reason or "an error ended it")


def _trade(
    settings: BridgeSettings,
    strategies: Sequence[Strategy],
    terminal: HostTerminal,
    journal: Journal,
    past: JournalReader,
    clock: Clock,
    stop: Stop,
    watcher: Watcher,
) -> None:
    with stop.breaking_off():
        server = settled_server(settings, terminal, journal, past, clock)
        watcher.note(f"the server's clock follows {server.name}")
        found = list(members(strategies, terminal, past, clock, server))
    crew = muster(
        found,
        terminal,
        journal,
        past,
        clock=clock,
        server=server,
        limits=settings.limits,
        state=Path(settings.state),
        search=Search(),
        deals_since=int(server.from_utc(clock.now())),
    )
    jobs = Jobs(journal)
    magics = frozenset(each.settings.magic for each in strategies)
    chores = Chores(terminal, journal, crew, clock, server, Path(settings.state), magics)
    assign(jobs, settings, chores)
    live(
        [
            Runner(stepper, Pace(member.strategy.timeframe, server), member.after)
            for member, stepper in zip(found, crew.steppers, strict=True)
        ],
        clock=clock,
        journal=journal,
        jobs=jobs,
        stop=stop,
        on_step=watcher.on_step,
        attend=crew.attend,
    )
    chores.snapshot()
