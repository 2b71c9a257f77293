"""What happens by itself while time passes: stops, targets, swap, stop-out.

Events are walked in order of time; without a position or an order there is nothing to walk.

A price that jumps (the open of a bar, a tick) fills what it has jumped over where it is: a stop
slips, a target gains. A price that glides (from the open to an extreme, the other one, the close)
fills what lies on its way at its level, in the order in which it comes by.

Stop-out is judged after each jump, and where the price is worst for the volume held, which is the
first extreme of a bar. When something was filled since, the rest of the bar's points are judged,
too.
"""

from itertools import takewhile
from math import inf

from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import DAY
from bridge.terminal.paper.barseries import BarSeries
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.exits import exit_position, reached, stop_out
from bridge.terminal.paper.ledger import Position, volume_of
from bridge.terminal.paper.pending import bounds, expire, moved
from bridge.terminal.paper.rollover import charge_swap
from bridge.terminal.paper.series import CLOSE, FIRST, FIRST_TICK, OPEN, TICK, Series

_JUMPS = frozenset({OPEN, TICK, FIRST_TICK})
_WORST = _JUMPS | {FIRST}


def advance(desk: Desk, now: float) -> None:
    """Bring the account up to ``now`` (server time), and write what has changed."""
    market = desk.market
    midnight = float((int(market.now) // DAY + 1) * DAY)
    while watches(desk):
        time, series = market.next_event()
        if min(time, midnight) > now:
            break
        # At one time a midnight comes before prices.
        if time >= midnight:
            _end_day(desk, midnight)
            midnight += DAY
        elif series is not None:
            _expire(desk, time)
            market.now = time
            _at_event(desk, series)
    _expire(desk, now)
    market.now = max(market.now, now)
    desk.ledger.commit(market.now)


def _expire(desk: Desk, until: float) -> None:
    if desk.ledger.waiting:
        expire(desk, until)


def _end_day(desk: Desk, midnight: float) -> None:
    expire(desk, midnight)
    desk.market.now = midnight
    charge_swap(desk, midnight)
    stop_out(desk)


def resume(desk: Desk) -> None:
    """Put prices where they were when the account was left: in the middle of a bar, perhaps."""
    for name in [series.info.name for series in desk.market]:
        series = desk.market.at(name)
        if isinstance(series, BarSeries):
            series.turn(_net_before(desk, name, series.turned_at() * 1000))


def _net_before(desk: Desk, symbol: str, time_msc: float) -> float:
    """Return the lots held before a time (server milliseconds), signed."""
    net = _net(desk, symbol)
    for deal in takewhile(lambda deal: deal.time_msc >= time_msc, reversed(desk.ledger.deals)):
        if deal.symbol == symbol:
            net += deal.volume if deal.type else -deal.volume
    return volume_of(net)


def _net(desk: Desk, symbol: str) -> float:
    """Return the lots held, signed."""
    net = 0.0
    for one in desk.positions_of(symbol):
        net += one.sign * one.volume
    return volume_of(net)


def watches(desk: Desk) -> bool:
    """Walk the symbols that the account depends on by now; return whether there are any."""
    market, revision = desk.market, desk.ledger.revision
    if market.mark != revision:
        for series in market.walk(desk.watched(), revision):
            _note_low(desk, series)
            series.forget()
        for series in market.walked:
            series.net = _net(desk, series.info.name)
            series.levels = _levels(desk, series.info.name)
    return bool(market.walked)


def _levels(desk: Desk, symbol: str) -> tuple[float, float, float, float]:
    """Return the nearest bids below and above, then asks, at which something happens."""
    floor, ceiling, floor_of_ask, ceiling_of_ask = bounds(desk, symbol)
    for one in desk.positions_of(symbol):
        if one.type:
            floor_of_ask = max(floor_of_ask, one.tp or -inf)
            ceiling_of_ask = min(ceiling_of_ask, one.sl or inf)
        else:
            floor, ceiling = max(floor, one.sl or -inf), min(ceiling, one.tp or inf)
    return floor, ceiling, floor_of_ask, ceiling_of_ask


def _at_event(desk: Desk, series: Series) -> None:
    before, revision = series.bid, desk.ledger.revision
    kind = series.step()
    if kind == FIRST_TICK:
        _note_low(desk, series)
    if kind in _JUMPS:
        _jump(desk, series)
    else:
        _glide(desk, series, before)
    if kind in _WORST:
        series.judged = revision
    if kind in _WORST or desk.ledger.revision != series.judged:
        series.worst = min(series.worst, stop_out(desk))
    if kind == CLOSE:
        _note_low(desk, series)


def _note_low(desk: Desk, series: Series) -> None:
    if series.worst < inf:
        desk.ledger.lows.append((desk.market.now, series.worst))
        series.worst = inf


def _jump(desk: Desk, series: Series) -> None:
    """What the price has jumped over is filled where it is now, positions first."""
    if _is_quiet(desk, series):
        return
    _exit_passed(desk, series)
    revision = desk.ledger.revision
    moved(desk, series, None)
    if desk.ledger.revision != revision:
        _exit_passed(desk, series)


def _exit_passed(desk: Desk, series: Series) -> None:
    for position in desk.positions_of(series.info.name):
        price = series.ask if position.type else series.bid
        if reason := reached(position, price):
            exit_position(desk, position, price, reason)


def _glide(desk: Desk, series: Series, before: float) -> None:
    """What lies on the way is filled at its level, in the order in which the price comes by."""
    if _is_quiet(desk, series):
        return
    target = series.bid
    for bid in [*_stations(desk, series, before, target), target]:
        _glide_to(desk, series, before, bid)
        before = bid


def _stations(desk: Desk, series: Series, before: float, target: float) -> list[float]:
    """Return the bids on the way at which an order is triggered or filled."""
    orders = desk.waiting_of(series.info.name)
    if not orders:
        return []
    low, high = sorted((before, target))
    bids = {
        level if order.side else series.bid_of(level)
        for order in orders
        for level in (order.price, order.stoplimit)
    }
    return sorted((bid for bid in bids if low < bid < high), reverse=target < before)


def _glide_to(desk: Desk, series: Series, before: float, target: float) -> None:
    series.play(target)
    revision = desk.ledger.revision
    if not _is_quiet(desk, series):
        before = _exit_on_the_way(desk, series, before, target)
    moved(desk, series, before)
    while desk.ledger.revision != revision:
        # What was opened here may have its levels here, too.
        revision = desk.ledger.revision
        _exit_on_the_way(desk, series, target, target)


def _exit_on_the_way(desk: Desk, series: Series, before: float, target: float) -> float:
    """Move on to each level that a position has before ``target``; return the last bid."""
    while first := _reached_first(desk, series, before, target):
        bid, position, level, reason = first
        if bid != before:
            series.play(bid)
            moved(desk, series, before)
            before = bid
        else:
            exit_position(desk, position, level, reason)
    series.play(target)
    return before


def _reached_first(
    desk: Desk, series: Series, before: float, target: float
) -> tuple[float, Position, float, int] | None:
    """Return the position whose level comes first: bid of the level, itself, level, reason."""
    found = []
    for position in desk.positions_of(series.info.name):
        reason = reached(position, series.ask_of(target) if position.type else target)
        if reason:
            level = position.sl if reason == mt5.DEAL_REASON_SL else position.tp
            bid = series.bid_of(level) if position.type else level
            low, high = sorted((before, target))
            found.append((min(max(bid, low), high), position, level, reason))
    if not found:
        return None
    return min(found, key=lambda one: (abs(one[0] - before), one[1].ticket))


def _is_quiet(desk: Desk, series: Series) -> bool:
    if desk.ledger.revision != desk.market.mark:  # the levels are those of another account
        return False
    floor, ceiling, floor_of_ask, ceiling_of_ask = series.levels
    return floor < series.bid < ceiling and floor_of_ask < series.ask < ceiling_of_ask
