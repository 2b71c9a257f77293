"""A connection to an rpyc classic server: open, ask within a limit, drop.

Not for two threads at once: the link above holds a lock. Nothing of this computer is offered to
the server, and nothing that it sends is evaluated or unpickled.
"""

import contextlib
import io
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import rpyc
from rpyc.core import GenericException
from rpyc.core.service import VoidService
from rpyc.utils.factory import connect_stream

from bridge.errors import NoPackage, NotConnected
from bridge.mt5 import constants as mt5
from bridge.terminal.host import wire
from bridge.terminal.host.answer import About, Answer, Unreadable
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.wire import CARRIED, encode, read_frame, write_frame
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.bundle import Call, Kept, companions
from bridge.terminal.remote.stream import TimedStream

_PACKAGE = "MetaTrader5"


class Server:
    """A server that has the package.

    Args:
        address: Where it listens.
        kept: Takes the answers that come along with others.
        settings: Limits.

    Raises:
        NotConnected: Nobody listens there.
        NoPackage: No rpyc classic server, one whose rpyc can't be spoken to, or none with the
            package; trying again does not help.
    """

    pid = None
    """The process is not ours."""
    _needed = (
        "it has to be an rpyc classic server whose rpyc has the same major version as the one "
        f"here, {rpyc.__version__}: see it there with python -m pip show rpyc"
    )

    def __init__(self, address: Address, kept: Kept, settings: HostSettings) -> None:
        self._address = address
        self._kept = kept
        self._limits = settings.limits
        kept.clear()
        self._stream = self._reached()
        try:
            self._call, self.about = self._opened()
        except BaseException:
            self.drop()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the connection stands."""
        return not self._stream.closed

    def ask(self, verb: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Answer:
        """Return the package's answer.

        Raises:
            NotConnected: No answer within the verb's limit, or the connection broke; it is
                dropped either way. The verb may have had its effect.
            TypeError: An argument that can't cross, or what the package itself raises, as other
                built-in errors are.
        """
        if not keywords and (found := self._kept.take(verb, args)) is not None:
            return found
        along = () if keywords else companions(verb, args)
        asked = [_asked(verb, args, keywords), *(_asked(*call, {}) for call in along)]
        answers, raw = self._exchange(verb, asked)
        try:
            answer = Answer.of(answers[0], raw)
            self._kept.keep(_read(along, answers[1:], raw))
        except Unreadable as error:
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_RECEIVE, str(error), error)
        return answer

    def stop(self) -> None:
        """End the connection; the package there stays as it is, since others may use it."""
        self.drop()

    def drop(self) -> None:
        """End the connection at once, whatever it waits for."""
        self._kept.clear()
        self._stream.close()
        # Tells rpyc, which finds nothing left to write to.
        with contextlib.suppress(AttributeError, EOFError, OSError):
            self._connection.close()

    def _reached(self) -> TimedStream:
        try:
            return TimedStream.to(self._address, self._limits.start)
        except OSError as error:
            text = (
                f"no server at {self._address} ({error.strerror or error}): start mt5linux's, or "
                "any rpyc classic server, in the Python that has MetaTrader5"
            )
            raise NotConnected("initialize", mt5.RES_E_INTERNAL_FAIL_CONNECT, text) from error

    def _opened(self) -> tuple[Any, About]:
        try:
            self._connection = connect_stream(
                self._stream, VoidService, {"sync_request_timeout": self._limits.start}
            )
            root = self._connection.root
            text, name = _sent()
            root.execute(text)
            with contextlib.suppress(AttributeError, OSError):  # costs speed only
                root.eval(f"{name}['hasten']")(root.getconn())
                self._connection._channel.compress = False
            call, python, package = root.eval(f"{name}['opened']({_PACKAGE!r})")
        except ImportError as error:
            raise _useless(
                f"the Python at {self._address} has no {_PACKAGE} ({_plain(error)})"
            ) from error
        except (EOFError, OSError) as error:
            text = f"{self._address} takes connections and does not answer; {self._needed}"
            raise NotConnected("initialize", mt5.RES_E_INTERNAL_FAIL_RECEIVE, text) from error
        except (*CARRIED, GenericException) as error:
            text = f"{self._address} can't be spoken to ({_plain(error)}); {self._needed}"
            raise _useless(text) from error
        return rpyc.async_(call), About(python, package)

    def _exchange(
        self, verb: str, asked: list[dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], bytes]:
        limit = self._limits.of(verb)
        message = io.BytesIO()
        write_frame(message, {"calls": asked})
        self._stream.until = time.monotonic() + limit
        try:
            waiting = self._call(message.getvalue())
            waiting.set_expiry(limit)
            frame = read_frame(io.BytesIO(waiting.value))
            if frame is None:
                raise ValueError("a frame that was cut short")
            answers: list[dict[str, Any]] = frame[0]["answers"]
        except TimeoutError as error:
            text = f"no answer from {self._address} within {limit:g} s, so it was hung up on"
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_TIMEOUT, text, error)
        except (EOFError, OSError) as error:
            text = f"the connection to {self._address} broke"
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_RECEIVE, text, error)
        except (*CARRIED, GenericException) as error:
            text = f"{self._address} answers with no answer: {type(error).__name__}"
            self._give_up(verb, mt5.RES_E_INTERNAL_FAIL_RECEIVE, text, error)
        return answers, frame[1]

    def _give_up(self, verb: str, code: int, text: str, cause: Exception) -> NoReturn:
        self.drop()
        raise NotConnected(verb, code, text) from cause


def _asked(verb: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {"verb": verb, "call": encode((tuple(args), dict(keywords)), bytearray())}


def _read(along: tuple[Call, ...], crossed: list[dict[str, Any]], raw: bytes) -> dict[Call, Answer]:
    """Return the answers that came along; one that raised is asked for again when wanted."""
    pairs = zip(along, crossed, strict=True)
    return {call: Answer.of(each, raw) for call, each in pairs if "raised" not in each}


def _sent() -> tuple[str, str]:
    """Return what the server runs, and the name that it gets there, its version in it."""
    source = Path(wire.__file__).read_text(encoding="utf-8")
    name = f"mt5_onnx_{sha256(source.encode()).hexdigest()[:12]}"
    return f"{name} = {{'__name__': {name!r}}}\nexec({source!r}, {name})", name


def _plain(error: Exception) -> str:
    """Return what an error says, without the far traceback that rpyc writes into it."""
    return " ".join(map(str, error.args)) or type(error).__name__


def _useless(text: str) -> NoPackage:
    return NoPackage("initialize", mt5.RES_E_INTERNAL_FAIL_INIT, text)
