"""What rules answer: a verdict each, a ruling of all of them, and the denial that comes of it."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from bridge.mt5.request import Request
from bridge.risk.facts import Bounds, Facts


class Verdict(NamedTuple):
    """What one rule said.

    Attributes:
        value: What was measured, in words with its unit.
        limit: What it was held against.
        halts: Whether this answer ends all entries, not only this one.
    """

    rule: str
    ok: bool
    value: str
    limit: str
    halts: bool = False


class Denial(NamedTuple):
    """Why a request is not sent: the first rule that said no."""

    rule: str
    value: str
    limit: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.value}, limit {self.limit}"


class Ruling(NamedTuple):
    """Every rule's answer to one request."""

    verdicts: tuple[Verdict, ...]

    @property
    def denial(self) -> Denial | None:
        """The first no, or None when the request may be sent."""
        for verdict in self.verdicts:
            if not verdict.ok:
                return Denial(verdict.rule, verdict.value, verdict.limit)
        return None

    @property
    def halts(self) -> bool:
        """Whether a rule asks for a halt."""
        return any(map(attrgetter("halts"), self.verdicts))


Rule = Callable[[Request, Facts, Bounds], Verdict]
"""A pure function that says yes or no to a request, with the numbers."""


@cache
def off(rule: str) -> Verdict:
    """Return the yes of a rule that settings leave off; nothing is measured for it."""
    return Verdict(rule, True, "not limited", "off")


def shown(limit: float | None, unit: str) -> str:
    """Return a limit as a person reads it."""
    return "off" if limit is None else f"{limit:g} {unit}"
