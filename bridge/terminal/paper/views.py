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
_FIELDS = {name: place for place, name in enumerate(SymbolInfo.__annotations__)}


def account_info(desk: Desk) -> AccountInfo:
    """Return the account, valued now."""
    terms, ledger = desk.terms, desk.ledger
    floating, margin = desk.floating(), desk.margin()
    equity = desk.money.round(ledger.balance + floating)
    return AccountInfo(
        (
            terms.login,
            terms.trade_mode,
            terms.leverage,
            terms.limit_orders,
            terms.margin_so_mode,
            terms.trade_allowed and not desk.is_off("account"),
            terms.trade_expert and not desk.is_off("robots"),
            terms.margin_mode.code,
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
    known = {
        "connected": not desk.is_off("link"),
        "trade_allowed": not desk.is_off("terminal"),
        "tradeapi_disabled": desk.is_off("python"),
        "build": BUILD[1],
        "maxbars": maxbars,
        "company": desk.terms.company,
        "name": "Paper terminal",
        "language": "English",
    }
    fields = TerminalInfo.__annotations__.items()
    return TerminalInfo(known.get(name, kind()) for name, kind in fields)


def symbol_info(desk: Desk, info: SymbolInfo, *, is_selected: bool) -> SymbolInfo:
    """Return the specification with the latest prices and tick values."""
    shown: dict[str, Any] = {"select": is_selected, "visible": is_selected, **_NO_PRICES}
    series = desk.market.at(info.name)
    if series is not None and series.bid:
        shown["time"] = series.time
        shown["bid"], shown["ask"] = series.bid, series.ask
        shown["spread"] = round((series.ask - series.bid) / info.point)
    shown.update(_tick_values(desk, info))
    values = list(info)
    for name, value in shown.items():
        values[_FIELDS[name]] = value
    return SymbolInfo(values)


_NO_PRICES = {
    name: 0.0
    for name in (
        *(f"{price}{range_}" for price in ("bid", "ask", "last") for range_ in ("", "high", "low")),
    )
} | {"time": 0}


def _tick_values(desk: Desk, info: SymbolInfo) -> dict[str, float]:
    """Return account currency for a tick of one lot, as a gain and as a loss."""
    try:
        gain = desk.money.tick_value(info, gain=True)
        loss = desk.money.tick_value(info, gain=False)
    except NoQuotes:
        gain = loss = 0.0
    return {
        "trade_tick_value": gain,
        "trade_tick_value_profit": gain,
        "trade_tick_value_loss": loss,
    }


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
