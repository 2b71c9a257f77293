"""The guard: the last stop before the terminal. It approves exactly what is sent.

Entries fail closed: every rule has to answer yes, and a rule that raises says no and halts.
A request that reduces risk is stopped only by an unresolved order on its own ticket or by a
missing quote.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.mt5.request import Request
from bridge.mt5.sides import BY_ORDER_TYPE
from bridge.risk.baselines import Baselines
from bridge.settings import LimitSettings, RiskSettings

LONGEST_AHEAD = 900.0
"""Seconds by which a tick may be ahead of the server's clock: so much may a computer's clock be
late; more says that the clock rule is wrong."""


class TradingState(StrEnum):
    """ACTIVE: all may be sent. REDUCING and HALTED: only what reduces risk."""

    ACTIVE = "active"
    REDUCING = "reducing"
    HALTED = "halted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the guard knows at the moment of the request.

    Attributes:
        positions: All open positions of the symbol, whoever opened them.
        baselines: What losses are measured from.
        state: Trading state of the strategy.
        unresolved: Tickets of positions with an order of unknown fate.
        alarms: What suspends entries at the moment.
        total_positions: Open positions of all strategies.
        quote_age: How old the tick is by the server's clock, seconds.
        bar_age: How long the decided bar had been closed, seconds.
    """

    account: AccountInfo
    symbol: SymbolInfo
    tick: Tick
    positions: tuple[TradePosition, ...]
    baselines: Baselines
    state: TradingState
    unresolved: frozenset[int] = frozenset()
    alarms: frozenset[str] = frozenset()
    total_positions: int = 0
    quote_age: float = 0.0
    bar_age: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that a request is held against.

    Attributes:
        risk: Of the strategy.
        limits: Of the whole account.
    """

    risk: RiskSettings
    limits: LimitSettings


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rule said.

    Attributes:
        value: What was measured, in words with its unit.
        limit: What it was held against.
        halts: Whether this answer ends all entries, not only this one.
    """

    rule: str
    ok: bool
    value: str
    limit: str
    halts: bool = False


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a request is not sent: the first rule that said no."""

    rule: str
    value: str
    limit: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.value}, limit {self.limit}"


@dataclass(frozen=True, slots=True)
class Ruling:
    """Every rule's answer to one request."""

    verdicts: tuple[Verdict, ...]

    @property
    def denial(self) -> Denial | None:
        """The first no, or None when the request may be sent."""
        for verdict in self.verdicts:
            if not verdict.ok:
                return Denial(verdict.rule, verdict.value, verdict.limit)
        return None

    @property
    def halts(self) -> bool:
        """Whether a rule asks for a halt."""
        return any(verdict.halts for verdict in self.verdicts)


Rule = Callable[[Request, Facts, Bounds], Verdict]


def check(request: Request, facts: Facts, bounds: Bounds) -> Ruling:
    """Ask every rule that applies to ``request``."""
    rules = _ENTRY_RULES if request.is_entry else _REDUCING_RULES
    return Ruling(tuple(_ask(name, rule, request, facts, bounds) for name, rule in rules.items()))


