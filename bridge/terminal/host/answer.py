"""An answer of the package, made again out of what crossed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, Self

import numpy as np

from bridge.mt5 import records
from bridge.terminal.host.wire import decode

_RECORDS: dict[str, Any] = {
    name: kind
    for name, kind in vars(records).items()
    if isinstance(kind, type) and records.Record in kind.__bases__
}
_RAISED: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (AttributeError, OSError, OverflowError, SystemError, TypeError, ValueError)
}


class Unreadable(Exception):
    """What came is no answer; whoever asked ends the connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb gave.

    Attributes:
        value: As the package gives it.
        error: ``last_error()`` right after the verb.
    """

    value: Any
    error: tuple[int, str]

    @classmethod
    def of(cls, crossed: dict[str, Any], raw: bytes) -> Self:
        """Return the answer; what the package raised is raised.

        Raises:
            Unreadable: It is none.
        """
        if "raised" in crossed:
            _raise_again(crossed["raised"])
        try:
            value = decode(crossed["value"], raw, _record, _array)
            code, text = crossed["error"]
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"an answer that can't be read: {error}") from error
        return cls(value, (code, text))


@dataclass(frozen=True, slots=True)
class About:
    """What answers: version of the Python that has the package, and of the package."""

    python: str
    package: str


class Peer(Protocol):
    """What has the package and answers its verbs; not for two threads at once."""

    @property
    def about(self) -> About:
        """Versions of what answers."""

    @property
    def pid(self) -> int | None:
        """Number of the process, when it is one of ours."""

    @property
    def is_alive(self) -> bool:
        """Whether it may be asked."""

    def ask(self, verb: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Answer:
        """Return the package's answer.

        Raises:
            NotConnected: None came within the verb's limit. The verb may have had its effect.
            TypeError: An argument that can't cross, or what the package itself raises, as other
                built-in errors are.
        """

    def stop(self) -> None:
        """End the connection, for good."""


def _record(name: str, values: list[Any]) -> Any:
    return _RECORDS[name](values)


def _array(fields: list[tuple[str, str]], length: int, raw: bytes, offset: int) -> Any:
    # Over bytes, so read-only, as the package's own arrays are.
    return np.ndarray((length,), np.dtype(fields), raw, offset)


def _raise_again(raised: list[list[str]]) -> NoReturn:
    error, *cause = (
        _RAISED[name](text) if name in _RAISED else RuntimeError(f"{name}: {text}")
        for name, text in raised
    )
    raise error from (cause[0] if cause else None)
