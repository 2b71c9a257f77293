"""``mt5-onnx bars``: the history that a back-test reads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import bars_stated as options
from bridge.cli.bars_fetch import fetch
from bridge.cli.bars_stated import WhatThen
from bridge.cli.machine import as_json
from bridge.errors import ConfigError, DataError

if TYPE_CHECKING:
    from bridge.market.importer import Loaded, Stated
    from bridge.market.store import Added, Stored

bars = typer.Typer(
    help="Import, check, list, export and fetch histories of bars.", no_args_is_help=True
)

bars.command()(fetch)

# What is read at once shows no progress.
_LONG = 4_000_000
_STEPS = 5


@bars.command("import")
def import_(
    files: options.Files,
    broker: options.Broker = None,
    symbol: options.Symbol = None,
    timeframe: options.Period = None,
    clock: options.ClockRule = None,
    profile: options.Profile = None,
    times: options.Times = None,
    digits: options.Digits = None,
    date_order: options.DateOrderOption = None,
    columns: options.Columns = None,
    skip_lines: options.SkipLines = 0,
    price_scale: options.Scale = 1.0,
    side: options.SideOption = None,
    spread: options.SpreadOption = None,
    drop_last: options.DropLast = False,
    conflicts: options.ConflictsOption = WhatThen.REFUSE,
    store: options.StoreFolder = None,
    json: options.Json = False,
) -> None:
    """Add files of bars to the store: exports, copy_rates dumps, Parquet, ticks; gzipped or not.

    All files are looked at before the first is stored, and a file is stored whole or not at all.
    """
    from bridge.cli.bars_whose import Whose

    said = options.stated(
        symbol, timeframe, digits, clock, times, date_order, columns, skip_lines, price_scale,
        side, spread, drop_last=drop_last,
    )  # fmt: skip
    kept = options.store_at(store)
    whose = Whose.of(kept, broker, profile, said)
    found = [_load(path, whose.stated_for(path), quiet=json) for path in files]
    planned = [(each, whose.series_of(each)) for each in found]
    for each, series in planned:
        added = kept.add(series, each.rates, conflicts=options.conflicts_of(conflicts))
        typer.echo(as_json(_as_data(each) | _as_added(added)) if json else _imported(each, added))


@bars.command()
def check(
    files: options.Files,
    symbol: options.Symbol = None,
    timeframe: options.Period = None,
    clock: options.ClockRule = None,
    times: options.Times = None,
    digits: options.Digits = None,
    date_order: options.DateOrderOption = None,
    columns: options.Columns = None,
    skip_lines: options.SkipLines = 0,
    price_scale: options.Scale = 1.0,
    side: options.SideOption = None,
    spread: options.SpreadOption = None,
    json: options.Json = False,
) -> None:
    """Look at files of bars as import does, say what is in them, and write nothing."""
    said = options.stated(
        symbol, timeframe, digits, clock, times, date_order, columns, skip_lines, price_scale,
        side, spread, drop_last=False,
    )  # fmt: skip
    refused = 0
    for path in files:
        try:
            found = _load(path, said, quiet=json)
        except DataError as error:
            refused += 1
            typer.echo(as_json({"file": str(path), "refused": str(error)}) if json else str(error))
            continue
        typer.echo(as_json(_as_data(found)) if json else _looked_at(found))
    if refused:
        raise typer.Exit(DataError.exit_code)


@bars.command("list")
def list_stored(store: options.StoreFolder = None, json: options.Json = False) -> None:
    """List the bars in the store."""
    kept = options.store_at(store)
    found = kept.series()
    if json:
        for each in found:
            typer.echo(as_json(options.as_stored(each)))
    elif found:
        _show(found)
    else:
        typer.echo(f"the store {kept.folder} is empty: mt5-onnx bars import adds a file to it")


@bars.command()
def export(
    file: Annotated[
        Path,
        typer.Argument(help="Where to write: .parquet, or text as MetaTrader 5 exports it."),
    ],
    broker: options.Broker = None,
    symbol: options.Symbol = None,
    timeframe: options.Period = None,
    since: options.Since = None,
    until: options.Until = None,
    store: options.StoreFolder = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write stored bars to a file; coarser ones are made of finer ones where need be."""
    kept = options.store_at(store)
    if file.exists() and not force:
        raise ConfigError(f"{file} is there already: name another file, or say --force")
    of = options.chosen(kept, broker, symbol, timeframe)
    found = kept.read(*of, since, until)
    _write(file, found.rates, found.series.digits)
    typer.echo(f"wrote {file}: {_span(len(found.rates), found.rates, of[1], of[2])}")


