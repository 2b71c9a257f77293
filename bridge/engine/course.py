"""A strategy's course: all bars of a back-test, the model's answers, where it only holds."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bridge.engine.standing import Held
from bridge.engine.step import Stepper
from bridge.engine.strategy import Strategy
from bridge.errors import DataError
from bridge.journal.stretches import Track
from bridge.market.quality import check_rates
from bridge.model.batched import BatchedSession, near_limits, sides_of
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import TradePosition
from bridge.mt5.sides import BY_POSITION_TYPE, Side
from bridge.settings import LimitSettings, ManageSettings
from bridge.strategy.ahead import Holds, holds, may_need_care, reasons, weekend_is_near
from bridge.strategy.decide import KEEPS

_NEVER = sys.maxsize
Times = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Quotes(Protocol):
    """Prices of a recording at times that are still to come."""

    def quotes_at(self, symbol: str, times: Times) -> tuple[Doubles, Doubles] | None:
        """Return bid and ask at the opens of recorded bars; None where there are none."""

    def opens_of(self, symbol: str) -> Times:
        """Return the open times of a symbol's recorded bars."""


@dataclass(frozen=True, slots=True)
class Course:
    """One strategy over all its bars.

    Attributes:
        times: Open of each bar, server epoch seconds; the last one is never decided.
        moments: Place, among the times at which the replay stops, of each bar's decision.
        acts: Places of bars that are decided in full: without a position, and by side.
        bars: All of them but the last.
        spreads: Between bid and ask at each decision, shape ``(n,)``.
        cares: Whether positions are managed while they are held.
    """

    strategy: Strategy
    stepper: Stepper
    times: Times
    moments: Times
    acts: dict[Side | None, NDArray[np.intp]]
    bars: RatesArray
    spreads: Doubles
    cares: bool

    def next_at(self, moment: int) -> int:
        """Return the place of the first bar that is decided after ``moment``."""
        return int(self.moments.searchsorted(moment, side="right"))

    def horizon(self, moment: int, own: Sequence[TradePosition]) -> int:
        """Return the last moment before the next bar that is decided in full."""
        side = BY_POSITION_TYPE[own[0].type] if own else None
        acts, place = self.acts[side], self.next_at(moment)
        found = int(acts.searchsorted(place))
        first = int(acts[found]) if found < len(acts) else len(self.moments)
        longest = self.strategy.decision.max_bars
        if own and longest is not None:
            first = max(place, min(first, self.since(own) + longest - 1))
        return int(self.moments[first]) - 1 if first < len(self.moments) else _NEVER

    def since(self, own: Sequence[TradePosition]) -> int:
        """Return the place of the bar in which the first of the positions was opened."""
        opened = self.strategy.timeframe.open_of(own[0].time)
        return int(self.times.searchsorted(opened))

    def held(self, own: Sequence[TradePosition]) -> dict[str, Any] | None:
        """Return the position as decisions show it, with its bar's place instead of its age."""
        if not own:
            return None
        return {
            "ticket": own[0].ticket,
            "side": BY_POSITION_TYPE[own[0].type],
            "volume": round(sum(position.volume for position in own), 8),
            "since": self.since(own),
        }

    def is_settled(self, own: Sequence[TradePosition], balance: float) -> bool:
        """Whether what is remembered is what the terminal shows, and nothing is pending."""
        standing = self.stepper.standing
        pending = (
            standing.unresolved,
            standing.is_open,
            standing.awaited,
            standing.unread,
            standing.has_news,
            standing.missing,
            standing.declined,
            standing.unprotected,
            standing.closing,
        )
        if any(pending) or standing.balance != balance:
            return False
        return len(own) == len(standing.positions) and all(map(_shows, own, standing.positions))

    def care_from(self, moment: int, last: int, own: Sequence[TradePosition], point: float) -> int:
        """Return the last moment, ``last`` at most, before a position may need care."""
        manage = self.strategy.settings.manage
        if not self.cares or not own:
            return last
        first, end = self.next_at(moment), self.next_at(last)
        if first == end:
            return last
        bars = self.bars[first:end]
        spread = np.where(bars["spread"] != 0, bars["spread"] * point, self.spreads[first:end])
        ranges = self._ranges(first, end, point) if manage.trail_ranges else np.zeros(len(bars))
        due = np.zeros(len(bars), dtype=bool)
        for position in own:
            side = BY_POSITION_TYPE[position.type]
            is_long = side is Side.LONG
            due |= may_need_care(
                side=side,
                opened=position.price_open,
                sl=position.sl,
                best=bars["high"] if is_long else bars["low"] + spread,
                close=bars["close"] if is_long else bars["close"] + spread,
                settings=manage,
                is_reduced=position.identifier in self.stepper.standing.reduced,
                ranges=ranges,
                point=point,
            )
        if not due.any():
            return last
        return min(last, int(self.moments[first + int(due.argmax())]) - 1)

    def _ranges(self, first: int, end: int, point: float) -> Doubles:
        count = self.strategy.decision.range_bars
        bars = self.bars[first - count : end]
        before = bars["close"][:-1]
        top, bottom = np.maximum(bars["high"][1:], before), np.minimum(bars["low"][1:], before)
        means: Doubles = sliding_window_view(top - bottom, count).mean(axis=1) / point
        return means


