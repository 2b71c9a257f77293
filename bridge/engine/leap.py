"""Leap: in a back-test, move over bars at which nothing happens, in one go.

It is no second engine. A bar is passed over only when it is certain that the watch would tell
nothing, each strategy would hold, and the terminal would do nothing of its own; then what the
looks and steps would have left behind is left behind: the same baselines, the same decisions in
the journal. Whatever is not certain is stepped through.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bridge.clock import Clock
from bridge.engine.course import Course, Doubles, Quotes, Times
from bridge.engine.crew import Crew
from bridge.engine.watch import Extremes
from bridge.journal.buffered import BufferedJournal
from bridge.journal.stretches import Stretch
from bridge.mt5.records import AccountInfo, TradePosition
from bridge.mt5.servertime import DAY, ServerClock, server_day
from bridge.mt5.terminal import Terminal
from bridge.risk.baselines import Baselines, merged
from bridge.settings import LimitSettings

# Most bars of one leap: between two, somebody may ask to stop.
_MOST = 4_096


class Ahead(Protocol):
    """What a recorded terminal says of the coming times at which a replay stops."""

    @property
    def count(self) -> int:
        """At how many of them nothing happens by itself."""

    @property
    def equity(self) -> Doubles | None:
        """Account equity at each; None: it stays as it is."""

    @property
    def lows(self) -> Doubles | None:
        """Lowest equity before each since the one before; None: no position is open."""


class Foreseeing(Quotes, Protocol):
    """A recorded terminal that can tell ahead."""

    def event_times(self) -> Times | None:
        """Return each time at which a replay stops; None when that is not known."""

    def foresee(self, most: int) -> Ahead | None:
        """Return what can be said of the next times; None when nothing can."""

    def pass_over(self, count: int) -> None:
        """Be at the ``count``-th time just foreseen; the clock is moved there next."""


@dataclass(frozen=True, slots=True)
class _Way:
    """What moves on the way, one row for each stop; all constant where nothing is open.

    Attributes:
        base: Baselines before the first stop.
        end: Those after the last.
        lowest, highest: Equity at its extremes.
        moves: Columns ``stretches.MOVES``, shape ``(4, count)`` or more; None: nothing moves.
    """

    count: int
    base: Baselines
    end: Baselines
    balance: float
    lowest: float
    highest: float
    moves: Doubles | None = None

    def columns(self, places: NDArray[np.intp]) -> Doubles | None:
        """Return what moves at some stops, ascending."""
        if self.moves is None:
            return None
        is_row = places[-1] == len(places) - 1
        return self.moves[:, : len(places)] if is_row else self.moves[:, places]


class Leap:
    """Passes over quiet bars.

    Args:
        crew: Its strategies and watch.
        courses: Of all strategies.
        tracks: Their numbers in the journal.
        stops: Each time at which the replay stops, server epoch seconds, ascending.
        terminal: Where they trade.
        recorded: The same, as it tells ahead.
        journal: Takes what is passed over by columns.
        clock: Of the run.
        server: The broker's clock rule.
        limits: Of the account.
    """

    def __init__(
        self,
        crew: Crew,
        courses: Sequence[Course],
        tracks: Sequence[int],
        stops: Times,
        terminal: Terminal,
        recorded: Foreseeing,
        journal: BufferedJournal,
        *,
        clock: Clock,
        server: ServerClock,
        limits: LimitSettings,
    ) -> None:
        self._crew = crew
        self._courses = courses
        self._terminal = terminal
        self._recorded = recorded
        self._journal = journal
        self._clock = clock
        self._server = server
        self._limits = limits
        self._stops = stops
        self._tracks = tracks
        self._points = [terminal.symbol_info(each.stepper.symbol).point for each in courses]

    def __call__(self) -> None:
        """Move on over what is certain to be quiet; perhaps over nothing."""
        here = self._here()
        if here < 0:
            return
        positions = self._terminal.positions_get()
        own = [_own(positions, course) for course in self._courses]
        last = self._last(here, own)
        if last <= here:
            return
        account = self._terminal.account_info()
        balance = account.balance + account.credit
        if not all(c.is_settled(o, balance) for c, o in zip(self._courses, own, strict=True)):
            return
        ahead = self._recorded.foresee(last - here)
        way = None if ahead is None else self._way(here, ahead, account)
        if ahead is None or way is None or not way.count:
            return
        self._recorded.pass_over(way.count)
        self._clock.wait_until(self._server.to_utc(int(self._stops[here + way.count])))
        self._write(here, way, own)
        self._crew.watch.pass_over(way.end)

    def _here(self) -> int:
        """Return which of the stops this moment is; -1 when it is none."""
        now = self._server.from_utc(self._clock.now())
        # A float would have numpy convert all stops first.
        place = int(self._stops.searchsorted(int(now)))
        return place if place < len(self._stops) and self._stops[place] == now else -1

    def _last(self, here: int, own: Sequence[Sequence[TradePosition]]) -> int:
        """Return the last stop that strategies, day and clock let it pass over to."""
        stops = self._stops
        midnight = (server_day(int(stops[here])) + 1) * DAY
        last = min(here + _MOST, int(stops.searchsorted(midnight)) - 1)
        for course, held, point in zip(self._courses, own, self._points, strict=True):
            last = min(last, course.horizon(here, held))
            if last <= here:
                return here
            last = course.care_from(here, last, held, point)
        return last if self._keeps_time(here, last) and self._is_fresh(here, last) else here

    def _keeps_time(self, here: int, last: int) -> bool:
        """Whether server time and UTC stay as far apart as they are."""
        now, then = int(self._stops[here]), int(self._stops[last])
        utc = self._server.to_utc(then)
        apart = then - now == utc - self._clock.now()
        return apart and self._server.from_utc(utc) == then

    def _is_fresh(self, here: int, last: int) -> bool:
        """Whether each symbol has a quote of the day, and no quote becomes old on the way."""
        limit, stops = self._limits.max_quote_age_seconds, self._stops
        if all(len(course.moments) == len(stops) - 1 for course in self._courses):
            return True  # every stop is a new bar of each symbol
        day = server_day(int(stops[here]))
        for symbol in {course.stepper.symbol for course in self._courses}:
            if server_day(self._terminal.symbol_info_tick(symbol).time) != day:
                return False
            opens = self._recorded.opens_of(symbol)
            places = np.searchsorted(opens, stops[here : last + 1], side="right") - 1
            oldest = int((stops[here : last + 1] - opens[places]).max())
            if limit is not None and oldest > limit:
                return False
        return True

    def _way(self, here: int, ahead: Ahead, account: AccountInfo) -> _Way | None:
        """Return what moves, as far as the watch has nothing to tell; None when that is unsure."""
        base = merged([course.stepper.standing.baselines for course in self._courses])
        first = int(self._stops[here + 1])
        is_known = base.day_balance is not None and base.week_equity is not None
        if base.day != server_day(first) or not is_known or not ahead.count:
            return None
        if ahead.equity is None or ahead.lows is None:
            if account.equity != account.balance:
                return None
            balance = account.balance + account.credit
            way = _still(base.advanced(first, account.equity, balance), ahead.count, account)
        else:
            noted = self._crew.watch.peak_to_note()
            way = _moving(base, ahead.equity, ahead.lows, account.balance, noted)
        if not way.count:
            return way
        until = float(self._stops[here + way.count])
        between = Extremes(
            lowest=way.lowest, highest=way.highest, margin=account.margin, until=until
        )
        return way if self._crew.watch.is_steady(way.base, way.end, between) else None

    def _write(self, here: int, way: _Way, own: Sequence[Sequence[TradePosition]]) -> None:
        """Journal the decisions passed over, numbered in the order in which they were due."""
        there = here + way.count
        parts = [(c.next_at(here), c.next_at(there)) for c in self._courses]
        total = sum(end - first for first, end in parts)
        if not total:
            return
        number = self._journal.next_ids(total)
        due = [c.moments[a:b] for c, (a, b) in zip(self._courses, parts, strict=True)]
        ids = _ranks(due)
        for place, course in enumerate(self._courses):
            first, end = parts[place]
            if first == end:
                continue
            numbers = ids[place] + number
            is_row = int(numbers[-1]) - int(numbers[0]) == end - first - 1
            stretch = Stretch(
                track=self._tracks[place],
                first_id=int(numbers[0]),
                last_id=int(numbers[-1]),
                ids=None if is_row else numbers,
                first=first,
                count=end - first,
                to_utc=self._clock.now() - int(self._stops[there]),
                held=course.held(own[place]),
                state=course.stepper.standing.state,
                baselines=way.base,
                balance=way.balance,
                moves=way.columns(due[place] - here - 1),
            )
            bars = int(course.times[first]), int(course.times[end - 1])
            self._journal.stretch(stretch, *bars)
            course.stepper.pass_over(bars[1])


def _own(positions: Sequence[TradePosition], course: Course) -> Sequence[TradePosition]:
    mine = (course.stepper.magic, course.stepper.symbol)
    return [each for each in positions if (each.magic, each.symbol) == mine]


def _still(base: Baselines, count: int, account: AccountInfo) -> _Way:
    return _Way(count, base, base, account.balance, account.equity, account.equity)


def _moving(base: Baselines, equity: Doubles, lows: Doubles, balance: float, noted: float) -> _Way:
    """Return how the baselines move: as by a low, then an equity, at each stop.

    Args:
        base: Baselines before the first stop.
        equity: At each, shape ``(n,)``.
        lows: Before each, likewise.
        balance: Of the account.
        noted: Highest equity that is not written down; the way ends before a higher one.
    """
    low = np.minimum.accumulate(np.minimum(lows, equity))
    peak = np.maximum(np.maximum.accumulate(np.maximum(lows, equity)), base.peak_equity)
    count = len(peak) if peak[-1] <= noted else int(peak.searchsorted(noted, side="right"))
    week = min(base.week_low, base.day_low)
    moves = np.array((equity, peak, np.minimum(low, base.day_low), np.minimum(low, week)))
    _, peak_then, day_low, week_low = moves[:, count - 1].tolist()
    return _Way(
        count,
        base,
        base._replace(peak_equity=peak_then, day_low=day_low, week_low=week_low),
        balance,
        lowest=float(low[count - 1]),
        highest=float(equity[:count].max(initial=-np.inf)),
        moves=moves,
    )


def _ranks(due: Sequence[Times]) -> list[NDArray[np.int64]]:
    """Return the rank of each decision among all: by moment, then by strategy."""
    if len(due) == 1:
        return [np.arange(len(due[0]), dtype=np.int64)]
    moments = np.concatenate(due)
    strategy = np.repeat(np.arange(len(due)), [len(each) for each in due])
    ranks = np.empty(len(moments), dtype=np.int64)
    ranks[np.lexsort((strategy, moments))] = np.arange(len(moments))
    return np.split(ranks, np.cumsum([len(each) for each in due])[:-1])
