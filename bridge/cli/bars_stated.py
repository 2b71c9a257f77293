"""What ``mt5-onnx bars`` shares: its options, and how stored bars are named and told."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.market.importer import Stated
    from bridge.market.store import BarStore, Conflicts, Stored


class Order(StrEnum):
    """Which number of 03/04/2024 is the day."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"


class PriceSide(StrEnum):
    """Whose prices they are."""

    BID = "bid"
    ASK = "ask"


class WhatThen(StrEnum):
    """What becomes of bars that the store has with other values."""

    REFUSE = "refuse"
    KEEP = "keep"
    REPLACE = "replace"


Files = Annotated[list[Path], typer.Argument(help="Files of bars or ticks.", show_default=False)]
Broker = Annotated[str | None, typer.Option(help="Any name that tells brokers apart.")]
Symbol = Annotated[str | None, typer.Option(help="As the broker writes it; else of the name.")]
Period = Annotated[str | None, typer.Option(help="Of the bars: M1, H1, D1; else what they show.")]
ClockRule = Annotated[
    str | None,
    typer.Option(help="The broker's clock rule: utc, eet-eu, eet-us, or an offset such as utc+3."),
]
Profile = Annotated[
    str | None,
    typer.Option(help="The broker's profile, a name or file: gives broker, clock and digits."),
]
Times = Annotated[
    str | None,
    typer.Option(help="Whose times the file has: server, or a clock rule such as utc."),
]
Digits = Annotated[int | None, typer.Option(min=0, max=8, help="Decimals of a price.")]
DateOrderOption = Annotated[
    Order | None, typer.Option("--date-order", help="Of dates such as 03/04/2024.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Names of the columns in their order, - for none: time,open,high,low,close,-"
    ),
]
SkipLines = Annotated[int, typer.Option(min=0, help="Lines to leave out at the beginning.")]
Scale = Annotated[float, typer.Option(min=1e-9, help="What prices are multiplied with.")]
SideOption = Annotated[PriceSide | None, typer.Option("--side", help="Whose prices they are.")]
SpreadOption = Annotated[
    int | None, typer.Option("--spread", min=0, help="Points, for bars that have none.")
]
DropLast = Annotated[
    bool, typer.Option("--drop-last", help="Leave out the newest bar: it was still forming.")
]
ConflictsOption = Annotated[
    WhatThen,
    typer.Option("--conflicts", help="What becomes of bars that the store has otherwise."),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option("--store", help="The store's folder; else one in your own data folder."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Since = Annotated[str | None, typer.Option("--from", help='First bar, server time: "2024.01.31".')]
Until = Annotated[str | None, typer.Option("--to", help="Bars that open then are left out.")]


def stated(
    symbol: str | None,
    timeframe: str | None,
    digits: int | None,
    clock: str | None,
    times: str | None,
    date_order: Order | None,
    columns: str | None,
    skip_lines: int,
    price_scale: float,
    side: PriceSide | None,
    spread: int | None,
    *,
    drop_last: bool,
) -> "Stated":
    """Return what the options say.

    Raises:
        ConfigError: A timeframe or a clock rule that is none.
    """
    from bridge.market.importer import DateOrder, Side, Stated
    from bridge.mt5.servertime import server_clock
    from bridge.mt5.timeframes import timeframe as known_timeframe

    if timeframe is not None:
        known_timeframe(timeframe)
    for rule in (clock, times):
        if rule not in (None, "server"):
            server_clock(str(rule))
    return Stated(
        symbol=symbol,
        timeframe=timeframe,
        digits=digits,
        clock=clock,
        times=times,
        date_order=DateOrder(date_order.value) if date_order else None,
        columns=tuple(each.strip() for each in columns.split(",")) if columns else None,
        skip_lines=skip_lines,
        scale=price_scale,
        side=Side(side.value) if side else None,
        spread=spread,
        drop_last=drop_last,
    )


def store_at(folder: Path | None) -> "BarStore":
    """Return the store that is named, or the user's own."""
    from bridge.market.store import BarStore, default_folder

    return BarStore(folder or default_folder())


def conflicts_of(said: WhatThen) -> "Conflicts":
    """Return it in the store's words."""
    from bridge.market.store import Conflicts

    return Conflicts(said.value)


def chosen(
    store: "BarStore", broker: str | None, symbol: str | None, timeframe: str | None
) -> tuple[str, str, str]:
    """Return broker, symbol and timeframe; what is not said has to be the store's only one.

    Raises:
        ConfigError: It is not; or the store is empty.
    """
    there = [each.series for each in store.series()]
    if not there:
        raise ConfigError(
            f"the store {store.folder} is empty: mt5-onnx bars import adds a file to it"
        )
    fits = [
        each for each in there if broker in (None, each.broker) and symbol in (None, each.symbol)
    ]
    if not fits:
        raise ConfigError(
            f"the store {store.folder} has no bars of {symbol or 'any symbol'} of "
            f"{broker or 'any broker'}: mt5-onnx bars list shows what it has"
        )
    names = {"broker": {each.broker for each in fits}, "symbol": {each.symbol for each in fits}}
    if timeframe is None:
        names["timeframe"] = {each.timeframe.name for each in fits}
    for option, values in names.items():
        if len(values) > 1:
            raise ConfigError(
                f"the store has several: say --{option}, one of {', '.join(sorted(values))}"
            )
    return fits[0].broker, fits[0].symbol, timeframe or fits[0].timeframe.name


def as_stored(stored: "Stored") -> dict[str, Any]:
    """Return a stored series as data."""
    series = stored.series
    return {
        "broker": series.broker,
        "symbol": series.symbol,
        "timeframe": series.timeframe.name,
        "clock": series.clock,
        "digits": series.digits,
        "absent": series.absent,
        "profile": series.profile,
        "bars": stored.bars,
        "first": stored.first,
        "last": stored.last,
    }
