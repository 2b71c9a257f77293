"""Mode live, second: symbols, clock rule and history are what the strategies need."""

from collections.abc import Iterator, Sequence

from bridge.clock import Clock
from bridge.engine.clocks import settle_clock
from bridge.engine.crew import Member
from bridge.engine.strategy import Strategy
from bridge.errors import ConfigError, NotConnected, TerminalError
from bridge.journal.read import JournalReader
from bridge.journal.write import Journal
from bridge.model.load import check_bars
from bridge.mt5.constants import RES_E_FAIL
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock
from bridge.mt5.terminal import Terminal
from bridge.settings import BridgeSettings

# How long a terminal may take to load the bars that strategies need, seconds.
_WARM_UP = 60.0
_PAUSE = 1.0


def settled_server(
    settings: BridgeSettings,
    terminal: Terminal,
    journal: Journal,
    past: JournalReader,
    clock: Clock,
) -> ServerClock:
    """Select the symbols, settle the clock rule, and remember it in the journal.

    Raises:
        ConfigError: The broker has no such symbol, or no rule can be found.
        StateMismatch: History says another rule than at the last start.
        TerminalError: The terminal does not answer.
    """
    symbols = list(dict.fromkeys(each.symbol for each in settings.strategy))
    for symbol in symbols:
        _select(terminal, symbol)
    before = past.last_event(None, "server_clock")
    server = settle_clock(
        settings.server_clock,
        terminal,
        symbols,
        known=before["text"] if before else None,
        utc_now=clock.now(),
        tell=lambda text: journal.event("clock", text),
    )
    if before is None or before["text"] != server.name:
        journal.event("server_clock", server.name)
    return server


def _select(terminal: Terminal, symbol: str) -> None:
    try:
        terminal.symbol_info(symbol)
        terminal.symbol_select(symbol)
    except NotConnected:
        raise
    except TerminalError as error:
        raise ConfigError(
            f"the broker has no symbol {symbol}, as far as the terminal knows ({error}): "
            "mt5-onnx doctor shows similar names"
        ) from error


def members(
    strategies: Sequence[Strategy],
    terminal: Terminal,
    past: JournalReader,
    clock: Clock,
    server: ServerClock,
) -> Iterator[Member]:
    """Yield each strategy with the bar after which it goes on, once its history is there.

    Raises:
        TerminalError: The terminal has not loaded enough bars in time.
        ContractError: The model reads the hours of another clock.
    """
    for strategy in strategies:
        rates = _history(strategy, terminal, clock)
        check_bars(strategy.model, count=len(rates) - 1, clock=server.name)
        last = past.last_decision(strategy.settings.magic, strategy.settings.symbol)
        # At a first start the newest closed bar is decided; the guard knows whether it is too old
        # to open anything on it.
        newest = int(rates["time"][-2])
        yield Member(strategy, newest - 1 if last is None else int(last["bar_time"]))


def _history(strategy: Strategy, terminal: Terminal, clock: Clock) -> RatesArray:
    """Return the bars that a step needs; a terminal loads them once they are asked for."""
    settings, until = strategy.settings, clock.now() + _WARM_UP
    while True:
        found, said = 0, ""
        try:
            rates = terminal.copy_rates_from_pos(
                settings.symbol, strategy.timeframe.value, 0, strategy.depth + 1
            )
        except TerminalError as error:
            said = f" ({error})"
        else:
            found = max(0, len(rates) - 1)
            if found >= strategy.depth:
                return rates
        if clock.now() >= until:
            raise TerminalError(
                "copy_rates_from_pos",
                RES_E_FAIL,
                f"{settings.symbol} {settings.timeframe}: the terminal has {found} of "
                f"{strategy.depth} closed bars{said}; open its chart and scroll back until it has "
                "loaded them",
            )
        clock.wait_until(clock.now() + _PAUSE)
