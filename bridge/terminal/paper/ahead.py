"""The coming bars at once: what the account is worth at each, as long as nothing of it happens.

It is the walk of ``protection`` over the bars of one symbol, in numpy and without an event: where
a level is reached, or the account is stopped out, it ends. Same prices, same order of arithmetic,
same rounding: each number is the one that the walk would give.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from bridge.terminal.paper.barseries import BarSeries
from bridge.terminal.paper.convert import rounded
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.margin import per_price
from bridge.terminal.paper.protection import watches

Doubles = NDArray[np.float64]

# Distance from a half below which the exact function is asked, units of the last decimal.
_NEAR = 1e-4
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
    others = sum(1 for _ in desk.market) > 1
    if others or not isinstance(series, BarSeries) or not series.is_at_open(desk.market.now):
        return None
    held = desk.ledger.positions.values()
    if any(_rate(desk, one, np.ones(1)) is None for one in held):
        return None
    return _seen(desk, series, most)


def _seen(desk: Desk, series: BarSeries, most: int) -> Ahead:
    bars = series.stretch(series.index, series.index + most + 1)
    count = len(bars.open) - 1
    ask = bars.ask_of(bars.open)
    levels, low, high = series.levels, bars.low[:-1], bars.high[:-1]
    touched = _touched(levels, (bars.open[1:], bars.open[1:]), lambda: (ask[1:], ask[1:]))
    if series.glides:
        touched |= _touched(levels, (low, high), lambda: (bars.ask_of(low), bars.ask_of(high)))
    count = _before(touched, count)
    extremes = (low if series.net >= 0 else high)[: count if series.glides else 0]
    # At once: to call numpy takes longer than a few bars more.
    bids = np.concatenate((bars.open[: count + 1], extremes))
    asks = np.concatenate((ask[: count + 1], bars.ask_of(extremes)))
    at_open, at_extremes = np.split(equities(desk, bids, asks), [count + 1])
    worst = at_open[:-1].copy()
    if series.glides:
        worst[:1] = series.worst
        worst = np.minimum(worst, at_extremes)
    elif series.judged == desk.ledger.revision:
        worst[:1] = series.worst
    else:  # the close is judged, too, since something happened at the open
        worst[:1] = np.minimum(worst[:1], series.worst)
    count = _before(_is_out(desk, np.minimum(worst, at_open[1:])), count)
    return Ahead(count, at_open[1 : count + 1], worst[:count])


def _before(found: NDArray[np.bool_], count: int) -> int:
    """Return how many places come before the first that is true; at most ``count``."""
    return min(count, int(found.argmax())) if found.any() else count


def _touched(
    levels: tuple[float, float, float, float],
    bids: tuple[Doubles, Doubles],
    asks: Callable[[], tuple[Doubles, Doubles]],
) -> NDArray[np.bool_]:
    """Return where prices from the lowest to the highest reach a level."""
    floor, ceiling, floor_of_ask, ceiling_of_ask = levels
    low, high = bids
    found = (low <= floor) | (high >= ceiling)
    if floor_of_ask > -inf or ceiling_of_ask < inf:
        low, high = asks()
        found |= (low <= floor_of_ask) | (high >= ceiling_of_ask)
    return found


def _is_out(desk: Desk, equity: Doubles) -> NDArray[np.bool_]:
    """Twin of ``exits._is_out``."""
    terms, margin = desk.terms, desk.margin()
    if terms.margin_so_mode == _PERCENT:
        if margin <= 0:
            return np.zeros(len(equity), dtype=bool)
        return equity <= margin * terms.margin_so_so / 100
    return equity <= terms.margin_so_so


def equities(desk: Desk, bid: Doubles, ask: Doubles) -> Doubles:
    """Return the account's equity at prices of the one symbol that it holds.

    Args:
        desk: The account.
        bid: Shape ``(n,)``.
        ask: Likewise.
    """
    floating = np.zeros(len(bid))
    for position in desk.ledger.positions.values():
        floating = floating + (_profit(desk, position, bid, ask) + position.swap)
    digits = desk.terms.currency_digits
    # Sums of whole cents: no half is near, whichever way it would be rounded.
    return rounded_all(desk.ledger.balance + rounded_all(floating, digits), digits)


def _profit(desk: Desk, position: Position, bid: Doubles, ask: Doubles) -> Doubles:
    """Twin of ``Money.profit``, in its order of arithmetic."""
    info = desk.symbols[position.symbol]
    closed = ask if position.type else bid
    value = (closed - position.price_open) * position.sign * per_price(info) * position.volume
    rate = _rate(desk, position, closed)
    return rounded_all(value * (np.nan if rate is None else rate), desk.terms.currency_digits)


def _rate(desk: Desk, position: Position, closed: Doubles) -> Doubles | float | None:
    return desk.money.own_rate(desk.symbols[position.symbol], closed)


def rounded_all(values: Doubles, digits: int) -> Doubles:
    """Return each value with ``digits`` decimals. Twin of ``convert.rounded``."""
    scale = float(10**digits)
    scaled = np.abs(values) * scale
    whole = np.floor(scaled + 0.5)
    made: Doubles = np.copysign(whole / scale, values) + 0.0
    near = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR
    for place in np.flatnonzero(near):
        made[place] = rounded(float(values[place]), digits)
    return made


def pass_over(desk: Desk, ahead: Ahead, count: int) -> None:
    """Leave the account as the walk would at the ``count``-th of the opens ahead."""
    if ahead.equity is None or ahead.lows is None or not count:
        return
    series = desk.market.walked[0]
    if not isinstance(series, BarSeries):
        return
    first = series.index
    newest = range(max(0, count - (desk.ledger.lows.maxlen or count)), count)
    for place in newest:
        desk.ledger.lows.append((series.end_of(first + place), float(ahead.lows[place])))
    series.jump(first + count)
    series.worst, series.judged = float(ahead.equity[count - 1]), desk.ledger.revision
    desk.market.now = max(desk.market.now, series.time)
