"""The store itself: read, add, list.

``folder/broker/symbol/timeframe/`` holds ``series.json`` and the files that it names. Bars finer
than H1 have a file a year, others one file.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from bridge.errors import DataError
from bridge.market.aggregate import aggregate, can_make
from bridge.market.quality import check_rates
from bridge.market.store.arrow import read_rates, write_rates
from bridge.market.store.index import INDEX, read_index, write_index
from bridge.market.store.merge import Merged, Span, joined_spans, merge
from bridge.market.store.place import file_name, put, writing
from bridge.market.store.series import Added, Bars, Conflicts, Part, Series, Stored
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import Timeframe, timeframe

_HOUR = 3_600
_NONE = np.empty(0, dtype=RATES_DTYPE)
# A file of bars may go while it is looked for, when another program adds to the series.
_READ_TRIES = 5

Moment = int | str | None
"""Server epoch seconds, or a time as text, ``2024.01.31 23:00``; None for no limit."""


class BarStore:
    """Bars below one folder.

    Args:
        folder: It need not be there before the first bars are added.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def series(self) -> tuple[Stored, ...]:
        """Return all that is stored, by broker, symbol and length of the bars.

        Raises:
            DataError: An index is damaged.
        """
        found = [read_index(path.parent) for path in self.folder.glob(f"*/*/*/{INDEX}")]
        return tuple(sorted((each for each in found if each), key=_order))

    def find(self, broker: str, symbol: str, name: str) -> Stored | None:
        """Return the stored bars of exactly this timeframe; None for none.

        Raises:
            ConfigError: There is no timeframe of that name.
            DataError: The index is damaged, or another symbol has the folder: names that differ
                in capitals only are one folder on Windows.
        """
        return self._find(broker, symbol, timeframe(name))

    def read(
        self, broker: str, symbol: str, name: str, since: Moment = None, until: Moment = None
    ) -> Bars:
        """Return bars, made of finer ones where none of this timeframe are stored.

        Args:
            broker: As it was named when they were imported.
            symbol: As the broker writes it.
            name: Timeframe: ``M1``, ``H1``.
            since: Open time of the first bar; server time.
            until: Bars that open then or later are left out; server time.

        Returns:
            At least one bar. A bar made of finer ones that end before it does is not closed and
            left out.

        Raises:
            ConfigError: There is no such timeframe, a time that is none, pyarrow is missing.
            DataError: None are stored in that span, or a file is damaged.
        """
        wanted = timeframe(name)
        stored = self._source(broker, symbol, wanted)
        source = stored.series.timeframe
        series = replace(stored.series, timeframe=wanted)
        begin, end = _moment(since, stored.first), _moment(until, stored.last + 1)
        if source is wanted:
            rates = self._rates(stored, begin, end)
        else:
            begin = wanted.open_of(begin - 1) if since is None else begin
            rates = self._made(stored, wanted, begin, end)
        if not len(rates):
            raise DataError(
                f"no closed bar of {series.title} opens in that span: the store has "
                f"{source.name} bars from {text(stored.first)} to {text(stored.last)}"
            )
        return Bars(series, sealed(rates), source)

    def add(
        self,
        series: Series,
        rates: RatesArray,
        *,
        conflicts: Conflicts = Conflicts.REFUSE,
        covers: Span | None = None,
    ) -> Added:
        """Add bars to a series; all of them are in the store afterwards, or none.

        Args:
            series: Whose; what it says beside broker, symbol, timeframe and clock is news.
            rates: Shape ``(n,)``, n > 0, oldest first, each time once.
            conflicts: What becomes of bars that the store has with other values.
            covers: First and last open time of a span of which a terminal has no other bars.

        Raises:
            DataError: Impossible bars; bars that contradict the store's; another clock rule;
                a file can't be written, or another program writes into the series.
        """
        check_rates(rates, what=series.title)
        if not len(rates):
            raise DataError(f"no bars of {series.title} were given to be stored")
        folder = self._folder(series.broker, series.symbol, series.timeframe)
        with writing(folder):
            stored = self._find(series.broker, series.symbol, series.timeframe)
            return _add(folder, stored, series, rates, conflicts, covers)

    def _source(self, broker: str, symbol: str, wanted: Timeframe) -> Stored:
        """Return the stored bars to make ``wanted`` of: its own, or the coarsest that do."""
        if exact := self._find(broker, symbol, wanted):
            return exact
        of_symbol = [
            each
            for each in self.series()
            if (each.series.broker, each.series.symbol) == (broker, symbol)
        ]
        able = [each for each in of_symbol if can_make(wanted, each.series.timeframe)]
        if able:
            return max(able, key=lambda it: it.series.timeframe.seconds)
        known = ", ".join(each.series.timeframe.name for each in of_symbol)
        there = f"only {known}" if known else "none of that broker and symbol"
        raise DataError(
            f"the store {self.folder} has no bars to make {symbol} {wanted.name} of {broker}, "
            f"{there}: mt5-onnx bars list shows what there is, mt5-onnx bars import adds more"
        )

    def _made(self, stored: Stored, wanted: Timeframe, begin: int, end: int) -> RatesArray:
        """Return the bars of ``wanted`` that open in a span and whose end the store reaches."""
        source = stored.series.timeframe
        finish = wanted.next_open(end - 1)
        made = aggregate(self._rates(stored, begin, finish), source, wanted)
        covered = stored.last + source.seconds
        kept = (made["time"] >= begin) & (made["time"] < end)
        if len(made) and wanted.next_open(int(made["time"][-1])) > covered:
            kept[-1] = False
        return made[kept]

    def _rates(self, stored: Stored, begin: int, end: int) -> RatesArray:
        folder = self._folder(stored.series.broker, stored.series.symbol, stored.series.timeframe)
        for left in reversed(range(_READ_TRIES)):
            try:
                return _read(folder, stored, begin, end)
            except FileNotFoundError as error:
                newer = read_index(folder)
                if newer is None or not left:
                    raise DataError(
                        f"{error.filename} is missing: import the bars of "
                        f"{stored.series.title} again"
                    ) from error
                stored = newer
        raise AssertionError

    def _find(self, broker: str, symbol: str, of: Timeframe) -> Stored | None:
        folder = self._folder(broker, symbol, of)
        found = read_index(folder)
        if found and (found.series.broker, found.series.symbol) != (broker, symbol):
            raise DataError(
                f"{folder} holds bars of {found.series.title}, not of {symbol} of {broker}: "
                "write the names as they were, or name another --store"
            )
        return found

    def _folder(self, broker: str, symbol: str, of: Timeframe) -> Path:
        return self.folder / file_name(broker) / file_name(symbol) / of.name


