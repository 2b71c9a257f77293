"""A calendar of news, read from the user's file: when, which currency, and how long around it.

The file is text with a header line, separated by commas, semicolons or tabs. Its columns, in any
order: ``time`` (server time, as 2024.02.02 15:30) and ``currency``; and, where wanted, ``before``
and ``after`` (minutes; empty takes the settings') and ``title``. Other columns are passed over.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import ConfigError
from bridge.mt5.servertime import DAY, parse, server_day

_NEEDED = ("time", "currency")
_SEPARATORS = (",", ";", "\t")
# An offset behind the time would be passed over in silence: server time has none.
_TIME = re.compile(r"\d{4}([.-])\d\d\1\d\d[ T]\d\d:\d\d(:\d\d)?")
_CURRENCY = re.compile(r"[A-Z0-9]{2,8}")


@dataclass(frozen=True, slots=True)
class News:
    """One entry of the calendar.

    Attributes:
        time: When it is published, server epoch seconds.
        currency: Which currency it moves.
        before, after: Minutes around it in which nothing is opened; None takes the settings'.
        title: What it is; may be empty.
    """

    time: int
    currency: str
    before: float | None
    after: float | None
    title: str


class Calendar:
    """News from a file, read again when it has changed; without a file there is none.

    Args:
        path: The file, or None.

    Raises:
        ConfigError: It can't be read: its line and the reason.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self.news: tuple[News, ...] = ()
        self.refresh()

    @property
    def end(self) -> float:
        """When the day of the last news is over, server epoch seconds."""
        return (server_day(self.news[-1].time) + 1) * DAY if self.news else 0.0

    def refresh(self) -> None:
        """Read the file if it is another than before; what was read last stays when it can't be.

        Raises:
            ConfigError: It can't be read: its line and the reason.
        """
        if self.path is None:
            return
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self.news = read_news(self.path)
            self._stamp = stamp


def read_news(path: Path) -> tuple[News, ...]:
    """Return the calendar in a file, sorted by time.

    Raises:
        ConfigError: The file or the first line that is wrong, and why.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    header, _, _ = text.partition("\n")
    separator = max(_SEPARATORS, key=header.count)
    lines = text.splitlines()
    rows = csv.DictReader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
    if missing := [name for name in _NEEDED if name not in rows.fieldnames]:
        raise ConfigError(
            f"{path}: the first line names no column {' or '.join(missing)}: begin the file with "
            "time,currency,before,after,title"
        )
    try:
        return tuple(sorted(_all(path, rows), key=lambda news: news.time))
    except csv.Error as error:
        raise ConfigError(f"{path}, line {rows.line_num + 1}: {error}: correct it") from error


def _all(path: Path, rows: "csv.DictReader[str]") -> Iterator[News]:
    for row in rows:
        try:
            yield _news({name: (value or "").strip() for name, value in row.items() if name})
        except ValueError as error:
            raise ConfigError(f"{path}, line {rows.line_num}: {error}") from error


def _news(row: Mapping[str, str]) -> News:
    time, currency = row["time"], row["currency"].upper()
    if not _TIME.fullmatch(time):
        raise ValueError(f"time {time!r} has to be server time such as 2024.02.02 15:30")
    if not _CURRENCY.fullmatch(currency):
        raise ValueError(f"currency {row['currency']!r} has to be one such as USD")
    try:
        moment = parse(time)
    except ConfigError:
        raise ValueError(f"time {time!r} is in no calendar: correct it") from None
    before, after = _minutes("before", row), _minutes("after", row)
    return News(moment, currency, before, after, row.get("title", ""))


def _minutes(name: str, row: Mapping[str, str]) -> float | None:
    written = row.get(name, "")
    if not written:
        return None
    if not re.fullmatch(r"\d{1,6}(\.\d+)?", written):
        raise ValueError(f"{name} {written!r} has to be minutes, 0 or more, or empty")
    return float(written)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return found.st_mtime_ns, found.st_size


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(
        f"the news {path} can't be read ({error}): name another file as limits.news_csv, save it "
        "as UTF-8, or take the key out"
    )
