"""Servers and remote terminals for tests: real processes, real sockets, rpyc as it is."""

import contextlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.clock import Clock, ManualClock, SystemClock
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.terminal import RemoteTerminal

TESTS = Path(__file__).parents[1]
# rpyc's own classic server, as mt5linux starts it; it says nothing, so it is told its port.
CLASSIC = """
import sys
from rpyc.core import SlaveService
from rpyc.utils.server import ThreadedServer
server = ThreadedServer(SlaveService, hostname="127.0.0.1", port=int(sys.argv[1]))
server.listener.listen()
print("port", server.port, file=sys.stderr, flush=True)
server.start()
"""


@dataclass
class Far:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: Address
    said: str

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(line: list[str], environment: dict[str, str] | None = None) -> Iterator[Far]:
    """Start a server and give it once it listens."""
    with subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    ) as process:
        try:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"port (\d+)", said)):
                line_of_it = process.stderr.readline()
                assert line_of_it, f"the server ended: {said}"
                said += line_of_it
            yield Far(process, Address("127.0.0.1", int(found[1])), said)
        finally:
            process.kill()


def far(folder: Path, *options: str, port: int = 0) -> contextlib.AbstractContextManager[Far]:
    """Serve the paper terminal with the command."""
    given = ["--port", str(port), "--state", str(folder), "--account", "a", *options]
    return serving([sys.executable, "-m", "bridge", "paper", "serve", *given])


def classic(
    *, python: str = sys.executable, port: int = 0, **environment: str
) -> contextlib.AbstractContextManager[Far]:
    """Run rpyc's own server, with what the environment has as its package."""
    return serving([python, "-c", CLASSIC, str(port)], environment)


@contextlib.contextmanager
def reaching(
    address: Address, clock: Clock | None = None, **fields: Any
) -> Iterator[RemoteTerminal]:
    """Give a remote terminal that is not connected yet."""
    jitter = random.Random(1)  # noqa: S311  jitter is no secret
    chosen = clock or ManualClock(1_000.0)
    terminal = RemoteTerminal(address, HostSettings(**fields), chosen, jitter)
    with contextlib.closing(terminal):
        yield terminal


def wait(seconds: float) -> None:
    """Let real time pass."""
    clock = SystemClock()
    clock.wait_until(clock.now() + seconds)