def _order(stored: Stored) -> tuple[str, str, int]:
    return stored.series.broker, stored.series.symbol, stored.series.timeframe.seconds


def _moment(said: Moment, default: int) -> int:
    if said is None:
        return default
    return parse(said) if isinstance(said, str) else said


def _split(rates: RatesArray, of: Timeframe) -> Iterator[tuple[str, RatesArray]]:
    if of.seconds >= _HOUR:
        yield "all", rates
        return
    years = rates["time"].astype("datetime64[s]").astype("datetime64[Y]")
    starts = np.flatnonzero(np.append(True, years[1:] != years[:-1]))
    for begin, end in zip(starts, np.append(starts[1:], len(rates)), strict=True):
        yield str(years[begin]), rates[begin:end]


def _add(
    folder: Path,
    stored: Stored | None,
    series: Series,
    rates: RatesArray,
    conflicts: Conflicts,
    covers: Span | None,
) -> Added:
    joined = _joined(stored.series, series) if stored else series
    merged = _merged(folder, stored, series, rates, conflicts)
    if conflicts is Conflicts.REFUSE:
        _refuse(series, merged)
    parts = {part.key: part for part in stored.parts} if stored else {}
    generation = stored.generation + 1 if stored else 1
    for key, each in merged.items():
        if each.changed:
            parts[key] = _write(folder, key, generation, each.rates)
    now = Stored(
        joined,
        tuple(sorted(parts.values(), key=lambda it: it.first)),
        generation,
        joined_spans(stored.covered if stored else (), covers),
    )
    if stored and now == replace(stored, generation=generation):
        now = stored
    else:
        write_index(folder, now)
        _sweep(folder, now)
    return Added(
        now,
        new=sum(each.new for each in merged.values()),
        known=sum(each.known for each in merged.values()),
        conflicting=sum(len(each.before) for each in merged.values()),
    )


