"""Names that programs give to columns, and the ones that they mean."""

import re
from collections.abc import Sequence

PRICES = ("open", "high", "low", "close")
VOLUMES = ("tick_volume", "real_volume", "volume")
QUOTES = ("bid", "ask", "last")
MOMENTS = ("date", "time")
SAID = ("symbol", "timeframe")
KNOWN = (*MOMENTS, *PRICES, "tick_volume", "spread", "real_volume", *QUOTES, "volume", "flags")

_MEANS = {
    "date": ("date", "day", "dateutc"),
    "time": (
        "time", "datetime", "timestamp", "localtime", "gmttime", "utctime", "timeutc", "opentime",
        "dateandtime", "timemsc", "etctime", "unix", "ctm", "indexlevel0", "bartime",
    ),
    "open": ("open", "o", "bidopen"),
    "high": ("high", "h", "bidhigh"),
    "low": ("low", "l", "bidlow"),
    "close": ("close", "c", "last price", "bidclose"),
    "tick_volume": ("tickvol", "tickvolume", "tickcount", "ticks"),
    "real_volume": ("realvolume", "volumereal", "realvol"),
    "volume": ("volume", "vol", "v"),
    "spread": ("spread",),
    "symbol": ("symbol", "ticker"),
    "timeframe": ("timeframe", "period", "per", "tf"),
    "bid": ("bid", "bidprice"),
    "ask": ("ask", "askprice"),
    "last": ("last",),
    "flags": ("flags",),
}  # fmt: skip
_BY_WORD = {word: name for name, words in _MEANS.items() for word in words}
_DROPPED = re.compile(r"[^a-z0-9]")


def meant(written: str) -> str | None:
    """Return the column that a header's cell means; None for one that is not needed."""
    return _BY_WORD.get(_DROPPED.sub("", written.lower()))


def header_of(cells: Sequence[str]) -> tuple[str | None, ...] | None:
    """Return what the cells of a header mean; None when the line is no header of bars or ticks.

    Of two columns that mean the same the first counts, but ``time`` beside ``time_msc`` is the
    finer one.
    """
    names = [meant(cell) for cell in cells]
    if len({*names} & {*PRICES, *QUOTES, *MOMENTS}) < 3:
        return None
    if "timemsc" in (words := [_DROPPED.sub("", cell.lower()) for cell in cells]):
        names = [
            None if name in MOMENTS and word != "timemsc" else name
            for name, word in zip(names, words, strict=True)
        ]
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            names[number] = None
        elif name:
            seen.add(name)
    return _volumes_named(names)


def _volumes_named(names: Sequence[str | None]) -> tuple[str | None, ...]:
    """A plain volume is the real one beside a count of ticks, and the count where it is alone."""
    if "bid" in names and "open" not in names:
        return tuple(names)
    plain = "real_volume" if "tick_volume" in names else "tick_volume"
    return tuple(plain if name == "volume" and plain not in names else name for name in names)


def zone_of(cells: Sequence[str]) -> str | None:
    """Return what the header says of the times' clock: ``utc``, ``local``, or nothing."""
    words = {_DROPPED.sub("", cell.lower()) for cell in cells}
    if words & {"gmttime", "utctime", "timeutc", "dateutc"}:
        return "utc"
    return "local" if "localtime" in words else None


def columns_of_row(kinds: str) -> tuple[str | None, ...] | None:
    """Return the columns of a file without header; None when they are not certain.

    Args:
        kinds: A letter a cell: ``d`` a date, ``t`` a time of day, ``m`` both in one, ``n`` a
            number, ``-`` nothing.
    """
    kinds = kinds.rstrip("-")
    found = re.fullmatch(r"(dt|m|d)(n{4,7})", kinds)
    if not found:
        return None
    moment = {"dt": ("date", "time"), "m": ("time",), "d": ("date",)}[found[1]]
    rest: dict[int, tuple[str, ...]] = {4: (), 5: ("tick_volume",)}
    if found[1] != "m":  # the terminal's own export
        rest[7] = ("tick_volume", "real_volume", "spread")
    else:  # copy_rates
        rest[7] = ("tick_volume", "spread", "real_volume")
    more = rest.get(len(found[2]))
    return None if more is None else (*moment, *PRICES, *more)
