"""What a person says about a file, where the file itself leaves it open."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bridge.mt5.timeframes import BY_NAME

_NAMES = "|".join(sorted(BY_NAME, key=len, reverse=True))
# EURUSD_H1_201701010000_201712312300, and the files that MetaTrader 4 calls EURUSD60.
_MT5_NAME = re.compile(rf"(?P<symbol>.+?)[_ -]?\b(?P<of>{_NAMES})(?=[_ .,-]|$)")
_MT5_PLAIN = re.compile(rf"(?P<symbol>[^_]+)_(?P<of>{_NAMES})(?=[_ .,-]|$)")
_MT4_NAME = re.compile(r"(?P<symbol>[A-Z]{6}[^\d]{0,4})(?P<of>\d+)$")
_TICK_NAME = re.compile(r"(?P<symbol>[^_]+)_ticks?(_|$)", re.IGNORECASE)
_MINUTES = {str(each.seconds // 60): name for name, each in BY_NAME.items()}
_ASK = re.compile(r"(^|[^a-z])ask([^a-z]|$)", re.IGNORECASE)


class DateOrder(StrEnum):
    """Which number of 03/04/2024 is the day."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"


class Side(StrEnum):
    """Whose prices a file's are."""

    BID = "bid"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Stated:
    """What was stated; None leaves it to the file.

    Attributes:
        symbol: As the broker writes it.
        timeframe: Name of the bars' timeframe.
        digits: Decimals of a price.
        clock: Rule of the broker's clock, which the bars are to follow.
        times: What the file's times are: ``server``, or the rule of the clock that wrote them.
        date_order: Of dates whose year comes last.
        columns: Names of the columns in the file's order, ``-`` for one to leave out.
        skip_lines: Lines to leave out at the beginning.
        scale: What prices are multiplied with.
        side: Whose prices they are.
        spread: Points, for bars without; needed to make bid prices of ask prices.
        drop_last: Leave the newest bar out: it was forming when the file was written.
    """

    symbol: str | None = None
    timeframe: str | None = None
    digits: int | None = None
    clock: str | None = None
    times: str | None = None
    date_order: DateOrder | None = None
    columns: tuple[str, ...] | None = None
    skip_lines: int = 0
    scale: float = 1.0
    side: Side | None = None
    spread: int | None = None
    drop_last: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """What a file's name says."""

    symbol: str | None
    timeframe: str | None
    ask: bool


def named(path: Path) -> Named:
    """Return what the name of ``path`` says: ``EURUSD_H1_2017.csv``, ``EURUSD60.csv``."""
    stem = re.sub(r"(\.(csv|txt|prn|hst|parquet|pq|gz))+$", "", path.name, flags=re.IGNORECASE)
    ask = bool(_ASK.search(stem))
    for pattern in (_MT5_PLAIN, _MT5_NAME):
        if found := pattern.match(stem):
            return Named(found["symbol"], found["of"], ask)
    if (found := _MT4_NAME.match(stem)) and found["of"] in _MINUTES:
        return Named(found["symbol"], _MINUTES[found["of"]], ask)
    found = _TICK_NAME.match(stem)
    return Named(found["symbol"] if found else None, None, ask)
