"""What a look at the terminal shows, and what a run's strategies share. Values."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bridge.engine.tally import Tally
from bridge.market.news import Calendar
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.settings import LimitSettings


@dataclass(frozen=True, slots=True)
class House:
    """What the strategies of a run share.

    Attributes:
        server_now: Tells server time, epoch seconds, by the run's clock and the clock rule.
        limits: Of the whole account.
        magics: Of all strategies.
        account: Login and server; what another account shows is no news. None takes any.
        tally: What they have sent and closed.
        calendar: News around which nothing is opened.
    """

    server_now: Callable[[], float]
    limits: LimitSettings
    magics: frozenset[int]
    account: tuple[int, str] | None = None
    tally: Tally = field(default_factory=Tally)
    calendar: Calendar = field(default_factory=Calendar)


@dataclass(frozen=True, slots=True)
class Scene:
    """What the terminal showed at one moment.

    Attributes:
        positions: All of the symbol, whoever opened them.
        own: Those of the strategy: its magic on its symbol.
        of_all: Those of all strategies of the run, on any symbol.
        time: Now by the server's clock, epoch seconds: the later of what tick and clock say.
        quote_age: How old the tick is by the server's clock, seconds.
    """

    account: AccountInfo
    symbol: SymbolInfo
    tick: Tick
    positions: tuple[TradePosition, ...]
    own: tuple[TradePosition, ...]
    of_all: tuple[TradePosition, ...]
    time: float
    quote_age: float
