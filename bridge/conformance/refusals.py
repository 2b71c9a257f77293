"""Requests that a server should refuse: each is checked, and sent as far as that is allowed.

What some broker may take all the same (a volume off the step, say) is sent with ``TRADE`` only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bridge.conformance.desk import TAKEN, Desk, Skip
from bridge.conformance.probe import Facts, Probe, Reach
from bridge.conformance.reads import NOWHERE
from bridge.conformance.results import of_check, of_send
from bridge.mt5 import constants as mt5
from bridge.mt5.request import RequestDict
from bridge.trade.build import to_tick

_NO_TICKET = 1
_FAR = 0.05
"""Distance of levels and limits that should not be met, as a part of the price."""
_PAST_S = 3_600
_FILLINGS = ((1, mt5.ORDER_FILLING_FOK), (2, mt5.ORDER_FILLING_IOC))
_BY_SYMBOL = (mt5.SYMBOL_TRADE_EXECUTION_MARKET, mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE)

Make = Callable[[Desk], RequestDict]


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A request that should be refused.

    Attributes:
        reach: What sending it may do; READ never sends it.
    """

    name: str
    make: Make
    reach: Reach


def beside(desk: Desk, part: float) -> float:
    """Return a price on the tick, ``part`` of the bid above it (or below, < 0)."""
    return to_tick(desk.tick.bid * (1 + part), desk.info)


def limit(desk: Desk, **changes: object) -> RequestDict:
    """Return a buy limit of the smallest volume, far below the market; changes are fields."""
    fields = {
        "action": mt5.TRADE_ACTION_PENDING,
        "type": mt5.ORDER_TYPE_BUY_LIMIT,
        "price": beside(desk, -_FAR),
        "type_time": mt5.ORDER_TIME_GTC,
        "type_filling": mt5.ORDER_FILLING_RETURN,
        "deviation": None,
        **changes,
    }
    return desk.market(**fields)


def _market(**changes: object) -> Make:
    return lambda desk: desk.market(**changes)


def _limit(**changes: object) -> Make:
    return lambda desk: limit(desk, **changes)


def _off_step(desk: Desk) -> RequestDict:
    info = desk.info
    return desk.market(volume=info.volume_min + info.volume_step / 2)


def _above_maximum(desk: Desk) -> RequestDict:
    info = desk.info
    return desk.market(volume=info.volume_max + info.volume_step)


def _wrong_filling(desk: Desk) -> RequestDict:
    info = desk.info
    for bit, filling in _FILLINGS:
        if info.trade_exemode in _BY_SYMBOL and not info.filling_mode & bit:
            return desk.market(type_filling=filling)
    raise Skip("the symbol takes FOK and IOC")


def _near_stop(desk: Desk) -> RequestDict:
    info, bid = desk.info, desk.tick.bid
    if info.trade_stops_level < 2:
        raise Skip("the symbol has no stops level")
    return desk.market(sl=to_tick(bid - info.trade_stops_level / 2 * info.point, info))


def _off_tick(desk: Desk, part: float) -> float:
    return beside(desk, part) + 0.3 * desk.info.trade_tick_size


def _unknown_expiration(desk: Desk) -> RequestDict:
    mode = desk.info.expiration_mode
    for kind in (mt5.ORDER_TIME_DAY, mt5.ORDER_TIME_SPECIFIED_DAY, mt5.ORDER_TIME_SPECIFIED):
        if not mode & 1 << kind:
            return limit(desk, type_time=kind, expiration=int(desk.tick.time) + 2 * 86_400)
    raise Skip("the symbol takes all expirations")


def _expired(desk: Desk) -> RequestDict:
    if not desk.info.expiration_mode & 1 << mt5.ORDER_TIME_SPECIFIED:
        raise Skip("the symbol takes no times of expiration")
    over = int(desk.tick.time) - _PAST_S
    return limit(desk, type_time=mt5.ORDER_TIME_SPECIFIED, expiration=over)


