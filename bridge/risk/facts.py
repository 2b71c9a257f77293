"""What the guard is asked with: the facts of the moment, and the limits they are held against."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from bridge.market.news import News
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.risk.baselines import Baselines
from bridge.settings import HoursSettings, LimitSettings, RiskSettings


class TradingState(StrEnum):
    """ACTIVE: all may be sent. REDUCING and HALTED: only what reduces risk."""

    ACTIVE = "active"
    REDUCING = "reducing"
    HALTED = "halted"


class Facts(NamedTuple):
    """What the guard knows at the moment of the request.

    Attributes:
        positions: All open positions of the symbol, whoever opened them.
        baselines: What losses are measured from.
        state: Trading state of the strategy.
        unresolved: Tickets of positions with an order of unknown fate.
        alarms: What suspends entries at the moment.
        own_positions: Open positions of all strategies, on any symbol.
        terms: Specifications of their symbols; only where the exposure in currencies is limited.
        server_time: Now by the server's clock, epoch seconds.
        recent_entries: Entries that all strategies sent in the last 60 seconds.
        losses: The strategy's longest row of losses today.
        account_losses: The same over all strategies.
        news: The calendar.
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
    own_positions: tuple[TradePosition, ...] = ()
    terms: Mapping[str, SymbolInfo] = MappingProxyType({})
    server_time: float = 0.0
    recent_entries: int = 0
    losses: int = 0
    account_losses: int = 0
    news: tuple[News, ...] = ()
    quote_age: float = 0.0
    bar_age: float = 0.0


class Bounds(NamedTuple):
    """The limits that a request is held against.

    Attributes:
        risk: Of the strategy.
        limits: Of the whole account.
        hours: When the strategy may open positions.
    """

    risk: RiskSettings
    limits: LimitSettings
    hours: HoursSettings = HoursSettings()
