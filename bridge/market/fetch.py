"""Bars of a terminal, brought into the store: newest first, in pieces that it can give.

A terminal counts bars from the newest. While it is asked a new bar may come, so each piece begins
with the last bar of the one before: a piece that does not reach it shows that history has changed.
What was brought is in the store at once, with the span that it covers; so a fetch that was broken
off goes on below it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bridge.clock import Clock
from bridge.errors import DataError, TerminalError
from bridge.market.store import BarStore, Conflicts, Series, Stored
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.mt5.servertime import text
from bridge.mt5.terminal import Terminal

PIECE = 50_000
_PRICES = ("open", "high", "low", "close")
# A terminal gives what it has and loads the rest: a short answer is asked for again, seconds.
_PAUSE, _TRIES = 1.0, 30
_NONE = np.empty(0, dtype=RATES_DTYPE)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a fetch is.

    Attributes:
        oldest: Open time of the oldest bar that came so far, server epoch seconds.
        bars: How many came.
        new: How many of them the store did not have.
    """

    oldest: int
    bars: int
    new: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """What is to be brought, and how.

    Attributes:
        series: Whose.
        since: Open time of the oldest that is wanted, server epoch seconds; None for all.
        conflicts: What becomes of bars that the store has with other values.
        piece: Bars a call, below the terminal's own limit.
    """

    series: Series
    since: int | None = None
    conflicts: Conflicts = Conflicts.REFUSE
    piece: int = PIECE


def fetch(
    terminal: Terminal,
    store: BarStore,
    wanted: Fetch,
    clock: Clock,
    tell: Callable[[Progress], None] = lambda progress: None,
) -> tuple[Stored, Progress]:
    """Bring closed bars of a terminal into the store.

    Args:
        terminal: Connected; the symbol is put into its Market Watch.
        store: Where to.
        wanted: What.
        clock: Waits while the terminal loads.
        tell: Told after each piece.

    Returns:
        The series in the store, and what came.

    Raises:
        TerminalError: The terminal does not answer; what came is in the store.
        DataError: Bars contradict the store's, or history changed while it was read.
    """
    terminal.symbol_select(wanted.series.symbol)
    walk = _Walk(terminal, wanted, clock)
    newest: int | None = None
    done = Progress(0, 0, 0)
    while (kept := walk.next()) is not None:
        newest = int(kept["time"][-1]) if newest is None else newest
        lowest = int(kept["time"][0])
        added = store.add(wanted.series, kept, conflicts=wanted.conflicts, covers=(lowest, newest))
        done = Progress(lowest, done.bars + len(kept), done.new + added.new)
        tell(done)
        walk.go_below(*_known(store, added.stored, lowest))
    of = wanted.series
    stored = store.find(of.broker, of.symbol, of.timeframe.name)
    if newest is None or stored is None:
        raise DataError(
            f"the terminal has no closed bar of {of.symbol} {of.timeframe.name}"
            f"{'' if wanted.since is None else f' from {text(wanted.since)} on'}: open its chart "
            "there once, or ask for an earlier time"
        )
    return stored, done


class _Walk:
    """The way down a terminal's history: where the next piece begins, and what it has to reach."""

    def __init__(self, terminal: Terminal, wanted: Fetch, clock: Clock) -> None:
        self._terminal, self._wanted, self._clock = terminal, wanted, clock
        self._size = max(1, min(wanted.piece, terminal.terminal_info().maxbars - 1))
        self._place = 1  # 0 is forming
        self._reach: int | None = None
        # Where to go on when bars that the store has are not the terminal's.
        self._on_foot: tuple[int, int] | None = None
        self._may_skip = True
        self._ended = False

    def next(self) -> RatesArray | None:
        """Return the next piece, oldest first; None when there is no more.

        Raises:
            TerminalError: The terminal does not answer.
            DataError: History changed while it was read.
        """
        if self._ended:
            return None
        rates = self._asked()
        if self._reach is not None and (not len(rates) or int(rates["time"][-1]) < self._reach):
            if self._on_foot is None:
                raise DataError(
                    f"the bars of {self._wanted.series.symbol} before {text(self._reach)} moved "
                    "while they were read: fetch again, what came is kept"
                )
            (self._place, self._reach), self._on_foot = self._on_foot, None
            self._may_skip = False
            return self.next()
        self._ended = len(rates) < self._size
        self._place += len(rates) - 1
        since = self._wanted.since
        kept = rates if since is None else rates[rates["time"] >= since]
        self._ended |= len(kept) < len(rates)
        return sealed(_on_digits(kept, self._wanted.series.digits)) if len(kept) else None

    def go_below(self, lowest: int, floor: int, known: int) -> None:
        """Go on at the oldest bar of the last piece, or below bars that are known.

        Args:
            lowest: Its open time.
            floor: Open time of the oldest bar below it down to where all are stored.
            known: How many of them are older than ``lowest``.
        """
        self._reach, self._on_foot = lowest, None
        since = self._wanted.since
        if known and self._may_skip:
            self._on_foot = (self._place, lowest)
            self._place, self._reach = self._place + known, floor
            self._ended = since is not None and floor <= since

    def _asked(self) -> RatesArray:
        """Ask until the answer is full, or twice the same: a terminal may still be loading."""
        rates = self._ask()
        for _ in range(_TRIES):
            if len(rates) >= self._size:
                break
            self._clock.wait_until(self._clock.now() + _PAUSE)
            again = self._ask()
            if len(again) <= len(rates):
                break
            rates = again
        return rates

    def _ask(self) -> RatesArray:
        of = self._wanted.series
        try:
            return self._terminal.copy_rates_from_pos(
                of.symbol, of.timeframe.value, self._place, self._size
            )
        except TerminalError:
            if self._on_foot is None:
                raise
            return _NONE  # the terminal has fewer bars than the store


def _known(store: BarStore, stored: Stored, lowest: int) -> tuple[int, int, int]:
    """Return ``lowest``, down to where all below it is stored, and how many bars that is."""
    floor = next(first for first, last in stored.covered if first <= lowest <= last)
    if floor == lowest:
        return lowest, floor, 0
    of = stored.series
    below = store.read(of.broker, of.symbol, of.timeframe.name, floor, lowest).rates
    return lowest, floor, len(below)


def _on_digits(rates: RatesArray, digits: int) -> RatesArray:
    """Return prices without the noise that floating point adds, as files of bars have them."""
    made = rates.copy()
    for name in _PRICES:
        made[name] = np.rint(rates[name] * 10**digits) / 10**digits
    return made
