"""What the terminal is told to answer next, so that a broker's quirks happen on purpose.

A script is a queue. The step at its head waits for what it is about, acts once and goes; those
behind it wait. Several steps in one list act together. The last two of the table act from the
moment they are at the head, and until their time.

    step             about                      what happens
    answer           a call of ``verb``         ``retcode`` is answered (``order_send``,
                                                ``order_check``), or null with the code ``error``;
                                                ``effect``: the call is not done at all ("none"),
                                                done first ("before"), or done when the next call
                                                comes ("after", ``order_send`` only)
    partial_fill     a deal that is sent, a     only ``volume`` lots can be had: IOC cancels the
                     pending order triggered    rest, RETURN and BOC let it wait for the next
                                                price, FOK gets nothing
    placed           a deal that is sent        10008; the order waits, and at the next price of
                                                its symbol it is ``then``: "filled", "rejected"
    rewrite_comment  a deal or a pending order  order, deal and position carry ``text``
    ignore_stops     a deal or a pending order  it is taken without its stop and target
    disabled         --                         one ``switch`` is off: "terminal" (10027),
                                                "account" (10017), "robots" (10026), "link"
                                                (10031), "python" (null, -8)
    market_closed    --                         requests are answered 10018

A request that is refused anyway takes no step but ``answer``. A script lives as long as the
terminal object; it is not in the account's file.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeRequest
from bridge.mt5.servertime import parse
from bridge.terminal.paper.calling import FUNCTIONS

_UNANSWERED = ("initialize", "login", "shutdown")
_RETCODED = ("order_send", "order_check")


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the next call of ``verb`` with a retcode, or with null and an error.

    Attributes:
        retcode: Of the result; 0 when there is an error instead.
        verb: Name of the function.
        effect: "none", "before" or "after".
        error: Code of ``last_error``; 0 when there is a retcode.
        text: Of the result or of ``last_error``, where it is not the usual one.
    """

    retcode: int = 0
    verb: str = "order_send"
    effect: str = "none"
    error: int = 0
    text: str = ""

    def __post_init__(self) -> None:
        """Refuse what can't be answered."""
        if self.verb not in FUNCTIONS or self.verb in _UNANSWERED:
            raise ConfigError(f"answer: {self.verb!r} is no function that a script can answer")
        _one_of("answer", "effect", self.effect, ("none", "before", "after"))
        if self.effect == "after" and self.verb != "order_send":
            raise ConfigError(f"answer: effect 'after' is for order_send, not for {self.verb}")
        if (self.retcode == 0) == (self.error == 0):
            raise ConfigError("answer: give either a retcode or an error, not 0 and not both")
        if self.retcode and self.verb not in _RETCODED:
            raise ConfigError(f"answer: {self.verb} has no retcode: give an error")


@dataclass(frozen=True, slots=True)
class PartialFill:
    """Let the next fill have ``volume`` lots at most, > 0."""

    volume: float

    def __post_init__(self) -> None:
        """Refuse what is no volume."""
        if not 0 < self.volume < float("inf"):
            raise ConfigError(f"partial_fill: volume is {self.volume}, it has to be above 0")


@dataclass(frozen=True, slots=True)
class Placed:
    """Accept the next deal with 10008; at the next price it is ``then``."""

    then: str = "filled"

    def __post_init__(self) -> None:
        """Refuse another end."""
        _one_of("placed", "then", self.then, ("filled", "rejected"))


