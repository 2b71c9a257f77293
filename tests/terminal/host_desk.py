"""Host terminals for tests, with the paper terminal in the child."""

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.clock import Clock, ManualClock
from bridge.mt5 import constants as mt5
from bridge.mt5.request import RequestDict
from bridge.terminal.host.limits import Limits
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal

TESTS = str(Path(__file__).parents[1])
BUY: RequestDict = {
    "action": mt5.TRADE_ACTION_DEAL,
    "symbol": "EURUSD",
    "volume": 0.1,
    "type": mt5.ORDER_TYPE_BUY,
    "price": 0.0,
    "magic": 7,
}


def rng() -> random.Random:
    """Return the same jitter each time."""
    return random.Random(1)  # noqa: S311  jitter is no secret


def findable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let children find the factories."""
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (TESTS, known))))


def settings(factory: str = "paper", **fields: Any) -> HostSettings:
    """Return settings with a factory of ``host_modules``."""
    return HostSettings(factory=f"terminal.host_modules:{factory}", **fields)


class Bench:
    """Makes host terminals, and troubles for them; closes what it made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = ManualClock(1_000.0)
        self._made: list[HostTerminal] = []

    def make(self, chosen: HostSettings, clock: Clock | None = None) -> HostTerminal:
        """Return a terminal that is not connected yet."""
        terminal = HostTerminal(chosen, clock or self.clock, rng())
        self._made.append(terminal)
        return terminal

    def paper(self, **fields: Any) -> HostTerminal:
        """Return a connected paper terminal."""
        terminal = self.make(settings(**fields))
        terminal.connect()
        return terminal

    def troubled(
        self, *, limit: float = 10.0, connect: float = 20.0, **fields: Any
    ) -> HostTerminal:
        """Return a terminal whose troubles are files; it is not connected yet."""
        limits = Limits(connect=connect, state=limit, history=limit, send=limit)
        arguments = {"folder": str(self.folder), "account": str(self.folder / "paper.db")}
        chosen = settings("troubled", factory_arguments=arguments, limits=limits, **fields)
        return self.make(chosen)

    def trouble(self, name: str, text: str = "") -> None:
        """Let a trouble happen at the next call that can have it."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def calls(self) -> list[str]:
        """Return the verbs that reached the troubled module."""
        return (self.folder / "calls").read_text(encoding="utf-8").split()

    def close(self) -> None:
        """Close all."""
        for each in self._made:
            each.close()


@contextlib.contextmanager
def a_bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Give a bench whose children find the factories."""
    findable(monkeypatch)
    made = Bench(folder)
    try:
        yield made
    finally:
        made.close()
