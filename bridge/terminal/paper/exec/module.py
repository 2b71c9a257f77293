"""The package's face in a program's process: an account that ``initialize`` opens and holds.

One process at a time holds an account, from ``initialize`` to ``shutdown`` or its end; another
one's ``initialize`` waits for it as long as its ``timeout`` says.
"""

import importlib
import os
import sqlite3
import zoneinfo
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from bridge.clock import SystemClock
from bridge.errors import BridgeError, ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import server_clock
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.calling import Function
from bridge.terminal.paper.exec.broker import broker_of
from bridge.terminal.paper.exec.handover import Handover
from bridge.terminal.paper.exec.plan import ACCOUNT, Plan
from bridge.terminal.paper.package import Failure, Package
from bridge.terminal.paper.script import Entry, load_script
from bridge.terminal.paper.terminal import PaperTerminal

_TIMEOUT = 60_000
# Real seconds between two looks at an account that another process holds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_HIDDEN = ("__version__", "__author__", "_RawOrder")


class Account:
    """An account that may be opened again and again.

    Args:
        handover: Where it is.

    Raises:
        ConfigError: It is gone, or unusable.
    """

    def __init__(self, handover: Handover) -> None:
        folder = Path(handover.folder)
        plan = Plan.read(folder)
        if plan is None:
            raise ConfigError(f"account {folder} is gone: start the program again")
        _find_zones(plan.profile["server_clock"], handover.zones)
        self._folder = folder
        self._clock = plan.clock
        self._profile = broker_of(plan.profile)
        self._bars = {
            each.symbol: (timeframe(each.timeframe), _loaded(folder / each.file))
            for each in plan.recordings
        }
        # A script goes on when the same process connects again.
        self._script: list[Entry] = load_script(Path(handover.script)) if handover.script else []

    def open(self, patience: float) -> PaperTerminal:
        """Return the account's terminal, once no other process holds it.

        Args:
            patience: Real seconds to wait for that.

        Raises:
            Failure: -10003, with the reason.
        """
        real = SystemClock()
        until, pause = real.now() + patience, _FIRST_PAUSE
        while True:
            try:
                return PaperTerminal(
                    self._profile, self._bars, self._clock, self._folder / ACCOUNT, self._script
                )
            except BridgeError as error:
                if not _is_held(error):
                    raise _refusal(str(error)) from error
            if real.now() >= until:
                raise _refusal(
                    f"account {self._folder.name} is held by another process, and was so for "
                    f"{patience:g} s: end that one, or name another account"
                )
            real.wait_until(min(real.now() + pause, until))
            pause = min(1.5 * pause, _LONGEST_PAUSE)

    def shut(self, terminal: PaperTerminal) -> None:
        """Write and release what was opened."""
        self._script = list(terminal.script.left)
        terminal.close()


class SharedTerminal(Package):
    """The package's functions over an account that is held while they are connected."""

    def __init__(self, account: Account) -> None:
        super().__init__(None)
        self._account = account
        self._paper: PaperTerminal | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork,
                after_in_child=self._born,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        # The package's functions are pickled by their names, for other processes to look up.
        return importlib.import_module, ("MetaTrader5",)

    def _connect(
        self,
        path: str | None,
        login: int | None,
        password: str | None,
        server: str | None,
        timeout: int | None,
        portable: bool | None,
    ) -> None:
        try:
            self._hold((timeout or _TIMEOUT) / 1000)
            super()._connect(path, login, password, server, timeout, portable)
        except Failure:
            self._leave()
            raise

    def _perform(self, name: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        try:
            if name == "shutdown":
                self._leave()
            return super()._perform(name, function, arguments)
        except BridgeError as error:  # The package raises nothing when its terminal is in trouble.
            raise Failure(mt5.RES_E_FAIL, f"Terminal: Call failed, {error}") from error

    def _hold(self, patience: float) -> None:
        if self._paper is None:
            self._paper = self._account.open(patience)
            self._backend = self._paper._backend

    def _leave(self) -> None:
        if self._paper is not None:
            self._account.shut(self._paper)
            self._paper = self._backend = None

    # A process can't give its connection to SQLite to a child: it is shut for as long as a fork
    # takes. As with the real package, a child has to initialize for itself.

    def _before_fork(self) -> None:
        self._lock.acquire()
        self._leave()

    def _after_fork(self) -> None:
        try:
            if self._is_connected:
                self._hold(_TIMEOUT / 1000)
        except Failure as failure:
            self._is_connected, self._error = False, failure.error
        finally:
            self._lock.release()

    def _born(self) -> None:
        self._lock = RLock()
        self._is_connected, self._error = False, (0, "")


def names() -> dict[str, Any]:
    """Return all that the module shows: the package's public names, and no other.

    Raises:
        ImportError: The account that the environment names is unusable.
    """
    try:
        terminal = SharedTerminal(Account(Handover.of(os.environ)))
    except BridgeError as error:
        raise ImportError(str(error)) from error
    shown = [name for name in dir(Package) if not name.startswith("_")]
    return {name: getattr(terminal, name) for name in (*shown, *_HIDDEN)}


def _find_zones(rule: str, folder: str) -> None:
    try:
        server_clock(rule)
    except zoneinfo.ZoneInfoNotFoundError:
        if not folder:
            raise
        zoneinfo.reset_tzpath([*zoneinfo.TZPATH, folder])


def _loaded(path: Path) -> RatesArray:
    rates: RatesArray = np.load(path, mmap_mode="r").view(np.ndarray)
    return rates


def _is_held(error: BridgeError) -> bool:
    cause = error.__cause__
    if not isinstance(cause, sqlite3.OperationalError):
        return False
    return cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _refusal(reason: str) -> Failure:
    return Failure(mt5.RES_E_INTERNAL_FAIL_INIT, f"IPC initialize failed, {reason}")
