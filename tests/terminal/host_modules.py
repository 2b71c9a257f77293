"""What the child of a host terminal imports in tests: paper terminals, and troubled ones.

A troubled module looks for files in a folder: each is a trouble that happens once and is gone.
``hang-VERB`` and ``die-VERB`` happen before the verb, ``hang-after-VERB`` and ``die-after-VERB``
after it; ``gone`` is a terminal that restarts, ``refuse`` an initialize that fails; the file
``account`` stays and holds another login.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from terminal.paper_desk import H1, MONDAY, bars, profile

from bridge.clock import ManualClock
from bridge.mt5.records import AccountInfo
from bridge.terminal.paper.terminal import PaperTerminal

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
LOGIN, SERVER = 77, "Paper-Demo"
ROWS = "\n".join(f"{110000 + n} {110010 + n} {109990 + n} {110001 + n} 5" for n in range(600))


def paper(hour: int = 550, account: str | None = None) -> PaperTerminal:
    """Return a paper terminal at so many hours after the first bar."""
    broker = profile(login=LOGIN, server=SERVER)
    clock = ManualClock(MONDAY + 3_600 * hour)
    path = None if account is None else Path(account)
    return PaperTerminal(broker, {"EURUSD": (H1, bars(ROWS))}, clock, path)


def troubled(folder: str, account: str | None = None) -> Any:
    """Return a paper terminal with troubles, see above."""
    return Troubled(Path(folder), paper(account=account))


def failing() -> Any:
    """Fail as a factory may."""
    raise ValueError("no such bars")


class Troubled:
    """A module that does not always answer."""

    __version__ = PaperTerminal.__version__

    def __init__(self, folder: Path, module: PaperTerminal) -> None:
        self._folder = folder
        self._module = module
        self._error: tuple[int, str] | None = None

    def __getattr__(self, verb: str) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            self._error = None
            self._note(verb)
            self._trouble("", verb)
            if (error := self._refusal(verb)) is not None:
                self._error = error
                return None
            answer = getattr(self._module, verb)(*args, **keywords)
            self._trouble("after-", verb)
            return self._other_account(answer) if verb == "account_info" else answer

        return call

    def last_error(self) -> tuple[int, str]:
        return self._error or self._module.last_error()

    def _note(self, verb: str) -> None:
        with (self._folder / "calls").open("a", encoding="utf-8") as file:
            file.write(f"{verb}\n")

    def _has(self, name: str) -> bool:
        if (self._folder / name).exists():
            (self._folder / name).unlink()
            return True
        return False

    def _trouble(self, when: str, verb: str) -> None:
        if self._has(f"hang-{when}{verb}"):
            threading.Event().wait(60)
        if self._has(f"die-{when}{verb}"):
            os.kill(os.getpid(), KILL)
        if self._has(f"print-{when}{verb}"):
            print("a print")  # noqa: T201  on purpose
            os.write(1, b"a write")
            sys.stdout.flush()

    def _refusal(self, verb: str) -> tuple[int, str] | None:
        if verb == "initialize":
            if self._has("refuse"):
                return (-10003, "IPC initialize failed, MetaTrader 5 x64 not found")
            if self._has("nobody"):
                return (-6, "Terminal: Authorization failed")
            self._has("gone")
            return None
        if (self._folder / "gone").exists():
            return (-10004, "No IPC connection")
        return (-10001, "IPC send failed") if self._has("broken") else None

    def _other_account(self, answer: Any) -> Any:
        file = self._folder / "account"
        if answer is None or not file.exists():
            return answer
        return AccountInfo((int(file.read_text(encoding="utf-8")), *tuple(answer)[1:]))