@dataclass(frozen=True, slots=True)
class RewriteComment:
    """Replace the comment of the next order by ``text``."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class IgnoreStops:
    """Take the next order without its stop and target."""


@dataclass(frozen=True, slots=True)
class Disabled:
    """Turn ``switch`` off until a server time; None means for good."""

    switch: str
    until: float | None = None

    CODES: ClassVar[Mapping[str, int]] = {
        "link": mt5.TRADE_RETCODE_CONNECTION,
        "terminal": mt5.TRADE_RETCODE_CLIENT_DISABLES_AT,
        "account": mt5.TRADE_RETCODE_TRADE_DISABLED,
        "robots": mt5.TRADE_RETCODE_SERVER_DISABLES_AT,
        "python": 0,
    }

    def __post_init__(self) -> None:
        """Refuse a switch that is not there."""
        _one_of("disabled", "switch", self.switch, tuple(self.CODES))


@dataclass(frozen=True, slots=True)
class MarketClosed:
    """Refuse requests with 10018 until a server time; None means for good."""

    until: float | None = None


Step = Answer | PartialFill | Placed | RewriteComment | IgnoreStops | Disabled | MarketClosed
_STEPS: dict[str, type[Step]] = {
    "answer": Answer,
    "partial_fill": PartialFill,
    "placed": Placed,
    "rewrite_comment": RewriteComment,
    "ignore_stops": IgnoreStops,
    "disabled": Disabled,
    "market_closed": MarketClosed,
}
Entry = Step | tuple[Step, ...]
"""A step of the queue, or several that act together."""


@dataclass(frozen=True, slots=True)
class Twist:
    """What the steps that a request or a fill has taken make of it.

    Attributes:
        volume: Lots that can be had; infinite when all.
        placed: How a deal that is only accepted ends; empty when it is done at once.
        comment: The new comment; None keeps the request's.
        keeps_stops: Whether stop and target are taken.
    """

    volume: float = float("inf")
    placed: str = ""
    comment: str | None = None
    keeps_stops: bool = True


_NO_TWIST = Twist()


class Script:
    """The queue of one terminal.

    Args:
        entries: What is to happen, first things first.

    Attributes:
        delayed: Requests that are answered and not done yet.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: deque[tuple[Step, ...]] = deque()
        self._lasting: list[Disabled | MarketClosed] = []
        self.delayed: list[TradeRequest] = []
        self.add(*entries)

    def add(self, *entries: Entry) -> None:
        """Put steps, or tuples of steps, at the end of the queue."""
        for entry in entries:
            steps = entry if isinstance(entry, tuple) else (entry,)
            if len(steps) > 1 and not all(isinstance(step, _TWISTS) for step in steps):
                raise ConfigError(f"script: {steps} can't act together: give them one by one")
            self._entries.append(steps)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to happen, and nothing lasts."""
        return not (self._entries or self._lasting or self.delayed)

    @property
    def left(self) -> tuple[Entry, ...]:
        """What has not happened, without what lasts."""
        self._head()
        return tuple(steps[0] if len(steps) == 1 else steps for steps in self._entries)

    def answer(self, verb: str) -> Answer | None:
        """Take the step at the head if it answers ``verb``."""
        for step in self._head():
            if isinstance(step, Answer) and step.verb == verb:
                self._entries.popleft()
                return step
        return None

    def twist(self, *about: type[Step]) -> Twist:
        """Take what is at the head if all of it is of the kinds that something is about."""
        head = self._head()
        if not head or not all(isinstance(step, about) for step in head):
            return _NO_TWIST
        self._entries.popleft()
        changes: dict[str, Any] = {}
        for step in head:
            changes |= _TWIST[type(step)](step)
        return Twist(**changes)

    def switched_off(self, now: float) -> frozenset[str]:
        """Return the switches that are off at server time ``now``."""
        return frozenset(one.switch for one in self._current(now) if isinstance(one, Disabled))

    def is_closed(self, now: float) -> bool:
        """Return whether the market is said to be closed at server time ``now``."""
        return any(isinstance(one, MarketClosed) for one in self._current(now))

    def _head(self) -> tuple[Step, ...]:
        """Return what waits at the head, once those that last have begun."""
        while self._entries:
            head = self._entries[0]
            lasting = [step for step in head if isinstance(step, Disabled | MarketClosed)]
            if not lasting:
                return head
            self._lasting += lasting
            self._entries.popleft()
        return ()

    def _current(self, now: float) -> list[Disabled | MarketClosed]:
        self._head()
        if self._lasting:
            self._lasting = [one for one in self._lasting if one.until is None or now < one.until]
        return self._lasting


_TWISTS = (PartialFill, Placed, RewriteComment, IgnoreStops)
_TWIST: dict[type[Step], Callable[[Any], dict[str, Any]]] = {
    PartialFill: lambda step: {"volume": step.volume},
    Placed: lambda step: {"placed": step.then},
    RewriteComment: lambda step: {"comment": step.text},
    IgnoreStops: lambda step: {"keeps_stops": False},
}


def load_script(path: Path) -> list[Entry]:
    """Return the entries of a JSON file: a list of objects with ``step`` and that step's fields.

    A list inside it holds steps that act together.

    Times are server time, epoch seconds or "2024.01.08 12:00".

    Raises:
        ConfigError: The file can't be read, or a step that is none.
    """
    try:
        entries = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"script {path} can't be read: {error}") from error
    if not isinstance(entries, list):
        raise ConfigError(f"script {path} has to be a list of steps, [...]")
    loaded: list[Entry] = []
    for number, entry in enumerate(entries, 1):
        try:
            loaded.append(tuple(map(_step, entry)) if isinstance(entry, list) else _step(entry))
            Script(loaded[-1:])
        except ConfigError as error:
            raise ConfigError(f"script {path}, step {number}: {error}") from error
    return loaded


_TYPES: dict[Any, tuple[tuple[type, ...], str]] = {
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    float | None: ((int, float, type(None)), "a time"),
}


def _step(entry: Any) -> Step:
    kind = _STEPS.get(entry.get("step", "")) if isinstance(entry, dict) else None
    if kind is None:
        raise ConfigError(f"{entry!r} names no step: use one of {', '.join(_STEPS)}")
    given = {name: value for name, value in entry.items() if name != "step"}
    known = {field.name: field.type for field in fields(kind)}
    for name, value in given.items():
        if name not in known:
            raise ConfigError(
                f"{entry['step']} has no {name!r}: use {', '.join(known) or 'nothing'}"
            )
        if name == "until" and isinstance(value, str):
            given[name] = value = parse(value)
        types, words = _TYPES[known[name]]
        if not isinstance(value, types) or isinstance(value, bool):
            raise ConfigError(f"{entry['step']}: {name} is {value!r}, it has to be {words}")
    try:
        return kind(**given)
    except TypeError as error:
        raise ConfigError(f"{entry['step']} lacks a field: give {', '.join(known)}") from error


def _one_of(step: str, name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{step}: {name} is {value!r}: use one of {', '.join(allowed)}")