def _shows(shown: TradePosition, known: Held) -> bool:
    """Whether a position is shown as it is remembered."""
    return (
        shown.identifier == known.identifier
        and shown.ticket == known.ticket
        and BY_POSITION_TYPE[shown.type] is known.side
        and (shown.volume, shown.sl, shown.tp) == (known.volume, known.sl, known.tp)
    )


def course_of(
    strategy: Strategy,
    stepper: Stepper,
    bars: RatesArray,
    stops: Times,
    quotes: Quotes,
    limits: LimitSettings,
) -> tuple[Course, Track] | None:
    """Return a strategy's course, and what the journal keeps of it once and for all.

    None where nothing can be said ahead.

    Args:
        strategy: Its model answers from a batched session.
        stepper: Of the strategy.
        bars: All of its timeframe, oldest first.
        stops: Times at which the replay stops, ascending.
        quotes: Prices at these times.
        limits: Of the account.
    """
    session, settings = strategy.model.session, strategy.settings
    if not isinstance(session, BatchedSession) or not _is_clean(bars):
        return None
    closed_at = bars["time"][1:].astype(np.int64)
    decided = _seen(closed_at, quotes.opens_of(settings.symbol))
    found = None if decided is None else quotes.quotes_at(settings.symbol, decided)
    if decided is None or found is None:
        return None
    count = len(closed_at)
    long, short, good = sides_of(strategy.model.contract, session.values)
    limits_of = (strategy.decision.open_at, strategy.decision.close_at)
    if len(near := near_limits(long, short, limits_of)):
        session.ask_singly(near)
        long, short, good = sides_of(strategy.model.contract, session.values)
    if limits.max_bar_age_seconds is not None:
        good[:count] &= decided - closed_at <= limits.max_bar_age_seconds
    good[: strategy.depth - 1] = False
    weekend = weekend_is_near(closed_at, settings.manage)
    where = holds(long[:count], short[:count], good[:count], strategy.decision, weekend)
    track = Track(
        magic=settings.magic,
        symbol=settings.symbol,
        timeframe=settings.timeframe,
        model_sha256=strategy.model.sha256,
        window=strategy.model.contract.window,
        depth=strategy.depth,
        reasons=reasons(strategy.decision),
        keeps=KEEPS,
        bars=bars[:count],
        decided=decided,
        outputs=session.values[:count],
        long=long[:count],
        short=short[:count],
        bid=found[0],
        ask=found[1],
        reason=where.flat,
    )
    course = Course(
        strategy,
        stepper,
        times=bars["time"].astype(np.int64),
        moments=np.searchsorted(stops, decided),
        acts=_acts(where, good[:count]),
        bars=bars[:count],
        spreads=found[1] - found[0],
        cares=settings.manage != ManageSettings(),
    )
    return course, track


def _seen(closed_at: Times, opens: Times) -> Times | None:
    """Return when bars are seen to have closed: at the first recorded open since, perhaps late.

    None where the recording ends before.
    """
    places = np.searchsorted(opens, closed_at)
    if not len(places) or places[-1] >= len(opens):
        return None
    decided: Times = opens[places].astype(np.int64)
    return decided


def _acts(where: Holds, good: NDArray[np.bool_]) -> dict[Side | None, NDArray[np.intp]]:
    acts: dict[Side | None, NDArray[np.intp]] = {
        None: np.flatnonzero((where.flat < 0) | ~good),
    }
    for side, keeps in where.keeps.items():
        acts[side] = np.flatnonzero(~keeps)
    return acts


def _is_clean(bars: RatesArray) -> bool:
    try:
        check_rates(bars, what="bars")
    except DataError:
        return False
    return True
