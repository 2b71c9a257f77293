"""Questions that change nothing: every reading verb, asked well and badly."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bridge.conformance.desk import Desk, Skip
from bridge.conformance.probe import Facts, Probe, called, of_array, of_record
from bridge.mt5 import constants as mt5

NOWHERE = "NO.SUCH.SYMBOL"
_M1 = mt5.TIMEFRAME_M1
_BUY, _DAY = mt5.ORDER_TYPE_BUY, 86_400
_ALL = mt5.COPY_TICKS_ALL
_NO_TIMEFRAME = 7
_NO_TICKET = 1
_FAR = 10_000_000

Arguments = Callable[[Desk], tuple[Any, ...]]


def _now(desk: Desk) -> int:
    return int(desk.tick.time)


def _nowhere(desk: Desk) -> tuple[Any, ...]:
    return (NOWHERE,)


def _plain(*args: Any) -> Arguments:
    return lambda desk: args


def _on(*args: Any) -> Arguments:
    return lambda desk: (desk.symbol, *args)


def _other(*args: Any) -> Arguments:
    def arguments(desk: Desk) -> tuple[Any, ...]:
        if not desk.other:
            raise Skip("no forex symbol is outside Market Watch")
        return (desk.other, *args)

    return arguments


def _profit(kind: int, volume: float, moved: int = 0, factor: float = 1.0) -> Arguments:
    def arguments(desk: Desk) -> tuple[Any, ...]:
        info, price = desk.info, desk.price * factor
        return (kind, desk.symbol, volume, price, price + moved * info.point)

    return arguments


def _margin(kind: int, volume: float, factor: float = 1.0) -> Arguments:
    return lambda desk: (kind, desk.symbol, volume, desk.price * factor)


# What is asked, verb, arguments.
_CALLS: Sequence[tuple[str, str, Arguments]] = (
    ("number of symbols", "symbols_total", _plain()),
    ("number of positions", "positions_total", _plain()),
    ("number of orders", "orders_total", _plain()),
    ("unknown symbol: specification", "symbol_info", _nowhere),
    ("unknown symbol: tick", "symbol_info_tick", _nowhere),
    ("unknown symbol: select", "symbol_select", _plain(NOWHERE, True)),
    ("unknown symbol: bars", "copy_rates_from_pos", _plain(NOWHERE, _M1, 0, 5)),
    ("unknown symbol: ticks", "copy_ticks_from", _plain(NOWHERE, 0, 5, _ALL)),
    ("unknown symbol: margin", "order_calc_margin", _plain(_BUY, NOWHERE, 1.0, 1.0)),
    ("unknown symbol: profit", "order_calc_profit", _plain(_BUY, NOWHERE, 1.0, 1.0, 1.1)),
    ("unknown symbol: depth", "market_book_add", _nowhere),
    ("empty symbol: specification", "symbol_info", _plain("")),
    ("symbol of a wrong type", "symbol_info", _plain(7)),
    ("symbol of 30 letters", "symbol_info", _plain("X" * 30)),
    ("unselected symbol: specification", "symbol_info", _other()),
    ("unselected symbol: tick", "symbol_info_tick", _other()),
    ("select a symbol again", "symbol_select", _on(True)),
    ("depth that was not asked for", "market_book_release", _on()),
    ("bars", "copy_rates_from_pos", _on(_M1, 0, 5)),
    ("bars of an unknown timeframe", "copy_rates_from_pos", _on(_NO_TIMEFRAME, 0, 5)),
    ("bars of timeframe 0", "copy_rates_from_pos", _on(0, 0, 5)),
    ("bars, count 0", "copy_rates_from_pos", _on(_M1, 0, 0)),
    ("bars, count -1", "copy_rates_from_pos", _on(_M1, 0, -1)),
    ("bars, start -1", "copy_rates_from_pos", _on(_M1, -1, 5)),
    ("bars, start beyond the first", "copy_rates_from_pos", _on(_M1, _FAR, 5)),
    ("bars, a float as count", "copy_rates_from_pos", _on(_M1, 0, 5.0)),
    ("bars until now", "copy_rates_from", lambda d: (d.symbol, _M1, _now(d), 5)),
    ("bars until tomorrow", "copy_rates_from", lambda d: (d.symbol, _M1, _now(d) + _DAY, 5)),
    ("bars until now, count 0", "copy_rates_from", lambda d: (d.symbol, _M1, _now(d), 0)),
    (
        "bars of a range",
        "copy_rates_range",
        lambda d: (d.symbol, _M1, _now(d) - 3_600, _now(d)),
    ),
    (
        "bars of a reversed range",
        "copy_rates_range",
        lambda d: (d.symbol, _M1, _now(d), _now(d) - 3_600),
    ),
    (
        "bars of a range to come",
        "copy_rates_range",
        lambda d: (d.symbol, _M1, _now(d) + _DAY, _now(d) + 2 * _DAY),
    ),
    (
        "ticks of the last ten minutes",
        "copy_ticks_from",
        lambda d: (d.symbol, _now(d) - 600, 5, _ALL),
    ),
    ("ticks, count 0", "copy_ticks_from", lambda d: (d.symbol, _now(d) - 600, 0, _ALL)),
    ("ticks, count -1", "copy_ticks_from", lambda d: (d.symbol, _now(d) - 600, -1, _ALL)),
    ("ticks to come", "copy_ticks_from", lambda d: (d.symbol, _now(d) + _DAY, 5, _ALL)),
    (
        "ticks of a reversed range",
        "copy_ticks_range",
        lambda d: (d.symbol, _now(d), _now(d) - 600, _ALL),
    ),
    ("margin of volume 0", "order_calc_margin", _margin(_BUY, 0.0)),
    ("margin at price 0", "order_calc_margin", _margin(_BUY, 1.0, 0.0)),
    ("margin of an unknown type", "order_calc_margin", _margin(99, 1.0)),
    ("margin of a limit", "order_calc_margin", _margin(mt5.ORDER_TYPE_BUY_LIMIT, 1.0)),
    ("profit of volume 0", "order_calc_profit", _profit(_BUY, 0.0)),
    ("profit at price 0", "order_calc_profit", _profit(_BUY, 1.0, factor=0.0)),
    ("profit of a limit", "order_calc_profit", _profit(mt5.ORDER_TYPE_BUY_LIMIT, 1.0)),
    (
        "deals of reversed dates",
        "history_deals_get",
        lambda d: (_now(d), _now(d) - 2 * _DAY),
    ),
    (
        "number of deals of reversed dates",
        "history_deals_total",
        lambda d: (_now(d), _now(d) - 2 * _DAY),
    ),
)
# What is asked, verb, keywords.
_NAMED: Sequence[tuple[str, str, dict[str, Any]]] = (
    ("positions of an unknown ticket", "positions_get", {"ticket": _NO_TICKET}),
    ("positions of an unknown symbol", "positions_get", {"symbol": NOWHERE}),
    ("orders of an unknown ticket", "orders_get", {"ticket": _NO_TICKET}),
    ("orders of an unknown symbol", "orders_get", {"symbol": NOWHERE}),
    ("deal of an unknown ticket", "history_deals_get", {"ticket": _NO_TICKET}),
    ("deals of an unknown position", "history_deals_get", {"position": _NO_TICKET}),
    ("past order of an unknown ticket", "history_orders_get", {"ticket": _NO_TICKET}),
    ("symbols of a group without any", "symbols_get", {"group": NOWHERE}),
    ("a keyword that is none", "symbols_get", {"groups": NOWHERE}),
)


def _call(verb: str, arguments: Arguments, desk: Desk) -> Facts:
    return called(desk, verb, *arguments(desk))


def _call_named(verb: str, keywords: dict[str, Any], desk: Desk) -> Facts:
    return called(desk, verb, **keywords)


def _record(verb: str, arguments: Arguments, desk: Desk) -> Facts:
    return of_record(desk.call(verb, *arguments(desk)))


def _array(verb: str, arguments: Arguments, desk: Desk) -> Facts:
    return of_array(desk.call(verb, *arguments(desk)))


def _symbol_by_name(desk: Desk) -> Facts:
    found = desk.call("symbols_get", group=desk.symbol)
    return {"answer": type(found).__name__, "names it": [one.name for one in found or ()]}


def _version(desk: Desk) -> Facts:
    found = desk.call("version")
    return {"answer": [type(each).__name__ for each in found or ()]}


def _bars_agree(desk: Desk) -> Facts:
    """Ask for the same bars in two ways; a bar that opens meanwhile moves both ends alike."""
    last = desk.need("copy_rates_from_pos", desk.symbol, _M1, 1, 5)
    again = desk.need("copy_rates_from", desk.symbol, _M1, int(last["time"][-1]), 5)
    return {
        "rows": len(last),
        "oldest first": bool((last["time"][1:] > last["time"][:-1]).all()),
        "same as by date": bool((last == again).all()),
        "time on the minute": not any(last["time"] % 60),
    }


def _tick_times(desk: Desk) -> Facts:
    tick = desk.tick
    return {
        "time_msc is of time": tick.time_msc // 1000 == tick.time,
        "ask at or above bid": tick.ask >= tick.bid,
        "as in the specification": tick.time >= desk.info.time - 1,
    }


def _profit_value(desk: Desk) -> Facts:
    """Compare money only where no rate of exchange comes in: the two terminals' ones differ."""
    info, account = desk.info, desk.need("account_info")
    if info.currency_profit != account.currency:
        raise Skip(f"profits in {info.currency_profit} depend on a rate")
    gain = desk.call("order_calc_profit", *_profit(_BUY, 1.0, 100)(desk))
    loss = desk.call("order_calc_profit", *_profit(mt5.ORDER_TYPE_SELL, 1.0, 100)(desk))
    return {"100 points of 1 lot, bought": gain, "sold": loss}