def _merged(
    folder: Path,
    stored: Stored | None,
    series: Series,
    rates: RatesArray,
    conflicts: Conflicts,
) -> dict[str, Merged]:
    """Return what becomes of each file that ``rates`` belong to, by its key."""
    parts = {part.key: part for part in stored.parts} if stored else {}
    absent = (stored.series.absent if stored else (), series.absent)
    return {
        key: merge(
            read_rates(folder / parts[key].file) if key in parts else _NONE,
            some,
            absent=absent,
            conflicts=conflicts,
        )
        for key, some in _split(rates, series.timeframe)
    }


def _write(folder: Path, key: str, generation: int, rates: RatesArray) -> Part:
    name = f"{key}-{generation}.parquet"
    put(folder / name, lambda file: write_rates(file, rates))
    return Part(name, key, len(rates), int(rates["time"][0]), int(rates["time"][-1]))


def _read(folder: Path, stored: Stored, begin: int, end: int) -> RatesArray:
    """Return the bars that open in ``[begin, end)``.

    Raises:
        DataError: A file is damaged, or has another number of bars than the index says.
    """
    found = [_NONE]
    for part in stored.parts:
        if part.last >= begin and part.first < end:
            rates = read_rates(folder / part.file)
            if len(rates) != part.bars:
                raise DataError(
                    f"{folder / part.file} has {len(rates)} bars instead of {part.bars}: remove "
                    "its folder, and import the bars again"
                )
            low, high = np.searchsorted(rates["time"], (begin, end))
            found.append(rates[low:high])
    return np.concatenate(found) if len(found) != 2 else found[1]


def _sweep(folder: Path, stored: Stored) -> None:
    """Remove files of bars that no index names; what is open elsewhere goes the next time."""
    named = {part.file for part in stored.parts}
    for path in folder.glob("*.parquet*"):
        if path.name not in named:
            with suppress(OSError):
                path.unlink()


def _joined(old: Series, new: Series) -> Series:
    if old.clock != new.clock:
        raise DataError(
            f"the stored bars of {old.title} follow the clock {old.clock}, the new ones "
            f"{new.clock}: say --clock {old.clock}, or name another broker"
        )
    return replace(
        new,
        digits=max(old.digits, new.digits),
        absent=tuple(sorted({*old.absent, *new.absent})),
        profile=new.profile or old.profile,
        profile_sha256=new.profile_sha256 if new.profile else old.profile_sha256,
        specification=new.specification or old.specification,
    )


def _refuse(series: Series, merged: Mapping[str, Merged]) -> None:
    number = sum(len(each.before) for each in merged.values())
    if not number:
        return
    first = next(each for each in merged.values() if len(each.before))
    before, after = first.before[0], first.after[0]
    name = next(name for name in RATES_DTYPE.names or () if before[name] != after[name])
    bars = "1 bar contradicts" if number == 1 else f"{number} bars contradict"
    raise DataError(
        f"{bars} the store's {series.title}, the first {text(int(before['time']))} ({name} "
        f"{after[name]:g} instead of {before[name]:g}), and nothing was written: say --conflicts "
        "keep or --conflicts replace"
    )
