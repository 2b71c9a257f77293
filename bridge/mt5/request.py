"""A trade request on its way: built once, approved by the guard, sent as it is.

The package takes a dict of native Python values and refuses None, numpy integers, and an ``int``
where it wants a ``float``; a key that is absent means none. :meth:`Request.as_dict` obeys that.
"""

from enum import StrEnum
from typing import NamedTuple

from bridge.mt5 import constants as mt5

COMMENT_LIMIT = 29
"""UTF-16 units of comment and symbol that the package accepts."""

RequestDict = dict[str, int | float | str]


class Purpose(StrEnum):
    """Why a request is sent: an entry adds risk, the others take it away."""

    ENTRY = "entry"
    EXIT = "exit"
    PROTECT = "protect"


class Request(NamedTuple):
    """The fields of ``MqlTradeRequest`` that the bridge uses; None means absent.

    Attributes:
        purpose: Ours alone; it is not sent.
        volume: Lots, a multiple of the symbol's step.
        price, sl, tp: Prices on the symbol's tick.
        deviation: Points.
        position: Ticket of the position to close or change.
    """

    purpose: Purpose
    action: int
    symbol: str
    magic: int
    type: int | None = None
    volume: float | None = None
    price: float | None = None
    sl: float | None = None
    tp: float | None = None
    deviation: int | None = None
    type_filling: int | None = None
    position: int | None = None
    comment: str | None = None

    def as_dict(self) -> RequestDict:
        """Return what is sent: native values, absent fields left out."""
        _, *sent = zip(self._fields, self, strict=True)
        return {name: value for name, value in sent if value is not None}

    @property
    def is_entry(self) -> bool:
        """Whether it adds risk."""
        return self.purpose is Purpose.ENTRY

    @property
    def is_buy(self) -> bool:
        """Whether the deal buys."""
        return self.type == mt5.ORDER_TYPE_BUY


def clip_comment(text: str, limit: int = COMMENT_LIMIT) -> str:
    """Return as much of ``text`` as the package accepts, counted in UTF-16 units."""
    units = text.encode("utf-16-le", "ignore")[: 2 * limit]
    return units.decode("utf-16-le", "ignore")
