"""A broker's clock rule, found in the weekly opens and closes of its history.

Currencies open on Sunday and close on Friday at 17:00 in New York, all year. A bar carries the
server's wall clock, so the hour at which the weeks end there, followed over the weeks in which
America, Europe or neither has summer time, tells which rule the clock follows.

What a week proves is not symmetric. A bar outside the market's hours can't be: a rule that
puts one there is wrong. A week that ends early or begins late may: holidays, metals (an hour
late), and brokers that begin with the server's Monday instead of showing a bar on Sunday.
So closes decide, and opens at Monday 00:00 say nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from bridge.errors import DataError
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import DAY, ServerClock, server_clock, weekday
from bridge.mt5.timeframes import Timeframe

_NEW_YORK = ZoneInfo("America/New_York")
_HOUR = 3_600
_WEEK = 7 * DAY
# 1970-01-03 22:00 UTC, a Saturday: the middle of a weekend, whatever the season.
_MIDDLE = 2 * DAY + 22 * _HOUR
# A weekend is 48 hours; holidays make longer and shorter pauses, which are no evidence.
_SHORTEST, _LONGEST = 44 * _HOUR, 56 * _HOUR
# How long before the close, or after the open, the last or first tick may be.
_SLACK = 600
_FEWEST_WEEKS = 4
# Share of the weeks that have to end as the rule says; holidays are the rest.
_SHARE_THAT_FITS = 0.8
# Share of the weeks that may hold a bar outside the market's hours: a stray tick.
_SHARE_OF_STRAYS = 0.05

_WHOLE = ("utc", "eet-eu", "eet-us", *(f"utc{hours:+d}" for hours in range(-12, 15) if hours))
_HALF = tuple(f"utc{sign}{hours}:30" for sign in "-+" for hours in range(12 if sign == "-" else 14))


@dataclass(frozen=True, slots=True)
class Detection:
    """What history says about a broker's clock.

    Attributes:
        rule: Name for ``server_clock``; None when the history does not decide.
        evidence: Why, in words.
        weeks: Weekends that were looked at.
        confidence: 0 to 1: the share of weeks that fit, times n / (n + 1) for the n weeks that
            tell the rule from its nearest rival.
        remaining: Rules that fit as well, when none is named.
    """

    rule: str | None
    evidence: str
    weeks: int
    confidence: float = 0.0
    remaining: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Weekend:
    """A pause of the bars: ``close`` and ``open`` as seen (server), the market's own in UTC."""

    close: int
    open: int
    close_utc: float
    open_utc: float
    summer: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """How one rule meets each weekend; arrays of bool, one element a weekend."""

    name: str
    closes: np.ndarray[tuple[int], np.dtype[np.bool_]]
    opens: np.ndarray[tuple[int], np.dtype[np.bool_]]
    impossible: np.ndarray[tuple[int], np.dtype[np.bool_]]
    summer: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def stands(self) -> bool:
        """Whether the rule explains the history by itself."""
        few_strays = self.impossible.mean() <= _SHARE_OF_STRAYS
        return bool(few_strays and self.closes.mean() >= _SHARE_THAT_FITS)

    @property
    def fits_both_seasons(self) -> bool:
        """Whether there are weeks of New York's summer and winter, and the rule fits each."""
        seasons = (self.closes[self.summer], self.closes[~self.summer])
        return all(len(each) >= 2 and each.mean() >= _SHARE_THAT_FITS for each in seasons)


def detect_clock(rates: Mapping[str, RatesArray], timeframe: Timeframe) -> Detection:
    """Return the clock rule that the weeks of ``rates`` follow.

    Half-hour offsets are considered only where no other rule fits.

    Args:
        rates: Bars a symbol, shape ``(n,)``, oldest first; currencies tell most.
        timeframe: Of the bars, H1 or finer.

    Raises:
        DataError: The bars are coarser than H1, or there are none.
    """
    if timeframe.seconds > _HOUR:
        raise DataError(f"{timeframe.name} bars don't show the hour of a close: use H1 or finer")
    if not rates:
        raise DataError("no symbol was given to find the server's clock from: name one")
    each = [_detect(symbol, bars, timeframe.seconds) for symbol, bars in rates.items()]
    named = [found for found in each if found.rule]
    if len({found.rule for found in named}) > 1:
        said = "; ".join(found.evidence for found in named)
        return Detection(None, f"the symbols disagree: {said}", max(f.weeks for f in named))
    return max(named or each, key=lambda it: (it.confidence, len(it.remaining) > 0, it.weeks))


def _detect(symbol: str, rates: RatesArray, seconds: int) -> Detection:
    times = rates["time"]
    weekends = _weekends(times, seconds)
    number = len(weekends)
    spanned = int(times[-1] - times[0]) // _WEEK if len(times) else 0
    if number < spanned / 2:
        said = f"{symbol} paused on {number} of {spanned} weekends: it trades at weekends"
        return Detection(None, f"{said}, which tells nothing; use a currency pair", number)
    if number < _FEWEST_WEEKS:
        said = f"{symbol} has {number} weekends, {_FEWEST_WEEKS} are needed: load more history"
        return Detection(None, said, number)
    return _judge(symbol, weekends, seconds)


def _judge(symbol: str, weekends: Sequence[_Weekend], seconds: int) -> Detection:
    number = len(weekends)
    for names in (_WHOLE, _HALF):
        fits = [_fit(server_clock(name), weekends, seconds) for name in names]
        best = max(fits, key=_strength)
        if best.stands:
            return _named(
                symbol, best, {it.name: _telling(best, it) for it in fits if it is not best}
            )
    said = f"the {number} weeks of {symbol} end and begin as under no rule that brokers use"
    return Detection(None, f"{said}; use a currency pair, or name the rule yourself", number)


