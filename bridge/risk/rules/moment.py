"""Rules about the moment: trading state, quote, bar, and what broker and account allow now."""

import math

from bridge.mt5 import constants as mt5
from bridge.mt5.request import Request
from bridge.risk.facts import Bounds, Facts, TradingState
from bridge.risk.ruling import Verdict, shown

LONGEST_AHEAD = 900.0
"""Seconds by which a tick may be ahead of the server's clock: so much may a computer's clock be
late; more says that the clock rule is wrong."""

_OPENABLE = {
    mt5.SYMBOL_TRADE_MODE_LONGONLY: (mt5.ORDER_TYPE_BUY,),
    mt5.SYMBOL_TRADE_MODE_SHORTONLY: (mt5.ORDER_TYPE_SELL,),
    mt5.SYMBOL_TRADE_MODE_FULL: (mt5.ORDER_TYPE_BUY, mt5.ORDER_TYPE_SELL),
}


def state(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened while entries are reduced or halted."""
    ok = facts.state is TradingState.ACTIVE
    return Verdict("state", ok, facts.state, TradingState.ACTIVE)


def alarms(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened while the watch has an alarm."""
    return Verdict("alarms", not facts.alarms, ", ".join(sorted(facts.alarms)) or "none", "none")


def unresolved_entry(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened while an order's fate is unknown."""
    count = len(facts.unresolved)
    return Verdict("unresolved", count == 0, f"{count} orders of unknown fate", "0")


def unresolved_ticket(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A position is left alone while an order on it has an unknown fate."""
    ok = request.position not in facts.unresolved
    return Verdict("unresolved", ok, f"ticket {request.position}", "no order of unknown fate on it")


def quote(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is sent without a bid and an ask."""
    bid, ask = facts.tick.bid, facts.tick.ask
    ok = 0.0 < bid <= ask < math.inf
    return Verdict("quote", ok, f"bid {bid:g}, ask {ask:g}", "0 < bid <= ask")


def quote_age(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on an old quote, or on one of a future that no late clock explains."""
    age, limit = facts.quote_age, bounds.limits.max_quote_age_seconds
    ok = limit is None or -LONGEST_AHEAD <= age <= limit
    return Verdict("quote_age", ok, f"the quote is {age:.1f} s old", shown(limit, "s"))


def bar_age(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened on a bar that closed long ago."""
    age, limit = facts.bar_age, bounds.limits.max_bar_age_seconds
    ok = limit is None or age <= limit
    return Verdict("bar_age", ok, f"the bar closed {age:.1f} s ago", shown(limit, "s"))


def account(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """The account may trade, and by a program."""
    allowed, expert = facts.account.trade_allowed, facts.account.trade_expert
    value = f"trade_allowed {allowed}, trade_expert {expert}"
    return Verdict("account", allowed and expert, value, "both true")


def trade_mode(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """The symbol may be opened, and on this side."""
    mode = facts.symbol.trade_mode
    ok = request.type in _OPENABLE.get(mode, ())
    return Verdict("trade_mode", ok, f"order type {request.type}", f"trade mode {mode}")


def spread(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """Nothing is opened at a wide spread."""
    points = (facts.tick.ask - facts.tick.bid) / facts.symbol.point
    limit = bounds.risk.max_spread_points
    # Half a point absorbs the rounding of a difference of two prices.
    ok = limit is None or points < limit + 0.5
    return Verdict("spread", ok, f"{points:.1f} points", shown(limit, "points"))
