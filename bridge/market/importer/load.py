"""A file of bars or ticks, looked at and made into bars; nothing is written."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bridge.errors import DataError
from bridge.market.aggregate import bars_of_ticks
from bridge.market.importer.columns import PRICES
from bridge.market.importer.content import Content, content_of
from bridge.market.importer.fault import Fault
from bridge.market.importer.layout import layout_of
from bridge.market.importer.parquetfile import read_parquet
from bridge.market.importer.period import gaps_of, in_order, period_of
from bridge.market.importer.prices import Priced, as_bid, check_bars, priced, whole
from bridge.market.importer.raw import Raw
from bridge.market.importer.report import Report
from bridge.market.importer.stated import Named, Stated, named
from bridge.market.importer.textfile import read_text, where
from bridge.market.importer.tickrows import ticks_of
from bridge.market.importer.zones import server_times
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.mt5.servertime import DAY
from bridge.mt5.timeframes import BY_NAME, Timeframe, timeframe

_COUNTS = ("tick_volume", "real_volume")
_MOST_SPREAD = 2**31
# A tick of a later minute shows that the one before has ended; after the last tick none does.
_OF_TICKS = "M1"

Tell = Callable[[str], None]
"""Told of each step of the work, in a word or two."""


def _untold(step: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The bars of a file.

    Attributes:
        path: The file.
        symbol: As it was stated, or as the file or its name says; None when nothing does.
        timeframe: Of the bars.
        digits: Decimals of a price.
        rates: Shape ``(n,)``, oldest first, each time once, server time, read-only; none where
            ticks close no bar.
        report: What was found.
        ticks: What the bars were made of; None for a file of bars.
    """

    path: Path
    symbol: str | None
    timeframe: Timeframe
    digits: int
    rates: RatesArray
    report: Report
    ticks: RatesArray | None = None


def load(path: Path, stated: Stated, tell: Tell = _untold) -> Loaded:
    """Return the bars of a file.

    Args:
        path: Text (tab, comma or semicolon; UTF-8 or UTF-16) or Parquet, gzipped or not.
        stated: What a person says of it.
        tell: Told of each step.

    Raises:
        DataError: The file, where possible the line, what is wrong, and what to do.
        ConfigError: What was stated is wrong, or pyarrow is missing.
    """
    tell("reading")
    content = content_of(path)
    try:
        raw = _raw(content, stated, tell)
        return _loaded(path, raw, stated, tell)
    except Fault as fault:
        raise DataError(_sentence(path, content, stated, fault)) from fault


def _raw(content: Content, stated: Stated, tell: Tell) -> Raw:
    tell("columns")
    if content.parquet:
        return read_parquet(content.data, stated)
    raw = read_text(content.data, layout_of(content.data, stated), stated.date_order)
    return replace(raw, encoding=content.encoding)


def _sentence(path: Path, content: Content, stated: Stated, fault: Fault) -> str:
    if fault.row is None:
        rest = fault.reason.removeprefix("no bars:")
        return f"{path}: {rest}" if rest == fault.reason else f"no bars in {path}:{rest}"
    reason = fault.reason
    if fault.other is not None:
        reason = reason.replace("{other}", _where(content, stated, fault.other))
    return f"{path}, {_where(content, stated, fault.row)}: {reason}"


def _where(content: Content, stated: Stated, row: int) -> str:
    if content.parquet:
        return f"row {row + 1}"
    return where(content.data, layout_of(content.data, stated), row)


def _loaded(path: Path, raw: Raw, stated: Stated, tell: Tell) -> Loaded:
    tell("times")
    name = named(path)
    ms = server_times(raw, stated)
    tell("prices")
    symbol, of, from_name = _whose(raw, stated, name)
    ticks = None
    if raw.ticks:
        ticks, rates, at, digits, report = _of_ticks(raw, ms, stated, of)
    else:
        rates, at, digits, report = _of_bars(raw, ms, stated, of, name)
    tell("checks")
    report = _described(report, rates, at, raw, from_name)
    return Loaded(path, symbol, at, digits, sealed(rates), report, ticks)