def _named(symbol: str, best: _Fit, telling: Mapping[str, int]) -> Detection:
    number, fit = len(best.closes), int(best.closes.sum())
    said = f"{fit} of {number} weeks of {symbol} end at Friday 17:00 New York under {best.name}"
    if rivals := [name for name, weeks in telling.items() if not weeks]:
        remaining = tuple(sorted((best.name, *rivals)))
        why = f"the weeks that would tell {', '.join(remaining)} apart are not in this history"
        return Detection(None, f"{said}, but {why}: load more", number, remaining=remaining)
    if not best.name.startswith("eet-") and not best.fits_both_seasons:
        why = "not in both summer and winter, so that the clock may yet have summer time"
        return Detection(None, f"{said}, but {why}: load more", number, remaining=(best.name,))
    nearest = min(telling, key=lambda name: telling[name])
    weeks = telling[nearest]
    said += f", {weeks} of them unlike under {nearest}"
    return Detection(best.name, said, number, fit / number * weeks / (weeks + 1))


def _strength(fit: _Fit) -> tuple[int, int, int]:
    return int(fit.closes.sum()), -int(fit.impossible.sum()), int(fit.opens.sum())


def _telling(best: _Fit, other: _Fit) -> int:
    """Return how many weeks tell ``best`` from ``other``; 0 when they do not suffice.

    A bar outside the market's hours tells by itself. An early close may be a holiday's: two.
    """
    proof = other.impossible & ~best.impossible
    better = (best.closes & ~other.closes) | (
        (best.closes == other.closes) & best.opens & ~other.opens
    )
    worse = (other.closes & ~best.closes) | (best.impossible & ~other.impossible)
    told, against = int((proof | better).sum()), int(worse.sum())
    enough = told >= 2 or (proof.any() and not against)
    return told if enough and told >= 4 * against else 0


def _weekends(times: np.ndarray[tuple[int], np.dtype[np.int64]], seconds: int) -> list[_Weekend]:
    pauses = np.diff(times) - seconds
    last = np.flatnonzero((pauses >= _SHORTEST) & (pauses <= _LONGEST))
    return [_weekend(int(times[bar]) + seconds, int(times[bar + 1])) for bar in last]


def _weekend(close: int, opened: int) -> _Weekend:
    # A server is at most 14 hours from UTC, so the nearest weekend is the right one.
    number = round(((close + opened) / 2 - _MIDDLE) / _WEEK)
    saturday = datetime.fromtimestamp(_MIDDLE + number * _WEEK, UTC).replace(
        hour=17, tzinfo=_NEW_YORK
    )
    friday, sunday = saturday - timedelta(days=1), saturday + timedelta(days=1)
    return _Weekend(
        close, opened, friday.timestamp(), sunday.timestamp(), summer=bool(friday.dst())
    )


def _fit(clock: ServerClock, weekends: Sequence[_Weekend], seconds: int) -> _Fit:
    seen_close = np.array([each.close for each in weekends])
    seen_open = np.array([each.open for each in weekends])
    # A close inside a bar shows at the bar's end, an open inside one at its beginning.
    ends = np.array([-(-clock.from_utc(each.close_utc) // seconds) for each in weekends]) * seconds
    starts = np.array([clock.from_utc(each.open_utc) // seconds for each in weekends]) * seconds
    into_day = seen_open % DAY
    monday = np.array([weekday(each.open) == 1 for each in weekends]) & (into_day <= _SLACK)
    return _Fit(
        clock.name,
        closes=(seen_close <= ends) & (seen_close >= ends - _SLACK),
        opens=(seen_open >= starts) & (seen_open <= starts + _SLACK) & ~monday,
        impossible=(seen_close > ends) | (seen_open < starts),
        summer=np.array([each.summer for each in weekends]),
    )


def market_is_open(utc: float) -> bool:
    """Return whether currencies trade at ``utc`` (epoch seconds); holidays are not known."""
    there = datetime.fromtimestamp(utc, _NEW_YORK)
    # Hours since Sunday 00:00 of the week, by New York's wall clock.
    hours = there.isoweekday() % 7 * 24 + there.hour + there.minute / 60
    return 17 <= hours < 5 * 24 + 17


def confirm(
    rule: str, tick_time: float, utc_now: float, *, tolerance_minutes: float = 5.0
) -> str | None:
    """Compare a live tick with a clock rule; nothing is learnt from it.

    Args:
        rule: Name for ``server_clock``.
        tick_time: Time of the newest tick, server epoch seconds.
        utc_now: UTC epoch seconds.
        tolerance_minutes: Largest difference that is agreement, minutes.

    Returns:
        None when they agree, or while the market is closed and no tick can be new; otherwise a
        sentence with the difference.

    Raises:
        ConfigError: There is no such rule.
    """
    expected = server_clock(rule).from_utc(utc_now)
    minutes = (tick_time - expected) / 60
    if abs(minutes) <= tolerance_minutes or not market_is_open(utc_now):
        return None
    side = "ahead of" if minutes > 0 else "behind"
    said = f"the newest tick is {abs(minutes):.0f} minutes {side} the clock rule {rule}"
    off_by_half_hours = abs(minutes - 30 * round(minutes / 30)) <= tolerance_minutes
    if minutes > 0 or off_by_half_hours:
        return f"{said}: the broker follows another rule, or this computer's clock is wrong"
    return f"{said}: quotes are old, or this computer's clock is wrong"
