"""The real terminal of a settings file: in a child process, or behind a server."""

import random
from typing import TYPE_CHECKING

from bridge.clock import Clock
from bridge.errors import ConfigError
from bridge.settings import TerminalSettings

if TYPE_CHECKING:
    from bridge.terminal.host.terminal import HostTerminal


def terminal_of(settings: TerminalSettings, clock: Clock) -> "HostTerminal":
    """Return the terminal, not connected yet; it is to be closed.

    Args:
        settings: Where it is, and whose account.
        clock: Times the pauses between connections.

    Raises:
        ConfigError: An address that is none, or rpyc is not installed.
    """
    from bridge.terminal.host.settings import HostSettings
    from bridge.terminal.host.terminal import HostTerminal

    jitter = random.Random()  # noqa: S311  spreads pauses, hides nothing
    if settings.remote is None:
        return HostTerminal(HostSettings.of(settings), clock, jitter)
    try:
        from bridge.terminal.remote.terminal import RemoteTerminal
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"terminal.remote needs {error.name}, which is not installed: "
            'pip install "mt5-onnx-bridge[remote]"'
        ) from error
    from bridge.terminal.remote.address import Address

    return RemoteTerminal(Address.of(settings.remote), HostSettings.of(settings), clock, jitter)
