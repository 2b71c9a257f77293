"""The broker's clock: which rule its history follows, and how old its quotes are by it."""

from bridge.doctor.finding import Finding, fail, ok, skipped, warn
from bridge.doctor.ground import Missing, Subject
from bridge.errors import DataError, NotConnected, TerminalError
from bridge.market.clockrule import Detection, confirm, detect_clock, market_is_open
from bridge.mt5.servertime import server_clock, text
from bridge.mt5.timeframes import timeframe
from bridge.settings import Mode

_SETTINGS, _TERMINAL = 2, 3
_H1 = timeframe("H1")
# A year of H1 bars has about 6,230: each of both seasons once, and the weeks that tell them apart.
_BARS = 6_500
_NAME_IT = 'write the broker\'s rule as server_clock: utc, eet-eu, eet-us or such as "utc+3"'


def detect(of: Subject) -> Detection:
    """Return what the history of the symbol says; no rule when there is no history to ask."""
    name = of.read_symbol().name
    try:
        rates = of.site.terminal.copy_rates_from_pos(name, _H1.value, 0, _BARS)
        return detect_clock({name: rates}, _H1)
    except NotConnected:
        raise
    except (TerminalError, DataError) as error:
        return Detection(None, f"there are no H1 bars of {name} to find it from ({error})", 0)


def quote(of: Subject) -> Finding:
    """Measure the quote's age: server time now, by the clock rule, minus the tick's time."""
    site, limit = of.site, of.site.settings.limits.max_quote_age_seconds
    tick, rule, now = of.read_tick(), of.rule, of.site.market_time
    if not market_is_open(now):
        found = f"currencies don't trade now; the last quote of {of.name} is of {text(tick.time)}"
        return skipped(found, "look again when the market is open")
    age = server_clock(rule).from_utc(now) - tick.time
    if limit is None or -limit <= age <= limit:
        return ok(f"the quote of {of.name} is {age:.1f} s old")
    if site.is_paper:
        found = f"at its end the recording of {of.name} shows a quote that is {age:.1f} s old"
        return warn(found, "let the recordings of all symbols end at the same time")
    if age < 0:
        found = f"the quote of {of.name} is {-age:.1f} s ahead of server time by {rule}"
        return fail(_TERMINAL, found, "set this computer's clock, or correct server_clock")
    return fail(
        _TERMINAL,
        f"the quote of {of.name} is {age:.1f} s old, the limit is {limit:g} s",
        "look whether its prices move in Market Watch; it may be a holiday, or the feed hangs",
    )


def clock(of: Subject) -> Finding:
    """Compare the rule that is used with the one that the history follows, and with the tick."""
    if isinstance(of.detection, Exception):
        raise of.detection
    found, named = of.detection, of.site.link.server_clock or of.site.settings.server_clock
    if named == "auto":
        named = found.rule or named
    if found.rule is None:
        return _undecided(of, named, found.evidence)
    if found.rule != named:
        said = f"{named} is named, but {found.evidence}"
        if of.site.is_paper:
            return warn(said, f"write {found.rule} as server_clock in the profile")
        return fail(_SETTINGS, said, f'write server_clock = "{found.rule}", or "auto"')
    return _confirmed(of, named, f"{named}: {found.evidence}")


def _undecided(of: Subject, named: str, evidence: str) -> Finding:
    found = f"the history does not tell the broker's clock: {evidence}"
    if named != "auto":
        return _confirmed(of, named, found, is_sure=False)
    if of.site.settings.mode is Mode.LIVE:
        return fail(_SETTINGS, found, _NAME_IT)
    return warn(found, _NAME_IT)


def _confirmed(of: Subject, rule: str, found: str, *, is_sure: bool = True) -> Finding:
    if said := _objection(of, rule):
        return fail(_SETTINGS, said, "set this computer's clock, or correct server_clock")
    return ok(found) if is_sure else warn(found, f"make sure that the broker's clock is {rule}")


def _objection(of: Subject, rule: str) -> str | None:
    """Return what the live tick says against ``rule``; a recording has no live tick."""
    if of.site.is_paper:
        return None
    try:
        tick = of.read_tick()
    except Missing:
        return None
    return confirm(rule, tick.time, of.site.market_time)
