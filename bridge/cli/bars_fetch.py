"""``mt5-onnx bars fetch``: history from a terminal."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import bars_stated as options
from bridge.cli.bars_stated import WhatThen
from bridge.cli.config import read_settings
from bridge.cli.machine import as_json
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.market.fetch import Fetch, Progress
    from bridge.market.store import BarStore, Stored
    from bridge.mt5.records import SymbolInfo
    from bridge.mt5.terminal import Terminal
    from bridge.mt5.timeframes import Timeframe
    from bridge.settings import TerminalSettings

# Of a symbol's specification, what changes with the market.
_MOVING = ("bid", "ask", "last", "session_", "price_", "time", "volumehigh", "volumelow")
_CLOCK_BARS = 5_000


def fetch(
    symbols: Annotated[
        list[str] | None,
        typer.Argument(help="Which; else those of the settings' strategies.", show_default=False),
    ] = None,
    timeframe: Annotated[str, typer.Option(help="Of the bars; M1 makes all others.")] = "M1",
    since: options.Since = None,
    config: Annotated[
        Path | None,
        typer.Option("-c", "--config", help="The settings file that names the terminal."),
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="terminal64.exe; without it, the one that runs.")
    ] = None,
    broker: Annotated[
        str | None, typer.Option(help="Its name in the store; else the account's server.")
    ] = None,
    clock: options.ClockRule = None,
    conflicts: options.ConflictsOption = WhatThen.REFUSE,
    store: options.StoreFolder = None,
    json: options.Json = False,
) -> None:
    """Bring closed bars of a terminal into the store; a fetch that was broken off goes on."""
    from bridge.cli.live_terminal import terminal_of
    from bridge.clock import SystemClock
    from bridge.mt5.servertime import parse, server_clock
    from bridge.mt5.timeframes import timeframe as known_timeframe

    of = known_timeframe(timeframe)
    begin = parse(since) if since else None
    settings, rule, names = _asked(config, path, symbols)
    rule = server_clock(clock).name if clock else rule
    kept = options.store_at(store)
    with closing(terminal_of(settings, SystemClock())) as terminal:
        terminal.connect()
        name = broker or terminal.account_info().server
        for symbol in names:
            wanted = _wanted(terminal, kept, (name, symbol, of), rule, begin, conflicts)
            with _progress(symbol, quiet=json) as tell:
                stored, done = _fetch(terminal, kept, wanted, tell)
            typer.echo(_as_json(stored, done) if json else _as_text(stored, done))


def _fetch(
    terminal: "Terminal",
    store: "BarStore",
    wanted: "Fetch",
    tell: Callable[["Progress"], None],
) -> "tuple[Stored, Progress]":
    from bridge.clock import SystemClock
    from bridge.market.fetch import fetch as bring

    return bring(terminal, store, wanted, SystemClock(), tell)


def _asked(
    config: Path | None, path: str | None, symbols: list[str] | None
) -> "tuple[TerminalSettings, str | None, list[str]]":
    """Return the terminal, the broker's clock rule where it is known, and the symbols."""
    from bridge.settings import TerminalSettings

    if config is not None and path is not None:
        raise ConfigError(f"--path and --config name a terminal each, {path} and {config}: use one")
    if config is None:
        if not symbols:
            raise ConfigError("no symbol is named: name some, or a settings file with --config")
        return TerminalSettings(path=path), None, symbols
    settings = read_settings(config)
    names = symbols or sorted({each.symbol for each in settings.strategy})
    known = settings.server_clock
    return settings.terminal, None if known == "auto" else known, names


def _wanted(
    terminal: "Terminal",
    store: "BarStore",
    of: "tuple[str, str, Timeframe]",
    rule: str | None,
    since: int | None,
    conflicts: WhatThen,
) -> "Fetch":
    from bridge.market.fetch import Fetch
    from bridge.market.store import Series

    broker, symbol, timeframe = of
    info = _info(terminal, symbol)
    known = {each.series.clock for each in store.series() if each.series.broker == broker}
    stored = known.pop() if len(known) == 1 else None
    specification = {
        name: value for name, value in info._asdict().items() if not name.startswith(_MOVING)
    }
    clock = rule or stored or _seen_clock(terminal, symbol)
    series = Series(
        broker, symbol, timeframe, clock, info.digits, specification=_plain(specification)
    )
    return Fetch(series, since, options.conflicts_of(conflicts))


def _info(terminal: "Terminal", symbol: str) -> "SymbolInfo":
    from bridge.errors import NotConnected, TerminalError

    try:
        terminal.symbol_select(symbol)
        return terminal.symbol_info(symbol)
    except NotConnected:
        raise
    except TerminalError as error:
        why = f"{error.text}; the terminal gives no symbol {symbol}: write it as Market Watch does"
        raise TerminalError(error.call, error.code, why) from error


def _plain(specification: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in specification.items()
        if isinstance(value, str | int | float | bool)
    }


def _seen_clock(terminal: "Terminal", symbol: str) -> str:
    """Return the clock rule that the broker's weeks follow.

    Raises:
        ConfigError: They don't tell it.
    """
    from bridge.errors import TerminalError
    from bridge.market.clockrule import detect_clock
    from bridge.mt5.timeframes import timeframe

    hours = timeframe("H1")
    try:
        rates = terminal.copy_rates_from_pos(symbol, hours.value, 1, _CLOCK_BARS)
        said = detect_clock({symbol: rates}, hours)
    except TerminalError as error:
        raise ConfigError(f"the broker's clock rule is not known: say --clock ({error})") from error
    if said.rule is None:
        raise ConfigError(
            f"the broker's clock rule is not known ({said.evidence}): say --clock, one of utc, "
            "eet-eu, eet-us, or an offset such as utc+3"
        )
    typer.echo(f"mt5-onnx: the server's clock follows {said.rule}: {said.evidence}", err=True)
    return said.rule


@contextmanager
def _progress(symbol: str, *, quiet: bool) -> Iterator[Callable[["Progress"], None]]:
    """Show how far back the fetch is, where a person looks on."""
    from rich.console import Console

    from bridge.mt5.servertime import text

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda progress: None
        return
    with console.status(f"{symbol}: asking the terminal") as status:
        yield lambda done: status.update(
            f"{symbol}: back to {text(done.oldest)}, {done.bars:,} bars, {done.new:,} new"
        )


def _as_text(stored: "Stored", done: "Progress") -> str:
    from bridge.mt5.servertime import text

    return (
        f"{stored.series.title}: {done.new:,} new of {done.bars:,} fetched; the store has "
        f"{stored.bars:,}, {text(stored.first)} to {text(stored.last)}"
    )


def _as_json(stored: "Stored", done: "Progress") -> str:
    return as_json({"fetched": done.bars, "new": done.new, "stored": options.as_stored(stored)})
