"""What was found in a file, in numbers and in sentences."""

from collections.abc import Iterator
from dataclasses import dataclass

from bridge.market.importer.period import Gap
from bridge.mt5.servertime import text

_SHOWN_GAPS, _SHOWN_LONGEST = 12, 5


@dataclass(frozen=True, slots=True)
class Report:
    """What a file holds.

    Attributes:
        rows: Rows that it has, headers not counted.
        bars: Bars that were made of them.
        first: Open time of the oldest, server epoch seconds; None where there is no bar.
        last: Of the newest.
        ticks: Ticks that the bars were made of; 0 for a file of bars.
        duplicates: Rows that repeat another one entirely.
        headers: Headers between the rows.
        newest_first: Whether the file begins with the newest row.
        disorder: Rows older than the one before them, in another file.
        gaps: Bars that are missing, oldest first.
        flat: Bars whose four prices are equal.
        weekend: Bars on Saturday or Sunday.
        noisy: Prices that had noise of floating point beyond their digits.
        fractions: Volumes with a fraction, which were rounded.
        carried: Ticks without a bid or an ask, which have that of the tick before.
        unclosed: Open time of the newest bar when it was left out, not known to be closed.
        absent: Columns that the file does not have; they are 0.
        left_out: Columns of the file that are not needed.
        encoding: Of the text, or ``Parquet``.
        from_name: What was taken from the file's name, in words.
    """

    rows: int
    bars: int = 0
    first: int | None = None
    last: int | None = None
    ticks: int = 0
    duplicates: int = 0
    headers: int = 0
    newest_first: bool = False
    disorder: int = 0
    gaps: tuple[Gap, ...] = ()
    flat: int = 0
    weekend: int = 0
    noisy: int = 0
    fractions: int = 0
    carried: int = 0
    unclosed: int | None = None
    absent: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    encoding: str = "utf-8"
    from_name: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Bars that are missing outside of weekends."""
        return sum(gap.bars for gap in self.gaps if not gap.weekend)

    def notes(self) -> Iterator[str]:
        """Say all that a person should know of the file, a sentence each."""
        for name in self.from_name:
            yield f"{name}, as the file's name says"
        if self.ticks:
            yield f"made of {_many(self.ticks, 'tick')}"
        if self.newest_first:
            yield "the file begins with the newest: sorted"
        if self.disorder:
            yield f"{_many(self.disorder, 'row')} stood after newer ones: sorted"
        if self.duplicates:
            yield f"{_many(self.duplicates, 'duplicate')} left out"
        if self.headers:
            yield f"{_many(self.headers, 'more header')} left out"
        if self.unclosed is not None:
            yield f"the newest bar, {text(self.unclosed)}, is left out: it may not be closed"
        yield from self._values()
        yield from self._gaps()

    def _values(self) -> Iterator[str]:
        said = (
            (self.flat, "flat bar", ""),
            (self.weekend, "bar", " on Saturday or Sunday"),
            (self.noisy, "price", " with noise of floating point: rounded"),
            (self.fractions, "volume", " with a fraction: rounded"),
            (self.carried, "tick", " without bid or ask: as in the tick before"),
        )
        for number, what, more in said:
            if number:
                yield f"{_many(number, what)}{more}"
        if self.absent:
            yield f"no {' and no '.join(self.absent)} in the file: stored as 0"
        if self.left_out:
            yield f"columns left out: {', '.join(self.left_out)}"

    def _gaps(self) -> Iterator[str]:
        weekends = sum(gap.weekend for gap in self.gaps)
        holes = [gap for gap in self.gaps if not gap.weekend]
        if self.gaps:
            longest = max(self.gaps, key=lambda gap: gap.bars)
            yield (
                f"{_many(len(self.gaps), 'gap')}, {weekends} over weekends, the longest of "
                f"{_many(longest.bars, 'bar')} from {text(longest.first)}; nothing is filled"
            )
        shown = sorted(holes, key=lambda gap: (-gap.bars, gap.first))
        if len(holes) > _SHOWN_GAPS:
            yield f"{len(holes):,} gaps at other times, --json has all; the longest:"
            shown = shown[:_SHOWN_LONGEST]
        for gap in sorted(shown, key=lambda gap: gap.first):
            until = f" to {text(gap.last)}" if gap.bars > 1 else ""
            yield f"missing: {text(gap.first)}{until} ({_many(gap.bars, 'bar')})"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
