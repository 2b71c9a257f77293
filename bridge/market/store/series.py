"""What the store knows of bars: whose they are, how to read them, and which there are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bridge.mt5.rates import RatesArray
from bridge.mt5.timeframes import Timeframe


@dataclass(frozen=True, slots=True)
class Series:
    """A row of bars: one broker's, of one symbol and timeframe.

    Attributes:
        broker: Any name that tells brokers apart.
        symbol: As the broker writes it.
        timeframe: Of the bars.
        clock: Rule of the broker's clock, which the bars' times follow: a name for
            ``server_clock``.
        digits: Decimals of a price.
        absent: Columns that a source did not have, and that are 0 in its bars.
        profile: Name of the broker profile that belongs to it; None for none.
        profile_sha256: Its hash when the bars came.
        specification: Fields of ``symbol_info`` when the bars came, where they are known.
    """

    broker: str
    symbol: str
    timeframe: Timeframe
    clock: str
    digits: int
    absent: tuple[str, ...] = ()
    profile: str | None = None
    profile_sha256: str | None = None
    specification: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def title(self) -> str:
        """How sentences name it."""
        return f"{self.symbol} {self.timeframe.name} of {self.broker}"


@dataclass(frozen=True, slots=True)
class Part:
    """A file of bars; it is written once and never changed.

    Attributes:
        file: Its name in the series' folder.
        key: What it holds: a year, or ``all``.
        bars: How many.
        first: Open time of the oldest, server epoch seconds.
        last: Open time of the newest.
    """

    file: str
    key: str
    bars: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A series in the store.

    Attributes:
        series: Which.
        parts: Its files, oldest first; never empty.
        generation: How often it was written.
        covered: Spans, first and last open time, of which every bar of a terminal was fetched;
            apart from each other, oldest first.
    """

    series: Series
    parts: tuple[Part, ...]
    generation: int = 1
    covered: tuple[tuple[int, int], ...] = ()

    @property
    def bars(self) -> int:
        """How many bars there are."""
        return sum(part.bars for part in self.parts)

    @property
    def first(self) -> int:
        """Open time of the oldest, server epoch seconds."""
        return self.parts[0].first

    @property
    def last(self) -> int:
        """Open time of the newest, server epoch seconds."""
        return self.parts[-1].last


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Bars that were read.

    Attributes:
        series: Theirs, with the timeframe that was asked for.
        rates: Shape ``(n,)``, the dtype of ``copy_rates``, oldest first, closed, read-only.
        source: Timeframe of the stored bars that they were made of.
    """

    series: Series
    rates: RatesArray
    source: Timeframe


class Conflicts(StrEnum):
    """What becomes of a bar that is in the store with other values."""

    REFUSE = "refuse"
    """Nothing is written."""
    KEEP = "keep"
    """The store's bar stays."""
    REPLACE = "replace"
    """The new bar takes its place."""


@dataclass(frozen=True, slots=True)
class Added:
    """What an addition did.

    Attributes:
        stored: The series as it is now.
        new: Bars that the store did not have.
        known: Bars that it had with the same values.
        conflicting: Bars that it had with other values; what became of them was asked for.
    """

    stored: Stored
    new: int
    known: int
    conflicting: int
