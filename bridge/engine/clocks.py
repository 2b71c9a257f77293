"""The broker's clock rule at the start of a live run: found, compared with what was known."""

from collections.abc import Callable, Sequence

from bridge.errors import ConfigError, StateMismatch, TerminalError
from bridge.market.clockrule import Detection, confirm, detect_clock
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock, server_clock
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import timeframe

_AUTO = "auto"
_H1 = timeframe("H1")
# A year and a bit of H1 bars: both seasons, and the weeks in which America and Europe differ.
_BARS = 6_500


def settle_clock(
    setting: str,
    terminal: Terminal,
    symbols: Sequence[str],
    *,
    known: str | None,
    utc_now: float,
    tell: Callable[[str], None],
) -> ServerClock:
    """Return the clock rule of this broker.

    A rule that is named counts; what history and the newest tick say against it is told. Without
    one, history decides, and has to agree with what it decided at earlier starts.

    Args:
        setting: ``auto`` or a rule's name.
        terminal: Asked for H1 bars and ticks.
        symbols: Of the strategies.
        known: The rule of the last start; None at the first.
        utc_now: UTC epoch seconds.
        tell: Told what a person should know.

    Raises:
        ConfigError: Nothing decides: no rule is named, none is known, history is too short.
        StateMismatch: History now says another rule than at the last start.
        TerminalError: There is no tick.
    """
    found = detected(terminal, symbols)
    rule = _named(setting, found, tell) if setting != _AUTO else _found(found, known, tell)
    for symbol in symbols:
        if trouble := confirm(rule, terminal.symbol_info_tick(symbol).time, utc_now):
            tell(f"{symbol}: {trouble}")
    return server_clock(rule)


def detected(terminal: Terminal, symbols: Sequence[str]) -> Detection:
    """Return what the H1 bars of ``symbols`` say; a symbol without bars says nothing."""
    rates: dict[str, RatesArray] = {}
    for symbol in dict.fromkeys(symbols):
        try:
            rates[symbol] = terminal.copy_rates_from_pos(symbol, _H1.value, 0, _BARS)
        except TerminalError:
            continue
    if not rates:
        return Detection(None, "there are no H1 bars", 0)
    return detect_clock(rates, _H1)


def _named(setting: str, found: Detection, tell: Callable[[str], None]) -> str:
    if found.rule is not None and server_clock(setting) != server_clock(found.rule):
        tell(
            f"server_clock is {setting}, history says {found.rule} ({found.evidence}): "
            'make sure, or set server_clock = "auto"'
        )
    return setting


def _found(found: Detection, known: str | None, tell: Callable[[str], None]) -> str:
    if found.rule is None and known is None:
        raise ConfigError(
            f'server_clock = "auto" finds no rule: {found.evidence}; or name the rule, such as '
            f'server_clock = "{(found.remaining or ("eet-us",))[0]}"'
        )
    if found.rule is None:
        tell(f"history does not tell the server's clock ({found.evidence}): {known}, as before")
        return str(known)
    if known not in (None, found.rule):
        raise StateMismatch(
            f"the server's clock was {known} at the last start, history now says {found.rule} "
            f"({found.evidence}): name the right one as server_clock"
        )
    return found.rule
