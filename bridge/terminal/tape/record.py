"""Record: any terminal, and a file that keeps what it answers."""

import gzip
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TextIO, cast

from bridge import __version__
from bridge.clock import Clock
from bridge.errors import ConfigError, TerminalError
from bridge.mt5.terminal import Terminal
from bridge.terminal.tape.code import FORMAT, VERSION, encode, encode_error
from bridge.terminal.tape.redact import Redaction
from bridge.terminal.tape.verbs import Verbs


class TapeWriter:
    """A new tape; a line a call.

    A disk that is full ends the tape, never the run: an answer about an order is worth more.

    Args:
        path: Where it will be; compressed when the name ends in ``.gz``.
        clock: Times the calls.
        redaction: What is not told.
        about: Versions of what answers, for people.

    Attributes:
        calls: How often each verb was written.
        failed: How many of them raised.
        fault: Why writing ended early; None while all is well.

    Raises:
        ConfigError: The file is there already, or can't be written.
    """

    def __init__(
        self, path: Path, clock: Clock, redaction: Redaction, *, about: str | None = None
    ) -> None:
        self.path = path
        self.redaction = redaction
        self.calls: Counter[str] = Counter()
        self.failed = 0
        self.fault: OSError | None = None
        self._clock = clock
        self._began = clock.now()
        self._file = _opened(path)
        began = datetime.fromtimestamp(self._began, UTC).isoformat(timespec="seconds")
        self._write(
            {
                "format": FORMAT,
                "version": VERSION,
                "bridge": __version__,
                "terminal": about,
                "began": began,
                "redacted": redaction.summary,
            }
        )

    def close(self) -> None:
        """End the tape."""
        try:
            self._file.close()
        except OSError as error:
            self.fault = self.fault or error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def answered(self, verb: str, args: tuple[Any, ...], answer: Any) -> None:
        """Write a call and its answer."""
        self._line(verb, args, {"answer": encode(self.redaction.of(answer))})

    def raised(self, verb: str, args: tuple[Any, ...], error: TerminalError) -> None:
        """Write a call and its error."""
        self.failed += 1
        self._line(verb, args, {"error": encode_error(error, self.redaction.text(error.text))})

    def _line(self, verb: str, args: tuple[Any, ...], outcome: dict[str, Any]) -> None:
        self.calls[verb] += 1
        at = round(self._clock.now() - self._began, 6)
        asked = encode(self.redaction.asked(args))
        self._write({"n": self.calls.total(), "at": at, "verb": verb, "args": asked, **outcome})

    def _write(self, line: dict[str, Any]) -> None:
        if self.fault is not None:
            return
        try:
            self._file.write(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")
        except OSError as error:
            self.fault = error


def _opened(path: Path) -> TextIO:
    try:
        if path.suffix == ".gz":
            return cast(TextIO, gzip.open(path, "xt", encoding="ascii", newline="\n"))
        # A line at a time: what was answered before a crash is the part that matters.
        return path.open("x", encoding="ascii", newline="\n", buffering=1)
    except FileExistsError as error:
        raise ConfigError(
            f"{path} is there already: name another file, nothing is overwritten"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"the tape {path} can't be written ({error.strerror}): name a file in a folder that "
            "is there and yours"
        ) from error


class Recorder(Verbs):
    """A terminal whose answers, and errors, also go to a tape; nothing else changes.

    Args:
        inner: The terminal that is asked.
        tape: Where it is written.
    """

    def __init__(self, inner: Terminal, tape: TapeWriter) -> None:
        self._inner = inner
        self._tape = tape

    def _call(self, verb: str, *args: Any) -> Any:
        try:
            answer = getattr(self._inner, verb)(*args)
        except TerminalError as error:
            self._tape.raised(verb, args, error)
            raise
        self._tape.answered(verb, args, answer)
        return answer