def _write(file: Path, rates: Any, digits: int) -> None:
    from bridge.market.barfile import write_bars
    from bridge.market.store.arrow import write_rates

    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            with file.open("wb") as opened:
                write_rates(opened, rates)
        else:
            write_bars(file, rates, digits=digits)
    except OSError as error:
        raise ConfigError(
            f"{file} can't be written ({error.strerror or error}): name another file"
        ) from error


def _load(path: Path, stated: "Stated", *, quiet: bool) -> "Loaded":
    from bridge.market.importer import load

    with _progress(path, quiet=quiet) as tell:
        return load(path, stated, tell)


@contextmanager
def _progress(path: Path, *, quiet: bool) -> Iterator[Any]:
    """Show a bar of the steps of a long file, where a person looks on."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    long = path.is_file() and path.stat().st_size > _LONG
    if quiet or not long or not console.is_terminal:
        yield lambda step: None
        return
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=_STEPS)

        def tell(step: str) -> None:
            progress.update(task, advance=1, description=f"{path.name}: {step}")

        yield tell


def _span(count: int, rates: Any, symbol: str | None, of: str) -> str:
    from bridge.mt5.servertime import text

    named = f"{symbol} {of}" if symbol else of
    number = "1 bar" if count == 1 else f"{count:,} bars"
    first, last = (text(int(rates["time"][end])) for end in (0, -1))
    return f"{number} of {named}, {first} to {last}"


def _looked_at(found: "Loaded") -> str:
    what = "no closed bar"
    if len(found.rates):
        what = _span(len(found.rates), found.rates, found.symbol, found.timeframe.name)
    clock = _weeks(found)
    notes = [*found.report.notes(), *([clock] if clock else [])]
    return "\n  ".join([f"{found.path}: {what}, {found.digits} digits", *notes])


def _weeks(found: "Loaded") -> str | None:
    """Say which clock the weeks follow, where bars show it."""
    from bridge.market.clockrule import detect_clock
    from bridge.mt5.timeframes import timeframe

    if found.timeframe.seconds > timeframe("H1").seconds or not len(found.rates):
        return None
    seen = detect_clock({found.symbol or "the symbol": found.rates}, found.timeframe)
    return f"the times follow the clock {seen.rule}: {seen.evidence}" if seen.rule else None


def _imported(found: "Loaded", added: "Added") -> str:
    series = added.stored.series
    known = f", {added.known:,} known" if added.known else ""
    other = f", {added.conflicting:,} with other values" if added.conflicting else ""
    whole = f"the store has {added.stored.bars:,} of {series.title}, clock {series.clock}"
    return f"{_looked_at(found)}\n  {added.new:,} new{known}{other}: {whole}"


def _as_data(found: "Loaded") -> dict[str, Any]:
    from dataclasses import asdict

    report = asdict(found.report) | {"notes": list(found.report.notes())}
    return {
        "file": str(found.path),
        "symbol": found.symbol,
        "timeframe": found.timeframe.name,
        "digits": found.digits,
        **report,
    }


def _as_added(added: "Added") -> dict[str, Any]:
    return {
        "new": added.new,
        "known": added.known,
        "conflicting": added.conflicting,
        "stored": options.as_stored(added.stored),
    }


def _show(found: Sequence["Stored"]) -> None:
    from rich.console import Console
    from rich.table import Table

    from bridge.mt5.servertime import text

    table = Table("broker", "symbol", "bars", "first", "last", "number", "clock", "lacks")
    for each in found:
        of = each.series
        table.add_row(
            of.broker, of.symbol, of.timeframe.name, text(each.first)[:10], text(each.last)[:10],
            f"{each.bars:,}", of.clock, ", ".join(of.absent),
        )  # fmt: skip
    Console(highlight=False).print(table)
