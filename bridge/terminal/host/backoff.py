"""When to try again: half a second, doubled at each failure up to half a minute, jittered."""

import random

from bridge.clock import Clock

FIRST = 0.5
"""Seconds after the first failure."""
LONGEST = 30.0
"""Seconds after many."""
_DOUBLINGS = 6  # 0.5 * 2**6 is beyond the longest


class Backoff:
    """Counts failures and says how long to keep still.

    Args:
        clock: Whose time passes.
        rng: Takes up to half off each pause, so that many daemons don't knock at once.
    """

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._failures = 0
        self._until: float | None = None

    @property
    def left(self) -> float:
        """Seconds until the next try; 0 when it may be made."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock.now())

    def failed(self) -> None:
        """Begin the next pause."""
        pause = min(FIRST * 2.0**self._failures, LONGEST) * self._rng.uniform(0.5, 1.0)
        self._failures = min(self._failures + 1, _DOUBLINGS)
        self._until = self._clock.now() + pause

    def worked(self) -> None:
        """Forget the failures."""
        self._failures, self._until = 0, None
