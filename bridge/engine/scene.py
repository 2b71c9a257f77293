"""Look at the terminal, and keep the books of what changed between two looks."""

from dataclasses import dataclass

from bridge.engine.standing import Standing
from bridge.errors import TerminalError
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.mt5.servertime import DAY
from bridge.mt5.terminal import Terminal
from bridge.settings import StrategySettings


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
        self._standing = standing

    def look(self) -> Scene:
        """Return the scene; move the baselines, journal the deals behind a changed position.

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
        standing = self._standing
        standing.baselines = standing.baselines.advanced(scene.tick.time, scene.account.equity)
        if _shape(scene.own) != _shape(standing.positions):
            self.read_deals(scene.tick.time)
            standing.positions = scene.own
        return scene

    def try_to_look(self) -> Scene | None:
        """Return the scene, or None, with the reason in the journal, when there is no answer."""
        try:
            return self.look()
        except TerminalError as error:
            self._journal.event("terminal", f"no entry at this bar: {error}", self._settings.magic)
            return None

    def read_deals(self, server_time: int) -> None:
        """Journal the deals since the last look, up to a day after ``server_time``."""
        deals = self._terminal.history_deals_get(self._standing.deals_since, server_time + DAY)
        self._journal.deals(deals)
        if deals:
            self._standing.deals_since = deals[-1].time


def _shape(positions: tuple[TradePosition, ...]) -> tuple[tuple[int, int, float], ...]:
    return tuple((position.ticket, position.type, position.volume) for position in positions)
