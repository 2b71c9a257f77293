"""Look at the terminal, and keep the books of what changed between two looks."""

from dataclasses import dataclass

from bridge.engine.standing import Standing
from bridge.errors import TerminalError
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
)
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradeDeal, TradePosition
from bridge.mt5.servertime import DAY
from bridge.mt5.sides import BY_POSITION_TYPE
from bridge.mt5.terminal import Terminal
from bridge.settings import StrategySettings

_PAID = (DEAL_TYPE_BALANCE, DEAL_TYPE_CREDIT, DEAL_TYPE_BONUS)
# Reasons of deals that somebody asked for; the others are the broker's: stops, stop-out, rollover.
_ASKED_FOR = (DEAL_REASON_CLIENT, DEAL_REASON_MOBILE, DEAL_REASON_WEB, DEAL_REASON_EXPERT)


@dataclass(frozen=True, slots=True)
class Scene:
    """What the terminal showed at one moment.

    Attributes:
        positions: All of the symbol, whoever opened them.
        own: Those of the strategy: its magic on its symbol.
    """

    account: AccountInfo
    symbol: SymbolInfo
    tick: Tick
    positions: tuple[TradePosition, ...]
    own: tuple[TradePosition, ...]


class Lookout:
    """Looks at the terminal for one strategy.

    Args:
        terminal: Where to look.
        settings: Whose symbol and magic.
        journal: Where deals and silence are written.
        standing: Moved on at each look.
    """

    def __init__(
        self, terminal: Terminal, settings: StrategySettings, journal: Journal, standing: Standing
    ) -> None:
        self._terminal = terminal
        self._settings = settings
        self._journal = journal
        self.standing = standing
        self._recent: tuple[TradeDeal, ...] = ()

    def look(self) -> Scene:
        """Return the scene; move the baselines, journal the deals behind what has changed.

        Raises:
            TerminalError: The terminal does not answer.
        """
        terminal, name = self._terminal, self._settings.symbol
        positions = terminal.positions_get(name)
        scene = Scene(
            account=terminal.account_info(),
            symbol=terminal.symbol_info(name),
            tick=terminal.symbol_info_tick(name),
            positions=positions,
            own=tuple(each for each in positions if each.magic == self._settings.magic),
        )
        standing = self.standing
        balance = scene.account.balance + scene.account.credit
        if balance != standing.balance or _shape(scene.own) != _shape(standing.positions):
            self.read_deals(scene.tick.time)
            if standing.balance is not None:  # the first look finds the deposit, no news
                self._shift_baselines()
        standing.balance = balance
        standing.baselines = standing.baselines.advanced(scene.tick.time, scene.account.equity)
        if scene.own != standing.positions:
            self._notice(scene)
        return scene

    def _shift_baselines(self) -> None:
        """Take money that was paid in or out for neither gain nor loss."""
        for deal in self._recent:
            if deal.type in _PAID:
                self.standing.baselines = self.standing.baselines.shifted(deal.profit)
                self._tell("paid", f"{deal.profit:+.2f} was paid in or out; limits follow")

    def _notice(self, scene: Scene) -> None:
        """Journal what a person did to the strategy's positions."""
        standing = self.standing
        now = {position.identifier: position for position in scene.own}
        for before in standing.positions:
            after = now.get(before.identifier)
            if after is None or after.volume < before.volume:
                self._notice_closing(before, is_gone=after is None)
            elif (after.sl, after.tp) != (before.sl, before.tp):
                levels = f"stop loss {after.sl:g}, take profit {after.tp:g}"
                self._tell("human", f"position #{after.ticket} was moved: {levels}")
        standing.positions = scene.own

    def _notice_closing(self, position: TradePosition, *, is_gone: bool) -> None:
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
        self._tell("human", f"position #{position.ticket} was {what} by hand (or another program)")
        if is_gone:
            self.standing.declined = BY_POSITION_TYPE[position.type]
            self._tell("declined", self.standing.declined)

    def _tell(self, kind: str, text: str) -> None:
        self._journal.event(kind, text, self._settings.magic)

    def try_to_look(self) -> Scene | None:
        """Return the scene, or None, with the reason in the journal, when there is no answer."""
        try:
            return self.look()
        except TerminalError as error:
            self._journal.event("terminal", f"no entry at this bar: {error}", self._settings.magic)
            return None

    def read_deals(self, server_time: int) -> None:
        """Journal the deals since the last look, up to a day after ``server_time``."""
        standing = self.standing
        deals = self._terminal.history_deals_get(standing.deals_since, server_time + DAY)
        # Ends are included: the second of the last deal is read again, and may have brought more.
        self._recent = tuple(deal for deal in deals if deal.ticket > standing.last_deal)
        self._journal.deals(self._recent)
        if self._recent:
            newest = self._recent[-1]
            standing.deals_since, standing.last_deal = newest.time, newest.ticket


def _shape(positions: tuple[TradePosition, ...]) -> tuple[tuple[int, int, float], ...]:
    return tuple((position.ticket, position.type, position.volume) for position in positions)