def _changed(action: int, **fields: object) -> Make:
    """Return a request about a ticket that is none."""

    def make(desk: Desk) -> RequestDict:
        made = {"action": action, "symbol": desk.symbol, **fields}
        if action == mt5.TRADE_ACTION_MODIFY:
            made["price"] = beside(desk, -_FAR)
        return made  # type: ignore[return-value]

    return make


_SAFE, _TRADE = Reach.REFUSAL, Reach.TRADE
_REFUSALS: Sequence[_Refusal] = (
    _Refusal("volume 0", _market(volume=0.0), _SAFE),
    _Refusal("volume below the minimum", lambda d: d.market(volume=d.info.volume_min / 2), _SAFE),
    _Refusal("volume above the maximum", _above_maximum, Reach.READ),
    _Refusal("volume off the step", _off_step, _TRADE),
    _Refusal("no such symbol", _market(symbol=NOWHERE), _SAFE),
    _Refusal("no such action", _market(action=99), _SAFE),
    _Refusal("no such type", _market(type=99), _TRADE),
    _Refusal("no volume field", _market(volume=None), _SAFE),
    _Refusal("a filling that is not the symbol's", _wrong_filling, _TRADE),
    _Refusal("stop on the wrong side", lambda d: d.market(sl=beside(d, _FAR)), _TRADE),
    _Refusal("target on the wrong side", lambda d: d.market(tp=beside(d, -_FAR)), _TRADE),
    _Refusal("stop nearer than the stops level", _near_stop, _TRADE),
    _Refusal("stop off the tick", lambda d: d.market(sl=_off_tick(d, -_FAR)), _TRADE),
    _Refusal(
        "close of an unknown position",
        lambda d: d.closing(_NO_TICKET, mt5.POSITION_TYPE_BUY, d.info.volume_min),
        _TRADE,
    ),
    _Refusal(
        "stops of an unknown position",
        _changed(mt5.TRADE_ACTION_SLTP, position=_NO_TICKET, sl=1.0, tp=0.0),
        _SAFE,
    ),
    _Refusal(
        "close by of unknown positions",
        _changed(mt5.TRADE_ACTION_CLOSE_BY, position=_NO_TICKET, position_by=2),
        _SAFE,
    ),
    _Refusal("change of an unknown order", _changed(mt5.TRADE_ACTION_MODIFY, order=1), _SAFE),
    _Refusal("removal of an unknown order", _changed(mt5.TRADE_ACTION_REMOVE, order=1), _SAFE),
    _Refusal("limit at price 0", _limit(price=0.0), _SAFE),
    _Refusal("limit off the tick", lambda d: limit(d, price=_off_tick(d, -_FAR)), _TRADE),
    _Refusal("limit above the market", lambda d: limit(d, price=beside(d, _FAR)), _TRADE),
    _Refusal(
        "buy stop below the market",
        lambda d: limit(d, type=mt5.ORDER_TYPE_BUY_STOP),
        _TRADE,
    ),
    _Refusal("limit with its stop above", lambda d: limit(d, sl=beside(d, _FAR)), _TRADE),
    _Refusal("limit that is of no pending type", _limit(type=mt5.ORDER_TYPE_BUY), _TRADE),
    _Refusal("limit that has expired", _expired, _TRADE),
    _Refusal("an expiration that is not the symbol's", _unknown_expiration, _TRADE),
)


def _checked(make: Make, desk: Desk) -> Facts:
    return of_check(desk, make(desk))


def _sent(make: Make, desk: Desk) -> Facts:
    """Send it; what is taken all the same is closed before the next question."""
    facts = of_send(desk, make(desk))
    if facts.get("retcode") in TAKEN:
        desk.tidy()
    return facts


REFUSALS: Sequence[Probe] = (
    Probe("check: a buy", partial(_checked, _market())),
    Probe("check: a limit", partial(_checked, _limit())),
    *(Probe(f"check: {each.name}", partial(_checked, each.make)) for each in _REFUSALS),
    *(
        Probe(f"send: {each.name}", partial(_sent, each.make), each.reach)
        for each in _REFUSALS
        if each.reach is not Reach.READ
    ),
)
