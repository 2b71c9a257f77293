"""Two rows of bars made one: what is new, what is known, and what contradicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.market.store.series import Conflicts
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Bars of two sources.

    Attributes:
        rates: All of them, oldest first, each time once.
        changed: Whether they are other bars than the first source's.
        new: How many only the second source has.
        known: How many both have with the same values.
        before: Bars of the first source that the second has otherwise, shape ``(k,)``.
        after: The second source's, shape ``(k,)``.
    """

    rates: RatesArray
    changed: bool
    new: int
    known: int
    before: RatesArray
    after: RatesArray


def merge(
    stored: RatesArray,
    more: RatesArray,
    *,
    absent: tuple[tuple[str, ...], tuple[str, ...]],
    conflicts: Conflicts,
) -> Merged:
    """Return the bars of both.

    Args:
        stored: Oldest first, each time once.
        more: Likewise.
        absent: Columns that ``stored`` and ``more`` don't have: they contradict nothing.
        conflicts: Whose bar stays when they contradict; ``REFUSE`` keeps the stored one.
    """
    _, here, there = np.intersect1d(
        stored["time"], more["time"], assume_unique=True, return_indices=True
    )
    differ = np.zeros(len(here), dtype=bool)
    for name in _names(set(absent[0]) | set(absent[1])):
        differ |= stored[name][here] != more[name][there]
    taken = stored.copy()
    for name in set(absent[0]) - set(absent[1]):
        taken[name][here[~differ]] = more[name][there[~differ]]
    if conflicts is Conflicts.REPLACE:
        taken[here[differ]] = more[there[differ]]
    fresh = np.ones(len(more), dtype=bool)
    fresh[there] = False
    return Merged(
        _sorted(np.concatenate((taken, more[fresh]))),
        changed=bool(fresh.any()) or not np.array_equal(taken, stored),
        new=int(fresh.sum()),
        known=int((~differ).sum()),
        before=stored[here[differ]],
        after=more[there[differ]],
    )


def _names(without: set[str]) -> list[str]:
    return [name for name in RATES_DTYPE.names or () if name not in without]


def _sorted(rates: NDArray[np.void]) -> RatesArray:
    if len(rates) > 1 and (np.diff(rates["time"]) < 0).any():
        rates = rates[np.argsort(rates["time"], kind="stable")]
    return sealed(rates)


Span = tuple[int, int]


def joined_spans(spans: tuple[Span, ...], more: Span | None) -> tuple[Span, ...]:
    """Return spans apart from each other, oldest first, with one more among them."""
    found: list[Span] = []
    for first, last in sorted((*spans, *((more,) if more else ()))):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)
