"""What the server does by itself while time passes: stops, targets, swap, stop-out.

Events are walked in order of time; without a position there is nothing to walk. Inside a bar the
order of prices is unknown, so the worse case counts, once the bar is complete:

    1. stop losses within the bar, by ticket, filled at their level
    2. stop-out at the bar's worst price for the net volume held
    3. take profits within the bar, by ticket, filled at their level
    4. stop-out at the close, if a target was taken: it may have been a hedge

At a bar's open a level that the open has passed is filled at the open: a stop slips, a target
(a limit) gains.
"""

from collections.abc import Callable

from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import DAY
from bridge.terminal.paper.dealing import Fill, close_position
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Position
from bridge.terminal.paper.market import OPEN, Series
from bridge.terminal.paper.pending import expire, release
from bridge.terminal.paper.rollover import charge_swap

_PERCENT = 0


def advance(desk: Desk, now: float) -> None:
    """Bring the account up to ``now`` (server time), and write what has changed."""
    market, ledger = desk.market, desk.ledger
    while True:
        if market.mark != ledger.revision:
            market.walk(desk.watched(), ledger.revision)
        if not market.walked:
            break
        midnight = float((int(market.now) // DAY + 1) * DAY)
        event = market.next_event()
        # At one time a midnight comes before bars.
        at_bar = event is not None and event[0] < midnight
        time = event[0] if event is not None and at_bar else midnight
        if time > now:
            break
        expire(desk, time)
        market.now = time
        if event is not None and at_bar:
            _at_bar(desk, event[1])
        else:
            charge_swap(desk, time)
            stop_out(desk)
    expire(desk, now)
    market.now = max(market.now, now)
    ledger.commit(market.now)


def _at_bar(desk: Desk, series: Series) -> None:
    if series.step() == OPEN:
        _at_open(desk, series)
    else:
        _at_end(desk, series)


def _at_open(desk: Desk, series: Series) -> None:
    for position in desk.positions_of(series.info.name):
        price = series.ask if position.type else series.bid
        if _is_stopped(position, price):
            _exit(desk, position, price, mt5.DEAL_REASON_SL)
        elif _is_taken(position, price):
            _exit(desk, position, price, mt5.DEAL_REASON_TP)
    stop_out(desk)


def _at_end(desk: Desk, series: Series) -> None:
    held = desk.positions_of(series.info.name)
    low, high = series.low, series.high
    worst = {mt5.POSITION_TYPE_BUY: low, mt5.POSITION_TYPE_SELL: series.ask_of(high)}
    best = {mt5.POSITION_TYPE_BUY: high, mt5.POSITION_TYPE_SELL: series.ask_of(low)}
    for position in held:
        if _is_stopped(position, worst[position.type]):
            _exit(desk, position, position.sl, mt5.DEAL_REASON_SL)
    held = desk.positions_of(series.info.name)
    if held:
        net = sum(one.sign * one.volume for one in held)
        series.play(high if net < 0 else low)
        desk.ledger.lows.append((desk.market.now, desk.equity()))
        stop_out(desk)
        series.play(series.close)
    taken = [one for one in desk.positions_of(series.info.name) if _is_taken(one, best[one.type])]
    for position in taken:
        _exit(desk, position, position.tp, mt5.DEAL_REASON_TP)
    if taken:  # without the hedge that a taken position was, the close may be worse
        stop_out(desk)


def _is_stopped(position: Position, price: float) -> bool:
    return position.sl > 0 and (price - position.sl) * position.sign <= 0


def _is_taken(position: Position, price: float) -> bool:
    return position.tp > 0 and (price - position.tp) * position.sign >= 0


_COMMENTS: dict[int, Callable[[Position, int], str]] = {
    mt5.DEAL_REASON_SL: lambda position, digits: f"[sl {position.sl:.{digits}f}]",
    mt5.DEAL_REASON_TP: lambda position, digits: f"[tp {position.tp:.{digits}f}]",
}


def _exit(desk: Desk, position: Position, price: float, reason: int, comment: str = "") -> None:
    digits = desk.symbols[position.symbol].digits
    fill = Fill(
        symbol=position.symbol,
        type=mt5.ORDER_TYPE_BUY if position.type else mt5.ORDER_TYPE_SELL,
        volume=position.volume,
        price=price,
        magic=position.magic,
        comment=comment or _COMMENTS[reason](position, digits),
        reason=reason,
    )
    close_position(desk, fill, position)


def stop_out(desk: Desk) -> None:
    """Close the biggest loss, and the next, while the account is at or below its stop-out level.

    Pending orders that hold margin go first.
    """
    while desk.ledger.positions:
        margin = desk.margin()
        equity = desk.equity()
        if not _is_out(desk, equity, margin):
            return
        if release(desk):
            continue
        worst = min(
            desk.ledger.positions.values(),
            key=lambda one: (desk.profit(one) + one.swap, one.ticket),
        )
        level = f"{equity / margin * 100:.2f}%" if margin else f"{equity:.2f}"
        price = desk.closing_price(worst)
        _exit(desk, worst, price, mt5.DEAL_REASON_SO, f"[so {level}]")


def _is_out(desk: Desk, equity: float, margin: float) -> bool:
    limit = desk.terms.margin_so_so
    if desk.terms.margin_so_mode == _PERCENT:
        return margin > 0 and equity <= margin * limit / 100
    return equity <= limit
