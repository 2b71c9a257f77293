"""Mode dry-run: a settings file's strategies on a real terminal's prices, and on paper."""

from contextlib import closing
from pathlib import Path

from bridge.cli.live_connect import connect, kind_of, tenure
from bridge.cli.log import Watcher
from bridge.cli.state import DRY_ACCOUNT
from bridge.cli.terminal_run import Run, trade
from bridge.clock import Clock
from bridge.engine.lease import leased
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import load_strategies
from bridge.mt5.servertime import ServerClock
from bridge.settings import BridgeSettings
from bridge.terminal.dryrun.terminal import DryTerminal, open_dry
from bridge.terminal.host.terminal import HostTerminal
from bridge.terminal.paper.profile import BrokerProfile


def run_dry(
    settings: BridgeSettings,
    terminal: HostTerminal,
    *,
    clock: Clock,
    stop: Stop,
    watcher: Watcher,
    leases: Path,
) -> None:
    """Run until somebody asks to stop; what the state folder has goes on. Nothing is sent.

    The account may be of any type, and the login an investor's.

    Args:
        settings: Of mode dry-run.
        terminal: Not connected yet; it is read only.
        clock: The computer's.
        stop: Looked at between bars; breaks off what connects or loads.
        watcher: Told of steps, events and of what is waited for.
        leases: Folder of the locks that keep two programs off one strategy.

    Raises:
        NotConnected: There is no terminal, or it does not answer in time.
        WrongAccount: It is logged in to another account.
        ConfigError: A symbol, the clock rule, the paper account or its currency is not what the
            settings say, or another program makes the same dry run.
        Stopped: Somebody asked to stop before the run had begun.
    """
    strategies = load_strategies(settings.strategy)
    costs = BrokerProfile.load(settings.paper.profile) if settings.paper.profile else None
    symbols = list(dict.fromkeys(each.symbol for each in settings.strategy))
    with stop.breaking_off():
        connect(terminal, clock, settings.terminal, watcher)
        account = terminal.account_info()
        whose = f"{kind_of(account)} account {account.login} at {account.server}"
        watcher.note(f"dry-run at the prices of {whose}: orders are on paper, nothing is sent")

    def desk(server: ServerClock) -> closing[DryTerminal]:
        dry = open_dry(
            terminal,
            symbols,
            clock=clock,
            server_clock=server.name,
            account=Path(settings.state) / DRY_ACCOUNT,
            deposit=settings.paper.deposit,
            costs=costs,
        )
        return closing(dry)

    run = Run(
        settings=settings,
        strategies=strategies,
        terminal=terminal,
        account=account,
        desk=desk,
        # The paper account lives in this process and dies with it.
        search=Search(is_certain=True),
        clock=clock,
        stop=stop,
        watcher=watcher,
    )
    with leased(leases, tenure(account, settings)):
        trade(run)
