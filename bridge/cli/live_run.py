"""Mode live: a settings file's strategies on a real terminal."""

from contextlib import ExitStack, nullcontext
from pathlib import Path

from bridge.cli.live_connect import check_real, connect, kind_of, tenure
from bridge.cli.log import Watcher
from bridge.cli.terminal_run import Run, trade
from bridge.clock import Clock
from bridge.engine.lease import leased, terminals_folder
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import load_strategies
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
    run = Run(
        settings=settings,
        strategies=strategies,
        terminal=terminal,
        account=account,
        desk=lambda server: nullcontext(terminal),
        search=Search(),
        clock=clock,
        stop=stop,
        watcher=watcher,
    )
    with ExitStack() as held:
        advisors = terminals_folder(terminal.terminal_info().commondata_path)
        for folder in filter(None, (leases, advisors)):
            held.enter_context(leased(folder, tenure(account, settings)))
        trade(run)
