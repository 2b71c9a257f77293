"""The child process: imports the package, answers verbs, ends when its parent does.

Run as ``python -m bridge.terminal.host.child`` by whatever Python has the package, which may be an
older one under Wine: standard library only, apart from what the package itself brings.
The password comes as an argument of a verb, so neither command line nor environment shows it.
"""

from __future__ import annotations

import importlib
import os
import platform
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

from bridge.errors import BridgeError
from bridge.terminal.host.wire import CARRIED, perform, read_frame, write_frame

PACKAGE = "MetaTrader5"


def main() -> None:
    """Answer frames until the parent closes its end."""
    _ignore_the_console()
    incoming, outgoing = _take_the_wire()
    frames: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, frames), daemon=True).start()
    opening, _ = frames.get()
    answer, module = _open(opening)
    write_frame(outgoing, {"n": opening["n"], **answer})
    while module is not None:
        header, _ = frames.get()
        raw = bytearray()
        answer = perform(module, header, raw)
        write_frame(outgoing, {"n": header["n"], **answer}, bytes(raw))


def _ignore_the_console() -> None:
    """Leave Ctrl-C and Ctrl-Break to the parent, which then ends this process in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, signal.SIG_IGN)


def _take_the_wire() -> tuple[BinaryIO, BinaryIO]:
    """Return the two pipes, moved away from where prints and reads of the package would go."""
    incoming, outgoing = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for each in (incoming, outgoing):
            msvcrt.setmode(each, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def _listen(incoming: BinaryIO, frames: queue.SimpleQueue[tuple[dict[str, Any], bytes]]) -> None:
    """Hand frames over; the end of the pipe ends the process, even in the middle of a call."""
    try:
        while (frame := read_frame(incoming)) is not None:
            frames.put(frame)
    finally:
        os._exit(0)


def _open(header: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    factory, arguments = header["factory"], header["arguments"]
    try:
        module = _module(factory, arguments)
    except (ImportError, BridgeError, *CARRIED) as error:
        return {"failed": f"{type(error).__name__}: {error}"}, None
    version = str(getattr(module, "__version__", ""))
    return {"opened": [platform.python_version(), version]}, module


def _module(factory: str | None, arguments: dict[str, Any]) -> Any:
    if factory is None:
        return importlib.import_module(PACKAGE)
    place, _, name = factory.partition(":")
    return getattr(importlib.import_module(place), name)(**arguments)


if __name__ == "__main__":
    main()
