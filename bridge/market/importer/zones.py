"""From the times in a file to the server's: nothing is guessed, offsets in the labels count."""

from collections.abc import Callable

import numpy as np

from bridge.market.importer.fault import Fault
from bridge.market.importer.moments import Ints, text_ms
from bridge.market.importer.raw import Raw
from bridge.market.importer.stated import Stated
from bridge.mt5.servertime import ServerClock, server_clock

_SERVER = "server"
# Clocks change on the half hour at the finest, so one look at each is enough.
_STEP = 1_800_000


def server_times(raw: Raw, stated: Stated) -> Ints:
    """Return the rows' times on the server's clock, milliseconds; shape ``(n,)``.

    Raises:
        Fault: The file leaves open whose times they are, or a time is one of the hour that a
            clock shows twice or skips.
        ConfigError: A clock rule that is none.
    """
    labels, offsets = raw.moments.ms, raw.moments.offsets
    clock = server_clock(stated.clock) if stated.clock else None
    if stated.times == _SERVER:
        return labels
    if stated.times is not None:
        return _to_server(_from_clock(labels, server_clock(stated.times)), clock, stated)
    if offsets is not None and offsets.any():
        return _to_server(labels - offsets, clock, stated)
    if offsets is not None or raw.zone == "utc":
        if clock and clock.name == "utc":
            return labels
        raise Fault(
            "the times say that they are UTC, and programs write so of the server's clock, too: "
            "say --times server if they are what the terminal shows, or --times utc"
        )
    if raw.zone == "local":
        raise Fault(
            "the times are called local, and where is not said: say --times server, or whose "
            "clock they are, as in --times utc+8"
        )
    return labels


def _from_clock(labels: Ints, rule: ServerClock) -> Ints:
    """Return UTC of what a clock shows."""
    utc = _by_step(labels, rule.to_utc)
    again = _by_step(utc, rule.from_utc)
    if (skipped := again != labels).any():
        row = int(np.argmax(skipped))
        raise Fault(f"the clock {rule.name} never shows {text_ms(int(labels[row]))}", row)
    for hours in (1, 2):
        later = _by_step(utc + hours * 3_600_000, rule.from_utc)
        if (twice := later == labels).any():
            row = int(np.argmax(twice))
            raise Fault(
                f"the clock {rule.name} shows {text_ms(int(labels[row]))} twice: export the bars "
                "with the offset in each time, or in UTC",
                row,
            )
    return utc


def _to_server(utc: Ints, clock: ServerClock | None, stated: Stated) -> Ints:
    if clock is None:
        raise Fault(
            "the times are those of another clock than the server's: say the broker's clock rule "
            "with --clock: utc, eet-eu, eet-us, or an offset such as utc+3"
        )
    return _by_step(utc, clock.from_utc)


def _by_step(ms: Ints, convert: Callable[[float], float]) -> Ints:
    """Convert moments of a clock, each half hour once."""
    steps, which = np.unique(ms // _STEP, return_inverse=True)
    shifts = [
        round((convert(step * _STEP / 1_000)) * 1_000) - step * _STEP for step in steps.tolist()
    ]
    return ms + np.array(shifts, dtype=np.int64)[which.reshape(ms.shape)]
