"""Between bars: what ends or suspends entries before the next bar closes. It never opens.

Live it is called between two looks for a bar, in a replay before each bar's steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.engine.scene import Lookout
from bridge.errors import TerminalError
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo, TerminalInfo
from bridge.mt5.terminal import Terminal
from bridge.risk.baselines import Baselines
from bridge.risk.guard import TradingState
from bridge.settings import LimitSettings

HALT_FILE = "HALT"
"""Name of the file in the state folder whose mere existence ends all entries."""
RESUME_FILE = "RESUME"
"""Name of the file that asks for entries again; taken away once it is obeyed."""
FLATTEN_FILE = "FLATTEN"
"""Name of the file that asks for all positions to be closed; taken away once it is obeyed."""


@dataclass(frozen=True, slots=True)
class View:
    """What is watched, at one moment; all strategies share one account."""

    account: AccountInfo
    terminal: TerminalInfo
    baselines: Baselines
    has_halt_file: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that suspends entries while it lasts.

    Attributes:
        halts: Whether entries stay ended when it is over, until somebody resumes.
    """

    kind: str
    text: str
    halts: bool = False


def _halt_file(view: View, limits: LimitSettings) -> Alarm | None:
    text = f"the file {HALT_FILE} is in the state folder"
    return Alarm("halt_file", text, halts=True) if view.has_halt_file else None


def _connection(view: View, limits: LimitSettings) -> Alarm | None:
    text = "the terminal has no connection to the broker"
    return None if view.terminal.connected else Alarm("connection", text)


def _daily_loss(view: View, limits: LimitSettings) -> Alarm | None:
    share, limit = view.baselines.day_loss_share(view.account.equity), limits.daily_loss_share
    if limit is None or share < limit:
        return None
    return Alarm("daily_loss", f"{share:.2%} lost today, closed and floating; limit {limit:.2%}")


def _drawdown(view: View, limits: LimitSettings) -> Alarm | None:
    share, limit = view.baselines.drawdown_share(view.account.equity), limits.max_drawdown_share
    if limit is None or share < limit:
        return None
    text = f"equity is {share:.2%} below its peak, limit {limit:.2%}"
    return Alarm("drawdown", text, halts=True)


def _margin_level(view: View, limits: LimitSettings) -> Alarm | None:
    level, limit = view.account.margin_level, limits.min_margin_level
    # Without positions there is no margin, and the level is shown as 0.
    if limit is None or view.account.margin == 0.0 or level >= limit:
        return None
    return Alarm("margin_level", f"the margin level is {level:.0f} %, limit {limit:.0f} %")


_CHECKS: tuple[Callable[[View, LimitSettings], Alarm | None], ...] = (
    _halt_file,
    _connection,
    _daily_loss,
    _drawdown,
    _margin_level,
)


def alarms(view: View, limits: LimitSettings) -> tuple[Alarm, ...]:
    """Return what suspends entries."""
    found = (check(view, limits) for check in _CHECKS)
    return tuple(alarm for alarm in found if alarm is not None)


class Watch:
    """Watches the account for all strategies.

    Args:
        terminal: Asked for its connection.
        journal: Told when an alarm begins and when it is over.
        limits: Of the whole account.
        lookouts: Of the strategies; an alarm suspends all of them.
        state: The state folder.
    """

    def __init__(
        self,
        terminal: Terminal,
        journal: Journal,
        limits: LimitSettings,
        lookouts: Sequence[Lookout],
        state: Path,
    ) -> None:
        self._terminal = terminal
        self._journal = journal
        self._limits = limits
        self._lookouts = lookouts
        self._standings = [each.standing for each in lookouts]
        self._halt_file = state / HALT_FILE
        self._resume_file = state / RESUME_FILE
        self._told: frozenset[str] = frozenset()

    def look(self) -> tuple[Alarm, ...]:
        """Look once; suspend or halt the strategies' entries, or let them go on."""
        if self._resume_file.exists():
            self._resume()
        found = self._alarms()
        kinds = frozenset(alarm.kind for alarm in found)
        for alarm in found:
            if alarm.kind not in self._told:
                self._journal.event("alarm", alarm.text)
            if alarm.halts:
                self._halt(alarm)
        for kind in self._told - kinds:
            self._journal.event("alarm", f"{kind} is over")
        self._told = kinds
        for standing in self._standings:
            standing.alarms = kinds
        return found

    def _alarms(self) -> tuple[Alarm, ...]:
        try:
            scenes = [lookout.look() for lookout in self._lookouts]
            terminal = self._terminal.terminal_info()
        except TerminalError as error:
            silent = Alarm("terminal", f"the terminal does not answer: {error}")
            if self._halt_file.exists():  # it works when nothing else does
                halt = Alarm("halt_file", f"the file {HALT_FILE} is there", halts=True)
                return (halt, silent)
            return (silent,)
        # All strategies have seen the same account; the highest peak is the account's.
        seen = max((each.baselines for each in self._standings), key=lambda of: of.peak_equity)
        view = View(scenes[-1].account, terminal, seen, self._halt_file.exists())
        return alarms(view, self._limits)

    def _halt(self, alarm: Alarm) -> None:
        for standing in self._standings:
            if standing.state is not TradingState.HALTED:
                standing.halt()
                self._journal.event("halt", f"no more entries: {alarm.text}", standing.magic)

    def _resume(self) -> None:
        """Let entries go on; a limit that is still broken halts again at once."""
        for standing in self._standings:
            if standing.state is not TradingState.ACTIVE:
                standing.resume()
                self._journal.event("resume", "a person asked for entries again", standing.magic)
        self._resume_file.unlink(missing_ok=True)
