"""``mt5-onnx record``: what the terminal answers, in a file that can go with a bug report."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.clock import Clock
    from bridge.engine.strategy import Strategy
    from bridge.mt5.terminal import Terminal
    from bridge.settings import BridgeSettings
    from bridge.terminal.host.terminal import HostTerminal
    from bridge.terminal.tape.record import TapeWriter
    from bridge.terminal.tape.redact import Redaction

_P = ParamSpec("_P")
_T = TypeVar("_T")
_DAY = 86_400
# Days of history that are asked for.
_DAYS = 7
# Seconds between two looks, and bars that each look asks for.
_PAUSE = 1.0
_NEWEST = 3


def record(
    tape: Annotated[
        Path,
        typer.Argument(help="The new file; compressed when its name ends in .gz."),
    ],
    config: ConfigOption = SETTINGS,
    seconds: Annotated[
        float, typer.Option(min=0.0, max=86_400.0, help="How long ticks and bars are followed.")
    ] = 60.0,
    keep_server: Annotated[
        bool, typer.Option("--keep-server", help="Leave the names of server and company in it.")
    ] = False,
) -> None:
    """Write what the terminal answers, without what is private, for a bug report; no order is sent.

    It asks what a run asks: terminal, account, symbols, bars, positions, orders, a week's deals;
    then ticks, newest bars and positions, once a second. Balances and prices stay in the file.
    """
    from contextlib import closing

    from bridge.cli.live_terminal import terminal_of
    from bridge.clock import SystemClock
    from bridge.engine.strategy import load_strategies
    from bridge.terminal.tape.record import TapeWriter

    settings, clock = read_settings(config), SystemClock()
    _check(settings, config, tape)
    strategies = load_strategies(settings.strategy)
    redaction = _redaction(settings, keep_server=keep_server)
    with closing(terminal_of(settings.terminal, clock)) as terminal:
        terminal.connect()
        about = _about(terminal)
        with TapeWriter(tape, clock, redaction, about=about) as writer:
            try:
                _write(terminal, writer, strategies, clock, seconds)
            finally:  # also after Ctrl-C: what is there can be sent
                writer.close()
                _tell(writer)


def _check(settings: "BridgeSettings", config: Path, tape: Path) -> None:
    """Refuse what can be known before a terminal is asked."""
    from bridge.errors import ConfigError
    from bridge.settings import Mode

    if settings.mode is Mode.PAPER:
        raise ConfigError(
            f'{config}: mode = "paper" has no terminal to record: write "dry-run", which sends no '
            'order either, or "live"'
        )
    if tape.exists():
        raise ConfigError(f"{tape} is there already: name another file, nothing is overwritten")
    if not tape.absolute().parent.is_dir():
        raise ConfigError(
            f"the tape {tape} can't be written: make the folder {tape.absolute().parent} first"
        )


def _redaction(settings: "BridgeSettings", *, keep_server: bool) -> "Redaction":
    """Return what hides the account that the settings name, also in errors that come early."""
    from bridge.mt5.request import clip_comment
    from bridge.terminal.tape.redact import Redaction

    account = settings.terminal
    secrets = {str(account.login or ""): "<login>"}
    if account.password is not None:
        secrets[account.password.get_secret_value()] = "<password>"
    if account.server is not None and not keep_server:
        secrets[account.server] = "<server>"
    comments = {clip_comment(each.execution.comment) for each in settings.strategy}
    return Redaction(keep_server=keep_server, comments=comments, secrets=secrets)


def _about(terminal: "HostTerminal") -> str | None:
    if (about := terminal.about) is None:
        return None
    return f"Python {about.python}, MetaTrader5 {about.package}"


def _write(
    terminal: "Terminal",
    writer: "TapeWriter",
    strategies: "Sequence[Strategy]",
    clock: "Clock",
    seconds: float,
) -> None:
    from bridge.terminal.tape.record import Recorder

    recorder = Recorder(terminal, writer)
    ask_all(recorder, strategies, clock)
    until = clock.now() + seconds
    while writer.fault is None and (left := until - clock.now()) > 0:
        _progress(writer, left)
        clock.wait_until(clock.now() + min(_PAUSE, left))
        ask_again(recorder, strategies)


def ask_all(terminal: "Terminal", strategies: "Sequence[Strategy]", clock: "Clock") -> None:
    """Ask once what a run asks when it starts; a call that fails does not keep the next ones.

    Args:
        terminal: Records the answers.
        strategies: Whose symbols, and how many bars.
        clock: The computer's.
    """
    newest = int(clock.now())
    for ask in (terminal.terminal_info, terminal.account_info):
        _ask(ask)
    for symbol in _symbols(strategies):
        _ask(terminal.symbol_info, symbol)
        _ask(terminal.symbol_select, symbol)
        tick = _ask(terminal.symbol_info_tick, symbol)
        newest = max(newest, tick.time if tick else 0)
    for each in strategies:
        series = (each.settings.symbol, each.timeframe.value)
        _ask(terminal.copy_rates_from_pos, *series, 0, each.depth + 1)
    _ask(terminal.positions_get)
    _ask(terminal.orders_get)
    # A server may be hours ahead of this computer, or behind.
    span = (newest - _DAYS * _DAY, newest + _DAY)
    _ask(terminal.history_orders_get, *span)
    _ask(terminal.history_deals_get, *span)


def ask_again(terminal: "Terminal", strategies: "Sequence[Strategy]") -> None:
    """Ask what a run asks between bars.

    Args:
        terminal: Records the answers.
        strategies: Whose symbols.
    """
    for symbol in _symbols(strategies):
        _ask(terminal.symbol_info_tick, symbol)
    for each in strategies:
        series = (each.settings.symbol, each.timeframe.value)
        _ask(terminal.copy_rates_from_pos, *series, 0, _NEWEST)
    _ask(terminal.positions_get)


def _ask(verb: Callable[_P, _T], *args: _P.args, **keywords: _P.kwargs) -> _T | None:
    """Call ``verb``; an error is on the tape, and it may be what the report is about."""
    from bridge.errors import TerminalError

    with contextlib.suppress(TerminalError):
        return verb(*args, **keywords)
    return None


def _symbols(strategies: "Sequence[Strategy]") -> list[str]:
    return list(dict.fromkeys(each.settings.symbol for each in strategies))


def _progress(writer: "TapeWriter", left: float) -> None:
    """Show how long it takes, where somebody watches; the line is written over."""
    if sys.stderr.isatty():
        typer.echo(f"\r{writer.calls.total()} calls, {left:.0f} s more ", nl=False, err=True)


def _tell(writer: "TapeWriter") -> None:
    """Say where the tape is and what is not in it.

    Raises:
        ConfigError: It could not be written to its end.
    """
    from bridge.errors import ConfigError

    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)
    if writer.fault is not None:
        raise ConfigError(
            f"the tape {writer.path} was not written to its end ({writer.fault.strerror}): name a "
            "file on a disk with room"
        )
    failed = f", {writer.failed} of them failed" if writer.failed else ""
    typer.echo(f"{writer.path.absolute()}: {writer.calls.total()} calls{failed}")
    typer.echo(f"redacted: {', '.join(writer.redaction.summary)}")
    typer.echo("kept: symbols, prices, volumes, times, magic numbers, balance, profit")
