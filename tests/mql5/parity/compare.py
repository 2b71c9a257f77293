"""What differs between two runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mql5.parity.run import Run


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the sides part.

    Attributes:
        where: outputs, decision, order, deal or balance.
        at: Open time of the bar, or the index of order or deal.
    """

    where: str
    at: int
    what: str
    daemon: Any
    expert: Any

    def __str__(self) -> str:
        return f"{self.where} {self.at}: {self.what} is {self.daemon!r}, and {self.expert!r}"


def differences(daemon: Run, expert: Run, *, tolerance: float = 0.0) -> list[Difference]:
    """Return them all, the first bar's first.

    Args:
        tolerance: Of the outputs; 0.0 asks for equal bits.
    """
    return [
        *_of_bars(daemon, expert, tolerance),
        *_of_lists("order", daemon.orders, expert.orders),
        *_of_lists("deal", daemon.deals, expert.deals),
        *_of_values("balance", 0, {"balance": daemon.balance}, {"balance": expert.balance}),
    ]


def _of_bars(daemon: Run, expert: Run, tolerance: float) -> Iterator[Difference]:
    for time in sorted(daemon.bars.keys() | expert.bars.keys()):
        ours, theirs = daemon.bars.get(time), expert.bars.get(time)
        if ours is None or theirs is None:
            yield Difference("decision", time, "the bar", ours is not None, theirs is not None)
            continue
        if not _near(ours.outputs, theirs.outputs, tolerance):
            yield Difference("outputs", time, "outputs", ours.outputs, theirs.outputs)
        yield from _of_values("decision", time, ours.facts, theirs.facts)


def largest_difference(daemon: Run, expert: Run) -> float:
    """Return the largest difference of two outputs of a bar that both have."""
    shared = daemon.bars.keys() & expert.bars.keys()
    return max(
        (
            abs(ours - theirs)
            for time in shared
            for ours, theirs in zip(
                daemon.bars[time].outputs, expert.bars[time].outputs, strict=False
            )
        ),
        default=0.0,
    )


def _near(ours: tuple[float, ...], theirs: tuple[float, ...], tolerance: float) -> bool:
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(
        a == b or abs(a - b) <= tolerance or (a != a and b != b) for a, b in pairs
    )


def _of_lists(
    where: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]
) -> Iterator[Difference]:
    if len(ours) != len(theirs):
        yield Difference(where, min(len(ours), len(theirs)), "count", len(ours), len(theirs))
    for at, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        yield from _of_values(where, at, one, other)


def _of_values(
    where: str, at: int, ours: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[Difference]:
    for what in ours:
        if ours[what] != theirs.get(what):
            yield Difference(where, at, what, ours[what], theirs.get(what))
