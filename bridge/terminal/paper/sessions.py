"""Trading sessions: the hours of a week in which a symbol is dealt, server time."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bridge.errors import ConfigError
from bridge.mt5.servertime import DAY, weekday

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_HOURS = re.compile(r"(\d\d):([0-5]\d)-(\d\d):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class Week:
    """The sessions of one symbol.

    Attributes:
        days: For each day, Sunday first: begin and end of each session, seconds of the day.
    """

    days: tuple[tuple[tuple[int, int], ...], ...]

    def is_open(self, server_time: float) -> bool:
        """Return whether ``server_time`` lies in a session; its end does not."""
        second = server_time % DAY
        return any(begin <= second < end for begin, end in self.days[weekday(server_time)])


def week_of(symbol: str, days: Mapping[str, Sequence[str]]) -> Week:
    """Return the sessions of ``symbol``.

    Args:
        symbol: For messages.
        days: Day, ``sun`` to ``sat``, -> hours such as ``00:05-24:00``; a day that is not there
            has no session.

    Raises:
        ConfigError: A day or hours that are none.
    """
    if unknown := sorted(set(days) - set(_DAYS)):
        raise ConfigError(
            f"sessions of {symbol} name {', '.join(unknown)}: days are {', '.join(_DAYS)}"
        )
    return Week(tuple(tuple(_spans(symbol, day, days.get(day, ()))) for day in _DAYS))


def _spans(symbol: str, day: str, hours: Sequence[str]) -> Iterator[tuple[int, int]]:
    for each in hours:
        match = _HOURS.fullmatch(each)
        begin, end = (0, 0) if match is None else _seconds(*map(int, match.groups()))
        if not begin < end <= DAY:
            raise ConfigError(
                f"sessions of {symbol} on {day} have {each!r}: write begin and end of a session "
                "within the day, as 00:05-24:00"
            )
        yield begin, end


def _seconds(hour: int, minute: int, last_hour: int, last_minute: int) -> tuple[int, int]:
    return 60 * (60 * hour + minute), 60 * (60 * last_hour + last_minute)
