"""The child process as its parent sees it: start, ask within a limit, stop, kill.

Not for two threads at once: the link above holds a lock.
"""

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from bridge.errors import NoPackage, NotConnected
from bridge.mt5 import constants as mt5
from bridge.terminal.host.answer import About, Answer, Unreadable
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.wire import encode, read_frame, write_frame

_MODULE = "bridge.terminal.host.child"
_ROOT = str(Path(__file__).parents[3])
# An answer wakes the waiting thread at once. The slices are for Windows, where a wait can't be
# interrupted by Ctrl-C, and for a pipe that something else keeps open after the child's end.
_SLICE_S = 0.25
_LAST_WAIT_S = 5.0
_ADVICE = (
    "MetaTrader5 is a package for Windows: name the command of a Python that has it as "
    'terminal.python, such as ["wine", "python.exe"], or use mode = "paper", which needs none'
)

Frame = tuple[dict[str, Any], bytes]


class Child:
    """A running child that has the package.

    Args:
        settings: Interpreter, factory and limits.

    Raises:
        NotConnected: The interpreter does not start, or the package can't be imported there.
    """

    def __init__(self, settings: HostSettings) -> None:
        self._limits = settings.limits
        self._number = 0
        self._answers: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        command = settings.interpreter or (sys.executable,)
        self._process = _spawn(command)
        self._reader = threading.Thread(
            target=_collect, args=(self._process.stdout, self._answers), daemon=True
        )
        self._reader.start()
        self._last_words: deque[bytes] = deque(maxlen=1)
        self._listener = threading.Thread(
            target=_overhear, args=(self._process.stderr, self._last_words), daemon=True
        )
        self._listener.start()
        header = self._opened(settings, command)
        self.about = About(*header["opened"])

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def ask(self, verb: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Answer:
        """Return the package's answer.

        Raises:
            NotConnected: No answer within the verb's limit, or the process ended; it is killed
                either way. The verb may have had its effect.
            TypeError: An argument that can't cross, or what the package itself raises, as other
                built-in errors are.
        """
        call = encode((tuple(args), dict(keywords)), bytearray())
        header, raw = self._exchange(verb, {"verb": verb, "call": call}, self._limits.of(verb))
        try:
            return Answer.of(header, raw)
        except Unreadable as error:
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_RECEIVE, str(error))

    def stop(self) -> None:
        """End the connection and the process politely; kill it when it does not obey."""
        with contextlib.suppress(NotConnected):
            self.ask("shutdown", (), {})
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(self._limits.stop)
        self.kill()

    def kill(self) -> None:
        """End the process now, and leave no zombie."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WAIT_S)
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        self._reader.join(_LAST_WAIT_S)
        self._listener.join(_LAST_WAIT_S)

    def _opened(self, settings: HostSettings, command: tuple[str, ...]) -> dict[str, Any]:
        opening = {"factory": settings.factory, "arguments": settings.factory_arguments}
        try:
            header, _ = self._exchange("initialize", opening, settings.limits.start)
        except NotConnected as error:
            # No secret has crossed yet, so what it wrote may be shown.
            words = b" ".join(self._last_words).decode("utf-8", "replace").strip()
            raise _not_started(f"{' '.join(command)}: {words or error.text}", _ADVICE) from error
        if "failed" in header:
            self.kill()
            advice = _ADVICE if settings.factory is None else f"look at factory {settings.factory}"
            raise _not_started(f"{' '.join(command)}: {header['failed']}", advice)
        return header

    def _exchange(self, verb: str, header: dict[str, Any], limit: float) -> Frame:
        self._number += 1
        try:
            write_frame(_pipe(self._process.stdin), {"n": self._number, **header})
        except (OSError, ValueError):
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_SEND, "the process of the package ended")
        deadline = time.monotonic() + limit
        while (frame := self._next(verb, deadline, limit))[0].get("n") != self._number:
            pass  # answers a call whose caller was interrupted
        return frame

    def _next(self, verb: str, deadline: float, limit: float) -> Frame:
        while (left := deadline - time.monotonic()) > 0:
            was_alive = self.is_alive
            try:
                frame = self._answers.get(timeout=min(left, _SLICE_S))
            except queue.Empty:
                if was_alive:
                    continue
                frame = None
            if frame is None:
                text = "the process of the package ended, or wrote what is no answer"
                self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_RECEIVE, text)
            return frame
        text = f"no answer within {limit:g} s, so the process of the package was ended"
        self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_TIMEOUT, text)

    def _give_up(self, verb: str, code: int, text: str) -> NoReturn:
        self.kill()
        raise NotConnected(verb, code, text)


def _spawn(command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    new_group: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        new_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        return subprocess.Popen(  # noqa: S603  the command is the user's own setting
            [*command, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(is_ours=command == (sys.executable,)),
            **new_group,
        )
    except OSError as error:
        raise _not_started(f"{command[0]} does not start ({error.strerror})", _ADVICE) from error


def _environment(*, is_ours: bool) -> dict[str, str]:
    """Return this process's environment without credentials, with the bridge to be found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MT5_")}
    # Another Python must not find this one's libraries.
    inherited = kept.get("PYTHONPATH", "") if is_ours else ""
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (_ROOT, inherited)))
    return kept


def _not_started(what: str, advice: str) -> NoPackage:
    return NoPackage("initialize", mt5.RES_E_INTERNAL_FAIL_INIT, f"{what}; {advice}")


def _collect(stream: BinaryIO, answers: "queue.SimpleQueue[Frame | None]") -> None:
    # What is no frame is as good as the end.
    with stream, contextlib.suppress(OSError, ValueError):
        while (frame := read_frame(stream)) is not None:
            answers.put(frame)
    answers.put(None)


def _overhear(stream: BinaryIO, last_words: deque[bytes]) -> None:
    """Keep the last line; a pipe, since Wine and windowless programs want no other handle."""
    with stream, contextlib.suppress(OSError, ValueError):
        for line in stream:
            last_words.append(line)


def _pipe(stream: Any) -> BinaryIO:
    pipe: BinaryIO = stream
    return pipe
