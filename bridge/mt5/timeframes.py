"""The 21 timeframes: name, package value, length, and where a bar of each begins.

Server time throughout. W1 bars open on Sunday, MN1 bars on the first of a month.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from bridge.errors import ConfigError
from bridge.mt5 import constants

_DAY = 86_400
_WEEK = 7 * _DAY
# 1970-01-01 was a Thursday; the Sunday before it begins week zero.
_FIRST_SUNDAY = -4 * _DAY


@dataclass(frozen=True, slots=True)
class Timeframe:
    """One timeframe.

    Attributes:
        name: As traders say it: M1, H1, D1.
        value: As the package numbers it (``TIMEFRAME_H1`` is 16385).
        seconds: Nominal length; MN1 counts 30 days.
    """

    name: str
    value: int
    seconds: int

    def open_of(self, server_time: int) -> int:
        """Return the open time of the bar that holds ``server_time`` (server epoch seconds)."""
        if self.name == "MN1":
            day = datetime.fromtimestamp(server_time, UTC)
            return int(datetime(day.year, day.month, 1, tzinfo=UTC).timestamp())
        if self.name == "W1":
            return server_time - (server_time - _FIRST_SUNDAY) % _WEEK
        return server_time - server_time % self.seconds

    def next_open(self, server_time: int) -> int:
        """Return the nominal open time of the bar after the one that holds ``server_time``."""
        if self.name == "MN1":
            return self.open_of(self.open_of(server_time) + 32 * _DAY)
        return self.open_of(server_time) + self.seconds


_UNITS = {"M": 60, "H": 3_600, "D": _DAY, "W": _WEEK}


def _seconds(name: str) -> int:
    return 30 * _DAY if name == "MN1" else int(name[1:]) * _UNITS[name[0]]


BY_NAME = {
    key.removeprefix("TIMEFRAME_"): Timeframe(
        key.removeprefix("TIMEFRAME_"), value, _seconds(key.removeprefix("TIMEFRAME_"))
    )
    for key, value in vars(constants).items()
    if key.startswith("TIMEFRAME_")
}
BY_VALUE = {timeframe.value: timeframe for timeframe in BY_NAME.values()}


def timeframe(name: str) -> Timeframe:
    """Return the timeframe called ``name``.

    Raises:
        ConfigError: There is none.
    """
    try:
        return BY_NAME[name]
    except KeyError:
        raise ConfigError(
            f"timeframe {name!r} is unknown: use one of {', '.join(BY_NAME)}"
        ) from None
