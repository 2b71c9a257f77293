"""A clean stop: a signal sets a flag, and the loop ends between two looks, never inside one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGBREAK")


class Stopped(BaseException):
    """Somebody asked for an end while something waited that may be broken off."""


class Stop:
    """Whether somebody asked for an end, and how.

    Attributes:
        reason: Name of the signal; empty while nobody asked.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._breaks_off = False

    @property
    def is_asked(self) -> bool:
        """Whether to end."""
        return bool(self.reason)

    def ask(self, reason: str) -> None:
        """Ask for an end; the first reason stays."""
        self.reason = self.reason or reason

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Let a signal raise :class:`Stopped` inside the block: it connects or reads, only.

        A terminal can keep a read waiting for a minute. What sends is never broken off.
        """
        if self.is_asked:
            raise Stopped
        self._breaks_off = True
        try:
            yield
        finally:
            self._breaks_off = False

    @contextmanager
    def on_signals(self) -> Iterator["Stop"]:
        """Let SIGINT, SIGTERM and Windows' Ctrl-Break ask, while the block runs."""

        def handle(number: int, frame: FrameType | None) -> None:
            self.ask(signal.Signals(number).name)
            if self._breaks_off:
                raise Stopped

        known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        before = {each: signal.signal(each, handle) for each in known}
        try:
            yield self
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
