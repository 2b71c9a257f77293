"""Server time and UTC: the one place that converts.

A terminal writes its broker's wall clock as if it were UTC epoch seconds, in bars, ticks, orders
and deals.
The rules are the four that brokers use. Nothing here learns an offset.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from bridge.errors import ConfigError

DAY = 86_400

# New York's clock plus seven hours: +2 in winter, +3 in summer, switched on the American dates.
_EET_US_LEAD = timedelta(hours=7)


@dataclass(frozen=True, slots=True)
class ServerClock:
    """A broker's clock rule.

    Attributes:
        name: ``utc``, ``eet-eu``, ``eet-us`` or a fixed offset such as ``utc+3``.
    """

    name: str
    _zone: tzinfo
    _lead: timedelta

    def from_utc(self, utc: float) -> float:
        """Return server epoch seconds at ``utc`` (epoch seconds)."""
        offset = self._zone.utcoffset(datetime.fromtimestamp(utc, self._zone)) or timedelta(0)
        return utc + (offset + self._lead).total_seconds()

    def to_utc(self, server: float) -> float:
        """Return UTC epoch seconds when the server's clock shows ``server``.

        In the hour that a clock shows twice, the first one counts; in the hour that it skips,
        the moment of the switch plus what is over.
        """
        wall = datetime.fromtimestamp(server, UTC).replace(tzinfo=None) - self._lead
        return wall.replace(tzinfo=self._zone).timestamp()


def _fixed(name: str) -> ServerClock | None:
    text = name.removeprefix("utc")
    if text == name or text[:1] not in "+-" or not text[1:].replace(":", "", 1).isdigit():
        return None
    hours, _, minutes = text[1:].partition(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if offset > timedelta(hours=14):
        return None
    return ServerClock(name, timezone(-offset if text[0] == "-" else offset), timedelta(0))


_NAMED: dict[str, Callable[[], ServerClock]] = {
    "utc": lambda: ServerClock("utc", UTC, timedelta(0)),
    "eet-eu": lambda: ServerClock("eet-eu", ZoneInfo("Europe/Helsinki"), timedelta(0)),
    "eet-us": lambda: ServerClock("eet-us", ZoneInfo("America/New_York"), _EET_US_LEAD),
}


def server_clock(name: str) -> ServerClock:
    """Return the rule called ``name``.

    Raises:
        ConfigError: The name is none of ``utc``, ``eet-eu``, ``eet-us``, ``utc+3``, ``utc-05:30``.
    """
    if name in _NAMED:
        return _NAMED[name]()
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
