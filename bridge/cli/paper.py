"""``mt5-onnx paper``: the paper terminal for programs that were written for MetaTrader5."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli.state import STATE, new_run_folder
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.terminal.paper.exec.plan import Plan

_NAME = re.compile(r"\w[\w.-]{0,63}")
_INTERRUPTED = 130
# A server that runs code for whoever reaches it listens to nobody else.
_LOOPBACK = ("127.0.0.1", "::1")
# What Windows says of a process that Ctrl-C has ended.
_CONTROL_C = 0xC000013A

ProfileOption = Annotated[
    str | None,
    typer.Option(help="The broker: a shipped profile's name, or a file; else the sample's."),
]
BarsOption = Annotated[
    list[str] | None,
    typer.Option(
        help="SYMBOL:TIMEFRAME=FILE, an export of MetaTrader 5; once for each symbol. Else "
        "the shipped EURUSD H1.",
        show_default=False,
    ),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        help='Server time at which the clock begins, "2017.03.10 10:00"; else the middle of '
        "the first bars."
    ),
]
SpeedOption = Annotated[
    float | None,
    typer.Option(min=0.001, help="So many times real time; else 1.", show_default=False),
]
ShiftOption = Annotated[
    bool,
    typer.Option(
        "--shift-to-now",
        help="Move the bars by whole weeks, so that the clock is the computer's.",
    ),
]
AccountOption = Annotated[
    str | None,
    typer.Option(help="Name of an account that is kept and goes on; else a new one."),
]
ScriptOption = Annotated[
    Path | None, typer.Option(help="JSON of what the terminal is told to answer.")
]
StateOption = Annotated[Path, typer.Option(help="Folder below which accounts are kept.")]

paper = typer.Typer(help="The paper terminal for other programs.", no_args_is_help=True)


@paper.callback()
def group() -> None:
    """Run other programs on the paper terminal."""


@paper.command("exec", context_settings={"allow_interspersed_args": False})
def run_program(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The program and its arguments, after --.", show_default=False),
    ] = None,
    profile: ProfileOption = None,
    bars: BarsOption = None,
    start: StartOption = None,
    speed: SpeedOption = None,
    shift_to_now: ShiftOption = False,
    account: AccountOption = None,
    script: ScriptOption = None,
    state: StateOption = STATE,
) -> None:
    """Run a program with the paper terminal as its module MetaTrader5.

    Bars, speed and clock belong to the account: its clock goes on between programs.
    """
    if not command:
        raise ConfigError(
            "no program is named: put it after --, as in mt5-onnx paper exec -- python bot.py"
        )
    program = shutil.which(command[0])
    if program is None:
        raise ConfigError(f"program {command[0]!r} is not found: name a file, or one on PATH")
    _check_script(script)
    asked = {"profile": profile, "bars": tuple(bars or ()), "start": start, "speed": speed}
    folder = _laid_out(state / "paper", account, {**asked, "shift_to_now": shift_to_now})
    raise typer.Exit(run(program, command, _environment(folder, script)))


@paper.command("serve")
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="TCP port; 0 takes a free one.")
    ] = 18_812,
    host: Annotated[
        str, typer.Option(help="Address of this machine alone, 127.0.0.1 or ::1.")
    ] = "127.0.0.1",
    profile: ProfileOption = None,
    bars: BarsOption = None,
    start: StartOption = None,
    speed: SpeedOption = None,
    shift_to_now: ShiftOption = False,
    account: AccountOption = None,
    script: ScriptOption = None,
    state: StateOption = STATE,
) -> None:
    """Serve the paper terminal to mt5linux's clients, and to terminal.remote, until Ctrl-C.

    Anyone on this machine who reaches the port can run code as this user. Bars, speed and clock
    belong to the account, as with exec.
    """
    if host not in _LOOPBACK:
        raise ConfigError(
            f"--host {host} is no loopback address, and whoever reaches the port can run code as "
            "this user: use 127.0.0.1 or ::1, and a tunnel such as ssh -L from elsewhere"
        )
    if find_spec("rpyc") is None:
        raise ConfigError(
            'paper serve needs rpyc, which is not installed: pip install "mt5-onnx-bridge[remote]"'
        )
    _check_script(script)
    asked = {"profile": profile, "bars": tuple(bars or ()), "start": start, "speed": speed}
    folder = _laid_out(state / "paper", account, {**asked, "shift_to_now": shift_to_now})
    line = [sys.executable, "-m", "bridge.terminal.paper.serve", host, str(port)]
    raise typer.Exit(run(sys.executable, line, _environment(folder, script)))


def _check_script(path: Path | None) -> None:
    from bridge.terminal.paper.script import load_script

    if path is not None:
        load_script(path)


def _laid_out(accounts: Path, name: str | None, asked: dict[str, Any]) -> Path:
    """Return the account's folder, made now or earlier."""
    from bridge.terminal.paper.exec.plan import Plan

    if name is not None and not _NAME.fullmatch(name):
        raise ConfigError(
            f"--account {name!r} can't be a folder: use letters, digits, dots and dashes, 64 at "
            "most, a letter or digit first"
        )
    known = Plan.read(accounts / name) if name is not None else None
    if name is not None and known is not None and not any(asked.values()):
        return accounts / name
    from bridge.clock import SystemClock
    from bridge.terminal.paper.exec.prepare import Wish, compare, lay_out

    wish = Wish(**asked)
    if name is not None and known is not None:
        compare(name, known, wish)
        return accounts / name
    layout = lay_out(wish, SystemClock())
    folder = new_run_folder(accounts, "exec") if name is None else accounts / name
    layout.write(folder)
    _tell(folder, layout.plan)
    return folder


def _environment(folder: Path, script: Path | None) -> dict[str, str]:
    from bridge.terminal.paper.exec.handover import Handover

    handover = Handover(
        folder=str(folder.resolve()),
        zones=_zones(),
        script=str(script.resolve()) if script is not None else "",
    )
    return handover.environment(os.environ)


def _zones() -> str:
    """Return the folder of time zones that came with the bridge, for Pythons that find none."""
    spec = find_spec("tzdata")
    places = spec.submodule_search_locations if spec is not None else None
    return str(Path(next(iter(places))) / "zoneinfo") if places else ""


def _tell(folder: Path, plan: "Plan") -> None:
    from bridge.mt5.servertime import text

    played = ", ".join(f"{each.symbol} {each.timeframe}" for each in plan.recordings)
    typer.echo(
        f"mt5-onnx: new paper account {folder.name}: {played} from {text(plan.start)}, speed "
        f"{plan.speed:g}; it goes on with --account {folder.name}",
        err=True,
    )


def run(program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program in place of this one, or wait for it where a system can't do that.

    Returns:
        The program's exit code; nothing where it takes this one's place, signals and all.

    Raises:
        ConfigError: The system does not start it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if sys.platform == "win32":
            return wait_for(program, command, environment)
        os.execve(program, list(command), dict(environment))  # noqa: S606  what was asked for
    except OSError as error:
        raise ConfigError(f"program {program} does not start: {error}") from error


def wait_for(program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program and return its exit code; 130 when Ctrl-C ended it."""
    line = [program, *command[1:]]
    with subprocess.Popen(line, env=dict(environment)) as started:  # noqa: S603  what was asked for
        while True:
            try:
                code = started.wait()
            except KeyboardInterrupt:
                continue  # The console has told the program, too; what it does about it counts.
            return _INTERRUPTED if code == _CONTROL_C else code
