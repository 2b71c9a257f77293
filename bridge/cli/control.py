"""``status``, ``halt``, ``resume``, ``flatten``: see a run, and stop what it does.

They work through files in the state folder, so they work whether a run is alive or not, and the
halt works when nothing else does: any program can make a file.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings


def halt(config: ConfigOption = SETTINGS) -> None:
    """End entries, now and after restarts; positions keep their stops and exits."""
    from bridge.engine.watch import HALT_FILE, RESUME_FILE

    state = _state(config)
    (state / RESUME_FILE).unlink(missing_ok=True)
    (state / HALT_FILE).touch()
    typer.echo(f"halted: {state / HALT_FILE} is there; mt5-onnx resume takes it away")


def resume(config: ConfigOption = SETTINGS) -> None:
    """Allow entries again; a limit that is still broken halts again."""
    from bridge.engine.watch import HALT_FILE, RESUME_FILE

    state = _state(config)
    (state / HALT_FILE).unlink(missing_ok=True)
    (state / RESUME_FILE).touch()
    typer.echo("entries are allowed again from the next look of the run")


def flatten(config: ConfigOption = SETTINGS) -> None:
    """End entries and close the strategies' positions at the run's next look."""
    from bridge.engine.watch import FLATTEN_FILE

    halt(config)
    (_state(config) / FLATTEN_FILE).touch()
    typer.echo("the run closes its positions at its next look, or when it is started")


def status(
    config: ConfigOption = SETTINGS,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show each strategy's last bar, decision, position, state, and distance to its limits."""
    from bridge.cli.state import JOURNAL
    from bridge.journal.read import reading
    from bridge.report.status import status_of

    settings = read_settings(config)
    state = Path(settings.state)
    with reading(state / JOURNAL) as journal:
        found = status_of(journal, settings, state)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    typer.echo(f"{found['health']}; {found['run']}")
    for each in found["strategies"]:
        typer.echo(_line(each))
    typer.echo(f"why not: {found['why_not']}")


def _line(of: dict[str, Any]) -> str:
    if of["last_bar"] is None:
        return f"{of['strategy']}: nothing decided yet"
    limits = ", ".join(f"{name} {text}" for name, text in of["limits"].items())
    return (
        f"{of['strategy']}: {of['state']}, bar {of['last_bar']}, {of['action']} ({of['reason']}), "
        f"holds {of['holding'] or 'nothing'}; {limits}"
    )


def _state(config: Path) -> Path:
    state = Path(read_settings(config).state)
    state.mkdir(parents=True, exist_ok=True)
    return state
