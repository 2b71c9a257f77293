"""Rules about how much is held: positions and volume, of a strategy and of all together."""

import math

from bridge.mt5.records import TradePosition
from bridge.mt5.request import Request
from bridge.risk.facts import Bounds, Facts
from bridge.risk.ruling import Verdict


def positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A strategy has so many positions at a time."""
    count = len(_held(request, facts)) + 1
    limit = bounds.risk.max_positions
    return Verdict("positions", count <= limit, f"{count} with this one", f"{limit}")


def account_positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """All strategies together have so many positions at a time."""
    count, limit = facts.total_positions + 1, bounds.limits.max_positions
    ok = limit is None or count <= limit
    value = f"{count} of all strategies with this one"
    return Verdict("account_positions", ok, value, "off" if limit is None else f"{limit}")


def volume(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A strategy holds so many lots, long and short added up."""
    held = sum(position.volume for position in _held(request, facts))
    total, limit = held + (request.volume or math.nan), bounds.risk.max_volume
    # A tenth of a step absorbs the rounding of sums such as 0.1 + 0.2.
    ok = total <= limit + facts.symbol.volume_step / 10
    return Verdict("volume", ok, f"{total:g} lots with this one", f"{limit:g} lots")


def _held(request: Request, facts: Facts) -> tuple[TradePosition, ...]:
    return tuple(position for position in facts.positions if position.magic == request.magic)
