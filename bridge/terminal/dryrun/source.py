"""What a dry run may ask of the real terminal: reading verbs, and none that trades."""

from typing import Protocol

from bridge.errors import NotConnected, TerminalError
from bridge.mt5.constants import RES_E_NOT_FOUND
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import AccountInfo, SymbolInfo, TerminalInfo, Tick


class Source(Protocol):
    """The part of :class:`bridge.mt5.terminal.Terminal` that sends nothing."""

    def terminal_info(self) -> TerminalInfo:
        """Return the terminal's state."""

    def account_info(self) -> AccountInfo:
        """Return the account."""

    def symbols_get(self) -> tuple[SymbolInfo, ...]:
        """Return every symbol that the broker offers, in Market Watch or not."""

    def symbol_info(self, symbol: str) -> SymbolInfo:
        """Return specification and prices of ``symbol``."""

    def symbol_select(self, symbol: str) -> None:
        """Put ``symbol`` into Market Watch."""

    def symbol_info_tick(self, symbol: str) -> Tick:
        """Return the latest tick of ``symbol``."""

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        """Return up to ``count`` bars that end ``start_pos`` bars before the newest."""


def tick_of(real: Source, symbol: str) -> Tick:
    """Return the newest tick; a terminal that was restarted may have forgotten the symbol.

    Raises:
        TerminalError: There is none.
    """
    try:
        return real.symbol_info_tick(symbol)
    except NotConnected:
        raise
    except TerminalError as error:
        if error.code != RES_E_NOT_FOUND:
            raise
        real.symbol_select(symbol)
        return real.symbol_info_tick(symbol)
