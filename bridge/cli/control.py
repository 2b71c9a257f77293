"""``status``, ``halt``, ``resume``, ``flatten``: see a run, and stop what it does.

They work through files in the state folder, so they work whether a run is alive or not, and the
halt works when nothing else does: any program can make a file.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

_ON_PAPER = {"dry-run": ": nothing is sent, account and orders are on paper"}


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
    to_machine: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show each strategy's last bar, decision, position, state, and distance to its limits."""
    from bridge.cli.machine import as_json
    from bridge.cli.state import JOURNAL
    from bridge.clock import SystemClock
    from bridge.journal.read import reading
    from bridge.report.status import status_of

    settings = read_settings(config)
    state = Path(settings.state)
    with reading(state / JOURNAL) as journal:
        found = status_of(
            journal,
            settings,
            state,
            heartbeat=_heartbeat(state),
            utc_now=SystemClock().now(),
        )
    typer.echo(as_json(found, indent=2) if to_machine else "\n".join(_lines(found)))


def _heartbeat(state: Path) -> dict[str, Any] | None:
    from bridge.cli.state import HEARTBEAT

    try:
        sign: dict[str, Any] = json.loads((state / HEARTBEAT).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none yet, or it is being written
        return None
    return sign


def _lines(found: dict[str, Any]) -> Iterator[str]:
    from bridge.report.limits import limit_lines

    halted = "; HALTED by file, mt5-onnx resume takes it away" if found["halted"] else ""
    mode = found["mode"] + _ON_PAPER.get(found["mode"], "")
    yield f"{found['health']} (mode {mode}, {found['run']}){halted}"
    if account := found["account"]:
        yield f"balance {account['balance']:.2f}, equity {account['equity']:.2f}"
    yield from limit_lines(found["limits"])
    for each in found["strategies"]:
        yield _line(each)
    for each in found["positions"]:
        yield (
            f"  #{each['ticket']} {each['symbol']} {each['side']} {each['volume']:g} lots at "
            f"{each['price_open']:g}, stop {each['sl']:g}, profit {each['profit']:+.2f}"
        )
    counts = found["why_not"]
    denied = ", ".join(f"{rule} {count}" for rule, count in counts["denied"].items()) or "none"
    yield (
        f"{counts['decisions']} bars decided: {counts['flat']} asked for nothing, "
        f"{counts['holding']} kept a position, {counts['unusable']} without a usable signal; "
        f"denied: {denied}; refused by the server: {counts['rejected']}"
    )


def _line(of: dict[str, Any]) -> str:
    if of["last_bar"] is None:
        return f"{of['strategy']}: nothing decided yet"
    limits = ", ".join(_limit(name, each) for name, each in of["limits"].items())
    return (
        f"{of['strategy']}: {of['state']}, bar {of['last_bar']}, {of['action']} ({of['reason']}), "
        f"holds {of['holding'] or 'nothing'}; {limits}"
    )


def _limit(name: str, of: dict[str, Any]) -> str:
    words = name.replace("_", " ")
    if of["limit"] is None:
        return f"{words} {of['used']:.2%}, no limit"
    return f"{words} {of['used']:.2%} of {of['limit']:.2%}"


def _state(config: Path) -> Path:
    state = Path(read_settings(config).state)
    state.mkdir(parents=True, exist_ok=True)
    return state
