"""Between bars: what ends or suspends entries before the next bar closes. It never opens.

Live it is called between two looks for a bar, in a replay before each bar's steps, with the
equities at the worst prices of the bars since.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.engine.alarms import (
    HALT_FILE,
    HALT_FILE_ALARM,
    MARGIN_LEVEL,
    Alarm,
    View,
    alarms,
    is_margin_short,
)
from bridge.engine.lookout import Lookout
from bridge.engine.scene import House
from bridge.engine.standing import Standing
from bridge.errors import ConfigError, TerminalError
from bridge.journal.write import Journal
from bridge.market.clockrule import market_is_open
from bridge.mt5.records import TradePosition
from bridge.mt5.servertime import server_day
from bridge.mt5.terminal import Terminal
from bridge.risk.baselines import Baselines, merged
from bridge.risk.exposure import Exposure, net_exposure
from bridge.risk.gauges import NAMES, Seen, account_gauges, drawdown
from bridge.risk.guard import TradingState
from bridge.settings import LimitSettings

__all__ = ["FLATTEN_FILE", "HALT_FILE", "RESUME_FILE", "Lows", "Watch"]

RESUME_FILE = "RESUME"
"""Name of the file that asks for entries again; taken away once it is obeyed."""
FLATTEN_FILE = "FLATTEN"
"""Name of the file that asks for all positions to be closed; taken away once it is obeyed."""

NEWS_OVER = "news_over"
# Alarms that can be told ahead; the others come from outside.
_FORESEEN = NAMES | {HALT_FILE_ALARM, MARGIN_LEVEL, NEWS_OVER}
# Rise of the highest equity that is written down even when no bar is decided.
_RISE = 1.002
# Seconds by which a tick may be ahead of this computer's clock before a person is told.
_LATE = 15.0

Lows = Callable[[float], Sequence[tuple[float, float]]]
"""Given a server time, the (server time, equity) of worst moments since; nothing when live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extremes:
    """Where the account is over some looks.

    Attributes:
        lowest: Equity, account currency.
        highest: Likewise.
        margin: In use, the same at all of them.
        until: Server time of the last.
    """

    lowest: float
    highest: float
    margin: float
    until: float


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
        self._stricter = [each for each in lookouts if _is_stricter(each.fall_limit, house.limits)]
        self._halt_file = state / HALT_FILE
        self._resume_file = state / RESUME_FILE
        self._utc_now = utc_now
        self._lows = lows
        self._looked = house.server_now()
        self._told: dict[str, str] = {}
        self._noted = self._baselines()
        self._asked: frozenset[int] = frozenset()
        self.trip = ""
        """Why the strategies' positions are to be closed; whoever has closed them empties it."""

    def look(self) -> tuple[Alarm, ...]:
        """Look once; suspend or halt the strategies' entries, or let them go on."""
        if is_there(self._resume_file):
            self._resume()
        try:
            of_account, of_symbols = self._seen()
        except TerminalError as error:
            of_account, of_symbols = self._unseen(error), ()
        of_account = (*of_account, *self._news())
        # Halted before it is told: what ends entries must not depend on the rest.
        for alarm in of_account:
            if alarm.halts:
                self._halt(alarm)
        self._tell((*of_account, *of_symbols))
        shared = frozenset(alarm.kind for alarm in of_account if alarm.suspends)
        stale = frozenset(alarm.kind for alarm in of_symbols)
        for lookout in self._lookouts:
            lookout.standing.alarms = shared | (stale & {_stale(lookout.symbol)})
        return (*of_account, *of_symbols)

    def is_steady(self, before: Baselines, after: Baselines, account: Extremes) -> bool:
        """Return whether looks would tell nothing new while equity stays within its extremes.

        Every gauge moves one way with equity and baselines: what both ends say holds between them.

        Args:
            before: Baselines at the best of those looks.
            after: Baselines at the worst.
            account: What equity comes to.
        """
        told = set(self._told)
        if not told <= _FORESEEN:
            return False
        if account.margin and told.intersection(self._limits.flatten_on):
            return False
        losses = self._house.tally.losses(server_day(self._looked))
        steady = told & {HALT_FILE_ALARM}
        calendar = self._house.calendar
        if calendar.path is not None and account.until > calendar.end:
            steady.add(NEWS_OVER)
        for known, equity in ((after, account.lowest), (before, account.highest)):
            seen = Seen(known, equity, known.drawdown_share(equity), equity)
            broken = {g.name for g in account_gauges(seen, losses, self._limits) if not g.ok}
            if is_margin_short(equity, account.margin, self._limits):
                broken.add(MARGIN_LEVEL)
            if broken | steady != told or list(self._fallen(seen)):
                return False
        return True

    def peak_to_note(self) -> float:
        """Return the highest equity that no look writes down yet."""
        return self._noted.peak_equity * _RISE

    def pass_over(self, baselines: Baselines) -> None:
        """Be as after looks until now that told nothing, and left these baselines."""
        self._looked = self._house.server_now()
        for standing in self._standings:
            standing.baselines = baselines

    def exposure(self, positions: Iterable[TradePosition]) -> Exposure | None:
        """Return what the strategies' positions hold in each currency, account currency.

        None where one of them can't be valued.
        """
        own = [each for each in positions if each.magic in self._house.magics]
        return net_exposure(own, self._lookouts[0].terms(own))

    def _seen(self) -> tuple[tuple[Alarm, ...], tuple[Alarm, ...]]:
        """Return the alarms of the account and those of single symbols."""
        terminal = self._terminal
        account, positions = terminal.account_info(), terminal.positions_get()
        by_symbol = {lookout.symbol: lookout for lookout in self._lookouts}
        ticks = {symbol: lookout.tick() for symbol, lookout in by_symbol.items()}
        before, lows = self._baselines(), self._take_lows()
        for lookout in self._lookouts:
            lookout.keep_books(account, positions, ticks[lookout.symbol].time)
        known, equity = self._baselines(), account.equity
        # One account, so one day: a symbol that does not trade now would keep yesterday's.
        for standing in self._standings:
            standing.baselines = known
        if _is_news(known, self._noted):
            self._note()
        falls = [before.drawdown_share(low) for low in lows]
        # Money paid since is no gain against what was lowest before it.
        paid = known.deposits - before.deposits
        seen = Seen(
            known,
            equity,
            drawdown=max((known.drawdown_share(equity), *falls)),
            lowest=min((equity, *(low + paid for low in lows))),
        )
        losses = self._house.tally.losses(server_day(self._looked))
        halted = is_there(self._halt_file)
        view = View(account, terminal.terminal_info(), seen, losses, halted)
        ages = {symbol: self._looked - tick.time_msc / 1000 for symbol, tick in ticks.items()}
        found = (*alarms(view, self._limits), *_late_clock(ages))
        self._ask_to_flatten(found, positions)
        for standing, alarm in self._fallen(seen):
            self._end_entries(standing, alarm)
        return found, self._stale_quotes(ages)

    def _fallen(self, seen: Seen) -> Iterator[tuple[Standing, Alarm]]:
        """Find strategies that their own limit halts: equity may be back before the next entry."""
        for lookout in self._stricter:
            gauge = drawdown(seen, lookout.fall_limit)
            if not gauge.ok and lookout.standing.state is not TradingState.HALTED:
                text = f"{gauge.words}; limit of this strategy {gauge.limit_words}"
                yield lookout.standing, Alarm(gauge.name, text, halts=True)

    def _take_lows(self) -> list[float]:
        """Take in the worst moments since the last look, and return the equity of each."""
        lows = self._lows(self._looked)
        self._looked = self._house.server_now()
        for lookout in self._lookouts:
            lookout.take_lows(lows)
        return [equity for _, equity in lows]

    def _ask_to_flatten(self, found: Iterable[Alarm], positions: Iterable[TradePosition]) -> None:
        """Ask for positions to be closed, once each, while a limit is broken that says so."""
        why = [alarm.text for alarm in found if alarm.kind in self._limits.flatten_on]
        if not why:
            self._asked = frozenset()
            return
        own = {each.ticket for each in positions if each.magic in self._house.magics}
        if own - self._asked:
            self.trip = f"a limit closes all positions: {'; '.join(why)}"
        self._asked |= own

    def _news(self) -> tuple[Alarm, ...]:
        """Read the calendar again if it has changed; tell when it can't be read, or is over."""
        calendar = self._house.calendar
        try:
            calendar.refresh()
        except ConfigError as error:
            return (Alarm("news", f"nothing is opened until the news can be read: {error}"),)
        if calendar.path is None or self._looked <= calendar.end:
            return ()
        text = f"the news {calendar.path} end before today: write the coming ones into it"
        return (Alarm(NEWS_OVER, text, suspends=False),)

    def _baselines(self) -> Baselines:
        """Return the account's baselines, as all strategies together know them."""
        return merged([each.baselines for each in self._standings])

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
        if is_there(self._halt_file):  # it works when nothing else does
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
            self._note()
        self._told = now

    def _note(self) -> None:
        """Journal the baselines: a strategy of long bars may decide nothing for days."""
        for lookout in self._lookouts:
            lookout.note_baselines()
        self._noted = self._baselines()

    def _halt(self, alarm: Alarm) -> None:
        for standing in self._standings:
            if standing.state is not TradingState.HALTED:
                self._end_entries(standing, alarm)

    def _end_entries(self, standing: Standing, alarm: Alarm) -> None:
        standing.halt()
        self._journal.event("halt", f"no more entries: {alarm.text}", standing.magic)

    def _resume(self) -> None:
        """Let entries go on; a limit that is still broken halts again at once."""
        for standing in self._standings:
            lost = standing.lost
            if standing.state is not TradingState.ACTIVE or standing.missing or lost:
                for number in sorted(standing.missing):
                    text = f"position #{number} is not shown, and is taken for closed"
                    self._journal.event("given_up", text, standing.magic)
                for number in sorted(lost):
                    text = f"order #{number} was taken by the server, is not shown, and is given up"
                    self._journal.event("given_up", text, standing.magic)
                standing.resume()
                self._journal.event("resume", "a person asked for entries again", standing.magic)
        self._resume_file.unlink(missing_ok=True)


def is_there(path: Path) -> bool:
    """Return whether a file is there; asked at each look, and half as long as ``Path.exists``."""
    return os.access(path, os.F_OK)


def _is_news(known: Baselines, noted: Baselines) -> bool:
    """Whether a restart would forget a day's beginning, or much of the highest equity."""
    return known.day != noted.day or known.peak_equity > noted.peak_equity * _RISE


def _is_stricter(limit: float | None, limits: LimitSettings) -> bool:
    """Whether a strategy's fall ends its entries before the account's ends all."""
    if limit is None:
        return False
    return limits.max_drawdown_share is None or limit < limits.max_drawdown_share


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
