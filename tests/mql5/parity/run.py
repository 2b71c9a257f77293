"""What a run came to, whoever made it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bar:
    """A decided bar: what the model said and what was made of it."""

    outputs: tuple[float, ...]
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One side.

    Attributes:
        bars: By open time, server epoch seconds.
        orders: Each order that reached the terminal, in order.
        deals: Each deal of the account, in order.
        balance: In the end, account currency.
        seconds: That the run took.
    """

    bars: dict[int, Bar]
    orders: list[dict[str, Any]]
    deals: list[dict[str, Any]]
    balance: float
    seconds: float


ORDER_FIELDS = [
    "action",
    "symbol",
    "magic",
    "type",
    "volume",
    "price",
    "sl",
    "tp",
    "deviation",
    "type_filling",
    "position",
    "comment",
]
DEAL_FIELDS = [
    "ticket",
    "order",
    "time",
    "type",
    "entry",
    "magic",
    "position_id",
    "reason",
    "volume",
    "price",
    "commission",
    "swap",
    "profit",
    "fee",
    "symbol",
    "comment",
]


def order_of(time: int, request: dict[str, Any], retcode: int) -> dict[str, Any]:
    """Return an order as it is compared; what a request leaves out is 0 or empty."""
    empty = {"symbol": "", "comment": ""}
    fields = {name: request.get(name) or empty.get(name, 0) for name in ORDER_FIELDS}
    return {"time": time, **fields, "retcode": retcode}


def deals_of(paper: Any) -> list[dict[str, Any]]:
    """Return all deals of an account as they are compared."""
    deals = paper.history_deals_get(0, 2**31 - 1)
    return [{name: getattr(one, name) for name in DEAL_FIELDS} for one in deals]
