"""The daemon's answers to the golden vectors: a function a name, texts in, text out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests_support import account, position, symbol_info, tick

from bridge.cli.live_connect import tenure
from bridge.engine.lease import leased
from bridge.errors import DataError
from bridge.market.quality import check_rates
from bridge.model.contract import Contract, Output
from bridge.model.load import _same_symbol
from bridge.model.signal import Signal, decode
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import retcode
from bridge.mt5.sides import Side
from bridge.mt5.timeframes import timeframe
from bridge.risk.baselines import Baselines, first_baselines
from bridge.risk.gauges import account_gauges, prop_gauges, seen_now
from bridge.risk.guard import Bounds, Facts, TradingState, check
from bridge.risk.spans import is_in_span
from bridge.risk.streak import Streak
from bridge.risk.volume import fixed_volume, floor_to_step, volume_for_risk
from bridge.settings import (
    BridgeSettings,
    DayStart,
    DecisionSettings,
    LimitSettings,
    ManageSettings,
    PropFirmSettings,
    RiskSettings,
    Sides,
)
from bridge.settings.hours import HoursSettings
from bridge.strategy.decide import Holding, decide
from bridge.strategy.manage import Kept, care, is_weekend_near
from bridge.strategy.recent import bars_since, range_points
from bridge.trade.build import _wide_enough, filling_of, stop_price, to_tick
from bridge.trade.levels import level_fault, widened

Fields = Sequence[str]


def _text(*values: object) -> str:
    return " ".join(repr(float(v)) if isinstance(v, float | int) else str(v) for v in values)


def _off(text: str) -> float | None:
    return float(text) or None


def _floats(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def _numbers(function: Callable[..., float], *arguments: Any, **named: Any) -> str:
    try:
        return _text(function(*arguments, **named))
    except (ValueError, ZeroDivisionError, OverflowError):
        return "refused"


def _to_tick(a: Fields) -> str:
    symbol = symbol_info(trade_tick_size=float(a[1]), digits=int(a[2]))
    return _numbers(to_tick, float(a[0]), symbol)


def _floor_to_step(a: Fields) -> str:
    return _text(
        floor_to_step(symbol_info(volume_step=float(a[1]), volume_max=float(a[2])), float(a[0]))
    )


def _fixed_volume(a: Fields) -> str:
    symbol = symbol_info(volume_min=float(a[1]), volume_step=float(a[2]))
    return _text(fixed_volume(symbol, float(a[0])).volume)


def _volume_for_risk(a: Fields) -> str:
    equity, share, loss = map(float, a)
    try:
        sizing = volume_for_risk(symbol_info(), equity=equity, share=share, loss_per_lot=loss)
    except ValueError:
        return "refused"
    return _text(sizing.volume)


def _filling(a: Fields) -> str:
    return str(filling_of(symbol_info(filling_mode=int(a[0]), trade_exemode=int(a[1]))))


def _stop_price(a: Fields) -> str:
    symbol = symbol_info(point=float(a[4]), trade_tick_size=float(a[5]), digits=int(a[6]))
    prices = tick(float(a[2]), float(a[3]))
    return _numbers(stop_price, Side(a[0]), float(a[1]), symbol, prices)


def _wide(a: Fields) -> str:
    symbol = symbol_info(trade_stops_level=int(a[2]), point=float(a[5]))
    return _text(*_wide_enough(float(a[0]), float(a[1]), symbol, tick(float(a[3]), float(a[4]))))


def _level_fault(a: Fields) -> str:
    symbol = symbol_info(
        point=float(a[6]), trade_stops_level=int(a[7]), trade_freeze_level=int(a[8])
    )
    held = position(type=0 if a[0] == "long" else 1, sl=float(a[1]), tp=float(a[2]))
    fault = level_fault(held, float(a[3]), symbol, tick(float(a[4]), float(a[5])))
    return "" if fault is None else "frozen" if fault.startswith("frozen") else "near"


def _widened(a: Fields) -> str:
    symbol = symbol_info(trade_stops_level=int(a[2]), point=float(a[5]))
    held = position(type=0 if a[0] == "long" else 1)
    return _text(widened(held, float(a[1]), symbol, tick(float(a[3]), float(a[4]))))


def _bars(high: list[float], low: list[float], close: list[float]) -> RatesArray:
    rows = zip(high, low, close, strict=True)
    return rates_of((i, c, h, lo, c, 0, 0, 0) for i, (h, lo, c) in enumerate(rows))


def _range_points(a: Fields) -> str:
    rates = _bars(*(_floats(each) for each in a[2:5]))
    return _text(range_points(rates, bars=int(a[0]), point=float(a[1])))


def _bars_since(a: Fields) -> str:
    rates = rates_of((int(each), 1.0, 1.0, 1.0, 1.0, 0, 0, 0) for each in a[1].split())
    return str(bars_since(rates, int(a[0])))


def _open_of(a: Fields) -> str:
    return str(timeframe(a[1]).open_of(int(a[0])))


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _weekend(a: Fields) -> str:
    at = None if a[1] == "off" else a[1]
    return _yes(is_weekend_near(int(a[0]), ManageSettings(flat_before_weekend=at)))


def _decode(a: Fields) -> str:
    sides = {"long": "long", "short": "short", "none": "flat"}
    classes = [{"name": f"c{i}", "side": sides[each]} for i, each in enumerate(a[2].split())]
    fields: dict[str, Any] = {
        "name": "x",
        "kind": a[0],
        "classes": classes if a[0] == "shares" else [],
        "unit": "points" if a[0] == "forecast" else None,
    }
    contract: dict[str, Any] = {"output": Output.model_validate(fields)}
    signal = decode(Contract.model_construct(None, **contract), 0, "", _floats(a[3]))
    return "problem" if signal.problem else _text(signal.long, signal.short)


def _decide(a: Fields) -> str:
    settings = DecisionSettings(
        open_at=float(a[5]),
        close_at=float(a[6]),
        reverse=a[7] == "1",
        sides=Sides(a[8]),
        max_bars=int(a[9]),
        stop_points=_off(a[10]),
        stop_ranges=_off(a[11]),
        take_points=_off(a[12]),
        take_ranges=_off(a[13]),
    )
    signal = Signal(
        time=0,
        sha256="",
        kind="shares",
        values=(),
        long=float(a[0]),
        short=float(a[1]),
        problem=a[2] or None,
    )
    holding = None
    if a[3] != "none":
        holding = Holding(ticket=1, side=Side(a[3]), volume=0.1, bars=int(a[4]))
    declined = None if a[15] == "none" else Side(a[15])
    made = decide(signal, holding, settings, range_points=float(a[14]), declined=declined)
    levels = (made.stop_points, made.take_points)
    return _text(made.action, made.side or "none", *("-" if p is None else p for p in levels))


def _care(a: Fields) -> str:
    settings = ManageSettings(
        trail_points=_off(a[6]),
        trail_ranges=_off(a[7]),
        trail_after_points=float(a[8]),
        trail_step_points=float(a[9]),
        breakeven_after_points=_off(a[10]),
        breakeven_plus_points=float(a[11]),
        partial_at_points=_off(a[12]),
        partial_share=float(a[13]),
    )
    kept = Kept(
        side=Side(a[0]),
        opened=float(a[1]),
        sl=float(a[2]),
        best=float(a[3]),
        close=float(a[4]),
        is_reduced=a[5] == "1",
    )
    needed = care(kept, settings, range_points=float(a[14]), point=float(a[15]))
    return _text("-" if needed.sl is None else needed.sl, needed.close_share)


def _baselines(a: Fields) -> str:
    known: Baselines | None = None
    for each in a[0].split(";"):
        kind, time, equity, money = each.split()
        if kind == "pay":
            assert known is not None
            known = known.shifted(float(equity))
            continue
        if known is None:
            known = first_baselines(float(time), float(equity))
        known = known.advanced(float(time), float(equity), float(money))
    assert known is not None
    return f"{known.day} " + _text(
        known.day_equity,
        known.peak_equity,
        known.day_low,
        known.day_balance,
        known.first_of_week,
        known.week_low,
        known.deposits,
    )


def _shares(a: Fields) -> str:
    first, low, week, week_low, peak, equity = map(float, a)
    known = Baselines(
        day=1,
        day_equity=first,
        peak_equity=peak,
        day_low=low,
        week_equity=week,
        week_low=week_low,
    )
    return _text(
        known.day_loss_share(equity), known.week_loss_share(equity), known.drawdown_share(equity)
    )


def _prop(a: Fields) -> str:
    start, paid, balance, first, low, equity = map(float, a[:6])
    known = Baselines(
        day=1,
        day_equity=first,
        peak_equity=first,
        day_low=low,
        day_balance=balance,
        deposits=paid,
    )
    terms = PropFirmSettings(start_balance=start, daily_from=DayStart(a[6]))
    return _text(*(gauge.used for gauge in prop_gauges(seen_now(known, equity), terms)))


def _halting(a: Fields) -> str:
    peak, low, paid, start, equity = map(float, a)
    known = Baselines(day=1, day_equity=peak, peak_equity=peak, day_low=low, deposits=paid)
    limits = LimitSettings(
        max_drawdown_share=0.25,
        prop_firm=PropFirmSettings(start_balance=start, total_loss_share=0.1) if start else None,
    )
    gauges = account_gauges(seen_now(known, equity), 0, limits)
    return next((each.name for each in gauges if each.halts and not each.ok), "")


def _streak(a: Fields) -> str:
    found = Streak()
    for one in a[0].split(";"):
        day, net = one.split()
        found = found.after(int(day), float(net))
    return f"{found.losses} {found.longest_on(int(a[1]))}"


def _fault_of_bars(a: Fields) -> str:
    rows = [row.split() for row in a[0].split(";")]
    rates = rates_of((int(row[0]), *map(float, row[1:5]), 0, int(row[5]), 0) for row in rows)
    try:
        check_rates(rates, what="x")
    except DataError as error:
        return str(error).removeprefix("x: ").partition(";")[0]
    return ""


def _lease(a: Fields) -> str:
    """Let the daemon take the lock in a folder of its own, and tell its name."""
    symbol, magic, login, server = a
    strategy = {"model": "m", "symbol": symbol, "timeframe": "H1", "magic": int(magic)}
    terminal = {"login": int(login), "server": server}
    settings = BridgeSettings.model_validate(
        {"mode": "live", "terminal": terminal, "strategy": [strategy]}
    )
    _, words = tenure(account(login=int(login), server=server), settings)
    with TemporaryDirectory() as folder:
        with leased(Path(folder), [words]):
            (lock,) = Path(folder).iterdir()
        return lock.stem


def _entry(a: Fields) -> str:
    given = dict(pair.split("=") for pair in a[0].split())
    number = {key: float(value) for key, value in given.items() if _is_number(value)}
    ruling = check(_request(given), _facts(given, number), _bounds(given, number))
    denial = ruling.denial
    return ("" if denial is None else denial.rule) + (" halts" if ruling.halts else "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _request(given: dict[str, str]) -> Request:
    level = {key: given.get(key, plain) for key, plain in (("sl", "1.083"), ("tp", "1.087"))}
    found = {key: None if value == "none" else float(value) for key, value in level.items()}
    return Request(
        purpose=Purpose.ENTRY,
        action=mt5.TRADE_ACTION_DEAL,
        symbol="EURUSD",
        magic=7,
        type=mt5.ORDER_TYPE_SELL if given.get("side") == "short" else mt5.ORDER_TYPE_BUY,
        volume=0.1,
        price=1.085,
        sl=found["sl"],
        tp=found["tp"],
    )


def _facts(given: dict[str, str], number: dict[str, float]) -> Facts:
    held = int(number.get("positions", 0))
    return Facts(
        account=account(
            number.get("equity", 10_000.0),
            margin_mode=mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING,
            trade_allowed=given.get("trade_allowed") != "0",
            trade_expert=given.get("trade_expert") != "0",
        ),
        symbol=symbol_info(
            trade_mode=int(number.get("trade_mode", 4)),
            trade_stops_level=int(number.get("stops_level", 0)),
        ),
        tick=tick(number.get("bid", 1.085), number.get("ask", 1.08512)),
        positions=tuple(position(volume=number.get("lots", 0.0)) for _ in range(held)),
        baselines=Baselines(
            day=17_245,
            day_equity=10_000.0,
            peak_equity=number.get("peak", 10_000.0),
            day_low=number.get("day_low", 10_000.0),
            day_balance=number.get("day_balance", 10_000.0),
            week_equity=10_000.0,
            week_low=number.get("week_low", 10_000.0),
        ),
        state=TradingState(given.get("state", "active")),
        unresolved=frozenset(range(int(number.get("unresolved", 0)))),
        alarms=frozenset({given["alarms"]} if "alarms" in given else ()),
        server_time=number.get("time", 1_490_000_000.0),
        recent_entries=int(number.get("recent", 0)),
        losses=int(number.get("losses", 0)),
        quote_age=number.get("quote_age", 0.0),
        bar_age=number.get("bar_age", 0.0),
    )


def _bounds(given: dict[str, str], number: dict[str, float]) -> Bounds:
    limit = {key: value or None for key, value in number.items()}
    prop = limit.get("prop")
    limits = LimitSettings(
        daily_loss_share=None,
        max_drawdown_share=None,
        max_orders_per_minute=_count(limit.get("max_orders", 60)),
        max_quote_age_seconds=limit.get("max_quote_age", 60.0),
        prop_firm=None if prop is None else PropFirmSettings(start_balance=prop),
    )
    risk = RiskSettings(
        require_stop=given.get("require_stop") != "0",
        max_positions=int(number.get("max_positions", 1)),
        max_spread_points=limit.get("max_spread", 30.0),
        daily_loss_share=limit.get("daily", 0.05),
        weekly_loss_share=limit.get("weekly"),
        max_losses_in_row=_count(limit.get("max_losses")),
    )
    days, windows = given.get("weekdays"), given.get("windows")
    hours: dict[str, Any] = {
        "weekdays": None if days is None else tuple(days.split(";")),
        "windows": None if windows is None else tuple(windows.split(";")),
        "rollover": given.get("rollover"),
        "friday_until": given.get("friday"),
    }
    return Bounds(risk, limits, HoursSettings.model_validate(hours))


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


def _retcode(a: Fields) -> str:
    found = retcode(int(a[0]))
    return f"{found.outcome} {'again' if found.retry else 'once'}"


TWINS: dict[str, Callable[[Fields], str]] = {
    "round_even": lambda a: _text(round(float(a[0]))),
    "to_tick": _to_tick,
    "floor_to_step": _floor_to_step,
    "fixed_volume": _fixed_volume,
    "volume_for_risk": _volume_for_risk,
    "filling": _filling,
    "stop_price": _stop_price,
    "wide": _wide,
    "level_fault": _level_fault,
    "widened": _widened,
    "range_points": _range_points,
    "bars_since": _bars_since,
    "open_of": _open_of,
    "in_span": lambda a: _yes(is_in_span(int(a[0]), a[1])),
    "weekend": _weekend,
    "decode": _decode,
    "decide": _decide,
    "care": _care,
    "baselines": _baselines,
    "shares": _shares,
    "prop": _prop,
    "entry": _entry,
    "halting": _halting,
    "streak": _streak,
    "bars": _fault_of_bars,
    "lease": _lease,
    "same_symbol": lambda a: _yes(_same_symbol(a[0], a[1], a[2] or None)),
    "retcode": _retcode,
}
"""Name of a vector's function -> the daemon's answer to its arguments."""
