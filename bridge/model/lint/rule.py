"""What a rule is: a look at the facts, and words that hold for each of its hits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bridge.model.cage import one_line
from bridge.model.lint.ceilings import Ceiling
from bridge.model.lint.facts import Facts
from bridge.model.lint.finding import Finding, Level

Look = Callable[[Facts, Ceiling], Iterable[str]]
"""Yields what is found, a sentence part for each hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One reason to refuse or misread a file.

    Attributes:
        look: Finds it.
        level: How bad it is.
        levels: How bad it is for other targets, by name.
        why, fix: Of every hit.
    """

    name: str
    look: Look
    level: Level
    why: str
    fix: str
    levels: Mapping[str, Level] = field(default_factory=dict)

    def findings(self, facts: Facts, ceiling: Ceiling) -> Iterable[Finding]:
        """Yield a finding for each hit."""
        level = self.levels.get(ceiling.name, self.level)
        for what in self.look(facts, ceiling):
            yield Finding(self.name, level, one_line(what), self.why, self.fix)


REPAIR = "mt5-onnx model repair does it, and proves that the answers stay"
