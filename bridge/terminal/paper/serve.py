"""The paper terminal behind an rpyc classic server, for mt5linux's clients.

Run as ``python -m bridge.terminal.paper.serve HOST PORT`` in an environment that ``exec`` makes, so
that ``import MetaTrader5`` is the paper terminal's, as a program's would be.
"""

import copyreg
import logging
import socket
import sys
from collections import namedtuple
from functools import partial
from importlib import import_module
from typing import Any

from rpyc.core import SlaveService
from rpyc.utils.server import ThreadedServer


class _Kind:
    """A record's type as it arrives where there is no such type: a named tuple."""

    def __init__(self, record: Any) -> None:
        self._name, self._fields = record.__name__, record.__match_args__

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        raise TypeError(f"{self._name} is made where it arrives")

    def __reduce__(self) -> tuple[Any, ...]:
        return namedtuple, (self._name, self._fields)


def make_portable(package: Any) -> None:
    """Let records of ``package`` be pickled, which its own can't be; clients do that to them."""
    for record in vars(package).values():
        if isinstance(record, type) and hasattr(record, "n_sequence_fields"):
            copyreg.pickle(record, partial(_reduced, _Kind(record)))


def _reduced(kind: _Kind, record: Any) -> tuple[Any, ...]:
    return kind, tuple(record)


def _at_once(sock: socket.socket) -> tuple[socket.socket, None]:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock, None


def main(host: str, port: int) -> int:
    """Serve until Ctrl-C or a kill; return the exit code."""
    make_portable(import_module("MetaTrader5"))
    logging.getLogger("SLAVE").setLevel(logging.CRITICAL)
    try:
        server = _server(host, port)
    except OSError as error:
        sys.stderr.write(
            f"mt5-onnx: {host} port {port} can't be listened to ({error.strerror}): name a free "
            "one with --port, or 0 for any\n"
        )
        return 2
    server.listener.listen()  # before it is said, not after
    sys.stderr.write(
        f"mt5-onnx: the paper terminal listens at {host} port {server.port}; anyone on this "
        "machine who reaches the port can run code as this user; Ctrl-C ends it\n"
    )
    sys.stderr.flush()
    server.start()
    return 0


def _server(host: str, port: int) -> Any:
    return ThreadedServer(
        SlaveService,
        hostname=host,
        ipv6=":" in host,
        port=port,
        authenticator=_at_once,
        auto_register=False,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