def _ask(name: str, rule: Rule, request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    try:
        return rule(request, facts, bounds)
    except Exception as error:  # noqa: BLE001  a broken rule lets no entry out and keeps no exit in
        ok = not request.is_entry
        return Verdict(name, ok, f"raised {type(error).__name__}: {error}", "none", halts=True)


def _state(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    ok = facts.state is TradingState.ACTIVE
    return Verdict("state", ok, facts.state, TradingState.ACTIVE)


def _alarms(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    return Verdict("alarms", not facts.alarms, ", ".join(sorted(facts.alarms)) or "none", "none")


def _unresolved_entry(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    count = len(facts.unresolved)
    return Verdict("unresolved", count == 0, f"{count} orders of unknown fate", "0")


def _unresolved_ticket(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    ok = request.position not in facts.unresolved
    return Verdict("unresolved", ok, f"ticket {request.position}", "no order of unknown fate on it")


def _quote(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    bid, ask = facts.tick.bid, facts.tick.ask
    ok = math.isfinite(bid) and math.isfinite(ask) and 0.0 < bid <= ask
    return Verdict("quote", ok, f"bid {bid:g}, ask {ask:g}", "0 < bid <= ask")


def _quote_age(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    age, limit = facts.quote_age, bounds.limits.max_quote_age_seconds
    ok = limit is None or -LONGEST_AHEAD <= age <= limit
    return Verdict("quote_age", ok, f"the quote is {age:.1f} s old", _shown(limit, "s"))


def _bar_age(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    age, limit = facts.bar_age, bounds.limits.max_bar_age_seconds
    ok = limit is None or age <= limit
    return Verdict("bar_age", ok, f"the bar closed {age:.1f} s ago", _shown(limit, "s"))


def _account_positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    count, limit = facts.total_positions + 1, bounds.limits.max_positions
    ok = limit is None or count <= limit
    value = f"{count} of all strategies with this one"
    return Verdict("account_positions", ok, value, "off" if limit is None else f"{limit}")


def _spread(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    points = (facts.tick.ask - facts.tick.bid) / facts.symbol.point
    limit = bounds.risk.max_spread_points
    # Half a point absorbs the rounding of a difference of two prices.
    ok = limit is None or points < limit + 0.5
    return Verdict("spread", ok, f"{points:.1f} points", _shown(limit, "points"))


def _own(request: Request, facts: Facts) -> tuple[TradePosition, ...]:
    return tuple(position for position in facts.positions if position.magic == request.magic)


def _positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    count = len(_own(request, facts)) + 1
    limit = bounds.risk.max_positions
    return Verdict("positions", count <= limit, f"{count} with this one", f"{limit}")


def _volume(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    held = sum(position.volume for position in _own(request, facts))
    total = held + (request.volume or math.nan)
    # A tenth of a step absorbs the rounding of sums such as 0.1 + 0.2.
    ok = total <= bounds.risk.max_volume + facts.symbol.volume_step / 10
    return Verdict(
        "volume", ok, f"{total:g} lots with this one", f"{bounds.risk.max_volume:g} lots"
    )


def _stop(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    if request.sl is None:
        return Verdict("stop", not bounds.risk.require_stop, "no stop loss", "one on the server")
    return _distance("stop", request.sl, request, facts, towards=-1)


def _take(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    if request.tp is None:
        return Verdict("take", True, "no take profit", "none")
    return _distance("take", request.tp, request, facts, towards=1)


def _distance(rule: str, level: float, request: Request, facts: Facts, towards: int) -> Verdict:
    """Measure a level from the price at which the position closes, in its own direction."""
    side = BY_ORDER_TYPE[request.type if request.type is not None else -1]
    closing = side.closing_price(facts.tick)
    points = towards * side.sign * (level - closing) / facts.symbol.point
    limit = max(facts.symbol.trade_stops_level, 0)
    # The level has to lie beyond the price; half a point absorbs the rounding of the difference.
    ok = points > max(limit - 0.5, 0.5)
    value = f"{level:g} is {points:.1f} points beyond {closing:g}"
    return Verdict(rule, ok, value, f"at least {max(limit, 1)} points")


def _trade_mode(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    mode = facts.symbol.trade_mode
    ok = request.type in _OPENABLE.get(mode, ())
    return Verdict("trade_mode", ok, f"order type {request.type}", f"trade mode {mode}")


def _allowed(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    allowed, expert = facts.account.trade_allowed, facts.account.trade_expert
    value = f"trade_allowed {allowed}, trade_expert {expert}"
    return Verdict("account", allowed and expert, value, "both true")


def _daily_loss(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    share, limit = (
        facts.baselines.day_loss_share(facts.account.equity),
        bounds.risk.daily_loss_share,
    )
    return Verdict("daily_loss", _below(share, limit), f"{share:.2%} lost today", _percent(limit))


def _drawdown(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    share, limit = (
        facts.baselines.drawdown_share(facts.account.equity),
        bounds.risk.max_drawdown_share,
    )
    ok, value = _below(share, limit), f"{share:.2%} below the peak"
    return Verdict("drawdown", ok, value, _percent(limit), halts=not ok)


def _below(share: float, limit: float | None) -> bool:
    return limit is None or share < limit


def _percent(limit: float | None) -> str:
    return "off" if limit is None else f"{limit:.2%}"


def _shown(limit: float | None, unit: str) -> str:
    return "off" if limit is None else f"{limit:g} {unit}"


_OPENABLE = {
    mt5.SYMBOL_TRADE_MODE_LONGONLY: (mt5.ORDER_TYPE_BUY,),
    mt5.SYMBOL_TRADE_MODE_SHORTONLY: (mt5.ORDER_TYPE_SELL,),
    mt5.SYMBOL_TRADE_MODE_FULL: (mt5.ORDER_TYPE_BUY, mt5.ORDER_TYPE_SELL),
}

_ENTRY_RULES: dict[str, Rule] = {
    "state": _state,
    "alarms": _alarms,
    "unresolved": _unresolved_entry,
    "quote": _quote,
    "quote_age": _quote_age,
    "bar_age": _bar_age,
    "account": _allowed,
    "trade_mode": _trade_mode,
    "spread": _spread,
    "positions": _positions,
    "account_positions": _account_positions,
    "volume": _volume,
    "stop": _stop,
    "take": _take,
    "daily_loss": _daily_loss,
    "drawdown": _drawdown,
}
_REDUCING_RULES: dict[str, Rule] = {
    "unresolved": _unresolved_ticket,
    "quote": _quote,
}
