"""Rules about how much is held: positions, volume, currencies; of a strategy and of all together.

On a netting account a symbol has one position, whoever opened it, so that it counts as a whole.
"""

import math
from collections.abc import Iterable

from bridge.mt5.constants import ACCOUNT_MARGIN_MODE_RETAIL_HEDGING
from bridge.mt5.records import TradePosition
from bridge.mt5.request import Request
from bridge.mt5.sides import BY_ORDER_TYPE
from bridge.risk.exposure import Exposure, exposure_of, net_exposure
from bridge.risk.facts import Bounds, Facts
from bridge.risk.ruling import Verdict, off

# Far above the noise of sums and products of doubles, far below what anybody limits.
_SLACK = 1e-9


def positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A strategy has so many positions at a time."""
    count = len(_held(request, facts)) + 1
    limit = bounds.risk.max_positions
    return Verdict("positions", count <= limit, f"{count} with this one", f"{limit}")


def account_positions(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """All strategies together have so many positions at a time."""
    count, limit = len(facts.own_positions) + 1, bounds.limits.max_positions
    if limit is None:
        return off("account_positions")
    value = f"{count} of all strategies with this one"
    return Verdict("account_positions", count <= limit, value, f"{limit}")


def volume(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """A strategy holds so many lots, long and short added up."""
    held, limit = _lots(_held(request, facts)), bounds.risk.max_volume
    return _volume("volume", held, limit, request, facts)


def symbol_volume(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """All strategies together hold so many lots of a symbol, long and short added up."""
    limit = bounds.limits.max_symbol_volume
    if limit is None:
        return off("symbol_volume")
    own = [each for each in facts.own_positions if each.symbol == request.symbol]
    held = _lots(facts.positions if _is_netting(facts) else own)
    return _volume("symbol_volume", held, limit, request, facts)


def currency_exposure(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """All strategies together hold so much of a currency, net, as a multiple of equity.

    Only what the order adds to counts: one that makes an exposure smaller passes.
    """
    limit = bounds.limits.max_currency_exposure
    if limit is None:
        return off("currency_exposure")
    words = f"{limit:g} times the equity"
    held, added = net_exposure(facts.own_positions, facts.terms), _added(request, facts)
    if held is None or added is None:
        value = "can't be computed: the terminal shows no currencies or no tick value"
        return Verdict("currency_exposure", False, value, words)
    grown = [
        (abs(held.get(currency, 0.0) + value), currency)
        for currency, value in added.items()
        if abs(held.get(currency, 0.0) + value) > abs(held.get(currency, 0.0))
    ]
    most, currency = max(grown, default=(0.0, "no currency"))
    equity = facts.account.equity
    ok = most == 0.0 or (equity > 0.0 and most <= limit * equity * (1.0 + _SLACK))
    times = most / equity if equity > 0.0 else math.inf
    return Verdict("currency_exposure", ok, f"{times:.3g} times in {currency} with this one", words)


def orders_per_minute(request: Request, facts: Facts, bounds: Bounds) -> Verdict:
    """All strategies together send so many entries a minute."""
    count, limit = facts.recent_entries + 1, bounds.limits.max_orders_per_minute
    if limit is None:
        return off("orders_per_minute")
    value = f"{count} entries in 60 s with this one"
    return Verdict("orders_per_minute", count <= limit, value, f"{limit}")


def _volume(rule: str, held: float, limit: float, request: Request, facts: Facts) -> Verdict:
    total = held + (request.volume or math.nan)
    # A tenth of a step absorbs the rounding of sums such as 0.1 + 0.2.
    ok = total <= limit + facts.symbol.volume_step / 10
    return Verdict(rule, ok, f"{total:g} lots with this one", f"{limit:g} lots")


def _added(request: Request, facts: Facts) -> Exposure | None:
    side = BY_ORDER_TYPE[request.type if request.type is not None else -1]
    price, lots = request.price or math.nan, request.volume or math.nan
    return exposure_of(facts.symbol, side, lots, price)


def _held(request: Request, facts: Facts) -> tuple[TradePosition, ...]:
    if _is_netting(facts):
        return facts.positions
    return tuple(position for position in facts.positions if position.magic == request.magic)


def _is_netting(facts: Facts) -> bool:
    return facts.account.margin_mode != ACCOUNT_MARGIN_MODE_RETAIL_HEDGING


def _lots(held: Iterable[TradePosition]) -> float:
    return sum(position.volume for position in held)
