"""The symbol at the broker: its name, what may be opened, and the bars behind it."""

from bridge.doctor.finding import Finding, fail, ok, warn
from bridge.doctor.ground import Missing, Subject
from bridge.doctor.names import closest
from bridge.errors import NotConnected, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.sides import Side

_SETTINGS, _TERMINAL = 2, 3
_TRADE_MODES = {
    mt5.SYMBOL_TRADE_MODE_DISABLED: ("may not be traded", frozenset[Side]()),
    mt5.SYMBOL_TRADE_MODE_LONGONLY: ("may be bought only", frozenset({Side.LONG})),
    mt5.SYMBOL_TRADE_MODE_SHORTONLY: ("may be sold only", frozenset({Side.SHORT})),
    mt5.SYMBOL_TRADE_MODE_CLOSEONLY: ("may be closed only", frozenset[Side]()),
    mt5.SYMBOL_TRADE_MODE_FULL: ("may be bought and sold", frozenset(Side)),
}
# A terminal fetches history after it was first asked for it.
_POLLS, _PAUSE_S = 5, 1.0


def symbol(of: Subject) -> Finding:
    """Find the symbol, and put it into Market Watch when it is not there."""
    terminal, name = of.site.terminal, of.name
    try:
        info = terminal.symbol_info(name)
    except NotConnected:
        raise
    except TerminalError:
        return _unknown(name, closest(name, (each.name for each in terminal.symbols_get())))
    if info.select:
        return ok(f"{name}, {info.digits} digits, {info.description or 'no description'}")
    try:
        terminal.symbol_select(name)
    except TerminalError as error:
        return fail(
            _TERMINAL,
            f"{name} is not in Market Watch and can't be added ({error})",
            "add it there by hand (right click, Symbols)",
        )
    return warn(f"{name} was not in Market Watch", "nothing more: it was added now")


def _unknown(name: str, like: list[str]) -> Finding:
    if not like:
        todo = "look the symbol up in the terminal (View, Symbols) and write that name"
    elif len(like) == 1:
        todo = f'write symbol = "{like[0]}" if that is the market meant'
    else:
        todo = f"write the one that is meant as symbol: {', '.join(like)}"
    return fail(_SETTINGS, f"the broker has no symbol {name}", todo)


def sides(of: Subject) -> Finding:
    """Compare what the broker lets be opened with what the strategy may open."""
    mode, wanted = of.read_symbol().trade_mode, of.sides
    words, allowed = _TRADE_MODES.get(mode, (f"has the unknown trade mode {mode}", frozenset()))
    found = f"{of.name} {words}, the strategy opens {' and '.join(wanted)}"
    possible = [each for each in wanted if each in allowed]
    if not possible:
        return fail(_SETTINGS, found, "ask the broker, or trade another symbol")
    if len(possible) < len(wanted):
        return warn(found, f'write sides = "{possible[0]}" under [strategy.decision]')
    return ok(found)


def history(of: Subject) -> Finding:
    """Count the bars that a decision needs, the forming one included."""
    frame, need = of.strategy.timeframe.name, of.strategy.depth + 1
    have = _bars(of, need)
    for _ in range(0 if of.site.is_paper else _POLLS - 1):
        if have >= need:
            break
        of.site.clock.wait_until(of.site.clock.now() + _PAUSE_S)
        have = _bars(of, need)
    found = f"{have} of {need} bars of {of.name} {frame}"
    if have >= need:
        return ok(found)
    todo = "open its chart, scroll back, and raise Max bars in chart (Tools, Options, Charts)"
    return fail(_TERMINAL, found, "name a longer recording" if of.site.is_paper else todo)


def _bars(of: Subject, count: int) -> int:
    of.read_symbol()
    try:
        return len(of.read_bars(count))
    except Missing:  # the symbol is there, its bars are not yet
        return 0
