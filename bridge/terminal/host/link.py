"""A module-like object over a child or a server: one call at a time, reconnected when it has to be.

It takes the verbs of the package, so the adapter that serves any such object serves this one; and
nulls stay nulls here. What has no answer at all is raised: ``NotConnected``, except from
``order_send``, whose null says that nobody knows.
"""

import random
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from bridge.clock import Clock
from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.mt5.constants import RES_E_INTERNAL_FAIL, RES_E_INTERNAL_FAIL_CONNECT
from bridge.terminal.host.answer import About, Answer, Peer
from bridge.terminal.host.backoff import Backoff
from bridge.terminal.host.identity import Identity, enter
from bridge.terminal.host.limits import VERBS
from bridge.terminal.host.process import Child
from bridge.terminal.host.settings import HostSettings

_OFFERED = frozenset(VERBS) - {"initialize", "login", "shutdown"}


class Link:
    """Verbs of the package in a peer that is replaced when it hangs or dies.

    A lost connection is tried again by the next verb after a pause, once, and what was asked
    before is never asked again. ``last_error`` is that of the calling thread.

    Args:
        settings: Interpreter, terminal, account, limits.
        clock: Times the pauses; the limits of verbs are real time.
        rng: Jitter of the pauses.
        start: Makes the peer: a child, or a connection to a server.
    """

    def __init__(
        self,
        settings: HostSettings,
        clock: Clock,
        rng: random.Random,
        start: Callable[[HostSettings], Peer] = Child,
    ) -> None:
        self.lock = threading.RLock()
        self._settings = settings
        self._start = start
        self._backoff = Backoff(clock, rng)
        self._local = threading.local()
        self._peer: Peer | None = None
        self._identity: Identity | None = None
        self._is_connected = False
        self._is_closed = False
        self._why = ""

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb not in _OFFERED:
            raise AttributeError(verb)
        return partial(self._call, verb)

    @property
    def identity(self) -> Identity | None:
        """The account of the first connection; None before it."""
        return self._identity

    @property
    def about(self) -> About | None:
        """Versions of what answers; None without one."""
        return None if self._peer is None else self._peer.about

    @property
    def pid(self) -> int | None:
        """Number of the child process; None without one of ours."""
        return None if self._peer is None else self._peer.pid

    def last_error(self) -> tuple[int, str]:
        """Return code and text of this thread's last call; (0, "") before the first."""
        error: tuple[int, str] = getattr(self._local, "error", (0, ""))
        return error

    def connect(self) -> None:
        """Connect now, whatever pause is running.

        Raises:
            NotConnected: No child or server, no terminal, or no answer.
            WrongAccount: The terminal is logged in to another account.
            TerminalError: The broker refused the login.
        """
        with self.lock:
            self._is_closed = self._is_connected = False
            try:
                if self._peer is None or not self._peer.is_alive:
                    self._peer = None
                    self._peer = self._start(self._settings)
                ask = partial(_ask_strictly, self._peer)
                self._identity = enter(ask, self._settings, self._identity)
            except TerminalError as error:
                self._lost(error.code, error.text)
                raise
            self._is_connected = True

    def close(self) -> None:
        """End the connection, and the child; verbs raise ``NotConnected`` from now on."""
        with self.lock:
            self._is_closed, self._is_connected = True, False
            if self._peer is not None:
                self._peer.stop()
                self._peer = None

    def _call(self, verb: str, *args: Any, **keywords: Any) -> Any:
        with self.lock:
            if not self._is_connected:
                self._reconnect(verb)
            return self._ask(verb, args, keywords)

    def _reconnect(self, verb: str) -> None:
        if self._is_closed:
            raise NotConnected(verb, RES_E_INTERNAL_FAIL_CONNECT, "the terminal was closed")
        if left := self._backoff.left:
            text = f"{self._why}; the next try is in {left:.1f} s"
            self._local.error = (RES_E_INTERNAL_FAIL_CONNECT, text)
            raise NotConnected(verb, *self._local.error)
        try:
            self.connect()
        except (NotConnected, WrongAccount):
            raise
        except TerminalError as error:
            # Refused by the broker this time; a read that meets it may be tried again.
            raise NotConnected(error.call, error.code, error.text) from error

    def _ask(self, verb: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if self._peer is None:
            raise NotConnected(verb, RES_E_INTERNAL_FAIL_CONNECT, "there is nobody to ask")
        try:
            answer = self._peer.ask(verb, args, keywords)
        except NotConnected as lost:
            self._lost(lost.code, lost.text)
            if verb != "order_send":
                raise
            self._local.error = (lost.code, f"{lost.text}; nobody knows what became of the order")
            return None
        self._local.error = answer.error
        if _is_broken(answer):
            self._lost(*answer.error)
        else:
            self._backoff.worked()
        return answer.value

    def _lost(self, code: int, text: str) -> None:
        self._is_connected = False
        self._local.error = (code, text)
        self._why = text
        self._backoff.failed()


def _is_broken(answer: Answer) -> bool:
    """Return whether package and terminal have lost each other, as when a terminal restarts."""
    return answer.error[0] <= RES_E_INTERNAL_FAIL


def _ask_strictly(peer: Peer, verb: str, *args: Any, **keywords: Any) -> Any:
    answer = peer.ask(verb, args, keywords)
    if answer.value is None or answer.value is False:
        kind = NotConnected if _is_broken(answer) else TerminalError
        raise kind(verb, *answer.error)
    return answer.value
