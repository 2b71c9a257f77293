"""The command ``mt5-onnx``: its subcommands, and the one place where errors become exit codes."""

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, cast

import typer

from bridge import __version__
from bridge.cli.backtest import backtest
from bridge.cli.bars import bars
from bridge.cli.conformance import conformance
from bridge.cli.control import flatten, halt, resume, status
from bridge.cli.demo import demo
from bridge.cli.doctor import doctor
from bridge.cli.ea import ea
from bridge.cli.init import init
from bridge.cli.journal import journal
from bridge.cli.model import model
from bridge.cli.paper import paper
from bridge.cli.profile import profile
from bridge.cli.record import record
from bridge.cli.report import report
from bridge.cli.run import run as run_strategies
from bridge.cli.why import why
from bridge.errors import BridgeError

INTERRUPTED = 130
USAGE = 2
# ClickException, wherever the installed typer keeps its click: bad usage is below it.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[2])

app = typer.Typer(
    name="mt5-onnx",
    help="One ONNX file trades closed bars.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(init)
app.command()(doctor)
app.command()(conformance)
app.command("run")(run_strategies)
app.command()(backtest)
for command in (status, halt, resume, flatten):
    app.command()(command)
app.add_typer(journal, name="journal")
app.add_typer(profile, name="profile")
app.add_typer(bars, name="bars")
app.add_typer(model, name="model")
app.add_typer(ea, name="ea")
app.add_typer(paper, name="paper")
app.command()(record)
app.command()(report)
app.command()(why)


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Trade closed bars with one ONNX file."""
    if version:
        typer.echo(f"mt5-onnx-bridge {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line and exit with the code that its outcome means."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; no traceback reaches the screen."""
    try:
        code = app(args=arguments, prog_name="mt5-onnx", standalone_mode=False)
    except _UsageError as error:
        # Choices come on lines of their own.
        said = " ".join(getattr(error, "format_message", error.__str__)().split()).rstrip(".")
        if not said:  # a group without a command has shown its help
            return 0
        return _fail(f"{said}; mt5-onnx --help tells more", USAGE)
    except BrokenPipeError:
        return _reader_gone()
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BridgeError as error:
        return _fail(str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001  the user gets a sentence, the file the traceback
        return _fail(_unexpected(error), BridgeError.exit_code)
    if code == INTERRUPTED:  # some releases of typer turn Ctrl-C into this code themselves
        return _fail("interrupted; what was journalled is kept", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _fail(sentence: str, code: int) -> int:
    typer.echo(f"mt5-onnx: {sentence}", err=True)
    return code


def _reader_gone() -> int:
    """Leave quietly when whoever read our output, such as head, has had enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BridgeError.exit_code


def _unexpected(error: Exception) -> str:
    log = Path("mt5-onnx-crash.log")
    sentence = f"unexpected {type(error).__name__}: {error}"
    try:
        log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return sentence
    return f"{sentence}; the details are in {log.resolve()}, please report them"
