"""Look at the terminal, and keep the books of what changed between two looks."""

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.engine.scene import House, Scene
from bridge.engine.standing import ENTRY, Held, Refusal, Standing
from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.journal.write import Journal
from bridge.mt5.constants import (
    DEAL_ENTRY_IN,
    DEAL_REASON_CLIENT,
    DEAL_REASON_EXPERT,
    DEAL_REASON_MOBILE,
    DEAL_REASON_WEB,
    DEAL_TYPE_BALANCE,
    DEAL_TYPE_BONUS,
    DEAL_TYPE_CREDIT,
    RES_E_AUTH_FAILED,
    RES_E_NOT_FOUND,
)
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradeDeal, TradePosition
from bridge.mt5.servertime import DAY
from bridge.mt5.sides import Side
from bridge.mt5.terminal import Terminal
from bridge.settings import StrategySettings

_PAID = (DEAL_TYPE_BALANCE, DEAL_TYPE_CREDIT, DEAL_TYPE_BONUS)
# Reasons of deals that somebody asked for; the others are the broker's: stops, stop-out, rollover.
_ASKED_FOR = (DEAL_REASON_CLIENT, DEAL_REASON_MOBILE, DEAL_REASON_WEB, DEAL_REASON_EXPERT)
_CENT = 0.01
# Seconds before an exit that was refused is asked for again: doubled each time, up to the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 60.0


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look has shown, and what was made of it."""

    account: AccountInfo
    positions: Iterable[TradePosition]
    server_time: int
    own: tuple[TradePosition, ...]
    held: tuple[Held, ...]


class Lookout:
    """Looks at the terminal for one strategy.

    Args:
        terminal: Where to look.
        settings: Whose symbol and magic.
        journal: Where deals and silence are written.
        standing: Moved on at each look.
        house: What all strategies share.
    """

    def __init__(
        self,
        terminal: Terminal,
        settings: StrategySettings,
        journal: Journal,
        standing: Standing,
        house: House,
    ) -> None:
        self._terminal = terminal
        self._settings = settings
        self._journal = journal
        self._house = house
        self.standing = standing
        self._recent: tuple[TradeDeal, ...] = ()
        self._before: _Look | None = None

    @property
    def symbol(self) -> str:
        """The strategy's symbol."""
        return self._settings.symbol

    @property
    def fall_limit(self) -> float | None:
        """Fall from the highest equity that ends the strategy's entries, share; None is off."""
        return self._settings.risk.max_drawdown_share

    def look(self) -> Scene:
        """Return the scene; move the baselines, journal the deals behind what has changed.

        Raises:
            TerminalError: The terminal does not answer.
        """
        terminal = self._terminal
        positions, account = terminal.positions_get(), terminal.account_info()
        tick = self.tick()
        own = self.keep_books(account, positions, tick.time)
        ticked, now = tick.time_msc / 1000, self._house.server_now()
        return Scene(
            account=account,
            symbol=terminal.symbol_info(self.symbol),
            tick=tick,
            positions=tuple(each for each in positions if each.symbol == self.symbol),
            own=own,
            of_all=tuple(each for each in positions if each.magic in self._house.magics),
            time=max(ticked, now),
            quote_age=now - ticked,
        )

    def terms(self, positions: Iterable[TradePosition]) -> dict[str, SymbolInfo]:
        """Return the specifications of the positions' symbols, as far as the terminal answers."""
        found: dict[str, SymbolInfo] = {}
        for symbol in dict.fromkeys(each.symbol for each in positions):
            # What is missing denies an entry, and must not keep an exit in.
            with contextlib.suppress(TerminalError):
                found[symbol] = self._terminal.symbol_info(symbol)
        return found

    def tick(self) -> Tick:
        """Return the symbol's tick; a terminal that was restarted may have forgotten the symbol.

        Raises:
            TerminalError: There is none.
        """
        try:
            return self._terminal.symbol_info_tick(self.symbol)
        except NotConnected:
            raise
        except TerminalError as error:
            if error.code != RES_E_NOT_FOUND:
                raise
            self._terminal.symbol_select(self.symbol)
            return self._terminal.symbol_info_tick(self.symbol)

    def try_to_look(self) -> Scene | None:
        """Return the scene, or None, with the reason in the journal, when there is no answer."""
        try:
            return self.look()
        except TerminalError as error:
            self._tell("terminal", f"no entry at this bar: {error}")
            return None

    def keep_books(
        self, account: AccountInfo, positions: Iterable[TradePosition], server_time: int
    ) -> tuple[TradePosition, ...]:
        """Take in what a look has shown, and return the strategy's own positions.

        Args:
            account: At this moment.
            positions: All of the account.
            server_time: Of the newest tick, epoch seconds.

        Raises:
            TerminalError: Deals have to be read, and the terminal does not answer.
        """
        if self._before is not None and self._is_known(
            self._before, account, positions, server_time
        ):
            return self._before.own
        self._check_account(account)
        own = tuple(
            each
            for each in positions
            if (each.magic, each.symbol) == (self._settings.magic, self.symbol)
        )
        standing = self.standing
        held = tuple(map(self._remembered, own))
        balance = account.balance + account.credit
        if balance != standing.balance or _shape(held) != _shape(standing.positions):
            standing.has_news = True
        if standing.has_news or standing.awaited or standing.missing or standing.unread:
            self.read_deals(server_time)
            self._explain(balance)
        standing.balance = balance
        standing.baselines = standing.baselines.advanced(server_time, account.equity, balance)
        standing.awaited -= {each.identifier for each in held}
        kept = held + self._missing(held)
        if kept != standing.positions:
            self._notice(kept)
            standing.positions = kept
        for each in held:
            self._check_stop(each)
        # While an entry's fate is unknown, a position of unknown origin is most likely its.
        strange = [each for each in held if each.identifier not in standing.sent]
        for each in strange if ENTRY not in standing.unresolved else ():
            self._adopt(each)
        seen = _Look(account, positions, server_time, own, standing.positions)
        # A person may give up what is missing: then the same records mean something else.
        self._before = None if standing.missing else seen
        return own

    def _is_known(
        self, before: "_Look", account: AccountInfo, positions: object, server_time: int
    ) -> bool:
        """Whether a look shows the very records of the last one, and nothing is left to take in.

        A paper terminal gives the same records until something changes; a real one never does.
        """
        standing = self.standing
        return (
            account is before.account
            and positions is before.positions
            and server_time == before.server_time
            and standing.positions is before.held
            and not (standing.has_news or standing.awaited or standing.missing or standing.unread)
        )

    def _remembered(self, position: TradePosition) -> Held:
        """Return what a position is, with our own levels where it only shows older ones."""
        shown, standing = Held.of(position), self.standing
        for known in standing.positions:
            if known.identifier == shown.identifier:
                return known.lagging(shown)
        return shown.leveled(standing.levels.get(shown.identifier, ())).lagging(shown)

    def _explain(self, balance: float) -> None:
        """Look for more deals until those read make up the balance: they can show later than it."""
        standing = self.standing
        if standing.balance is not None:  # the first look finds the deposit, no news
            self._shift_baselines()
        if standing.owed is None:  # what a journal recalls is as old as its last decision
            standing.owed = 0.0
        elif standing.balance is not None:
            standing.owed += balance - standing.balance - sum(map(_money, self._recent))
        standing.has_news = abs(standing.owed) > _CENT / 2

    def _missing(self, held: tuple[Held, ...]) -> tuple[Held, ...]:
        """Return the positions that have gone without a deal.

        A terminal that was restarted shows none at first, one on a bad line shows older ones.
        """
        standing = self.standing
        standing.seen(held)
        missing = frozenset(standing.lots.keys() - {each.identifier for each in held})
        for number in sorted(missing - standing.missing):
            self._tell(
                "missing",
                f"position #{number} is not shown, and no deal has closed it: nothing is opened "
                "until one of both shows, or until mt5-onnx resume",
            )
        standing.missing = missing
        return tuple(each for each in standing.positions if each.identifier in missing)

    def check_account(self) -> None:
        """Ask the terminal whose account it shows.

        Raises:
            WrongAccount: Another one.
            TerminalError: It does not answer.
        """
        self._check_account(self._terminal.account_info())

    def _check_account(self, account: AccountInfo) -> None:
        """Refuse what another account shows: its positions are not gone, they are elsewhere.

        Raises:
            WrongAccount: The terminal was logged in to another one.
        """
        meant = self._house.account
        if meant is not None and (account.login, account.server) != meant:
            raise WrongAccount(
                "account_info",
                RES_E_AUTH_FAILED,
                f"the terminal shows account {account.login} at {account.server} instead of "
                f"{meant[0]} at {meant[1]}: log it in there",
            )

    def take_lows(self, lows: Iterable[tuple[float, float]]) -> None:
        """Take in equities between two looks: pairs of server time and account currency."""
        for time, equity in lows:
            known = self.standing
            known.baselines = known.baselines.advanced(time, equity, known.balance)

    def note_baselines(self) -> None:
        """Journal the baselines now: a restart must know what no decision has told yet."""
        self._tell("baselines", json.dumps(self.standing.baselines._asdict()))

    def _shift_baselines(self) -> None:
        """Take money that was paid in or out for neither gain nor loss."""
        paid = [deal.profit for deal in self._recent if deal.type in _PAID]
        for amount in paid:
            self.standing.baselines = self.standing.baselines.shifted(amount)
            self._tell("paid", f"{amount:+.2f} was paid in or out; limits follow")
        if paid:
            self.note_baselines()

    def _notice(self, held: tuple[Held, ...]) -> None:
        """Journal what happened to the strategy's positions that it did not do itself."""
        now = {each.identifier: each for each in held}
        for before in self.standing.positions:
            after = now.get(before.identifier)
            if after is None or after.volume < before.volume:
                self._notice_closing(before, is_gone=after is None)
            elif before.sl is not None and (after.sl, after.tp) != (before.sl, before.tp):
                levels = f"stop loss {after.sl:g}, take profit {after.tp:g}"
                self._tell("human", f"position #{after.ticket} was moved: {levels}")
                self.standing.stops[after.identifier] = 0.0  # from now on it is the person's

    def _notice_closing(self, position: Held, *, is_gone: bool) -> None:
        """Take a closing that is neither ours nor the broker's as a person's word."""
        exits = [
            deal
            for deal in self._recent
            if deal.position_id == position.identifier and deal.entry != DEAL_ENTRY_IN
        ]
        by_hand = [
            deal
            for deal in exits
            if deal.reason in _ASKED_FOR and deal.magic != self._settings.magic
        ]
        if not by_hand:
            return
        what = "closed" if is_gone else "closed in part"
        self.standing.reduced.add(position.identifier)
        self._tell("human", f"position #{position.ticket} was {what} by hand (or another program)")
        if is_gone:
            self.standing.declined = position.side
            self._tell("declined", self.standing.declined)

    def _check_stop(self, position: Held) -> None:
        """Note a position that the broker has opened without the stop loss that was asked for."""
        is_known = position.ticket in self.standing.unprotected
        if position.sl == 0.0 and self.standing.stops.get(position.identifier) and not is_known:
            self.standing.unprotected[position.ticket] = 0
            self._tell("unprotected", f"position #{position.ticket} has no stop loss: it is set")

    def put_off(self, ticket: int, tick: Tick) -> None:
        """Note that a position could not be closed; it is asked for again at another price.

        Args:
            ticket: Of the position.
            tick: At which it was refused.
        """
        before = self.standing.closing.get(ticket)
        times = 1 if before is None else before.times + 1
        due = self._house.server_now() + min(_FIRST_PAUSE * 2.0 ** (times - 1), _LONGEST_PAUSE)
        self.standing.closing[ticket] = Refusal(tick.time_msc, due, times)
        if before is None:
            self._tell("deferred", f"position #{ticket} can't be closed now: asked for again")

    def _adopt(self, position: Held) -> None:
        """Take over a position with our magic that we don't know to have opened."""
        standing = self.standing
        standing.sent.add(position.identifier)
        standing.adopted = True
        self._tell(
            "adopted",
            f"position #{position.ticket} ({position.side} {position.volume:g} lots) carries magic "
            f"{standing.magic} and was not opened by this journal's runs: it is taken over; no "
            "more entries until mt5-onnx resume. An order that was thought absent, another "
            "program with this magic, or another state folder can be behind it",
        )
        if not position.sl:
            self._tell("unprotected", f"position #{position.ticket} has no stop loss: set one")

    def _tell(self, kind: str, text: str) -> None:
        self._journal.event(kind, text, self._settings.magic)

    def read_deals(self, server_time: int) -> None:
        """Journal the deals since the last look, up to a day after ``server_time``."""
        standing = self.standing
        # A symbol's newest tick may be of last week, while money is paid in.
        until = int(max(server_time, self._house.server_now())) + DAY
        deals = self._terminal.history_deals_get(standing.deals_since, until)
        # Ends are included: the second of the last deal is read again, and may have brought more.
        self._recent = tuple(deal for deal in deals if deal.ticket > standing.last_deal)
        self._journal.deals(self._recent)
        self._house.tally.take(self._recent, self._house.magics)
        standing.awaited -= {deal.order for deal in self._recent}
        standing.unread -= {deal.ticket for deal in deals}
        for deal in self._recent:
            standing.dealt(deal, self.symbol)
        # Some servers give a position another number than that of its order.
        standing.sent |= {deal.position_id for deal in self._recent if deal.order in standing.sent}
        if self._recent:
            newest = self._recent[-1]
            standing.deals_since, standing.last_deal = newest.time, newest.ticket


def _money(deal: TradeDeal) -> float:
    return deal.profit + deal.commission + deal.swap + deal.fee


def _shape(positions: tuple[Held, ...]) -> tuple[tuple[int, Side, float], ...]:
    return tuple((each.ticket, each.side, each.volume) for each in positions)
