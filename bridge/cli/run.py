"""``mt5-onnx run``: the strategies of a settings file, until the recording ends or Ctrl-C."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.cli.log import Watcher
    from bridge.engine.stop import Stop
    from bridge.settings import BridgeSettings

_INTERRUPTED = 130


def run(
    config: ConfigOption = SETTINGS,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help='Send orders to the terminal; the file has to say mode = "live", too.',
        ),
    ] = False,
    speed: Annotated[
        float | None,
        typer.Option(
            min=1.0,
            help="Mode paper: replay at so many times real time; without it, as the settings say.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run the strategies; a run that was stopped or killed goes on where it was.

    Mode paper replays recorded bars on a paper account. Mode dry-run follows the prices of the
    MetaTrader 5 terminal and sends nothing: account and orders are on paper. Mode live trades the
    terminal: it needs mode = "live" in the file and --live, and allow_real = true for a REAL
    account.
    """
    from bridge.cli.log import Watcher
    from bridge.engine.stop import Stop, Stopped
    from bridge.settings import Mode

    settings = read_settings(config)
    _check_mode(settings.mode, live=live, speed=speed, where=str(config))
    with Stop().on_signals() as stop, closing(Watcher(settings, typer.echo)) as watcher:
        typer.echo(f"state: {settings.state}; Ctrl-C stops, and the next run goes on from there")
        try:
            has_ended = settings.mode is Mode.PAPER and _paper(settings, speed, stop, watcher)
            if settings.mode is not Mode.PAPER:
                _on_terminal(settings, stop, watcher)
        except Stopped:  # while it connected or loaded; nothing had begun
            has_ended = False
    if has_ended:
        typer.echo("the recording has ended; positions stay open in the paper account")
        return
    typer.echo(f"stopped by {stop.reason}")
    if stop.reason == "SIGINT":
        raise typer.Exit(_INTERRUPTED)


def _check_mode(mode: str, *, live: bool, speed: float | None, where: str) -> None:
    from bridge.errors import ConfigError
    from bridge.settings import Mode

    if mode == Mode.LIVE and not live:
        raise ConfigError(
            f'{where}: mode = "live" sends orders to the terminal: say so a second time, '
            "mt5-onnx run --live"
        )
    if mode != Mode.LIVE and live:
        raise ConfigError(
            f'--live is for mode = "live", and {where} says mode = "{mode}": change one of them'
        )
    if mode != Mode.PAPER and speed is not None:
        raise ConfigError("--speed is for mode paper: a terminal has no other speed than its own")


def _paper(
    settings: "BridgeSettings", speed: float | None, stop: "Stop", watcher: "Watcher"
) -> bool:
    from bridge.cli.paper_run import run_paper

    return run_paper(settings, speed=speed or settings.paper.speed, stop=stop, watcher=watcher)


def _on_terminal(settings: "BridgeSettings", stop: "Stop", watcher: "Watcher") -> None:
    from bridge.cli.dry_run import run_dry
    from bridge.cli.live_run import run_live
    from bridge.cli.live_terminal import terminal_of
    from bridge.clock import SystemClock
    from bridge.engine.lease import lease_folder
    from bridge.settings import Mode

    clock = SystemClock()
    with closing(terminal_of(settings.terminal, clock)) as terminal:
        run_it = run_live if settings.mode is Mode.LIVE else run_dry
        run_it(settings, terminal, clock=clock, stop=stop, watcher=watcher, leases=lease_folder())
