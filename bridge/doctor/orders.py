"""What the broker would say to an entry: how it is filled, where its levels are, how big it is."""

from bridge.doctor.finding import Finding, fail, ok, warn
from bridge.doctor.ground import Subject
from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.mt5.sides import Side
from bridge.risk.volume import floor_to_step
from bridge.settings import DecisionSettings
from bridge.trade.build import filling_of, stop_price, to_tick
from bridge.trade.size import size_entry

_SETTINGS = 2
_FILLINGS = {
    mt5.ORDER_FILLING_FOK: "fill or kill",
    mt5.ORDER_FILLING_IOC: "immediate or cancel",
    mt5.ORDER_FILLING_RETURN: "return",
}
_MASK = {1: "fill or kill", 2: "immediate or cancel", 4: "book or cancel"}
_EXECUTIONS = {
    mt5.SYMBOL_TRADE_EXECUTION_REQUEST: "request",
    mt5.SYMBOL_TRADE_EXECUTION_INSTANT: "instant",
    mt5.SYMBOL_TRADE_EXECUTION_MARKET: "market",
    mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE: "exchange",
}


def filling(of: Subject) -> Finding:
    """Say how orders are filled, and what the symbol allows."""
    symbol = of.read_symbol()
    allowed = [words for bit, words in _MASK.items() if symbol.filling_mode & bit]
    execution = _EXECUTIONS.get(symbol.trade_exemode, f"unknown ({symbol.trade_exemode})")
    found = (
        f"{of.name}: {execution} execution, orders go as {_FILLINGS[filling_of(symbol)]}, "
        f"the symbol allows {', '.join(allowed) or 'none by name'}"
    )
    # Only there does the mask decide; an exchange takes RETURN, the others take all.
    if symbol.trade_exemode == mt5.SYMBOL_TRADE_EXECUTION_MARKET and not symbol.filling_mode & 3:
        return warn(found, "try one order on a demo account: it may be refused with 10030")
    return ok(found)


def stops(of: Subject) -> Finding:
    """Compare the distances of stop and take profit with the nearest that the broker takes."""
    symbol, decision = of.read_symbol(), of.strategy.decision
    stop = of.read_distance(decision.stop_points, decision.stop_ranges)
    take = of.read_distance(decision.take_points, decision.take_ranges)
    found = (
        f"{_points('stop', stop, decision.stop_ranges)}, "
        f"{_points('take profit', take, decision.take_ranges)}; stops level "
        f"{symbol.trade_stops_level} points, freeze level {symbol.trade_freeze_level} points"
    )
    if stop is None and of.settings.risk.require_stop:
        todo = "set stop_points or stop_ranges under [strategy.decision], or require_stop = false"
        return fail(_SETTINGS, f"{found}; every entry is refused, since it needs a stop", todo)
    # A level is measured from the price at which the position closes, a spread from the entry.
    tick = of.read_tick()
    spread = (tick.ask - tick.bid) / symbol.point
    near = [
        name
        for name, points in (
            ("stop", None if stop is None else stop - spread),
            ("take profit", None if take is None else take + spread),
        )
        if points is not None and points < max(symbol.trade_stops_level, 1) - 0.5
    ]
    if not near:
        return ok(found)
    return _too_near(near, f"{found}, spread {spread:.0f} points", symbol, decision)


def _too_near(
    near: list[str], found: str, symbol: SymbolInfo, decision: DecisionSettings
) -> Finding:
    said = f"{found}: the {' and the '.join(near)} would be too near"
    todo = "widen the distance under [strategy.decision]"
    least = max(symbol.trade_stops_level, 1)
    fixed = (decision.stop_points, decision.take_points)
    # A spread or a range may be another one at the next bar; a distance in points stays.
    if any(points is not None and points < least for points in fixed):
        return fail(_SETTINGS, said, todo)
    return warn(said, f"{todo}; a wider range or a smaller spread lets entries through")


def volume(of: Subject) -> Finding:
    """Compare the volume of an entry with what the symbol takes and with the risk allowed."""
    if of.settings.risk.volume is not None:
        return _fixed(of, of.settings.risk.volume)
    return _by_risk(of)


def _fixed(of: Subject, lots: float) -> Finding:
    symbol, most = of.read_symbol(), of.settings.risk.max_volume
    found = (
        f"{lots:g} lots; {of.name} takes {symbol.volume_min:g} to {symbol.volume_max:g} in steps "
        f"of {symbol.volume_step:g}"
    )
    sent = floor_to_step(symbol, lots)
    if sent < symbol.volume_min:
        return fail(_SETTINGS, found, f"write volume = {symbol.volume_min:g} or more")
    if sent > most:
        todo = f"lower volume, or raise max_volume, which is {most:g}"
        return fail(_SETTINGS, f"{found}; every entry is refused, since it is too big", todo)
    if abs(sent - lots) > symbol.volume_step / 10:
        return warn(f"{found}; {sent:g} are sent", f"write volume = {sent:g}")
    return ok(found)


def _by_risk(of: Subject) -> Finding:
    terminal, symbol, decision = of.site.terminal, of.read_symbol(), of.strategy.decision
    stop = of.read_distance(decision.stop_points, decision.stop_ranges)
    account, tick = terminal.account_info(), of.read_tick()
    sizings = {
        side: size_entry(
            terminal,
            side=side,
            stop_points=stop,
            account=account,
            symbol=symbol,
            tick=tick,
            settings=of.settings.risk,
        )
        for side in of.sides
    }
    least = min(sizings, key=lambda side: sizings[side].volume)
    if sizings[least].volume > 0.0:
        return ok(f"{sizings[least].words} {account.currency}")
    if stop is None or not account.equity > 0.0:
        todo = "set a stop, or a fixed volume" if stop is None else "pay money into the account"
        return fail(_SETTINGS, sizings[least].words, todo)
    found = _too_much(of, least, stop)
    todo = "raise risk_share, narrow the stop, or trade a bigger account"
    # With a stop in ranges a quieter market may bring it within reach.
    return fail(_SETTINGS, found, todo) if decision.stop_points else warn(found, todo)


def _too_much(of: Subject, side: Side, stop_points: float) -> str:
    terminal, symbol, tick = of.site.terminal, of.read_symbol(), of.read_tick()
    entry = to_tick(side.opening_price(tick), symbol)
    stop = stop_price(side, stop_points, symbol, tick)
    lots, account = symbol.volume_min, terminal.account_info()
    loss = -terminal.order_calc_profit(side.opening_type, symbol.name, lots, entry, stop)
    share = of.settings.risk.risk_share or 0.0
    return (
        f"{lots:g} lots lose {loss:.2f} {account.currency} at the stop, "
        f"{100 * share:g} % of equity is {share * account.equity:.2f} {account.currency}"
    )


def _points(name: str, points: float | None, ranges: float | None) -> str:
    if points is None:
        return f"no {name}"
    return f"{name} {points:.0f} points" + (f" ({ranges:g} ranges now)" if ranges else "")
