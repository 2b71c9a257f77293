"""Spans of the server's day. Pure; a span holds its first moment and not its last."""

from bridge.mt5.servertime import DAY


def seconds_of(time: str) -> int:
    """Return the second of the day at ``time``, such as 23:55; 24:00 is the day's end."""
    hours, _, minutes = time.partition(":")
    return int(hours) * 3_600 + int(minutes) * 60


def is_in_span(server_time: float, span: str) -> bool:
    """Return whether a moment lies in ``span``, such as 08:00-20:00, or 23:55-00:15 over midnight.

    Raises:
        ValueError: The moment is no number.
    """
    first, _, last = span.partition("-")
    begin, end, now = seconds_of(first), seconds_of(last), int(server_time) % DAY
    return begin <= now < end if begin < end else now >= begin or now < end
