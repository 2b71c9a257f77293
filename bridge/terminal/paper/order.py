"""An order: waiting, or on its way into the history."""

from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo, TradeOrder
from bridge.mt5.servertime import DAY, server_day

MARKET = frozenset({mt5.ORDER_TYPE_BUY, mt5.ORDER_TYPE_SELL})
LIMIT = frozenset({mt5.ORDER_TYPE_BUY_LIMIT, mt5.ORDER_TYPE_SELL_LIMIT})
STOP = frozenset({mt5.ORDER_TYPE_BUY_STOP, mt5.ORDER_TYPE_SELL_STOP})
STOP_LIMIT = frozenset({mt5.ORDER_TYPE_BUY_STOP_LIMIT, mt5.ORDER_TYPE_SELL_STOP_LIMIT})
PENDING = LIMIT | STOP | STOP_LIMIT
# Types whose price is above the market while they wait; the others' is below.
ABOVE = frozenset(
    {mt5.ORDER_TYPE_SELL_LIMIT, mt5.ORDER_TYPE_BUY_STOP, mt5.ORDER_TYPE_BUY_STOP_LIMIT}
)
DATED = frozenset({mt5.ORDER_TIME_SPECIFIED, mt5.ORDER_TIME_SPECIFIED_DAY})


def end_of(info: SymbolInfo, type_time: int, expiration: int, now: float) -> float:
    """Return the server time at which an order ends by itself; 0.0 when it does not.

    Args:
        info: Its symbol; where orders are daily, GTC ends with the day, too.
        type_time: GTC, DAY, SPECIFIED or SPECIFIED_DAY.
        expiration: Server time, for the last two.
        now: Server time at which the order is placed or changed.
    """
    if type_time == mt5.ORDER_TIME_SPECIFIED:
        return float(expiration)
    daily = info.order_gtc_mode != mt5.SYMBOL_ORDERS_GTC
    if type_time == mt5.ORDER_TIME_GTC and not daily:
        return 0.0
    last = expiration if type_time == mt5.ORDER_TIME_SPECIFIED_DAY else now
    return float((server_day(last) + 1) * DAY)


def level_of(price: float, digits: int) -> float:
    """Return a price without the noise of doubles; none stays none."""
    return round(price, digits) if price else price


@dataclass(slots=True)
class Order:
    """One order; it changes until it is done.

    Attributes:
        type: Order type; a stop-limit becomes a limit once it is triggered.
        volume: Lots that are not filled yet.
        price: At which it is triggered or filled; a market order's is that of its sending.
        expiration: Server time; 0 when ``type_time`` needs none.
        ends: Server time at which it ends by itself; 0.0 when it does not.
        position_id: Of the position that it opened, or is to close.
        margin_per_lot: Account currency that it holds while it waits.
        fate: What a script wants for a market order that waits: to be "rejected"; else it is
            filled at the next price.
    """

    ticket: int
    symbol: str
    type: int
    volume_initial: float
    volume: float
    price: float
    time_msc: int
    magic: int
    reason: int
    comment: str
    stoplimit: float = 0.0
    sl: float = 0.0
    tp: float = 0.0
    type_time: int = 0
    type_filling: int = 0
    expiration: int = 0
    ends: float = 0.0
    state: int = mt5.ORDER_STATE_PLACED
    position_id: int = 0
    position_by_id: int = 0
    margin_per_lot: float = 0.0
    fate: str = ""

    @property
    def side(self) -> int:
        """0 for an order that buys, 1 for one that sells."""
        return self.type & 1

    @property
    def sign(self) -> int:
        """+1 for an order that buys, -1 for one that sells."""
        return -1 if self.side else 1

    def record(self, price: float, done_msc: int = 0) -> TradeOrder:
        """Return the order as the terminal shows it.

        Args:
            price: Current price of its side, or that of its last fill.
            done_msc: Server time of its end, milliseconds; 0 while it waits.
        """
        return TradeOrder(
            (
                self.ticket,
                self.time_msc // 1000,
                self.time_msc,
                done_msc // 1000,
                done_msc,
                self.expiration,
                self.type,
                self.type_time,
                self.type_filling,
                self.state,
                self.magic,
                self.position_id,
                self.position_by_id,
                self.reason,
                self.volume_initial,
                self.volume,
                self.price,
                self.sl,
                self.tp,
                price,
                self.stoplimit,
                self.symbol,
                self.comment,
                "",
            )
        )
