"""A yardstick: buy at the first bar, hold to the last. No model, no guard, the same costs."""

from dataclasses import dataclass

from bridge.clock import Clock
from bridge.engine.replay import Recorded
from bridge.errors import TerminalError
from bridge.mt5.records import TradeDeal
from bridge.mt5.request import Request
from bridge.mt5.servertime import DAY, ServerClock
from bridge.mt5.sides import Side
from bridge.mt5.terminal import Terminal
from bridge.settings import ExecutionSettings
from bridge.trade.build import build_close, build_entry
from bridge.trade.execute import result_of


@dataclass(frozen=True, slots=True)
class Held:
    """What holding came to.

    Attributes:
        equity: Account equity at each bar, account currency.
        deals: All deals of the account.
    """

    equity: tuple[float, ...]
    deals: tuple[TradeDeal, ...]


def always_long(
    terminal: Terminal,
    recorded: Recorded,
    clock: Clock,
    server: ServerClock,
    *,
    symbol: str,
    volume: float,
) -> Held:
    """Buy ``volume`` lots at the next bar's open and sell them at the last one's.

    Raises:
        TerminalError: The terminal refuses.
    """
    settings = ExecutionSettings()
    equity: list[float] = []
    while (opens := recorded.next_event_time()) is not None:
        clock.wait_until(server.to_utc(opens))
        if not equity:
            _send(terminal, _entry(terminal, symbol, volume, settings))
        equity.append(terminal.account_info().equity)
    tick = terminal.symbol_info_tick(symbol)
    for position in terminal.positions_get(symbol):
        request = build_close(
            position=position,
            symbol=terminal.symbol_info(symbol),
            tick=tick,
            magic=position.magic,
            settings=settings,
        )
        _send(terminal, request)
    return Held(tuple(equity), terminal.history_deals_get(0, tick.time + DAY))


def _entry(terminal: Terminal, symbol: str, volume: float, settings: ExecutionSettings) -> Request:
    return build_entry(
        side=Side.LONG,
        volume=volume,
        stop_points=None,
        take_points=None,
        symbol=terminal.symbol_info(symbol),
        tick=terminal.symbol_info_tick(symbol),
        magic=1,
        settings=settings,
    )


def _send(terminal: Terminal, request: Request) -> None:
    result = result_of(terminal.order_send(request.as_dict()))
    if not result.happened:
        code = result.answer.retcode if result.answer else 0
        raise TerminalError("order_send", code, f"the yardstick's order: {result.words}")
