"""What outlasts a bar: the trading state, the baselines of losses, the positions last seen."""

from dataclasses import dataclass, field

from bridge.mt5.records import TradePosition
from bridge.mt5.sides import Side
from bridge.risk.baselines import Baselines
from bridge.risk.guard import TradingState


@dataclass(slots=True)
class Standing:
    """One strategy's standing. The one mutable value of the engine.

    Attributes:
        magic: Whose it is.
        baselines: What losses are measured from.
        state: ACTIVE until something is unresolved (REDUCING) or a limit ends it (HALTED).
        unresolved: Tickets of positions with an order of unknown fate; 0 stands for an entry.
        positions: The strategy's own positions when last looked at.
        balance: Balance and credit when last looked at; None before the first look.
        deals_since: Server time up to which deals are in the journal.
        last_deal: Ticket of the last of them.
        alarms: What suspends entries at the moment.
        declined: Side that a person has closed, until the signal asks for something else.
    """

    magic: int
    baselines: Baselines
    state: TradingState = TradingState.ACTIVE
    unresolved: frozenset[int] = frozenset()
    positions: tuple[TradePosition, ...] = field(default=())
    balance: float | None = None
    deals_since: int = 0
    last_deal: int = 0
    alarms: frozenset[str] = frozenset()
    declined: Side | None = None

    def reduce(self, ticket: int) -> None:
        """Stop entries: the fate of an order is unknown."""
        self.unresolved |= {ticket}
        if self.state is TradingState.ACTIVE:
            self.state = TradingState.REDUCING

    def halt(self) -> None:
        """Stop entries for good."""
        self.state = TradingState.HALTED

    def resume(self) -> None:
        """Let entries go on: a person has looked, and takes what was unresolved as settled."""
        self.state = TradingState.ACTIVE
        self.unresolved = frozenset()
