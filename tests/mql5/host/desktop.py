"""A terminal's window as its programs share it: broker, clock, folders, global variables."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.clock import Clock
from bridge.mt5.servertime import ServerClock
from bridge.terminal.paper.terminal import PaperTerminal


@dataclass
class Desktop:
    """What all programs on one terminal have in common.

    Attributes:
        paper: The terminal, initialized.
        folder: Holds ``MQL5/Files``, and ``Common/Files``, which other terminals may share.
        common: The folder ``Common/Files``.
        variables: Global variables: value and time of last use.
        locks: Open files: path, may others read, may others write.
        may_trade: The button Algo Trading.
    """

    paper: PaperTerminal
    clock: Clock
    server: ServerClock
    folder: Path
    common: Path
    variables: dict[str, tuple[float, int]] = field(default_factory=dict)
    locks: list[tuple[Path, int]] = field(default_factory=list)
    may_trade: bool = True
    _seen: dict[Any, Any] = field(default_factory=dict)
    _seen_at: float = -1.0

    def read(self, verb: str, *arguments: Any, **keywords: Any) -> Any:
        """Return what the terminal's verb gives; within one moment it is asked once."""
        now = self.clock.now()
        if now != self._seen_at:
            self._seen.clear()
            self._seen_at = now
        key = (verb, arguments, tuple(keywords.items()))
        if key not in self._seen:
            self._seen[key] = getattr(self.paper, verb)(*arguments, **keywords)
        return self._seen[key]

    def changed(self) -> None:
        """Forget what was read: a trade has changed it."""
        self._seen.clear()

    def server_now(self) -> int:
        """Return server time, epoch seconds."""
        return int(self.server.from_utc(self.clock.now()))
