"""What the lint says: findings, worst first. It imports no onnx."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is, worst first."""

    BLOCKED = "blocked"
    """The target refuses the file, or can't feed it."""
    WRONG = "wrong"
    """It runs, and answers what nobody should trade."""
    CARE = "care"
    """It runs when something is done, or known."""
    NOTE = "note"
    """No fault: what people believe to be one, or a fact to know."""


_ORDER = {level: number for number, level in enumerate(Level)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason.

    Attributes:
        rule: Its short name.
        what: What is found in this file, with its names and numbers.
        why: What comes of it.
        fix: What to do.
    """

    rule: str
    level: Level
    what: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the lint found in a file.

    Attributes:
        target: For what it was looked at.
        findings: Worst first.
    """

    target: str
    findings: tuple[Finding, ...]

    @property
    def is_blocked(self) -> bool:
        """Whether the target would refuse the file."""
        return any(each.level is Level.BLOCKED for each in self.findings)

    @property
    def worst(self) -> Level | None:
        """The worst level; None of a file without findings."""
        return self.findings[0].level if self.findings else None


def verdict_of(target: str, findings: Iterable[Finding]) -> Verdict:
    """Return findings in order: worst first, and as the rules stand among equals."""
    return Verdict(target, tuple(sorted(findings, key=lambda each: _ORDER[each.level])))
