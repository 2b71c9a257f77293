"""Server time and UTC: the one place that converts.

A terminal writes its broker's wall clock as if it were UTC epoch seconds, in bars, ticks, orders
and deals.
The rules are the four that brokers use. Nothing here learns an offset.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from bridge.errors import ConfigError

DAY = 86_400

_HOUR = 3_600
# New York's clock plus seven hours: +2 in winter, +3 in summer, switched on the American dates.
_EET_US_LEAD = 7.0 * _HOUR
# A month, shorter than any summer time. Both clocks change at whole hours of UTC.
_STRIDE = 30 * DAY


@dataclass(frozen=True, slots=True)
class ServerClock:
    """A broker's clock rule, from 1970 to 2100; what its offset was at an end holds beyond it.

    Attributes:
        name: ``utc``, ``eet-eu``, ``eet-us`` or a fixed offset such as ``utc+3``.
    """

    name: str
    # Offsets in seconds, one more than changes: each holds up to the change at its place. A change
    # is told as UTC, and as the time that the server shows from which the new offset counts.
    _offsets: tuple[float, ...] = field(repr=False)
    _changes: tuple[int, ...] = field(default=(), repr=False)
    _shown: tuple[float, ...] = field(default=(), repr=False)

    def from_utc(self, utc: float) -> float:
        """Return server epoch seconds at ``utc`` (epoch seconds)."""
        return utc + self._offsets[bisect_right(self._changes, utc)]

    def to_utc(self, server: float) -> float:
        """Return UTC epoch seconds when the server's clock shows ``server``.

        In the hour that a clock shows twice, the first one counts; in the hour that it skips,
        the moment of the switch plus what is over.
        """
        return server - self._offsets[bisect_right(self._shown, server)]


def _fixed(name: str) -> ServerClock | None:
    text = name.removeprefix("utc")
    if text == name or text[:1] not in "+-" or not text[1:].replace(":", "", 1).isdigit():
        return None
    hours, _, minutes = text[1:].partition(":")
    offset = float(int(hours) * _HOUR + int(minutes or 0) * 60)
    if offset > 14 * _HOUR:
        return None
    return ServerClock(name, (-offset if text[0] == "-" else offset,))


@cache
def _of_zone(name: str, zone: str, lead: float) -> ServerClock:
    """Return the rule of a zone's clock, ``lead`` seconds ahead of it."""
    place = ZoneInfo(zone)
    looks = range(0, int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()), _STRIDE)
    seen = [_offset(place, at) for at in looks]
    months = zip(looks, seen, seen[1:], strict=False)
    changes = [_change(place, at) for at, before, after in months if before != after]
    offsets = [_offset(place, at) + lead for at in (0, *changes)]
    # What a clock shows twice, and what it skips, is told by the offset before.
    shown = [at + max(pair) for at, *pair in zip(changes, offsets, offsets[1:], strict=False)]
    return ServerClock(name, tuple(offsets), tuple(changes), tuple(shown))


def _change(zone: tzinfo, month: int) -> int:
    """Return the first moment in a month, which begins at ``month``, with another offset."""
    hours = range(month, month + _STRIDE + 1, _HOUR)
    before = _offset(zone, month)
    return hours[bisect_left(hours, True, key=lambda at: _offset(zone, at) != before)]


def _offset(zone: tzinfo, utc: int) -> float:
    offset = zone.utcoffset(datetime.fromtimestamp(utc, zone))
    return (offset or timedelta(0)).total_seconds()


def server_clock(name: str) -> ServerClock:
    """Return the rule called ``name``.

    Raises:
        ConfigError: The name is none of ``utc``, ``eet-eu``, ``eet-us``, ``utc+3``, ``utc-05:30``.
    """
    match name:
        case "utc":
            return ServerClock(name, (0.0,))
        case "eet-eu":
            return _of_zone(name, "Europe/Helsinki", 0.0)
        case "eet-us":
            return _of_zone(name, "America/New_York", _EET_US_LEAD)
    rule = _fixed(name)
    if rule is None:
        raise ConfigError(
            f"server clock {name!r} is unknown: use utc, eet-eu, eet-us or an offset such as utc+3"
        )
    return rule


def server_day(server: float) -> int:
    """Return the number of the server's day that holds ``server`` (server epoch seconds)."""
    return int(server // DAY)


def weekday(server: float) -> int:
    """Return the day of week at ``server``, 0 = Sunday, as ``swap_rollover3days`` counts."""
    return (server_day(server) + 4) % 7


def text(server: float) -> str:
    """Return ``server`` as the terminal writes times: ``2017.03.12 23:00:00``."""
    return datetime.fromtimestamp(int(server), UTC).strftime("%Y.%m.%d %H:%M:%S")


def parse(written: str) -> int:
    """Return server epoch seconds of a time written as ``2017.03.12 23:00`` or with dashes.

    Raises:
        ConfigError: It is not a time.
    """
    try:
        moment = datetime.fromisoformat(written.strip().replace(".", "-", 2))
    except ValueError:
        raise ConfigError(
            f"{written!r} is not a time: write it as 2017.03.12 23:00, in server time"
        ) from None
    return int(moment.replace(tzinfo=UTC).timestamp())
