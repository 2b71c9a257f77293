"""Why nothing was opened: counts over a journal."""

from collections import Counter
from dataclasses import dataclass

from bridge.journal.read import JournalReader, Row


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Counts of what did not happen.

    Attributes:
        decisions: All of them.
        flat: Bars at which nothing was held and the signal asked for nothing.
        holding: Bars at which a position was kept.
        unusable: Bars without a usable signal.
        denied: Requests by the rule that denied them.
        rejected: Requests that the server refused.
    """

    decisions: int
    flat: int
    holding: int
    unusable: int
    denied: dict[str, int]
    rejected: int

    def __str__(self) -> str:
        denied = ", ".join(f"{rule} {count}" for rule, count in self.denied.items()) or "none"
        return (
            f"{self.decisions} bars decided: {self.flat} without a position and nothing asked for, "
            f"{self.holding} kept a position, {self.unusable} without a usable signal; "
            f"denied by rule: {denied}; refused by the server: {self.rejected}"
        )


def why_not(journal: JournalReader) -> WhyNot:
    """Count over all decisions of ``journal``."""
    return counted(journal, Counter(map(kind_of, journal.rows("decisions"))))


def kind_of(row: Row) -> str:
    """Return what a decision came to, as :class:`WhyNot` counts it; ``acted`` is the rest."""
    if row["problem"]:
        return "unusable"
    if row["action"] != "hold":
        return "acted"
    return "holding" if row["holding"] else "flat"


def counted(journal: JournalReader, kinds: Counter[str]) -> WhyNot:
    """Return the counts for decisions that were looked at already, by kind."""
    denied = Counter(row["denied"] for row in journal.rows("intents", "denied IS NOT NULL"))
    rejected = sum(1 for _ in journal.rows("results", "outcome = ?", "rejected"))
    return WhyNot(
        kinds.total(),
        kinds["flat"],
        kinds["holding"],
        kinds["unusable"],
        dict(sorted(denied.items())),
        rejected,
    )
