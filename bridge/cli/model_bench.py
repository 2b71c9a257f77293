"""``mt5-onnx model bench``: what an answer costs on this computer, and the options that fit it."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.model.bench import Measured


def bench(
    file: Annotated[Path, typer.Argument(help="The .onnx file, with or without a contract.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write the best safe options into the settings.")
    ] = False,
    config: Annotated[
        Path, typer.Option("--config", "-c", help="The settings file that --write changes.")
    ] = Path("bridge.toml"),
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Measure a model: time of an answer (p50, p99), answers a second, memory, by options.

    Best is the fastest option whose threads sleep and whose answers have the same bits.
    """
    from bridge.model.bench import as_row, best

    measured = _measured(file)
    found = best(measured)
    if as_json:
        rows = [as_row(each) for each in measured]
        everything = {"file": str(file), "options": rows, "best": as_row(found)}
        typer.echo(machine.as_json(everything, indent=1))
    else:
        for line in _lines(file, measured, found):
            typer.echo(line)
    if write:
        typer.echo(_write(config, file, found), err=as_json)


def _measured(file: Path) -> "tuple[Measured, ...]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from bridge.model.bench import bench as run
    from bridge.model.bench import grid

    options = grid(os.cpu_count() or 1)
    columns = (TextColumn("measuring"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    console, made = Console(stderr=True), []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(options))
        for each in run(file, options):
            made.append(each)
            progress.advance(task)
    return tuple(made)


def _lines(file: Path, measured: "tuple[Measured, ...]", found: "Measured") -> list[str]:
    head = "  threads arena spin   first us    p50 us    p99 us    cpu us   answers/s  memory MB"
    lines = [f"{file} on this computer", head]
    for each in measured:
        option, same = each.option, each.answers == measured[0].answers
        mark = "" if same else "  other bits"
        lines.append(
            f"  {option.threads:7} {'on' if option.arena else 'off':>5} "
            f"{'on' if option.spinning else 'off':>4} {each.first_us:10.0f} {each.p50_us:9.1f} "
            f"{each.p99_us:9.1f} {each.cpu_us:9.1f} {each.rows:11.0f} {each.memory / 1e6:10.1f}"
            f"{'  best' if each is found else ''}{mark}"
        )
    way = "256 at once" if measured[0].is_batched else "one by one, the batch is fixed"
    return [*lines, f"answers/s: {way}; in settings: {_line(found)}"]


def _line(found: "Measured") -> str:
    arena = "true" if found.option.arena else "false"
    return f"session = {{ threads = {found.option.threads}, arena = {arena} }}"


def _write(config: Path, file: Path, found: "Measured") -> str:
    """Write the options beside each strategy's model line; say what was done."""
    from bridge.errors import ConfigError
    from bridge.settings import load_settings

    load_settings(config, {})  # what is broken already is told before anything is written
    changed, count = _with_session(_text(config), config.absolute().parent, file, _line(found))
    if not count:
        raise ConfigError(
            f"{config} has no strategy with the model {file}: name the file that it trades"
        )
    new = config.with_name(f"{config.name}.new")
    new.write_bytes(changed.encode())
    try:
        load_settings(new, {})
    except ConfigError as error:
        new.unlink()
        raise ConfigError(
            f"{config} was left as it is, since it sets a session in another way ({error}): "
            f"write there {_line(found)}"
        ) from error
    new.replace(config)
    return f"{config}: {_line(found)} for {count} strateg{'y' if count == 1 else 'ies'}"


def _text(config: Path) -> str:
    from bridge.errors import ConfigError

    try:
        return config.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{config} is not UTF-8, so it is not written to: save it as UTF-8 first"
        ) from error


_MODEL = re.compile(r"""^model\s*=\s*(?P<quote>["'])(?P<path>.*?)(?P=quote)""")


def _with_session(text: str, folder: Path, file: Path, line: str) -> tuple[str, int]:
    """Return the settings' text with ``line`` below each strategy's line that names ``file``."""
    lines: list[str] = []
    count, table, is_own = 0, "", False
    for each in text.splitlines(keepends=True):
        if each.lstrip().startswith("["):
            table, is_own = each.strip().partition("#")[0].strip(), False
        if is_own and each.startswith("session"):
            continue  # the one of an earlier run
        lines.append(each)
        found = _MODEL.match(each) if table == "[[strategy]]" else None
        if found and (folder / found["path"]).resolve() == file.resolve():
            ending = "\r\n" if each.endswith("\r\n") else "\n"
            lines[-1] = each if each.endswith("\n") else each + ending
            lines.append(line + ending)
            count, is_own = count + 1, True
    return "".join(lines), count
