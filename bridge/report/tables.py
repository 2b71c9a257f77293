"""Tables of a report: months, hours, weekdays, distributions, costs, calibration."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from bridge.mt5.servertime import weekday
from bridge.report.course import Course, Numbers
from bridge.report.reach import spread_cost
from bridge.report.statistics import net
from bridge.report.story import Line, Story
from bridge.report.tester.spans import held
from bridge.report.trades import Trade

WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_BINS = 20
_CALIBRATION_BINS = 10


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the server's calendar: net of its deals, and its share of the balance before."""

    year: int
    month: int
    net: float
    share: float


@dataclass(frozen=True, slots=True)
class Group:
    """Trades that share something: their number, net and wins."""

    label: str
    trades: int
    net: float
    won: int


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: from, to (less than), and how many."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What trading cost, account currency; negative is paid. The spread is inside the prices."""

    commission: float
    fee: float
    swap: float
    spread: float | None


@dataclass(frozen=True, slots=True)
class Said:
    """Bars with about one signal: mean signal, share that rose, mean move in price, how many."""

    signal: float
    rose: float
    move: float
    bars: int


def months(course: Course) -> list[Month]:
    """Return the months from the first deal to the last, empty ones included."""
    sums: dict[tuple[int, int], float] = {}
    for deal in course.deals:
        day = datetime.fromtimestamp(deal.time, UTC)
        sums[day.year, day.month] = sums.get((day.year, day.month), 0.0) + net(deal)
    if not sums:
        return []
    found, balance = [], course.deposit
    at = min(sums)
    while at <= max(sums):
        won = sums.get(at, 0.0)
        found.append(Month(*at, won, won / balance if balance > 0 else 0.0))
        balance += won
        at = (at[0] + at[1] // 12, at[1] % 12 + 1)
    return found


def by_hour(trades: Iterable[Trade]) -> list[Group]:
    """Return the trades by the hour of their opening, server time; all 24."""
    return _grouped(trades, [f"{hour:02}" for hour in range(24)], lambda at: at // 3600 % 24)


def by_weekday(trades: Iterable[Trade]) -> list[Group]:
    """Return the trades by the weekday of their opening; Monday to Friday, others if any."""
    days = _grouped(trades, WEEKDAYS, weekday)
    return [day for day in (*days[1:], days[0]) if day.trades or day.label not in ("Sat", "Sun")]


def _grouped(
    trades: Iterable[Trade], labels: Sequence[str], number: Callable[[int], int]
) -> list[Group]:
    parts: list[list[float]] = [[] for _ in labels]
    for trade in trades:
        if trade.opened is not None:
            parts[number(trade.opened)].append(trade.net)
    return [
        Group(label, len(nets), round(sum(nets), 2), sum(value >= 0 for value in nets))
        for label, nets in zip(labels, parts, strict=True)
    ]


def profits(course: Course) -> list[Bin]:
    """Return the distribution of the trades' nets; a bound lies at 0."""
    return histogram(np.array([trade.net for trade in course.trades]))


def holding_hours(course: Course) -> list[Bin]:
    """Return the distribution of holding times, hours, weekends left out."""
    return histogram(np.array(held(course), dtype=float) / 3600)


def histogram(values: Numbers) -> list[Bin]:
    """Return about twenty bins of one round width that hold all of ``values``, one bound at 0."""
    if not len(values):
        return []
    reach = float(values.max() - values.min()) or max(abs(float(values[0])), 1.0)
    width = nice(reach / _BINS)
    low, high = math.floor(values.min() / width), math.floor(values.max() / width) + 1
    counts, _ = np.histogram(values, bins=np.arange(low, high + 1) * width)
    return [Bin((low + n) * width, (low + n + 1) * width, int(c)) for n, c in enumerate(counts)]


def nice(step: float) -> float:
    """Return the round number (1, 2 or 5 times a power of ten) from ``step`` up."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))


def costs(story: Story) -> Costs:
    """Return what trading cost."""
    deals = story.course.deals
    spread = spread_cost(story)
    return Costs(
        commission=round(sum(deal.commission for deal in deals), 2),
        fee=round(sum(deal.fee for deal in deals), 2),
        swap=round(sum(deal.swap for deal in deals), 2),
        spread=None if spread is None else -round(spread, 2),
    )


def calibration(line: Line) -> list[Said]:
    """Return what the bid did until the next bar's close, by how long the signal was.

    The signal is ``long - short``, in ten groups of as many bars each; a group may be larger where
    signals are equal.
    """
    signal, move = line.long[:-1] - line.short[:-1], np.diff(line.bid)
    known = np.isfinite(signal) & np.isfinite(move)
    signal, move = signal[known], move[known]
    if not len(signal):
        return []
    cuts = np.unique(np.quantile(signal, np.linspace(0, 1, _CALIBRATION_BINS + 1)[1:-1]))
    group = np.searchsorted(cuts, signal, side="right")
    return [
        Said(
            signal=float(signal[group == number].mean()),
            rose=float((move[group == number] > 0).mean()),
            move=float(move[group == number].mean()),
            bars=int((group == number).sum()),
        )
        for number in np.unique(group)
    ]
