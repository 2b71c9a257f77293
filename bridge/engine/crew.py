"""The crew: a run's strategies with the watch over them, made from what the journal remembers.

A paper run and a live run differ in terminal, clock and loop; what stands between is made here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.clock import Clock
from bridge.engine.errands import Errands
from bridge.engine.recover import finish_interrupted, recalled_standing
from bridge.engine.replay import flatten_all
from bridge.engine.scene import House
from bridge.engine.settle import Search, Settler
from bridge.engine.step import Stepper
from bridge.engine.strategy import Strategy
from bridge.engine.tally import recalled_tally
from bridge.engine.watch import FLATTEN_FILE, Lows, Watch, is_there
from bridge.errors import ConfigError, WrongAccount
from bridge.journal.read import JournalReader
from bridge.journal.write import Journal
from bridge.market.feed import ClosedBarFeed
from bridge.market.news import Calendar
from bridge.mt5.constants import ACCOUNT_MARGIN_MODE_RETAIL_HEDGING, RES_E_AUTH_FAILED
from bridge.mt5.records import AccountInfo
from bridge.mt5.servertime import ServerClock
from bridge.mt5.terminal import Terminal
from bridge.settings import LimitSettings

# Seconds between two searches for an order, before a run goes on.
_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Member:
    """A strategy, and where its bars go on.

    Attributes:
        after: Open of the last bar that is decided already, server epoch seconds.
    """

    strategy: Strategy
    after: int


@dataclass(frozen=True, slots=True)
class Crew:
    """A run's strategies, and the watch over their account."""

    steppers: tuple[Stepper, ...]
    errands: tuple[Errands, ...]
    watch: Watch
    flatten_file: Path

    def attend(self) -> None:
        """Watch the account, and do what a person asked for through the state folder.

        Raises:
            TerminalError: Positions are to be closed, and the terminal does not answer.
        """
        self.watch.look()
        if self.watch.trip:
            flatten_all(self.steppers, self.watch.trip)
            self.watch.trip = ""
        for each in self.errands:
            each.run()
        if is_there(self.flatten_file):
            flatten_all(self.steppers, "asked for by mt5-onnx flatten")
            self.flatten_file.unlink(missing_ok=True)


def muster(
    members: Sequence[Member],
    terminal: Terminal,
    journal: Journal,
    past: JournalReader,
    *,
    clock: Clock,
    server: ServerClock,
    limits: LimitSettings,
    state: Path,
    search: Search,
    deals_since: int = 0,
    lows: Lows = lambda since: (),
) -> Crew:
    """Return the crew, recovered: what was sent is settled, what happened meanwhile is known.

    Args:
        members: The strategies.
        terminal: Where they trade.
        journal: Of the run, begun.
        past: The same journal, to read.
        clock: Of the run.
        server: The broker's clock rule.
        limits: Of the account.
        state: The state folder.
        search: How long orders are searched for; where it is certain what is out, a decision that
            a crash interrupted is carried out.
        deals_since: Server time from which deals are read, where the journal has none.
        lows: Worst moments between two looks, where they are known.

    Raises:
        ConfigError: Two strategies on one symbol of a netting account, or the news can't be read.
        WrongAccount: The journal is of another account.
        TerminalError: The terminal does not answer.
    """
    account = terminal.account_info()
    _check_netting(account, members)
    magics = frozenset(each.strategy.settings.magic for each in members)
    # A first run that died at once may have traded before it had read a deal.
    if first := list(past.rows("runs", "id = (SELECT min(id) FROM runs)")):
        _check_same(account, first[0]["account"])
        deals_since = min(deals_since, int(server.from_utc(first[0]["at_utc"])))
    house = House(
        server_now=_server_now(server, clock),
        limits=limits,
        magics=magics,
        tally=recalled_tally(past, magics, server, clock.now()),
        calendar=Calendar(Path(limits.news_csv) if limits.news_csv else None),
        account=(account.login, account.server),
    )
    steppers = []
    for member in members:
        settings = member.strategy.settings
        standing = recalled_standing(
            past,
            settings.magic,
            settings.symbol,
            server_time=terminal.symbol_info_tick(settings.symbol).time,
            equity=account.equity,
            deals_since=deals_since,
        )
        feed = ClosedBarFeed(
            terminal,
            symbol=settings.symbol,
            timeframe=member.strategy.timeframe,
            depth=member.strategy.depth,
            after=member.after,
        )
        steppers.append(
            Stepper(
                strategy=member.strategy,
                terminal=terminal,
                feed=feed,
                journal=journal,
                standing=standing,
                house=house,
            )
        )
    watch = Watch(
        terminal=terminal,
        journal=journal,
        lookouts=[stepper.lookout for stepper in steppers],
        house=house,
        state=state,
        utc_now=clock.now,
        lows=lows,
    )
    errands = []
    for member, stepper in zip(members, steppers, strict=True):
        check = stepper.lookout.check_account
        settler = Settler(terminal, journal, past, stepper.standing, stepper.symbol, check)
        until = clock.now() + search.seconds  # one that only waits is followed between bars
        while settler.settle(clock.now(), search) and clock.now() < until:
            clock.wait_until(clock.now() + _PAUSE)
        errands.append(
            Errands(
                settings=member.strategy.settings,
                journal=journal,
                lookout=stepper.lookout,
                actor=stepper.actor,
                settler=settler,
                standing=stepper.standing,
                clock=clock,
                house=house,
            )
        )
    # Before anything is sent: a halt file, money paid, a person's closing, limits broken meanwhile.
    watch.look()
    if search.is_certain:
        for stepper in steppers:
            finish_interrupted(stepper, past)
    return Crew(tuple(steppers), tuple(errands), watch, state / FLATTEN_FILE)


def _server_now(server: ServerClock, clock: Clock) -> Callable[[], float]:
    """Return what tells server time; it converts each moment once."""
    known = (math.nan, math.nan)

    def now() -> float:
        nonlocal known
        utc = clock.now()
        if utc != known[0]:
            known = utc, server.from_utc(utc)
        return known[1]

    return now


def _check_same(account: AccountInfo, known: Mapping[str, Any]) -> None:
    """Refuse the journal of another account: its positions are not gone, they are elsewhere."""
    login, place = known.get("login", account.login), known.get("server", account.server)
    if (account.login, account.server) != (login, place):
        raise WrongAccount(
            "account_info",
            RES_E_AUTH_FAILED,
            f"the terminal shows account {account.login} at {account.server}, the journal in the "
            f"state folder is of {login} at {place}: log it in there, or name another state folder",
        )


def _check_netting(account: AccountInfo, members: Sequence[Member]) -> None:
    """Refuse two strategies on one symbol where the account has one position a symbol."""
    if account.margin_mode == ACCOUNT_MARGIN_MODE_RETAIL_HEDGING:
        return
    symbols = [each.strategy.settings.symbol for each in members]
    if twice := {symbol for symbol in symbols if symbols.count(symbol) > 1}:
        raise ConfigError(
            f"two strategies trade {', '.join(sorted(twice))} on a netting account, which has one "
            "position a symbol: leave one of them out, or use a hedging account"
        )
