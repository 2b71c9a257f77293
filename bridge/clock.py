"""The one source of "now" and the one way to wait.

Time is UTC, epoch seconds. Server time is another thing: ``bridge.mt5.servertime`` converts.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """What the daemon, a replay and a back-test know of time."""

    def now(self) -> float:
        """Return UTC epoch seconds."""

    def wait_until(self, instant: float) -> None:
        """Return when ``now()`` is at least ``instant`` (UTC epoch seconds)."""


class SystemClock:
    """The computer's clock."""

    def now(self) -> float:
        """Return UTC epoch seconds."""
        return time.time()  # noqa: TID251  the one place that reads it

    def wait_until(self, instant: float) -> None:
        """Sleep until ``instant``; an early wake-up sleeps again."""
        while (left := instant - self.now()) > 0:
            time.sleep(left)  # noqa: TID251  the one place that sleeps


class ManualClock:
    """Time that stands still until somebody waits: a replay as fast as it goes."""

    def __init__(self, start: float) -> None:
        self._now = start

    def now(self) -> float:
        """Return UTC epoch seconds."""
        return self._now

    def wait_until(self, instant: float) -> None:
        """Jump to ``instant``; never backwards."""
        self._now = max(self._now, instant)


class ScaledClock:
    """Replay time at ``speed`` times real time, to be watched.

    It moves when somebody waits, and stands still while work is done: a slow computer makes the
    replay slower, never another one.

    Args:
        start: UTC epoch seconds shown first.
        speed: Replay seconds per real second, > 0.
        longest_wait: Replay seconds a single wait may take, so that a weekend is skipped,
            not sat out.
        real: The clock that really passes.
    """

    def __init__(
        self, start: float, *, speed: float, longest_wait: float, real: Clock | None = None
    ) -> None:
        self._real: Clock = real or SystemClock()
        self._speed = speed
        self._longest_wait = longest_wait
        self._shown = start
        self._due = self._real.now()

    def now(self) -> float:
        """Return UTC epoch seconds of the replay."""
        return self._shown

    def wait_until(self, instant: float) -> None:
        """Wait as long as the way to ``instant`` takes, counted from the end of the last wait."""
        way = min(max(0.0, instant - self._shown), self._longest_wait)
        # Time that work took is made up for, but not more than one wait of it.
        self._due = max(self._due, self._real.now() - way / self._speed) + way / self._speed
        self._real.wait_until(self._due)
        self._shown = max(self._shown, instant)
