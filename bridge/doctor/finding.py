"""What one check says: how grave it is, what was found, what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How grave a finding is; SKIPPED was not looked at, since something else is missing."""

    SKIPPED = "skipped"
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


_GRAVITY = list(Grade)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The answer of one check.

    Attributes:
        check: What was looked at; with the symbol or strategy that it is about.
        found: What is so, in words with units.
        todo: The next step; empty only when all is well.
        exit_code: What the command exits with when this is the first FAIL; otherwise 0.
    """

    check: str = ""
    grade: Grade
    found: str
    todo: str = ""
    exit_code: int = 0


def ok(found: str) -> Finding:
    """Return that all is well. Whoever runs a check gives its name to what it returns."""
    return Finding(grade=Grade.OK, found=found)


def warn(found: str, todo: str) -> Finding:
    """Return what a run can live with."""
    return Finding(grade=Grade.WARN, found=found, todo=todo)


def fail(exit_code: int, found: str, todo: str) -> Finding:
    """Return what keeps a run from trading as it should."""
    return Finding(grade=Grade.FAIL, found=found, todo=todo, exit_code=exit_code)


def skipped(found: str, todo: str) -> Finding:
    """Return why something could not be looked at."""
    return Finding(grade=Grade.SKIPPED, found=found, todo=todo)


def worst(findings: Sequence[Finding]) -> Grade:
    """Return the gravest grade; what was skipped is no fault by itself."""
    return max((each.grade for each in findings), key=_GRAVITY.index, default=Grade.OK)


def exit_code(findings: Sequence[Finding]) -> int:
    """Return the code of the first FAIL, 0 without one: the checks run in order of importance."""
    return next((each.exit_code for each in findings if each.grade is Grade.FAIL), 0)