def _whose(raw: Raw, stated: Stated, name: Named) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Return symbol and timeframe as the rows or the name say, and what the name had to."""
    said_symbol, said_of = raw.said.get("symbol"), raw.said.get("timeframe")
    if stated.symbol and said_symbol and said_symbol != stated.symbol:
        # A broker's suffix is no contradiction, another name may be: the statement counts.
        said_symbol = None
    symbol = stated.symbol or said_symbol or name.symbol
    of = said_of if said_of in BY_NAME else name.timeframe
    taken = []
    if symbol and symbol == name.symbol and not (stated.symbol or said_symbol):
        taken.append(f"symbol {symbol}")
    if of and not stated.timeframe and of != said_of:
        taken.append(f"timeframe {of}")
    return symbol, of, tuple(taken)


def _of_bars(
    raw: Raw, ms: NDArray[np.int64], stated: Stated, of: str | None, name: Named
) -> tuple[RatesArray, Timeframe, int, Report]:
    found = priced(raw, stated, PRICES)
    check_bars(found.columns)
    found = as_bid(found, stated, ask_in_name=name.ask)
    times = _whole_seconds(ms)
    made, fractions = _rates(raw, times, found, stated)
    kept, repeated, newest_first, disorder = in_order(
        times, lambda one, two: np.asarray(made[one] == made[two])
    )
    try:
        at = period_of(times[kept], stated.timeframe, of)
    except Fault as fault:
        row = None if fault.row is None else int(kept[fault.row])
        raise Fault(fault.reason, row) from fault
    unclosed = None
    in_place = not (repeated or newest_first or disorder)
    rates = made if in_place else made[kept]
    if stated.drop_last:
        rates, unclosed = rates[:-1], int(rates["time"][-1])
    if not len(rates):
        raise Fault("no bars: the only one is left out by --drop-last")
    report = Report(
        len(times),
        duplicates=repeated,
        newest_first=newest_first,
        disorder=disorder,
        noisy=found.noisy,
        fractions=fractions,
        unclosed=unclosed,
        absent=tuple(
            column
            for column in (*_COUNTS, "spread")
            if column not in raw.columns and not (column == "spread" and stated.spread is not None)
        ),
    )
    return rates, at, found.digits, report


def _whole_seconds(ms: NDArray[np.int64]) -> NDArray[np.int64]:
    if (parts := ms % 1_000 != 0).any():
        row = int(np.argmax(parts))
        raise Fault("a bar opens at a part of a second: these may be ticks; name the columns", row)
    return np.asarray(ms // 1_000)


def _rates(
    raw: Raw, times: NDArray[np.int64], found: Priced, stated: Stated
) -> tuple[NDArray[np.void], int]:
    made = np.zeros(len(times), dtype=RATES_DTYPE)
    made["time"] = times
    for name in PRICES:
        made[name] = found.columns[name]
    fractions = 0
    for name in _COUNTS:
        if name in raw.columns:
            made[name], parts = whole(name, raw.columns[name], rounded=True)
            fractions += parts
    if "spread" in raw.columns:
        points, _ = whole("spread", raw.columns["spread"], rounded=False)
        if (wide := points >= _MOST_SPREAD).any():
            row = int(np.argmax(wide))
            raise Fault(f"the spread {points[row]} is no number that a bar can have", row)
        made["spread"] = points
    elif stated.spread is not None:
        made["spread"] = stated.spread
    return made, fractions


def _of_ticks(
    raw: Raw, ms: NDArray[np.int64], stated: Stated, of: str | None
) -> tuple[RatesArray, RatesArray, Timeframe, int, Report]:
    ticks, digits, carried, newest_first = ticks_of(raw, ms, stated)
    at = timeframe(stated.timeframe or of or _OF_TICKS)
    made = bars_of_ticks(ticks, 10.0**-digits, at)
    report = Report(
        len(ticks),
        ticks=len(ticks),
        newest_first=newest_first,
        carried=carried,
        unclosed=int(made["time"][-1]),
        absent=("real_volume",),
    )
    return ticks, made[:-1], at, digits, report


def _described(
    report: Report, rates: RatesArray, at: Timeframe, raw: Raw, from_name: tuple[str, ...]
) -> Report:
    times = rates["time"]
    week_days = (times // DAY + 4) % 7
    flat = rates["high"] == rates["low"]
    return replace(
        report,
        bars=len(rates),
        first=int(times[0]) if len(times) else None,
        last=int(times[-1]) if len(times) else None,
        gaps=gaps_of(times, at),
        flat=int(flat.sum()),
        weekend=int(((week_days == 0) | (week_days == 6)).sum()) if at.seconds <= DAY else 0,
        headers=raw.headers,
        left_out=raw.left_out,
        encoding=raw.encoding,
        from_name=from_name,
    )
