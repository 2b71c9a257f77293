"""What checks stand on: the connection, and a strategy with its symbol.

What is not there is ``Missing``: the check that asks for it is skipped, since the check of the
thing itself has told of it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from bridge.clock import Clock
from bridge.engine.strategy import Strategy
from bridge.errors import NotConnected, TerminalError
from bridge.market.clockrule import Detection
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import SymbolInfo, Tick
from bridge.mt5.sides import Side
from bridge.mt5.terminal import Terminal
from bridge.settings import BridgeSettings, Mode, Sides, StrategySettings
from bridge.strategy.recent import range_points

_T = TypeVar("_T")


class Missing(Exception):
    """Something that a check needs is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What came of connecting.

    Attributes:
        clock: UTC of the market: the computer's, or that of a recording.
        about: Versions of what answers; None when nothing does.
        terminal: Connected; None after a fault.
        server_clock: The clock rule, where it is known beforehand; None where it is to be found.
        fault: What went wrong.
    """

    clock: Clock
    about: str | None = None
    terminal: Terminal | None = None
    server_clock: str | None = None
    fault: Exception | None = None


Connect = Callable[[], AbstractContextManager[Connection]]
"""Connects; a fault is raised, or told by what it gives."""


@dataclass(frozen=True, slots=True)
class Site:
    """What all checks of a terminal share.

    Attributes:
        clock: The computer's.
        detection: What history says of the broker's clock, or why it could not be asked; None
            before.
    """

    settings: BridgeSettings
    link: Connection
    clock: Clock
    detection: Detection | Exception | None = None

    @property
    def terminal(self) -> Terminal:
        """The terminal, connected."""
        if self.link.terminal is None:
            raise Missing("there is no connection to a terminal")
        return self.link.terminal

    @property
    def market_time(self) -> float:
        """Now as the market has it, UTC: a recording's now is long ago."""
        if self.is_paper and self.link.terminal is None:
            raise Missing("there is no recording that could tell the time")
        return self.link.clock.now()

    @property
    def rule(self) -> str:
        """The broker's clock rule: known beforehand, named in the settings, or found."""
        named = self.settings.server_clock
        if known := self.link.server_clock or (None if named == "auto" else named):
            return known
        if isinstance(self.detection, Detection) and self.detection.rule:
            return self.detection.rule
        raise Missing("the broker's clock is not known")

    @property
    def is_paper(self) -> bool:
        """Whether the broker is played from a recording."""
        return self.settings.mode is Mode.PAPER


@dataclass(frozen=True, slots=True)
class Subject:
    """One strategy, as far as it could be loaded, and its symbol at the broker.

    Attributes:
        loaded: Ready to run, or why it is not.
    """

    site: Site
    settings: StrategySettings
    loaded: Strategy | Exception

    @property
    def name(self) -> str:
        """The broker's name of the symbol."""
        return self.settings.symbol

    @property
    def strategy(self) -> Strategy:
        """The strategy with its model."""
        if isinstance(self.loaded, Exception):
            raise Missing(f"the model of {self.settings.title} can't be used")
        return self.loaded

    @property
    def sides(self) -> tuple[Side, ...]:
        """Sides that the strategy may open."""
        chosen = self.strategy.decision.sides
        return tuple(Side) if chosen is Sides.BOTH else (Side(chosen.value),)

    def read_symbol(self) -> SymbolInfo:
        """Return the symbol's specification now."""
        terminal = self.site.terminal
        return _there(lambda: terminal.symbol_info(self.name), f"the broker has no {self.name}")

    def read_tick(self) -> Tick:
        """Return the symbol's prices now; both are above 0."""
        terminal, name = self.site.terminal, self.read_symbol().name
        none = f"{name} has no quote"
        tick = _there(lambda: terminal.symbol_info_tick(name), none)
        if not (tick.bid > 0.0 and tick.ask > 0.0):
            raise Missing(none)
        return tick

    def read_bars(self, count: int) -> RatesArray:
        """Return up to ``count`` of the strategy's bars, oldest first, the forming one included."""
        terminal, name, frame = self.site.terminal, self.read_symbol().name, self.strategy.timeframe
        return _there(
            lambda: terminal.copy_rates_from_pos(name, frame.value, 0, count),
            f"there are no {frame.name} bars of {name}",
        )

    def read_distance(self, points: float | None, ranges: float | None) -> float | None:
        """Return a stop or take distance as it is now, points; None without one."""
        if points is not None or ranges is None:
            return points
        bars = self.strategy.decision.range_bars
        closed = self.read_bars(bars + 2)[:-1]
        if len(closed) <= bars:
            raise Missing(f"there are too few bars of {self.name} for a range")
        return ranges * range_points(closed, bars=bars, point=self.read_symbol().point)


def _there(ask: Callable[[], _T], otherwise: str) -> _T:
    try:
        return ask()
    except NotConnected:
        raise
    except TerminalError as error:
        raise Missing(otherwise) from error
