"""Replay: a terminal that answers from a tape, and from nothing else."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import DataError, TerminalError
from bridge.mt5.constants import RES_E_FAIL
from bridge.terminal.tape.code import FORMAT, VERSION, decode, decode_error
from bridge.terminal.tape.verbs import Verbs


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call.

    Attributes:
        line: Of the file, from 1.
        at: Seconds since the tape began.
        answer: What came back, or the error that is raised.
    """

    line: int
    at: float
    verb: str
    args: tuple[Any, ...]
    answer: Any

    def __str__(self) -> str:
        """Show the call as it would be written: ``symbol_info('EURUSD')``."""
        return _written(self.verb, self.args)

    def fits(self, verb: str, args: tuple[Any, ...]) -> bool:
        """Whether it is this call; comments of requests are not compared, they may be redacted."""
        return verb == self.verb and _bare(args) == _bare(self.args)


class Tape(Verbs):
    """A terminal that gives the answers of a tape, in order.

    A call that the tape does not have next raises ``TerminalError``, and so does each one after it:
    a program that asked something else once is not the recorded one any more.

    Args:
        path: The file.
        any_order: Take the next recorded call of the same verb and arguments, wherever it is.

    Attributes:
        header: The first line of the file.
        calls: All that was recorded.
        mismatch: The first call that did not fit, in a sentence; None while all did.

    Raises:
        DataError: It is no tape, or one of another version.
    """

    def __init__(self, path: Path, *, any_order: bool = False) -> None:
        self.header, self.calls = _read(path)
        self.mismatch: str | None = None
        self._path = path
        self._any_order = any_order
        self._left = list(self.calls)

    @property
    def left(self) -> tuple[Call, ...]:
        """The recorded calls that nobody has asked for yet."""
        return tuple(self._left)

    def _call(self, verb: str, *args: Any) -> Any:
        asked_for = self._left if self._any_order else self._left[:1]
        fitting = next((each for each in asked_for if each.fits(verb, args)), None)
        if fitting is None or self.mismatch:
            self.mismatch = self.mismatch or self._differs(_written(verb, args))
            raise TerminalError(verb, RES_E_FAIL, self.mismatch)
        self._left.remove(fitting)
        if isinstance(fitting.answer, TerminalError):
            raise fitting.answer
        return fitting.answer

    def _differs(self, asked: str) -> str:
        if self._any_order:
            return f"the tape {self._path} has no more answer to {asked}"
        if not self._left:
            return f"the tape {self._path} ends at line {len(self.calls) + 1}, before {asked}"
        call = self._left[0]
        return f"the tape {self._path} expects {call} at line {call.line}, and was asked {asked}"


def _written(verb: str, args: tuple[Any, ...]) -> str:
    return f"{verb}({', '.join(map(repr, args))})"


def _bare(args: tuple[Any, ...]) -> list[Any]:
    return [
        {name: value for name, value in each.items() if name != "comment"}
        if isinstance(each, dict)
        else each
        for each in args
    ]


def _read(path: Path) -> tuple[dict[str, Any], tuple[Call, ...]]:
    try:
        lines = _lines(path)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"the tape {path} can't be read: {error}") from error
    parsed = list(_parsed(path, lines))
    header = parsed[0] if parsed and isinstance(parsed[0], dict) else {}
    if (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise DataError(
            f"{path} is no tape of version {VERSION}: its first line has to name the format "
            f"{FORMAT}; mt5-onnx record writes one"
        )
    return header, tuple(
        _call_of(path, number, fields) for number, fields in enumerate(parsed[1:], 2)
    )


def _lines(path: Path) -> list[str]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="ascii") as file:
            return file.read().splitlines()
    return path.read_text(encoding="ascii").splitlines()


def _parsed(path: Path, lines: list[str]) -> Iterator[Any]:
    for number, line in enumerate(lines, 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise DataError(
                f"line {number} of {path} is no JSON ({error}): the file was cut off or changed; "
                "delete the line to replay what is before it"
            ) from error


def _call_of(path: Path, number: int, fields: Any) -> Call:
    try:
        error = fields.get("error")
        answer = decode(fields["answer"]) if error is None else decode_error(error)
        return Call(number, fields["at"], fields["verb"], decode(fields["args"]), answer)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise DataError(
            f"line {number} of the tape {path} is not of the format: {wrong!r}; "
            "bridge/terminal/tape/README.md has it"
        ) from wrong
