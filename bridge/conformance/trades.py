"""A small position opened, changed and closed, and a limit placed, changed and removed.

The probes stand in their order: each builds on what those before it have opened, and is skipped
when they have not.
"""

from collections.abc import Sequence
from typing import Any

from bridge.conformance.desk import COMMENT, MAGIC, Desk, Skip
from bridge.conformance.probe import Facts, Probe, Reach
from bridge.conformance.refusals import beside, limit
from bridge.conformance.results import near, of_send
from bridge.mt5 import constants as mt5
from bridge.mt5.request import RequestDict

_POSITION, _ORDER, _CLOSE, _REST = "position", "order", "close", "rest"
_FAR, _FARTHER, _FARTHEST = 0.05, 0.06, 0.07


def _buy(desk: Desk) -> Facts:
    """Buy twice the smallest volume, so that a part of it can be closed."""
    info = desk.info
    volume = 2 * info.volume_min
    request = desk.market(volume=volume, sl=beside(desk, -_FAR), tp=beside(desk, _FAR))
    facts = of_send(desk, request, _POSITION)
    if facts.get("retcode") == mt5.TRADE_RETCODE_MARKET_CLOSED:
        raise Skip("the market is closed")
    return facts


def _held(desk: Desk) -> Any:
    return desk.one("positions_get", ticket=desk.ticket(_POSITION))


def _position(desk: Desk) -> Facts:
    one, info = _held(desk), desk.info
    return {
        "ticket is the order's": one.ticket == desk.ticket(_POSITION),
        "identifier is the ticket": one.identifier == one.ticket,
        "type": one.type,
        "magic comes back": one.magic == MAGIC,
        "comment": one.comment,
        "reason": one.reason,
        "volume, smallest ones": round(one.volume / info.volume_min, 6),
        "has its stop": one.sl > 0,
        "has its target": one.tp > 0,
        "time_update is time": one.time_update == one.time,
        "time_msc is of time": one.time_msc // 1000 == one.time,
        "price_current is there": one.price_current > 0,
        "external_id": one.external_id,
    }


def _levels(desk: Desk, part: float) -> RequestDict:
    return {
        "action": mt5.TRADE_ACTION_SLTP,
        "symbol": desk.symbol,
        "position": desk.ticket(_POSITION),
        "sl": beside(desk, -part),
        "tp": beside(desk, part),
    }


def _move(desk: Desk) -> Facts:
    asked = _levels(desk, _FARTHER)
    facts, info = of_send(desk, asked), desk.info
    one = desk.settled(lambda: _held(desk), lambda seen: near(seen.sl, float(asked["sl"]), info))
    return {
        **facts,
        "stop is there": near(one.sl, float(asked["sl"]), info),
        "target is there": near(one.tp, float(asked["tp"]), info),
    }


def _move_nothing(desk: Desk) -> Facts:
    one = _held(desk)
    return of_send(desk, {**_levels(desk, _FARTHER), "sl": float(one.sl), "tp": float(one.tp)})


def _move_wrongly(desk: Desk) -> Facts:
    return of_send(desk, {**_levels(desk, _FARTHER), "sl": beside(desk, _FAR)})


def _close_too_much(desk: Desk) -> Facts:
    one = _held(desk)
    volume = one.volume + desk.info.volume_min
    return of_send(desk, desk.closing(one.ticket, one.type, volume))


def _close_part(desk: Desk) -> Facts:
    """Close the smallest volume; what is left keeps its ticket."""
    before = _held(desk)
    if before.volume < 1.5 * desk.info.volume_min:
        raise Skip("the position is too small for a part")
    part = float(desk.info.volume_min)
    facts = of_send(desk, desk.closing(before.ticket, before.type, part), _CLOSE)
    one = desk.settled(lambda: _held(desk), lambda seen: seen.volume < before.volume)
    left = round((before.volume - one.volume) / part, 6)
    return {**facts, "ticket stays": one.ticket == before.ticket, "closed, smallest ones": left}


def _close(desk: Desk) -> Facts:
    one = _held(desk)
    facts = of_send(desk, desk.closing(one.ticket, one.type, one.volume), _REST)
    left = desk.settled(
        lambda: desk.need("positions_get", ticket=one.ticket), lambda found: not found
    )
    return {**facts, "position is gone": not left}


