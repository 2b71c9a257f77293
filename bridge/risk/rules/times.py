"""Rules about the time, all by the server's clock: hours, rollover, weekend, news."""

from datetime import UTC, datetime
from typing import get_args

from bridge.market.news import News
from bridge.mt5.request import Request
from bridge.mt5.servertime import DAY, text, weekday
from bridge.risk.facts import Bounds, Facts
from bridge.risk.ruling import Verdict, off
from bridge.risk.spans import is_in_span, seconds_of
from bridge.settings import LimitSettings
from bridge.settings.hours import Weekday

_DAYS: tuple[Weekday, ...] = get_args(Weekday)
_FRIDAY, _SATURDAY = _DAYS.index("fri"), _DAYS.index("sat")


def hours(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened outside the strategy's days and hours."""
    now, allowed = facts.server_time, bounds.hours
    if allowed.weekdays is None and allowed.windows is None:
        return off("hours")
    is_day = allowed.weekdays is None or _DAYS[weekday(now)] in allowed.weekdays
    is_hour = allowed.windows is None or any(is_in_span(now, span) for span in allowed.windows)
    limit = " ".join((*(allowed.weekdays or ()), *(allowed.windows or ())))
    return Verdict("hours", is_day and is_hour, _moment(now), limit)


def rollover(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened around the server's midnight."""
    now, span = facts.server_time, bounds.hours.rollover
    if span is None:
        return off("rollover")
    return Verdict("rollover", not is_in_span(now, span), _moment(now), f"not {span}")


def weekend(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened shortly before the weekend."""
    now, until = facts.server_time, bounds.hours.friday_until
    if until is None:
        return off("weekend")
    day = weekday(now)
    is_near = day == _SATURDAY or (day == _FRIDAY and int(now) % DAY >= seconds_of(until))
    return Verdict("weekend", not is_near, _moment(now), f"before {until} on Friday")


def news(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a symbol around news of one of its currencies."""
    if not facts.news:
        return off("news")
    symbol, limits = facts.symbol, bounds.limits
    limit = f"{limits.news_before_minutes:g} min before, {limits.news_after_minutes:g} after"
    named = {symbol.currency_base, symbol.currency_profit, symbol.currency_margin} - {""}
    if not named:
        return Verdict("news", False, f"{symbol.name} shows no currencies", limit)
    now = int(facts.server_time)
    for each in facts.news:
        if each.currency in named and _is_near(now, each, limits):
            value = f"{each.currency} {each.title or 'news'} at {text(each.time)[:16]}"
            return Verdict("news", False, value, limit)
    return Verdict("news", True, f"none of {', '.join(sorted(named))} near", limit)


def _is_near(now: int, news: News, limits: LimitSettings) -> bool:
    before = limits.news_before_minutes if news.before is None else news.before
    after = limits.news_after_minutes if news.after is None else news.after
    return -60.0 * before <= now - news.time < 60.0 * after


def _moment(now: float) -> str:
    return f"{_DAYS[weekday(now)]} {datetime.fromtimestamp(int(now), UTC):%H:%M:%S}"
