"""The paper terminal behind an rpyc classic server, for mt5linux's clients.

Run as ``python -m bridge.terminal.paper.serve HOST PORT`` in an environment that ``exec`` makes, so
that ``import MetaTrader5`` is the paper terminal's, as a program's would be.
"""

import copyreg
import logging
import socket
import sys
import threading
from collections import namedtuple
from functools import partial
from importlib import import_module
from typing import Any

import rpyc
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
    threading.excepthook = _tell
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


def _tell(ended: threading.ExceptHookArgs) -> None:
    """Tell in a sentence why a client was dropped; each has a thread of its own."""
    what = " ".join(map(str, ended.exc_value.args)) if ended.exc_value is not None else ""
    sys.stderr.write(
        f"mt5-onnx: a client was dropped ({what or ended.exc_type.__name__}); if its rpyc is of "
        f"another major version than {rpyc.__version__} here, install the same on both sides\n"
    )
    sys.stderr.flush()


def _silent() -> logging.Logger:
    logger = logging.getLogger("mt5-onnx.serve")
    logger.setLevel(logging.CRITICAL + 1)
    return logger


def _server(host: str, port: int) -> Any:
    return ThreadedServer(
        SlaveService,
        hostname=host,
        ipv6=":" in host,
        port=port,
        authenticator=_at_once,
        auto_register=False,
        logger=_silent(),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
