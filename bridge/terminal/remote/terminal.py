"""The ``Terminal`` over the real package behind an rpyc classic server."""

import random
from functools import partial

from bridge.clock import Clock
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.bundle import Kept
from bridge.terminal.remote.server import Server


class RemoteTerminal(HostTerminal):
    """A terminal on another computer, for any number of threads; all else is the host's.

    Args:
        address: Of the server.
        settings: Terminal, account, limits.
        clock: Times the pauses between connections.
        rng: Jitter of the pauses.
    """

    def __init__(
        self, address: Address, settings: HostSettings, clock: Clock, rng: random.Random
    ) -> None:
        self._kept = Kept()
        super().__init__(settings, clock, rng, partial(Server, address, self._kept))

    def check_account(self) -> None:
        """Ask the terminal whose account it shows, now.

        Raises:
            WrongAccount: Another one than at the first connection.
            NotConnected: It can't be asked.
        """
        with self._link.lock:
            self._kept.clear()
            super().check_account()
