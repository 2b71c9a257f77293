"""The broker's clock: which rule its history follows, and how old its quotes are by it."""

from bridge.doctor.finding import Finding, fail, ok, skipped, warn
from bridge.doctor.ground import Missing, Site, Subject
from bridge.engine.clocks import detected
from bridge.market.clockrule import Detection, confirm, market_is_open
from bridge.mt5.servertime import DAY, server_clock, text
from bridge.risk.guard import LONGEST_AHEAD

_SETTINGS, _TERMINAL = 2, 3
# 2024-01-01; any year in which America and Europe both have summer time.
_YEAR = 1_704_067_200
_NAME_IT = 'write the broker\'s rule as server_clock: utc, eet-eu, eet-us or such as "utc+3"'
_SET_IT = "set this computer's clock, or correct server_clock"


def detect(site: Site) -> Detection:
    """Return what the history of the strategies' symbols says, as a run finds it."""
    return detected(site.terminal, [each.symbol for each in site.settings.strategy])


def quote(of: Subject) -> Finding:
    """Measure the quote's age: server time now, by the clock rule, minus the tick's time."""
    site, limit = of.site, of.site.settings.limits.max_quote_age_seconds
    tick, rule, now = of.read_tick(), site.rule, site.market_time
    if not market_is_open(now):
        found = f"currencies don't trade now; the last quote of {of.name} is of {text(tick.time)}"
        return skipped(found, "look again when the market is open")
    age = server_clock(rule).from_utc(now) - tick.time
    found = f"the quote of {of.name} is {age:.1f} s old"
    if limit is None or -min(limit, LONGEST_AHEAD) <= age <= limit:
        return ok(found)
    if site.is_paper:
        todo = "let the recordings of all symbols end at the same time"
        return warn(f"{found} where the shortest recording ends", todo)
    if age < 0:
        return _ahead(f"the quote of {of.name} is {-age:.1f} s ahead of server time by {rule}", age)
    return fail(
        _TERMINAL,
        f"{found}, the limit is {limit:g} s",
        "look whether its prices move in Market Watch; it may be a holiday, or the feed hangs",
    )


def _ahead(found: str, age: float) -> Finding:
    return fail(_TERMINAL, found, _SET_IT) if age < -LONGEST_AHEAD else warn(found, _SET_IT)


def clock(of: Subject) -> Finding:
    """Compare the rule that a run takes with the one that history follows, and with the tick."""
    site, found = of.site, of.site.detection
    of.read_symbol()
    if not isinstance(found, Detection):
        raise found or Missing("history was not asked yet")
    try:
        rule = site.rule
    except Missing:
        return fail(_SETTINGS, f"the broker's clock is not known: {found.evidence}", _NAME_IT)
    if found.rule is not None and not _is_same(found.rule, rule):
        said = f"{rule} is named, but {found.evidence}"
        if site.is_paper:
            return warn(said, f"write {found.rule} as server_clock in the profile")
        return fail(_SETTINGS, said, f'write server_clock = "{found.rule}", or "auto"')
    if objection := _objection(of, rule):
        return warn(objection, _SET_IT)
    if found.rule is None:
        said = f"{rule} is named, and history does not tell: {found.evidence}"
        return warn(said, f"make sure that the broker's clock is {rule}")
    return ok(f"{rule}: {found.evidence}")


def _is_same(one: str, other: str) -> bool:
    """Whether two names are of one rule: utc+3 and utc+03:00 show the same all year."""
    first, second = server_clock(one), server_clock(other)
    year = range(_YEAR, _YEAR + 366 * DAY, 7 * DAY)
    return all(first.from_utc(time) == second.from_utc(time) for time in year)


def _objection(of: Subject, rule: str) -> str | None:
    """Return what the live tick says against ``rule``; a recording has no live tick."""
    if of.site.is_paper:
        return None
    try:
        tick = of.read_tick()
    except Missing:
        return None
    return confirm(rule, tick.time, of.site.market_time)
