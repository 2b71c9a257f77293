"""Files of bars in the form in which MetaTrader 5 exports them.

Tab separated, CRLF, a header in angle brackets, date with dots and time in two columns, in server
time.
"""

from collections.abc import Iterator
from pathlib import Path

from bridge.errors import ConfigError, DataError
from bridge.market.quality import check_rates
from bridge.mt5 import servertime
from bridge.mt5.rates import RatesArray, rates_of

HEADER = (
    "<DATE>",
    "<TIME>",
    "<OPEN>",
    "<HIGH>",
    "<LOW>",
    "<CLOSE>",
    "<TICKVOL>",
    "<VOL>",
    "<SPREAD>",
)

_Row = tuple[int, float, float, float, float, int, int, int]


def read_bars(path: Path) -> RatesArray:
    """Return the bars of an export of MetaTrader 5.

    Args:
        path: A text file as the terminal's "Export bars" writes it.

    Returns:
        Shape ``(n,)``, oldest first, checked, read-only.

    Raises:
        DataError: The file or the first line that is wrong, and why.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} can't be read as bars: {error}") from error
    if not lines or tuple(lines[0].split("\t")) != HEADER:
        raise DataError(
            f"{path} is no export of bars: its first line has to be {' '.join(HEADER)}, "
            "separated by tabs"
        )
    rates = rates_of(_rows(path, lines[1:]))
    check_rates(rates, what=str(path))
    return rates


def _rows(path: Path, lines: list[str]) -> Iterator[_Row]:
    for number, line in enumerate(lines, start=2):
        try:
            date, clock, o, h, low, c, ticks, volume, spread = line.split("\t")
            yield (
                servertime.parse(f"{date} {clock}"),
                float(o),
                float(h),
                float(low),
                float(c),
                int(ticks),
                int(spread),
                int(volume),
            )
        except (ValueError, ConfigError) as error:
            raise DataError(f"{path}, line {number}: {line!r} is no bar ({error})") from error


def write_bars(path: Path, rates: RatesArray, *, digits: int) -> None:
    """Write bars as MetaTrader 5 exports them.

    Args:
        path: Where to; replaced if it exists.
        rates: Shape ``(n,)``, oldest first.
        digits: Decimals of a price.
    """
    lines = ["\t".join(HEADER)]
    for time, o, h, low, c, ticks, spread, volume in rates.tolist():
        date, clock = servertime.text(time).split(" ")
        prices = "\t".join(f"{price:.{digits}f}" for price in (o, h, low, c))
        lines.append(f"{date}\t{clock}\t{prices}\t{ticks}\t{volume}\t{spread}")
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("ascii"))
