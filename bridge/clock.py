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
    """Replay time that runs ``speed`` times as fast as ``real``.

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
        self._real_then = self._real.now()

    def now(self) -> float:
        """Return UTC epoch seconds of the replay."""
        return self._shown + (self._real.now() - self._real_then) * self._speed

    def wait_until(self, instant: float) -> None:
        """Wait, but skip what exceeds ``longest_wait``."""
        now = self.now()
        if instant - now > self._longest_wait:
            self._shown = instant - self._longest_wait
            self._real_then = self._real.now()
            now = self._shown
        if instant > now:
            self._real.wait_until(self._real.now() + (instant - now) / self._speed)
        if self.now() < instant:  # a rounding error must not make the caller wait twice
            self._shown, self._real_then = instant, self._real.now()
