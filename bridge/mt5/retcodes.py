"""What each answer of the trade server means, and what may be done about it.

A retcode never raises: it is looked up here. A code that is not in the table is UNRESOLVED,
since nobody knows whether the order is out.
Source: constants of the wheel 5.0.6231; MQL5 reference, Trade Server Return Codes.
"""

from dataclasses import dataclass
from enum import StrEnum

from bridge.mt5 import constants as mt5


class Outcome(StrEnum):
    """What became of a request.

    DONE, PARTIAL: it happened, wholly or in part. PLACED: accepted, not executed yet.
    REJECTED: it did not happen. UNRESOLVED: nobody knows yet; the terminal has to be searched.
    ABSENT: searched for in vain; should it show up later, it is adopted.
    """

    DONE = "done"
    PARTIAL = "partial"
    PLACED = "placed"
    REJECTED = "rejected"
    UNRESOLVED = "unresolved"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Retcode:
    """One answer.

    Attributes:
        code: The number.
        outcome: What became of the request.
        words: What happened, for a person.
        advice: What to do next, for a person; empty when nothing is to be done.
        retry: Whether a new request at a new price may follow at once, after the guard.
    """

    code: int
    outcome: Outcome
    words: str
    advice: str = ""
    retry: bool = False


_D, _P, _Q = Outcome.DONE, Outcome.PARTIAL, Outcome.PLACED
_R, _U = Outcome.REJECTED, Outcome.UNRESOLVED
_SETTINGS = "correct the settings of the strategy"
_WAIT = "wait for the next bar"

_TABLE = (
    Retcode(0, _D, "the check passed"),
    Retcode(
        mt5.TRADE_RETCODE_REQUOTE, _R, "the price moved; a new one was offered", _WAIT, retry=True
    ),
    Retcode(mt5.TRADE_RETCODE_REJECT, _R, "the server refused the request", "ask the broker why"),
    Retcode(mt5.TRADE_RETCODE_CANCEL, _R, "the request was canceled", _WAIT),
    Retcode(mt5.TRADE_RETCODE_PLACED, _Q, "the order is accepted and not executed yet"),
    Retcode(mt5.TRADE_RETCODE_DONE, _D, "the request is executed"),
    Retcode(mt5.TRADE_RETCODE_DONE_PARTIAL, _P, "only part of the volume was filled"),
    Retcode(
        mt5.TRADE_RETCODE_ERROR, _R, "the server could not process the request", "ask the broker"
    ),
    Retcode(
        mt5.TRADE_RETCODE_TIMEOUT,
        _U,
        "the server did not answer in time",
        "the terminal is searched before anything else is sent",
    ),
    Retcode(mt5.TRADE_RETCODE_INVALID, _R, "the request is malformed", "report it as a fault"),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_VOLUME,
        _R,
        "the volume is below the minimum, above the maximum or off the step",
        _SETTINGS,
    ),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_PRICE, _R, "the price is zero or on the wrong side", _SETTINGS
    ),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_STOPS,
        _R,
        "stop loss or take profit is too near or on the wrong side",
        "widen the stop",
    ),
    Retcode(
        mt5.TRADE_RETCODE_TRADE_DISABLED,
        _R,
        "trading is disabled for the symbol or the account",
        "ask the broker",
    ),
    Retcode(mt5.TRADE_RETCODE_MARKET_CLOSED, _R, "the market is closed", "wait for the session"),
    Retcode(mt5.TRADE_RETCODE_NO_MONEY, _R, "the free margin is not enough", "lower the volume"),
    Retcode(mt5.TRADE_RETCODE_PRICE_CHANGED, _R, "the price changed", _WAIT, retry=True),
    Retcode(mt5.TRADE_RETCODE_PRICE_OFF, _R, "there are no quotes", _WAIT, retry=True),
    Retcode(mt5.TRADE_RETCODE_INVALID_EXPIRATION, _R, "the expiration is not allowed", _SETTINGS),
    Retcode(mt5.TRADE_RETCODE_ORDER_CHANGED, _R, "the order changed meanwhile", "look at it again"),
    Retcode(mt5.TRADE_RETCODE_TOO_MANY_REQUESTS, _R, "too many requests", _WAIT),
    Retcode(mt5.TRADE_RETCODE_NO_CHANGES, _R, "the levels are those already set"),
    Retcode(
        mt5.TRADE_RETCODE_SERVER_DISABLES_AT,
        _R,
        "the server forbids automatic trading",
        "ask the broker to allow expert advisors",
    ),
    Retcode(
        mt5.TRADE_RETCODE_CLIENT_DISABLES_AT,
        _R,
        "the terminal forbids automatic trading",
        "press Algo Trading in the terminal's toolbar",
    ),
    Retcode(mt5.TRADE_RETCODE_LOCKED, _R, "the dealer holds the request", _WAIT),
    Retcode(
        mt5.TRADE_RETCODE_FROZEN, _R, "the price is within the freeze level", "it is tried later"
    ),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_FILL,
        _R,
        "the filling mode is not allowed",
        "report it as a fault",
    ),
    Retcode(
        mt5.TRADE_RETCODE_CONNECTION,
        _U,
        "the terminal has no connection to the trade server",
        "the terminal is searched once it is connected again",
    ),
    Retcode(mt5.TRADE_RETCODE_ONLY_REAL, _R, "only real accounts may do this"),
    Retcode(mt5.TRADE_RETCODE_LIMIT_ORDERS, _R, "there are too many pending orders", "delete some"),
    Retcode(
        mt5.TRADE_RETCODE_LIMIT_VOLUME,
        _R,
        "the symbol's volume limit is reached",
        "lower the volume",
    ),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_ORDER, _R, "the order type is forbidden for the symbol", _SETTINGS
    ),
    Retcode(mt5.TRADE_RETCODE_POSITION_CLOSED, _R, "the position is closed already"),
    Retcode(
        mt5.TRADE_RETCODE_INVALID_CLOSE_VOLUME, _R, "more was to be closed than is open", _WAIT
    ),
    Retcode(mt5.TRADE_RETCODE_CLOSE_ORDER_EXIST, _R, "a closing order exists already", _WAIT),
    Retcode(mt5.TRADE_RETCODE_LIMIT_POSITIONS, _R, "the account's limit of positions is reached"),
    Retcode(
        mt5.TRADE_RETCODE_REJECT_CANCEL, _R, "the pending order was refused and canceled", _WAIT
    ),
    Retcode(mt5.TRADE_RETCODE_LONG_ONLY, _R, "the symbol may only be bought", _SETTINGS),
    Retcode(mt5.TRADE_RETCODE_SHORT_ONLY, _R, "the symbol may only be sold", _SETTINGS),
    Retcode(mt5.TRADE_RETCODE_CLOSE_ONLY, _R, "positions may only be closed", _SETTINGS),
    Retcode(
        mt5.TRADE_RETCODE_FIFO_CLOSE, _R, "the oldest position has to be closed first", _SETTINGS
    ),
    # MQL5 names it; the package has no constant.
    Retcode(10046, _R, "the account forbids opposite positions on a symbol", _SETTINGS),
)

BY_CODE = {entry.code: entry for entry in _TABLE}


def retcode(code: int) -> Retcode:
    """Return what ``code`` means; an unknown one is UNRESOLVED."""
    return BY_CODE.get(code) or Retcode(
        code,
        Outcome.UNRESOLVED,
        f"the server answered {code}, which has no meaning here",
        "the terminal is searched before anything else is sent",
    )
