"""A clean stop: a signal sets a flag, and the loop ends between two looks, never inside one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGBREAK")


class Stop:
    """Whether somebody asked for an end, and how.

    Attributes:
        reason: Name of the signal; empty while nobody asked.
    """

    def __init__(self) -> None:
        self.reason = ""

    @property
    def is_asked(self) -> bool:
        """Whether to end."""
        return bool(self.reason)

    def ask(self, reason: str) -> None:
        """Ask for an end; the first reason stays."""
        self.reason = self.reason or reason

    @contextmanager
    def on_signals(self) -> Iterator["Stop"]:
        """Let SIGINT, SIGTERM and Windows' Ctrl-Break ask, while the block runs."""

        def handle(number: int, frame: FrameType | None) -> None:
            self.ask(signal.Signals(number).name)

        known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        before = {each: signal.signal(each, handle) for each in known}
        try:
            yield self
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