def _close_again(desk: Desk) -> Facts:
    ticket = desk.ticket(_POSITION)
    if desk.need("positions_get", ticket=ticket):
        raise Skip("the position is still there")
    return of_send(desk, desk.closing(ticket, mt5.POSITION_TYPE_BUY, desk.info.volume_min))


def _deals(desk: Desk) -> Facts:
    ticket = desk.ticket(_POSITION)
    desk.ticket(_REST)
    found = desk.settled(
        lambda: desk.need("history_deals_get", position=ticket), lambda deals: len(deals) > 1
    )
    return {
        "number": len(found),
        "tickets are no orders'": not any(one.ticket == one.order for one in found),
        "first is of the position's order": bool(found) and found[0].order == ticket,
        "profit of the first": None if not found else found[0].profit,
        **{
            name: [getattr(one, name) for one in found]
            for name in ("entry", "type", "reason", "comment", "symbol", "fee", "swap")
        },
        "magic comes back": [one.magic == MAGIC for one in found],
        "position_id is the ticket": [one.position_id == ticket for one in found],
    }


def _orders(desk: Desk) -> Facts:
    ticket = desk.ticket(_POSITION)
    desk.ticket(_REST)
    found = desk.settled(
        lambda: desk.need("history_orders_get", position=ticket), lambda orders: len(orders) > 1
    )
    return {"number": len(found), **_of_orders(found)}


def _of_orders(found: Sequence[Any]) -> Facts:
    names = ("type", "state", "reason", "comment", "type_filling", "type_time", "symbol")
    return {
        **{name: [getattr(one, name) for one in found] for name in names},
        "magic comes back": [one.magic == MAGIC for one in found],
        "volume_current": [one.volume_current for one in found],
        "time_done is there": [one.time_done > 0 for one in found],
        "position_id is there": [one.position_id > 0 for one in found],
        "price_open is there": [one.price_open > 0 for one in found],
    }


def _place(desk: Desk) -> Facts:
    return of_send(desk, limit(desk, comment=COMMENT), _ORDER)


def _waiting(desk: Desk) -> Any:
    return desk.one("orders_get", ticket=desk.ticket(_ORDER))


def _order(desk: Desk) -> Facts:
    one = _waiting(desk)
    return _of_orders([one])


def _replace(desk: Desk) -> Facts:
    price, info = beside(desk, -_FARTHEST), desk.info
    facts = of_send(desk, _change(desk, price))
    one = desk.settled(lambda: _waiting(desk), lambda seen: near(seen.price_open, price, info))
    return {**facts, "price is there": near(one.price_open, price, info)}


def _replace_nothing(desk: Desk) -> Facts:
    return of_send(desk, _change(desk, float(_waiting(desk).price_open)))


def _change(desk: Desk, price: float) -> RequestDict:
    return {
        "action": mt5.TRADE_ACTION_MODIFY,
        "symbol": desk.symbol,
        "order": desk.ticket(_ORDER),
        "price": price,
        "type_time": mt5.ORDER_TIME_GTC,
    }


def _remove(desk: Desk) -> Facts:
    ticket = desk.ticket(_ORDER)
    facts = of_send(desk, {"action": mt5.TRADE_ACTION_REMOVE, "order": ticket})
    left = desk.settled(lambda: desk.need("orders_get", ticket=ticket), lambda found: not found)
    return {**facts, "order is gone": not left}


def _removed(desk: Desk) -> Facts:
    return _of_orders([desk.one("history_orders_get", ticket=desk.ticket(_ORDER))])


TRADES: Sequence[Probe] = tuple(
    Probe(f"trade: {name}", ask, Reach.TRADE)
    for name, ask in (
        ("buy", _buy),
        ("position", _position),
        ("move its levels", _move),
        ("move nothing", _move_nothing),
        ("stop on the wrong side", _move_wrongly),
        ("close more than it has", _close_too_much),
        ("close a part", _close_part),
        ("close", _close),
        ("close again", _close_again),
        ("its deals", _deals),
        ("its orders", _orders),
        ("place a limit", _place),
        ("waiting order", _order),
        ("change it", _replace),
        ("change nothing", _replace_nothing),
        ("remove it", _remove),
        ("removed order", _removed),
    )
)
