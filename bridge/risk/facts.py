"""What the guard is asked with: the facts of the moment, and the limits they are held against."""

from dataclasses import dataclass
from enum import StrEnum

from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.risk.baselines import Baselines
from bridge.settings import LimitSettings, RiskSettings


class TradingState(StrEnum):
    """ACTIVE: all may be sent. REDUCING and HALTED: only what reduces risk."""

    ACTIVE = "active"
    REDUCING = "reducing"
    HALTED = "halted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the guard knows at the moment of the request.

    Attributes:
        positions: All open positions of the symbol, whoever opened them.
        baselines: What losses are measured from.
        state: Trading state of the strategy.
        unresolved: Tickets of positions with an order of unknown fate.
        alarms: What suspends entries at the moment.
        total_positions: Open positions of all strategies.
        quote_age: How old the tick is by the server's clock, seconds.
        bar_age: How long the decided bar had been closed, seconds.
    """

    account: AccountInfo
    symbol: SymbolInfo
    tick: Tick
    positions: tuple[TradePosition, ...]
    baselines: Baselines
    state: TradingState
    unresolved: frozenset[int] = frozenset()
    alarms: frozenset[str] = frozenset()
    total_positions: int = 0
    quote_age: float = 0.0
    bar_age: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that a request is held against.

    Attributes:
        risk: Of the strategy.
        limits: Of the whole account.
    """

    risk: RiskSettings
    limits: LimitSettings
