"""Between bars: what ends or suspends entries before the next bar closes. It never opens.

Live it is called between two looks for a bar, in a replay before each bar's steps, with the
equities at the worst prices of the bars since.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.engine.scene import House, Lookout
from bridge.errors import TerminalError
from bridge.journal.write import Journal
from bridge.market.clockrule import market_is_open
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

# Seconds by which a tick may be ahead of this computer's clock before a person is told.
_LATE = 15.0

Lows = Callable[[float], Sequence[tuple[float, float]]]
"""Given a server time, the (server time, equity) of worst moments since; nothing when live."""


@dataclass(frozen=True, slots=True)
class View:
    """What is watched, at one moment; all strategies share one account.

    Attributes:
        drawdown: Deepest fall below the peak since the last look, share of the peak.
    """

    account: AccountInfo
    terminal: TerminalInfo
    baselines: Baselines
    drawdown: float
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
    return Alarm("halt_file", text, halts=True) if view.has_halt_file else None


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


def _daily_loss(view: View, limits: LimitSettings) -> Alarm | None:
    share, limit = view.baselines.day_loss_share(view.account.equity), limits.daily_loss_share
    if limit is None or share < limit:
        return None
    return Alarm("daily_loss", f"{share:.2%} lost today, closed and floating; limit {limit:.2%}")


def _drawdown(view: View, limits: LimitSettings) -> Alarm | None:
    share, limit = view.drawdown, limits.max_drawdown_share
    if limit is None or share < limit:
        return None
    text = f"equity was {share:.2%} below its peak, limit {limit:.2%}"
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
    _algo_trading,
    _daily_loss,
    _drawdown,
    _margin_level,
)


def alarms(view: View, limits: LimitSettings) -> tuple[Alarm, ...]:
    """Return what suspends the entries of all strategies."""
    found = (check(view, limits) for check in _CHECKS)
    return tuple(alarm for alarm in found if alarm is not None)


class Watch:
    """Watches the account for all strategies.

    Args:
        terminal: Asked for account, positions, connection and ticks.
        journal: Told when an alarm begins and when it is over.
        lookouts: Of the strategies; an alarm of the account suspends all of them.
        house: What they share.
        state: The state folder.
        utc_now: Tells UTC epoch seconds.
        lows: Worst moments between two looks, where they are known.
    """

    def __init__(
        self,
        *,
        terminal: Terminal,
        journal: Journal,
        lookouts: Sequence[Lookout],
        house: House,
        state: Path,
        utc_now: Callable[[], float],
        lows: Lows = lambda since: (),
    ) -> None:
        self._terminal = terminal
        self._journal = journal
        self._house = house
        self._limits = house.limits
        self._lookouts = lookouts
        self._standings = [each.standing for each in lookouts]
        self._halt_file = state / HALT_FILE
        self._resume_file = state / RESUME_FILE
        self._utc_now = utc_now
        self._lows = lows
        self._looked = house.server_now()
        self._told: dict[str, str] = {}

    def look(self) -> tuple[Alarm, ...]:
        """Look once; suspend or halt the strategies' entries, or let them go on."""
        if self._resume_file.exists():
            self._resume()
        try:
            of_account, of_symbols = self._seen()
        except TerminalError as error:
            of_account, of_symbols = self._unseen(error), ()
        self._tell((*of_account, *of_symbols))
        for alarm in of_account:
            if alarm.halts:
                self._halt(alarm)
        shared = frozenset(alarm.kind for alarm in of_account if alarm.suspends)
        stale = frozenset(alarm.kind for alarm in of_symbols)
        for lookout in self._lookouts:
            lookout.standing.alarms = shared | (stale & {_stale(lookout.symbol)})
        return (*of_account, *of_symbols)

    def _seen(self) -> tuple[tuple[Alarm, ...], tuple[Alarm, ...]]:
        """Return the alarms of the account and those of single symbols."""
        terminal = self._terminal
        account, positions = terminal.account_info(), terminal.positions_get()
        symbols = dict.fromkeys(lookout.symbol for lookout in self._lookouts)
        ticks = {symbol: terminal.symbol_info_tick(symbol) for symbol in symbols}
        falls = self._falls()
        for lookout in self._lookouts:
            lookout.keep_books(account, positions, ticks[lookout.symbol].time)
        known = self._baselines()
        falls.append(known.drawdown_share(account.equity))
        halted = self._halt_file.exists()
        view = View(account, terminal.terminal_info(), known, max(falls), halted)
        ages = {symbol: self._looked - tick.time_msc / 1000 for symbol, tick in ticks.items()}
        late = _late_clock(ages)
        return (*alarms(view, self._limits), *late), self._stale_quotes(ages)

    def _falls(self) -> list[float]:
        """Take in the worst moments since the last look, and return how deep each fell."""
        lows = self._lows(self._looked)
        self._looked = self._house.server_now()
        before = self._baselines()
        for lookout in self._lookouts:
            lookout.take_lows(lows)
        return [before.drawdown_share(equity) for _, equity in lows]

    def _baselines(self) -> Baselines:
        """Return the account's baselines: all have seen the same one, the highest peak counts."""
        return max((each.baselines for each in self._standings), key=lambda of: of.peak_equity)

    def _stale_quotes(self, ages: dict[str, float]) -> tuple[Alarm, ...]:
        """Return an alarm a symbol whose quotes are old while currencies trade.

        At other times old quotes are no news; the guard refuses them at any time.
        """
        limit = self._limits.max_quote_age_seconds
        if limit is None or not market_is_open(self._utc_now()):
            return ()
        return tuple(
            Alarm(_stale(symbol), f"the quote of {symbol} is {age:.0f} s old, limit {limit:g} s")
            for symbol, age in ages.items()
            if age > limit
        )

    def _unseen(self, error: TerminalError) -> tuple[Alarm, ...]:
        silent = Alarm("terminal", f"the terminal does not answer: {error}")
        if self._halt_file.exists():  # it works when nothing else does
            return (Alarm("halt_file", f"the file {HALT_FILE} is there", halts=True), silent)
        return (silent,)

    def _tell(self, found: Iterable[Alarm]) -> None:
        now = {alarm.kind: alarm.text for alarm in found}
        for kind, text in now.items():
            if kind not in self._told:
                self._journal.event("alarm", text)
        for kind in sorted(self._told.keys() - now.keys()):
            self._journal.event("alarm", f"{kind} is over")
        if now.keys() - self._told.keys():
            for lookout in self._lookouts:
                lookout.note_baselines()
        self._told = now

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


def _late_clock(ages: dict[str, float]) -> tuple[Alarm, ...]:
    """Tell when ticks are of the future: then this computer's clock is late."""
    ahead = -min(ages.values())
    if ahead <= _LATE:
        return ()
    text = (
        f"the newest tick is {ahead:.0f} s ahead of this computer's clock: bars are seen in time "
        "all the same; set the clock"
    )
    return (Alarm("late_clock", text, suspends=False),)


def _stale(symbol: str) -> str:
    return f"stale quotes of {symbol}"