def _margin_value(desk: Desk) -> Facts:
    info, account = desk.info, desk.need("account_info")
    if info.currency_margin != account.currency:
        raise Skip(f"margin in {info.currency_margin} depends on a rate")
    return {"1 lot": desk.call("order_calc_margin", *_margin(_BUY, 1.0)(desk))}


READS: Sequence[Probe] = (
    Probe("version", _version),
    Probe("record terminal_info", partial(_record, "terminal_info", _plain())),
    Probe("record account_info", partial(_record, "account_info", _plain())),
    Probe("record symbol_info", partial(_record, "symbol_info", _on())),
    Probe("record symbol_info_tick", partial(_record, "symbol_info_tick", _on())),
    Probe("columns of bars", partial(_array, "copy_rates_from_pos", _on(_M1, 0, 5))),
    Probe(
        "columns of ticks",
        partial(_array, "copy_ticks_from", lambda d: (d.symbol, _now(d) - 600, 5, _ALL)),
    ),
    Probe("symbols of a group", _symbol_by_name),
    Probe("bars in two ways", _bars_agree),
    Probe("times of a tick", _tick_times),
    Probe("profit of 100 points", _profit_value),
    Probe("margin of a lot", _margin_value),
    *(Probe(name, partial(_call, verb, arguments)) for name, verb, arguments in _CALLS),
    *(Probe(name, partial(_call_named, verb, keywords)) for name, verb, keywords in _NAMED),
)
