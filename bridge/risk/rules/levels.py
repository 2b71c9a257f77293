"""Rules about an entry's levels: a stop loss is there, and both lie where the broker takes them."""

from bridge.mt5.request import Request
from bridge.mt5.sides import BY_ORDER_TYPE
from bridge.risk.facts import Bounds, Facts
from bridge.risk.ruling import Verdict


def stop(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A stop loss goes along to the server, on the losing side, far enough from the price."""
    if request.sl is None:
        return Verdict("stop", not bounds.risk.require_stop, "no stop loss", "one on the server")
    return _distance("stop", request.sl, request, facts, towards=-1)


def take(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A take profit lies on the winning side, far enough from the price."""
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
