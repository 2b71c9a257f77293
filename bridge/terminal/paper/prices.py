"""Which prices a recording plays: only opens, a path through each bar, or real ticks."""

from enum import StrEnum


class Prices(StrEnum):
    """How prices move.

    OPEN   opens are the only prices; all that a bar passed is judged at the next open.
    OHLC   open, one extreme, the other, close. A bar does not tell which extreme came first: the
           one that is worse for the account's net volume of the symbol, the low without one. It
           is never chosen by the close, which nobody knows yet.
    TICKS  a symbol that was recorded as ticks moves tick by tick; the others as in OHLC.
    """

    OPEN = "open"
    OHLC = "ohlc"
    TICKS = "ticks"
