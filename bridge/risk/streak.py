"""Losses in a row: counted over a server day's closed positions, each net of its costs. A value."""

from typing import NamedTuple


class Streak(NamedTuple):
    """How many positions were lost one after the other.

    Attributes:
        day: Number of the server's day that is counted.
        losses: In a row up to the last one closed.
        longest: In a row at any time of the day; it does not shrink when a position that was still
            open wins.
    """

    day: int = -1
    losses: int = 0
    longest: int = 0

    def after(self, day: int, net: float) -> "Streak":
        """Return the streak after a position was closed.

        Args:
            day: Number of the server's day; one before the last is over and counts no more.
            net: What it came to, costs included, account currency; 0 is neither loss nor win.
        """
        if day < self.day:
            return self
        before, longest = (self.losses, self.longest) if day == self.day else (0, 0)
        losses = before + 1 if net < 0 else before if net == 0 else 0
        return Streak(day, losses, max(longest, losses))

    def longest_on(self, day: int) -> int:
        """Return the longest row of losses on ``day``."""
        return self.longest if day == self.day else 0
