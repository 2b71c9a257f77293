"""Why nothing was opened: counts over a journal."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bridge.journal.columns import Decided, Kind
from bridge.journal.read import JournalReader


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
    return counted(journal, journal.columns("kind"))


def counted(journal: JournalReader, decided: Iterable[Decided]) -> WhyNot:
    """Return the counts for decisions that were read already, with their ``kind``."""
    kinds = Counter[int]()
    for each in decided:
        kinds.update(dict(enumerate(np.bincount(each.columns["kind"]).tolist())))
    denied = Counter(row["denied"] for row in journal.rows("intents", "denied IS NOT NULL"))
    rejected = sum(1 for _ in journal.rows("results", "outcome = ?", "rejected"))
    return WhyNot(
        kinds.total(),
        kinds[Kind.FLAT],
        kinds[Kind.HOLDING],
        kinds[Kind.UNUSABLE],
        dict(sorted(denied.items())),
        rejected,
    )
