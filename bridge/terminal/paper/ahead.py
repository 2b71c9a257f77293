"""The coming bars at once: what the account is worth at each, as long as nothing of it happens.

It is the walk of ``protection`` over the bars of one symbol, in numpy and without an event: where
a level is reached, or the account is stopped out, it ends. Same prices, same order of arithmetic,
same rounding: each number is the one that the walk would give.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from bridge.terminal.paper.barseries import BarSeries
from bridge.terminal.paper.convert import units
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.margin import per_price
from bridge.terminal.paper.protection import watches

Doubles = NDArray[np.float64]

# Distance from a whole number above which the exact function is asked, units of the last decimal.
_NEAR_HALF = 0.5 - 1e-4
_PERCENT = 0


@dataclass(frozen=True, slots=True)
class Ahead:
    """The coming opens of bars at which nothing happens by itself.

    Attributes:
        count: How many.
        equity: Account equity at each, shape ``(count,)``; None: it stays as it is.
        lows: Lowest equity in the bar that ends before each, likewise; None: no position is open.
    """

    count: int
    equity: Doubles | None = None
    lows: Doubles | None = None


def foresee(desk: Desk, most: int) -> Ahead | None:
    """Return what can be said of the next ``most`` opens of bars; None when nothing can."""
    if desk.ledger.waiting or not desk.script.is_empty:
        return None
    if not watches(desk):
        return Ahead(most)
    series = desk.market.walked[0]
    if len(desk.market) > 1 or not isinstance(series, BarSeries):
        return None
    is_at_open = series.is_at_open(desk.market.now)
    if not is_at_open or desk.money.own_rate(series.info, series.bid) is None:
        return None
    return _seen(desk, series, most)


def _seen(desk: Desk, series: BarSeries, most: int) -> Ahead:
    bars = slice(series.index, series.index + most + 1)
    bids = asks = series.path(bars)
    if any(one.type for one in desk.ledger.positions.values()):  # nobody else looks at asks
        asks = series.asks_of(bids, bars)
    count = _untouched(series, bids, asks)
    # In one row: numpy takes longer over several.
    bids, asks = bids[:, : count + 1].ravel(), asks[:, : count + 1].ravel()
    at_open, at_low, at_high = _equities(desk, bids, asks).reshape(3, -1)
    is_judged = series.glides or series.judged == desk.ledger.revision
    # Otherwise the close is judged, too, since something happened at the open.
    at_open[0] = series.worst if is_judged else min(at_open[0], series.worst)
    worst = at_open[:-1]
    if series.glides:
        worst = np.minimum(worst, (at_low if series.net >= 0 else at_high)[:-1])
    count = _before(np.minimum(worst, at_open[1:]) <= _stop_out_level(desk))
    return Ahead(count, at_open[1 : count + 1], worst[:count])


def _before(found: NDArray[np.bool_]) -> int:
    """Return how many places come before the first that is true."""
    places = found.nonzero()[0]
    return int(places[0]) if places.size else found.size


def _untouched(series: BarSeries, bids: Doubles, asks: Doubles) -> int:
    """Return how many bars pass until a price in one, or the open behind it, reaches a level."""
    floor, ceiling, floor_of_ask, ceiling_of_ask = series.levels
    row = bids.ravel()
    found = (row <= floor) | (row >= ceiling)
    if floor_of_ask > -inf or ceiling_of_ask < inf:
        row = asks.ravel()
        found |= (row <= floor_of_ask) | (row >= ceiling_of_ask)
    found = found.reshape(3, -1)
    touched = found[0, 1:]
    if series.glides:
        touched = touched | found[1, :-1] | found[2, :-1]
    return _before(touched)


def _stop_out_level(desk: Desk) -> float:
    """Return the equity at or below which positions are closed. Twin of ``exits._is_out``."""
    terms, margin = desk.terms, desk.margin()
    if terms.margin_so_mode != _PERCENT:
        return terms.margin_so_so
    return margin * terms.margin_so_so / 100 if margin > 0 else -inf


def _equities(desk: Desk, bids: Doubles, asks: Doubles) -> Doubles:
    """Return the account's equity at prices of the one symbol that it holds.

    Args:
        desk: The account.
        bids: Shape ``(n,)``.
        asks: Likewise; of no interest when nothing is sold.
    """
    ledger, scale = desk.ledger, 10.0**desk.terms.currency_digits
    # Money is a whole number of units, of which sums are exact.
    total: Doubles | float = float(units(ledger.balance, scale))
    for position in ledger.positions.values():
        profits = _profits(desk, position, asks if position.type else bids, scale)
        total = profits + (total + units(position.swap, scale))
    made: Doubles = np.asarray(total) / scale
    return made


def _profits(desk: Desk, position: Position, closed: Doubles, scale: float) -> Doubles:
    """Return a position's profit in units. Twin of ``Money.profit``, in its order of arithmetic."""
    info = desk.symbols[position.symbol]
    opened = position.price_open
    moved = opened - closed if position.type else closed - opened
    value = moved * per_price(info) * position.volume
    rate = desk.money.own_rate(info, closed)
    return units_of_all(value * (np.nan if rate is None else rate), scale)


def units_of_all(values: Doubles, scale: float) -> Doubles:
    """Return each value in units. Twin of ``convert.units``."""
    scaled = values * scale
    whole: Doubles = np.rint(scaled)
    for place in (np.abs(scaled - whole) > _NEAR_HALF).nonzero()[0]:
        whole[place] = units(float(values[place]), scale)
    return whole


def pass_over(desk: Desk, ahead: Ahead, count: int) -> None:
    """Leave the account as the walk would at the ``count``-th of the opens ahead."""
    if ahead.equity is None or ahead.lows is None or not count:
        return
    series = desk.market.walked[0]
    if not isinstance(series, BarSeries):
        return
    first = series.index
    oldest = max(0, count - (desk.ledger.lows.maxlen or count))
    ends = series.ends(slice(first + oldest, first + count))
    desk.ledger.lows.extend(zip(ends, ahead.lows[oldest:count].tolist(), strict=True))
    series.jump(first + count)
    series.worst, series.judged = float(ahead.equity[count - 1]), desk.ledger.revision
    desk.market.now = max(desk.market.now, series.time)
