"""Does anything see the future: what was decided must stay the same when the future is cut off.

A run up to a bar is made twice: once on the recording as it is, and once on a recording that ends
at that bar's open, where nobody can know more. Any row of the two journals that differs was made
of something that was not known yet: a model or a feature that looks ahead, a coarse bar shown
before it had closed, a scale taken over the whole file.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.journal.read import JournalReader

Row = Mapping[str, Any]

# Columns that number rows, and say nothing of the market.
_NUMBERS = frozenset({"id", "run", "decision", "intent"})
_KIND = {"decisions": "decision", "intents": "order", "results": "answer", "deals": "deal"}
_MOST = 5
"""Differences that are kept of one cut."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run left in its journal, up to a moment.

    Attributes:
        rows: Table -> rows in the order written.
        rewritten: What the feed told of bars that changed after they had closed.
    """

    rows: Mapping[str, tuple[Row, ...]]
    rewritten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that would not have been so without the future.

    Attributes:
        what: decision, order, answer, deal or bar.
        columns: The columns that differ; empty where a row is there only once.
        magic: Of the strategy, where it is known.
        bar_time: Open of the bar decided, or time of the deal, server epoch seconds; None where
            the row has none.
        with_future, without: The differing values.
    """

    what: str
    columns: tuple[str, ...]
    magic: int | None
    bar_time: int | None
    with_future: tuple[Any, ...]
    without: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a check found.

    Attributes:
        cuts: Server times at which the future was cut off.
        compared: Decisions that were compared.
        differences: The first of each cut that found any.
        rewritten: Bars that changed after they had closed, in words.
    """

    cuts: tuple[int, ...]
    compared: int
    differences: tuple[Difference, ...]
    rewritten: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing saw its future."""
        return not (self.differences or self.rewritten)


def trace_of(journal: JournalReader, *, until: int, until_utc: float) -> Trace:
    """Return what a journal holds up to a moment.

    Args:
        journal: Of one run.
        until: Server time to which deals count, epoch seconds.
        until_utc: The same moment by the run's clock.
    """
    rows: dict[str, tuple[Row, ...]] = {
        table: tuple(journal.rows(table, "at_utc <= ?", until_utc))
        for table in ("decisions", "intents", "results")
    }
    rows["deals"] = tuple(journal.rows("deals", "time <= ?", until))
    told = tuple(row["text"] for row in journal.rows("events", "kind = 'rewritten'"))
    return Trace(rows, told)


def differences(whole: Trace, cut: Trace) -> list[Difference]:
    """Return the first things in which two runs up to the same bar differ; at most five."""
    found: list[Difference] = []
    for table, kind in _KIND.items():
        for one, other in _pairs(whole.rows[table], cut.rows[table]):
            if len(found) == _MOST:
                return found
            if (difference := _difference(kind, one, other)) is not None:
                found.append(difference)
    return found


def _pairs(whole: Sequence[Row], cut: Sequence[Row]) -> Iterable[tuple[Row, Row]]:
    nothing: Row = {}
    for number in range(max(len(whole), len(cut))):
        yield (
            whole[number] if number < len(whole) else nothing,
            cut[number] if number < len(cut) else nothing,
        )


def _difference(kind: str, one: Row, other: Row) -> Difference | None:
    names = [name for name in {**one, **other} if name not in _NUMBERS]
    # Through repr, so that two NaN are equal.
    differing = tuple(name for name in names if repr(one.get(name)) != repr(other.get(name)))
    if not differing:
        return None
    known = one or other
    return Difference(
        what=kind,
        columns=differing if one and other else (),
        magic=known.get("magic"),
        bar_time=known.get("bar_time", known.get("time")),
        with_future=tuple(one.get(name) for name in differing),
        without=tuple(other.get(name) for name in differing),
    )


def draw_cuts(moments: Sequence[int], count: int, seed: int) -> tuple[int, ...]:
    """Return ``count`` of ``moments``, drawn at random without repetition, in order."""
    chance = random.Random(seed)  # noqa: S311  not a secret
    return tuple(sorted(chance.sample(moments, min(count, len(moments)))))


def check_lookahead(
    moments: Sequence[int],
    play: Callable[[int, bool], Trace],
    *,
    count: int,
    seed: int,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Findings:
    """Cut the future off at random moments and compare.

    Args:
        moments: Server times at which a bar has just closed, ascending.
        play: Given a moment and whether the future is there, runs up to it and returns its trace.
        count: How many moments are tried.
        seed: Of the draw.
        told: Told how many of how many are done.
    """
    cuts = draw_cuts(moments, count, seed)
    found: list[Difference] = []
    rewritten: list[str] = []
    compared = 0
    for number, cut in enumerate(cuts):
        told(number, len(cuts))
        whole, without = play(cut, True), play(cut, False)
        compared += len(without.rows["decisions"])
        found += differences(whole, without)
        rewritten += whole.rewritten
    told(len(cuts), len(cuts))
    return Findings(
        cuts=cuts,
        compared=compared,
        differences=tuple(found),
        rewritten=tuple(dict.fromkeys(rewritten)),
    )
