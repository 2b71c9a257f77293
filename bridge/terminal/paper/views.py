"""The records that the terminal shows, made from what the desk knows."""

from typing import Any

from bridge.mt5.records import (
    AccountInfo,
    SymbolInfo,
    TerminalInfo,
    TradeOrder,
    TradePosition,
)
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.money import NoQuotes
from bridge.terminal.paper.order import Order

BUILD = (500, 6000, "01 Jan 2026")
"""Version, build and date that the paper terminal shows; any program's minimum is below."""


def account_info(desk: Desk) -> AccountInfo:
    """Return the account, valued now."""
    terms, ledger, off = desk.terms, desk.ledger, desk.switched_off()
    floating, margin = desk.floating(), desk.margin()
    equity = desk.money.round(ledger.balance + floating)
    return AccountInfo(
        (
            terms.login,
            terms.trade_mode,
            terms.leverage,
            terms.limit_orders,
            terms.margin_so_mode,
            terms.trade_allowed and "account" not in off,
            terms.trade_expert and "robots" not in off,
            desk.margin_mode,
            terms.currency_digits,
            terms.fifo_close,
            ledger.balance,
            0.0,
            floating,
            equity,
            margin,
            desk.money.round(equity - margin),
            equity / margin * 100 if margin else 0.0,
            terms.margin_so_call,
            terms.margin_so_so,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            terms.owner,
            terms.server,
            terms.currency,
            terms.company,
        )
    )


def terminal_info(desk: Desk, maxbars: int) -> TerminalInfo:
    """Return a terminal that is connected and allows trading, unless a script says otherwise."""
    off = desk.switched_off()
    return TerminalInfo(
        (
            False,
            False,
            "link" not in off,
            False,
            "terminal" not in off,
            "python" in off,
            False,
            False,
            False,
            False,
            BUILD[1],
            maxbars,
            0,
            0,
            0.0,
            0.0,
            desk.terms.company,
            "Paper terminal",
            "English",
            "",
            "",
            "",
        )
    )


def symbol_info(desk: Desk, info: SymbolInfo, *, is_selected: bool) -> SymbolInfo:
    """Return the specification with the latest prices and tick values."""
    values: list[Any] = list(info)
    series, time, bid, ask = desk.market.at(info.name), 0, 0.0, 0.0
    if series is not None and series.bid:
        time, bid, ask = series.time, series.bid, series.ask
        values[_SPREAD] = round((ask - bid) / info.point)
    values[_SELECT] = values[_VISIBLE] = is_selected
    values[_TIME] = time
    values[_PRICES] = (bid, 0.0, 0.0, ask, 0.0, 0.0, 0.0, 0.0, 0.0)
    values[_TICK_VALUES] = _tick_values(desk, info)
    return SymbolInfo(values)


_PLACES = {name: place for place, name in enumerate(SymbolInfo.__annotations__)}
_SELECT, _VISIBLE, _TIME, _SPREAD = (
    _PLACES[name] for name in ("select", "visible", "time", "spread")
)
# Fields that stand side by side: bid, ask and last with their ranges; the three tick values.
_PRICES = slice(_PLACES["bid"], _PLACES["lastlow"] + 1)
_TICK_VALUES = slice(_PLACES["trade_tick_value"], _PLACES["trade_tick_value_loss"] + 1)


def _tick_values(desk: Desk, info: SymbolInfo) -> tuple[float, float, float]:
    """Return account currency for a tick of one lot: as a gain, again, and as a loss."""
    try:
        gain, loss = desk.money.tick_values(info)
    except NoQuotes:
        return 0.0, 0.0, 0.0
    return gain, gain, loss


def position(desk: Desk, held: Position) -> TradePosition:
    """Return a position, valued now."""
    return TradePosition(
        (
            held.ticket,
            held.time_msc // 1000,
            held.time_msc,
            held.time_update_msc // 1000,
            held.time_update_msc,
            held.type,
            held.magic,
            held.identifier,
            held.reason,
            held.volume,
            held.price_open,
            held.sl,
            held.tp,
            desk.closing_price(held),
            held.swap,
            desk.profit(held),
            held.symbol,
            held.comment,
            "",
        )
    )


def order(desk: Desk, waiting: Order) -> TradeOrder:
    """Return a waiting order with the price it looks at."""
    return waiting.record(desk.price_of(waiting))
