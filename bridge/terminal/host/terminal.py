"""The ``Terminal`` over the real package in a child process."""

import random
from collections.abc import Callable
from typing import Self

from bridge.clock import Clock
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.host.answer import About, Peer
from bridge.terminal.host.identity import identity_of, require
from bridge.terminal.host.link import Link
from bridge.terminal.host.process import Child
from bridge.terminal.host.settings import HostSettings


class HostTerminal(ModuleTerminal):
    """A terminal whose calls can't freeze the bridge, for any number of threads.

    Reads raise ``NotConnected`` while the connection is away; the first one after a pause brings it
    back. A thread waits while another one's call runs.

    Args:
        settings: Interpreter, terminal, account, limits.
        clock: Times the pauses between connections.
        rng: Jitter of the pauses.
        start: Makes the peer that has the package.
    """

    def __init__(
        self,
        settings: HostSettings,
        clock: Clock,
        rng: random.Random,
        start: Callable[[HostSettings], Peer] = Child,
    ) -> None:
        self._link = Link(settings, clock, rng, start)
        super().__init__(self._link)

    def connect(self) -> None:
        """Start the child, connect, log in if need be, and check the account.

        Raises:
            NotConnected: No such interpreter, no package in it, no terminal, or no answer.
            WrongAccount: The terminal is logged in to another account.
            TerminalError: The broker refused the login.
        """
        self._link.connect()

    def check_account(self) -> None:
        """Ask the terminal whose account it shows.

        Raises:
            WrongAccount: Another one than at the first connection.
            NotConnected: It can't be asked.
        """
        with self._link.lock:
            seen = identity_of(self.account_info())
            require(self._link.identity or seen, seen)

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        """Send ``request`` once, on the right account only.

        Returns:
            The answer; None when nobody knows what became of it: ``last_error`` says why.

        Raises:
            WrongAccount: Another account; nothing was sent.
            NotConnected: No connection beforehand; nothing was sent.
        """
        with self._link.lock:
            self.check_account()
            return super().order_send(request)

    def last_error(self) -> tuple[int, str]:
        """Return code and text of this thread's last call."""
        return self._link.last_error()

    @property
    def about(self) -> About | None:
        """Versions of the Python and package that answer; None without."""
        return self._link.about

    @property
    def pid(self) -> int | None:
        """Number of the child process; None without one of ours."""
        return self._link.pid

    def close(self) -> None:
        """End the connection and the child process."""
        self._link.close()

    def __enter__(self) -> Self:
        """Connect; leave no process behind when that fails."""
        try:
            self.connect()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()
