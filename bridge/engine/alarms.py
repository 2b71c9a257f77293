"""What suspends or halts the entries of all strategies: the account's alarms. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from bridge.mt5.records import AccountInfo, TerminalInfo
from bridge.risk.gauges import Seen, account_gauges
from bridge.settings import LimitSettings

HALT_FILE = "HALT"
"""Name of the file in the state folder whose mere existence ends all entries."""
HALT_FILE_ALARM, MARGIN_LEVEL = "halt_file", "margin_level"
"""Kinds of alarms."""


@dataclass(frozen=True, slots=True)
class View:
    """What is watched, at one moment; all strategies share one account.

    Attributes:
        seen: Equity, and what losses are measured from.
        losses: Longest row of losses of all strategies today.
    """

    account: AccountInfo
    terminal: TerminalInfo
    seen: Seen
    losses: int
    has_halt_file: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that suspends entries while it lasts.

    Attributes:
        halts: Whether entries stay ended when it is over, until somebody resumes.
        suspends: Whether entries wait at all; else it is told, no more.
    """

    kind: str
    text: str
    halts: bool = False
    suspends: bool = True


def _halt_file(view: View, limits: LimitSettings) -> Alarm | None:
    text = f"the file {HALT_FILE} is in the state folder"
    return Alarm(HALT_FILE_ALARM, text, halts=True) if view.has_halt_file else None


def _connection(view: View, limits: LimitSettings) -> Alarm | None:
    text = "the terminal has no connection to the broker"
    return None if view.terminal.connected else Alarm("connection", text)


def _algo_trading(view: View, limits: LimitSettings) -> Alarm | None:
    switches = {
        "the terminal's Algo Trading button": view.terminal.trade_allowed,
        "the account's permission to trade": view.account.trade_allowed,
        "the broker's permission for expert advisors": view.account.trade_expert,
        "the terminal's option for Python": not view.terminal.tradeapi_disabled,
    }
    off = [name for name, is_on in switches.items() if not is_on]
    text = f"{', '.join(off)} is off: bars are decided, nothing can be opened; switch it on"
    return Alarm("algo_trading", text) if off else None


def _margin_level(view: View, limits: LimitSettings) -> Alarm | None:
    level, limit = view.account.margin_level, limits.min_margin_level
    if limit is None or not is_margin_short(view.account.equity, view.account.margin, limits):
        return None
    return Alarm(MARGIN_LEVEL, f"the margin level is {level:.0f} %, limit {limit:.0f} %")


def is_margin_short(equity: float, margin: float, limits: LimitSettings) -> bool:
    """Return whether the margin level is below its limit; without positions there is none."""
    limit = limits.min_margin_level
    return limit is not None and margin != 0.0 and not equity / margin * 100 >= limit


_CHECKS: tuple[Callable[[View, LimitSettings], Alarm | None], ...] = (
    _halt_file,
    _connection,
    _algo_trading,
    _margin_level,
)


def alarms(view: View, limits: LimitSettings) -> tuple[Alarm, ...]:
    """Return what suspends the entries of all strategies."""
    found = (check(view, limits) for check in _CHECKS)
    broken = tuple(
        Alarm(gauge.name, f"{gauge.words}; limit {gauge.limit_words}", halts=gauge.halts)
        for gauge in account_gauges(view.seen, view.losses, limits)
        if not gauge.ok
    )
    return (*(alarm for alarm in found if alarm is not None), *broken)
