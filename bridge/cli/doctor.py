"""``mt5-onnx doctor``: is everything there that a run needs, and what to do if it is not."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.cli.recording import Recording
    from bridge.doctor.finding import Finding
    from bridge.doctor.ground import Connect, Connection
    from bridge.settings import BridgeSettings
    from bridge.terminal.host.terminal import HostTerminal

# Grade -> how a line begins, and its colour; an output that is no terminal gets no colours.
_MARKS = {
    "ok": ("  ok", typer.colors.GREEN),
    "warn": ("warn", typer.colors.YELLOW),
    "fail": ("FAIL", typer.colors.RED),
    "skipped": ("skip", typer.colors.BRIGHT_BLACK),
}
# Columns before what was found, at least.
_WIDTH = 26


def doctor(
    config: ConfigOption = SETTINGS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check settings, disk, terminal, account, symbols, clock and models; nothing is sent."""
    from bridge.doctor.finding import exit_code

    findings: list[Finding] = []
    for finding in _findings(config, keep_fault=as_json):
        if not as_json:
            _show(finding, after=findings)
        findings.append(finding)
    if as_json:
        typer.echo(_as_json(findings))
    else:
        typer.echo(_summary(findings))
    raise typer.Exit(exit_code(findings))


def _findings(config: Path, *, keep_fault: bool) -> "Iterator[Finding]":
    """Give all findings; an unreadable file is one when it has to be, and is raised otherwise."""
    from bridge.clock import SystemClock
    from bridge.doctor.examine import examine
    from bridge.doctor.finding import fail
    from bridge.errors import ConfigError

    try:
        settings = read_settings(config)
    except ConfigError as error:
        if not keep_fault:
            raise
        todo = "correct the file as it says"
        yield replace(fail(error.exit_code, str(error), todo), check="settings")
        return
    yield from examine(settings, _way(settings), SystemClock(), config)


def _way(settings: "BridgeSettings") -> "Connect":
    from bridge.cli.live_terminal import terminal_of
    from bridge.clock import SystemClock
    from bridge.settings import Mode

    if settings.mode is Mode.PAPER:
        return partial(over_recording, settings)
    return lambda: over_terminal(terminal_of(settings.terminal, SystemClock()))


@contextmanager
def over_terminal(made: "HostTerminal") -> "Iterator[Connection]":
    """Connect to a real terminal; a fault is told with the versions that answered before it.

    Args:
        made: Not connected yet; it is closed at the end.
    """
    from bridge.clock import SystemClock
    from bridge.doctor.ground import Connection
    from bridge.errors import TerminalError

    fault = None
    with closing(made):
        try:
            made.connect()
        except TerminalError as error:
            fault = error
        about = made.about and f"Python {made.about.python}, MetaTrader5 {made.about.package}"
        terminal = None if fault else made
        yield Connection(clock=SystemClock(), about=about or None, terminal=terminal, fault=fault)


@contextmanager
def over_recording(settings: "BridgeSettings") -> "Iterator[Connection]":
    """Open the paper terminal at the end of its recording, beside the account that runs use.

    Args:
        settings: Of mode paper.
    """
    from bridge import __version__
    from bridge.cli.recording import load_recording
    from bridge.clock import ManualClock, SystemClock
    from bridge.doctor.ground import Connection
    from bridge.errors import BridgeError
    from bridge.terminal.adapter import ModuleTerminal
    from bridge.terminal.paper.terminal import PaperTerminal

    about = f"the embedded paper terminal of mt5-onnx-bridge {__version__}"
    try:
        recording = load_recording(settings)
        clock = ManualClock(_end(settings, recording))
        paper = PaperTerminal(recording.profile, recording.bars, clock, None)
    except BridgeError as error:
        yield Connection(clock=SystemClock(), about=about, fault=error)
        return
    with closing(paper):
        paper.initialize()
        yield Connection(
            clock=clock,
            about=about,
            terminal=ModuleTerminal(paper),
            server_clock=recording.profile.server_clock,
        )


def _end(settings: "BridgeSettings", recording: "Recording") -> float:
    """Return when the first of the strategies' recordings opens its last bar, UTC."""
    lasts = (recording.bars[each.symbol][1]["time"][-1] for each in settings.strategy)
    return recording.server.to_utc(int(min(lasts)))


def _show(finding: "Finding", after: Sequence["Finding"]) -> None:
    mark, colour = _MARKS[finding.grade]
    begin = f"{finding.check} ".ljust(_WIDTH)
    typer.echo(f"{typer.style(mark, fg=colour)} {begin}{finding.found}")
    # One thing that is missing may skip ten checks; once is enough.
    is_known = finding.grade == "skipped" and any(each.todo == finding.todo for each in after)
    if finding.todo and not is_known:
        typer.echo(f"{' ' * (_WIDTH + 5)}-> {finding.todo}")


def _summary(findings: Sequence["Finding"]) -> str:
    count = {grade: sum(each.grade == grade for each in findings) for grade in _MARKS}
    bad, all_of_them = count["fail"] + count["warn"], len(findings)
    skipped = f"; skipped: {count['skipped']}" if count["skipped"] else ""
    if bad:
        return f"{bad} of {all_of_them} checks need a hand{skipped}"
    return f"all is well in {all_of_them} checks{skipped}"


def _as_json(findings: Sequence["Finding"]) -> str:
    from bridge.doctor.finding import exit_code, worst

    told = {
        "worst": worst(findings),
        "exit_code": exit_code(findings),
        "findings": [asdict(each) for each in findings],
    }
    return json.dumps(told, indent=2, allow_nan=False)
