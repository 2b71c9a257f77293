"""``mt5-onnx model new``: a recipe that makes a model of one's own bars, to read and to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli import bars_stated as options
from bridge.errors import ConfigError, DataError

if TYPE_CHECKING:
    from bridge.mt5.rates import RatesArray

RECIPE = "recipe.py"
STORE = "store"
_BEGIN, _END = "# -- bars: begin\n", "# -- bars: end\n"
# What the templates need inside this package, and a recipe does not.
_LINT = "# ruff: noqa: T201\n\n"


class Kind(StrEnum):
    """What a recipe makes."""

    CLASSIFIER = "classifier"
    FORECAST = "forecast"


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Bars, and the lines of Python that read them again."""

    symbol: str
    timeframe: str
    clock: str
    digits: int
    rates: "RatesArray"
    imports: str
    reading: str


def new(
    recipe: Annotated[Kind, typer.Option(help="What is to be learned.")],
    bars: Annotated[
        Path, typer.Option(help='A file of bars in server time; or "store": bars in the store.')
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the recipe; else one named after bars and recipe."),
    ] = None,
    broker: options.Broker = None,
    symbol: options.Symbol = None,
    timeframe: options.Period = None,
    clock: options.ClockRule = None,
    store: options.StoreFolder = None,
) -> None:
    """Write a recipe: labels with costs, purged splits, walk-forward validation, export, card.

    It runs at once; it is yours to change.
    """
    if str(bars) == STORE and not bars.exists():
        found = _of_store(store, broker, symbol, timeframe, clock)
    else:
        found = _of_file(bars, symbol, timeframe, clock)
    folder = out or Path(f"{found.symbol}_{found.timeframe}_{recipe.value}".lower())
    path = folder / RECIPE
    if path.exists():
        raise ConfigError(f"{path} is there already: name another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_recipe(recipe, found), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} can't be written ({error}): name another --out") from error
    typer.echo(f"wrote {path}, for {len(found.rates)} bars; now: python {path}")
    if not found.rates["spread"].any():
        typer.echo("the bars have no spread: add the usual one, in points, to COSTS in the recipe")


def _of_store(
    folder: Path | None,
    broker: str | None,
    symbol: str | None,
    timeframe: str | None,
    clock: str | None,
) -> _Found:
    kept = options.store_at(folder)
    of = options.chosen(kept, broker, symbol, timeframe)
    found = kept.read(*of)
    if clock not in (None, found.series.clock):
        raise ConfigError(
            f"{found.series.title} is stored with the clock {found.series.clock}, not {clock}: "
            "leave --clock out"
        )
    place = "default_folder()" if folder is None else _path(folder)
    names = "BarStore, default_folder" if folder is None else "BarStore"
    return _Found(
        symbol=found.series.symbol,
        timeframe=found.series.timeframe.name,
        clock=found.series.clock,
        digits=found.series.digits,
        rates=found.rates,
        imports=f"from bridge.market.store import {names}\n",
        reading=f"    store = BarStore({place})\n"
        f"    return store.read({_text(of[0])}, SYMBOL, TIMEFRAME).rates\n",
    )


def _of_file(path: Path, symbol: str | None, timeframe: str | None, clock: str | None) -> _Found:
    from bridge.market.importer import Stated, load

    found = load(path, Stated(symbol=symbol, timeframe=timeframe, times="server"))
    if not found.symbol:
        raise DataError(f"{path} does not say whose bars it has: say --symbol")
    if not len(found.rates):
        raise DataError(f"{path} closes no bar, so nothing can be learned: give a longer file")
    return _Found(
        symbol=found.symbol,
        timeframe=found.timeframe.name,
        clock=clock or _clock_of(path, found.symbol, found.timeframe.name, found.rates),
        digits=found.digits,
        rates=found.rates,
        imports="from bridge.market.importer import Stated, load\n",
        reading=f"    path = {_path(path)}\n"
        '    stated = Stated(symbol=SYMBOL, timeframe=TIMEFRAME, times="server")\n'
        "    return load(path, stated).rates\n",
    )


def _clock_of(path: Path, symbol: str, timeframe: str, rates: "RatesArray") -> str:
    """Return the clock rule that the weekends show."""
    from bridge.market.clockrule import detect_clock
    from bridge.mt5.timeframes import timeframe as named

    bars, evidence = named(timeframe), f"{timeframe} bars don't show it"
    if bars.seconds <= named("H1").seconds:
        seen = detect_clock({symbol: rates}, bars)
        evidence = seen.evidence
        if seen.rule is not None:
            typer.echo(f"clock {seen.rule}: {evidence}; if that is wrong, say --clock")
            return seen.rule
    raise DataError(
        f"the broker's clock rule is not in {path} ({evidence}): say --clock, one of utc, eet-eu, "
        "eet-us, or an offset such as utc+3"
    )


def _recipe(kind: Kind, found: _Found) -> str:
    """Return the template with these bars instead of the sample's."""
    from importlib.resources import files

    from bridge.clock import SystemClock

    template = files("bridge.authoring.recipes.templates").joinpath(f"{kind.value}.py")
    before, _, rest = template.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    today = datetime.fromtimestamp(SystemClock().now(), UTC).date()
    name = f"{found.symbol}_{found.timeframe}_{kind.value}".lower()
    constants: Mapping[str, tuple[str, ...]] = {
        "NAME, CREATED": (_text(name), _text(today.isoformat())),
        "SYMBOL, TIMEFRAME": (_text(found.symbol), _text(found.timeframe)),
        "CLOCK, POINT": (_text(found.clock), f"{10.0**-found.digits:.{found.digits}f}"),
    }
    lines = "".join(f"{names} = {', '.join(values)}\n" for names, values in constants.items())
    reading = '\n\ndef bars() -> RatesArray:\n    """Return the bars, oldest first."""\n'
    imports = f"{found.imports}from bridge.mt5.rates import RatesArray\n"
    body = f"{imports}\n{lines}{reading}{found.reading}\n\n"
    return before.replace(_LINT, "").rstrip() + "\n" + body + after.lstrip()


def _path(path: Path) -> str:
    """Return an expression for a path from which any folder reads it."""
    return f"Path({_text(path.resolve().as_posix())})"


def _text(value: str) -> str:
    """Return a string as Python writes it, in double quotes where it can."""
    shown = repr(value)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown
