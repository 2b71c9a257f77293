"""What outlasts a bar: the trading state, the baselines of losses, the positions last seen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from bridge.mt5.constants import DEAL_ENTRY_IN
from bridge.mt5.records import TradeDeal, TradePosition
from bridge.mt5.sides import BY_ORDER_TYPE, BY_POSITION_TYPE, Side
from bridge.risk.baselines import Baselines
from bridge.risk.guard import TradingState

ENTRY = 0
"""Stands among tickets for an entry, which has no position yet."""


Levels = tuple[float | None, float | None]
"""Stop loss and take profit; 0.0 is none, None is not known."""


@dataclass(frozen=True, slots=True)
class Held:
    """A position of the strategy's own, as far as it is remembered.

    Attributes:
        identifier: Stays for the position's life; the ticket may change.
        volume: Lots.
        sl, tp: Its levels; 0.0 is none, None is not known (after a restart).
        was: Levels before we moved them, which a slow terminal may show for some time.
    """

    identifier: int
    ticket: int
    side: Side
    volume: float
    sl: float | None
    tp: float | None
    was: tuple[Levels, ...] = ()

    @classmethod
    def of(cls, position: TradePosition) -> Self:
        """Return what is remembered of ``position``."""
        return cls(
            identifier=position.identifier,
            ticket=position.ticket,
            side=BY_POSITION_TYPE[position.type],
            volume=position.volume,
            sl=position.sl,
            tp=position.tp,
        )

    def moved(self, sl: float | None, tp: float | None) -> Self:
        """Return what is remembered once we have moved the levels; None is not known."""
        return replace(self, sl=sl, tp=tp, was=(*self.was, (self.sl, self.tp)))

    def leveled(self, levels: Sequence[Levels]) -> Self:
        """Return it with the levels that we asked for, one after the other; none are no news."""
        if not levels:
            return self
        (*was, (sl, tp)) = levels
        return replace(self, sl=sl, tp=tp, was=tuple(was))

    def lagging(self, shown: Self) -> Self:
        """Return what is shown now, with our own levels where it only shows older ones."""
        if (shown.sl, shown.tp) not in self.was:
            return shown
        return replace(shown, sl=self.sl, tp=self.tp, was=self.was)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An exit that could not be had.

    Attributes:
        tick_msc: Time of the symbol's tick then, server milliseconds: the next try needs another.
        due: When it may be tried again, server epoch seconds.
        times: How often it was refused.
    """

    tick_msc: int
    due: float
    times: int


@dataclass(slots=True)
class Standing:
    """One strategy's standing. The one mutable value of the engine.

    Attributes:
        magic: Whose it is.
        baselines: What losses are measured from.
        halted: Whether a limit or a person has ended entries for good.
        adopted: Whether a position was taken over that nobody here has opened.
        unresolved: Tickets of positions with an order of unknown fate; ENTRY stands for an entry.
        is_open: Whether there are orders whose end the journal does not know.
        positions: The strategy's own positions when last looked at.
        sent: Tickets of orders, and identifiers of positions, that are known to be the strategy's
            own doing. A position with its magic that is not among them is somebody else's.
        lots: Position -> lots that are open as far as the terminal has shown, below 0 for a short
            one.
        missing: Positions of these that it does not show now: nothing is opened until it shows
            them, or the deal that has closed them.
        gone: Positions that are closed for certain, even if the terminal shows them once more.
        awaited: Tickets of entries that the server took and that no position or deal shows yet.
        unread: Tickets of deals that are known to exist and are not in the journal yet.
        has_news: Whether something has happened of which not all deals are read.
        owed: Change of the balance, since the first look of this run, that the deals read since
            don't make up; None before.
        balance: Balance and credit when last looked at; None before the first look.
        deals_since: Server time up to which deals are in the journal.
        last_deal: Ticket of the last of them.
        alarms: What suspends entries at the moment.
        declined: Side that a person has closed, until the signal asks for something else.
        levels: Position -> its levels that earlier runs asked for, one after the other; only where
            they were moved.
        stops: Order -> the stop loss that it asked for; 0.0 is none.
        unprotected: Position -> how often its missing stop loss was set in vain.
        closing: Ticket -> when it was last refused to be closed; asked for again until it is.
        reduced: Identifiers of positions of which a part was closed.
    """

    magic: int
    baselines: Baselines
    halted: bool = False
    adopted: bool = False
    unresolved: frozenset[int] = frozenset()
    is_open: bool = False
    positions: tuple[Held, ...] = field(default=())
    sent: set[int] = field(default_factory=set)
    lots: dict[int, float] = field(default_factory=dict)
    missing: frozenset[int] = frozenset()
    gone: set[int] = field(default_factory=set)
    awaited: set[int] = field(default_factory=set)
    unread: set[int] = field(default_factory=set)
    has_news: bool = True
    owed: float | None = None
    balance: float | None = None
    deals_since: int = 0
    last_deal: int = 0
    alarms: frozenset[str] = frozenset()
    declined: Side | None = None
    levels: dict[int, list[Levels]] = field(default_factory=dict)
    stops: dict[int, float] = field(default_factory=dict)
    unprotected: dict[int, int] = field(default_factory=dict)
    closing: dict[int, Refusal] = field(default_factory=dict)
    reduced: set[int] = field(default_factory=set)

    @property
    def state(self) -> TradingState:
        """ACTIVE; REDUCING while something is unresolved or taken over; HALTED by a limit."""
        if self.halted:
            return TradingState.HALTED
        return TradingState.REDUCING if self.unresolved or self.adopted else TradingState.ACTIVE

    @property
    def lost(self) -> frozenset[int]:
        """Orders that are done, as the server has said, and that it does not show.

        While one of unknown end is searched for, none of them is lost yet.
        """
        return frozenset() if self.is_open else frozenset(self.awaited)

    def reduce(self, ticket: int) -> None:
        """Stop entries: the fate of an order is unknown."""
        self.unresolved |= {ticket}
        self.is_open = True

    def closed(self, ticket: int, volume: float) -> None:
        """Note that an exit is done: its deal may show later than the position goes."""
        for held in self.positions:
            if held.ticket == ticket and volume >= held.volume:
                self._close(held.identifier)

    def seen(self, held: Iterable[Held]) -> None:
        """Note what the terminal shows to be open."""
        for each in held:
            if each.identifier not in self.gone:
                self.lots[each.identifier] = each.side.sign * each.volume

    def dealt(self, deal: TradeDeal, symbol: str) -> None:
        """Note what a deal has opened or closed; what was seen of it before counts.

        Args:
            deal: New in the terminal's history.
            symbol: Of the strategy.
        """
        number, side = deal.position_id, BY_ORDER_TYPE.get(deal.type)
        if side is None or number in self.gone:
            return
        if deal.entry == DEAL_ENTRY_IN and (deal.magic, deal.symbol) == (self.magic, symbol):
            self.lots.setdefault(number, side.sign * deal.volume)
        elif number in self.lots:
            before = self.lots[number]
            self.lots[number] = round(before + side.sign * deal.volume, 8)
            if self.lots[number] * before <= 0.0:  # reversed, it is somebody else's
                self._close(number)

    def _close(self, number: int) -> None:
        self.lots.pop(number, None)
        self.gone.add(number)

    def settled(self) -> None:
        """Note that every order's end is known."""
        self.unresolved = frozenset()
        self.is_open = False

    def halt(self) -> None:
        """Stop entries for good."""
        self.halted = True

    def resume(self) -> None:
        """Let entries go on: a person has looked, and takes what was unresolved as settled."""
        self.halted = self.adopted = False
        self.unresolved = frozenset()
        self.awaited -= self.lost
        for number in self.missing:
            self._close(number)
        self.missing = frozenset()
