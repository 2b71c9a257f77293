"""What is compared of results of requests: codes, texts and relations, not tickets or money."""

from typing import Any

from bridge.conformance.desk import Desk
from bridge.conformance.probe import RAISED, Facts, shape
from bridge.mt5.records import SymbolInfo
from bridge.mt5.request import RequestDict

_MONEY = ("balance", "equity", "profit", "margin", "margin_free", "margin_level")
# Of a good request the others depend on what the account holds.
_ALWAYS = ("balance", "equity", "margin_free")
_SENT = ("deal", "order", "volume", "price", "bid", "ask", "request_id", "retcode_external")


def near(one: float, other: float, info: SymbolInfo) -> bool:
    """Return whether two prices are the same one."""
    return abs(one - other) < info.point / 2


def is_zero(value: Any) -> str:
    """Return a number as no more than whether it is there."""
    return "zero" if value == 0 else "not zero"


def of_check(desk: Desk, request: RequestDict) -> Facts:
    """Check a request, and return the facts of the answer."""
    try:
        found = desk.call("order_check", request)
    except RAISED as error:
        return {"raises": type(error).__name__}
    if found is None:
        return {"answer": "None", "code": desk.error[0], "text": desk.error[1]}
    return {
        "retcode": found.retcode,
        "comment": found.comment,
        "request comes back": _is_echo(found.request, request),
        **{name: is_zero(getattr(found, name)) for name in (_MONEY if found.retcode else _ALWAYS)},
    }


def of_send(desk: Desk, request: RequestDict, note: str = "") -> Facts:
    """Send a request, and return the facts of the answer."""
    try:
        found = desk.send(request, note)
    except RAISED as error:
        return {"raises": type(error).__name__}
    if found is None:
        return {"answer": "None", "code": desk.error[0], "text": desk.error[1]}
    return {
        "answer": shape(found),
        "retcode": found.retcode,
        "comment": found.comment,
        "request comes back": _is_echo(found.request, request),
        **{name: is_zero(getattr(found, name)) for name in _SENT},
    }


def _is_echo(seen: Any, request: RequestDict) -> bool:
    return all(getattr(seen, name) == value for name, value in request.items())
