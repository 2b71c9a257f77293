"""What each kind of fault does to a call that it meets."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.terminal.faults.kinds import Kind, When
from bridge.terminal.faults.schedule import Fault
from bridge.terminal.faults.world import Hiding, World, changed

# Keeps 0.3 / 0.1 from flooring to 2.
_STEP_SLACK = 1e-9
_NO_CONNECTION = (mt5.RES_E_INTERNAL_FAIL_CONNECT, "No IPC connection")
_TIMEOUT = (mt5.RES_E_INTERNAL_FAIL_TIMEOUT, "IPC timeout")
_FAILED = (mt5.RES_E_FAIL, "Terminal: Call failed")
_ORDERS = (mt5.TRADE_ACTION_DEAL, mt5.TRADE_ACTION_PENDING)
_FILLED = (mt5.TRADE_RETCODE_DONE, mt5.TRADE_RETCODE_DONE_PARTIAL)


class Crash(BaseException):
    """The process ends here, as far as a test can let it: nobody catches this by mistake."""


@dataclass(slots=True)
class Meeting:
    """A fault meets a call.

    Attributes:
        world: The terminal.
        verb, args: The call.
        go_on: The rest of its way: the faults behind this one, then the terminal.
        is_first: Whether it is the first call of the fault.
        is_felt: Whether the fault has changed anything.
    """

    world: World
    fault: Fault
    verb: str
    args: tuple[Any, ...]
    go_on: Callable[..., Any]
    is_first: bool
    is_felt: bool = True

    @property
    def is_after(self) -> bool:
        """Whether the call is done before it fails."""
        return self.fault.when is When.AFTER

    @property
    def request(self) -> RequestDict:
        """What is sent."""
        request: RequestDict = self.args[0]
        return request

    def ask(self) -> Any:
        """Do the call as it is."""
        return self.go_on(*self.args)

    def spare(self) -> Any:
        """Do the call as it is: the fault has nothing to do with it."""
        self.is_felt = False
        return self.ask()

    def lose(self, kind: type[TerminalError], why: tuple[int, str]) -> None:
        """Fail without an answer: nobody knows what became of an order.

        Raises:
            TerminalError: For any other verb.
        """
        if self.verb != "order_send":
            raise kind(self.verb, *why)


Effect = Callable[[Meeting], Any]


def _null(at: Meeting) -> None:
    if at.is_after:
        at.ask()
    at.lose(TerminalError, _FAILED)


def _timeout(at: Meeting) -> None:
    if at.is_after:
        at.ask()
    at.world.wait(at.fault.seconds or 0.0)
    at.lose(NotConnected, _TIMEOUT)


def _slow(at: Meeting) -> Any:
    if not at.is_after:
        at.world.wait(at.fault.seconds or 0.0)
        return at.ask()
    answer = at.ask()
    at.world.wait(at.fault.seconds or 0.0)
    return answer


def _crash(at: Meeting) -> None:
    if at.is_after:
        at.ask()
    raise Crash(f"{at.verb}, {at.fault.when} its effect")


def _disconnect(at: Meeting) -> None:
    if at.is_after and at.is_first:
        at.ask()
        at.lose(NotConnected, _NO_CONNECTION)
        return
    raise NotConnected(at.verb, *_NO_CONNECTION)


def _restart(at: Meeting) -> None:
    try:
        _disconnect(at)
    finally:
        if at.is_first:
            at.world.selected = set()


def _wrong_account(at: Meeting) -> Any:
    if at.verb == "order_send":
        text = "the terminal is logged in to another account"
        raise WrongAccount(at.verb, mt5.RES_E_AUTH_FAILED, text)
    answer = at.ask()
    if at.verb != "account_info":
        return ()
    flat = {"profit": 0.0, "margin": 0.0, "margin_level": 0.0}
    worth = {"equity": answer.balance, "margin_free": answer.balance}
    return changed(answer, login=answer.login + 1, **flat, **worth)


def _refusal(code: int | None) -> Effect:
    def answer(at: Meeting) -> OrderSendResult:
        if at.is_after:
            at.ask()
        return at.world.result(at.request, code or at.fault.retcode or 0)

    return answer


def _partial_fill(at: Meeting) -> Any:
    volume = _part(at)
    if volume is None:
        return at.spare()
    answer = _send_as(at, {**at.request, "volume": volume}, volume=at.request["volume"])
    if answer is None or answer.retcode != mt5.TRADE_RETCODE_DONE:
        return answer
    return changed(answer, retcode=mt5.TRADE_RETCODE_DONE_PARTIAL, comment="")


def _send_as(at: Meeting, request: RequestDict, **asked: Any) -> OrderSendResult | None:
    """Send ``request``, and let its echo show the fields that were asked for."""
    answer: OrderSendResult | None = at.go_on(request)
    if answer is None:
        return None
    return changed(answer, request=changed(answer.request, **asked))


def _part(at: Meeting) -> float | None:
    """Return the lots of a deal that are filled; None where it can't be divided."""
    request = at.request
    if request.get("action") != mt5.TRADE_ACTION_DEAL:
        return None
    whole, info = float(request["volume"]), at.world.inner.symbol_info(str(request["symbol"]))
    steps = math.floor(whole * (at.fault.share or 0.0) / info.volume_step + _STEP_SLACK)
    part = max(info.volume_min, round(steps * info.volume_step, 8))
    return part if part < whole - _STEP_SLACK else None


def _placed_then_done(at: Meeting) -> Any:
    if at.request.get("action") != mt5.TRADE_ACTION_DEAL:
        return at.spare()
    world, calls = at.world, at.fault.later or 0
    hiding = Hiding(world.number + calls, after_ticket=world.last_deal())
    answer = at.ask()
    if answer is None or answer.retcode not in _FILLED:
        at.is_felt = False
        return answer
    world.hide(hiding)
    return world.put_off(at.request, calls=calls, ticket=answer.order)


def _placed_then_rejected(at: Meeting) -> Any:
    if at.request.get("action") != mt5.TRADE_ACTION_DEAL:
        return at.spare()
    return at.world.put_off(at.request, calls=at.fault.later or 0)


def _without(*names: str) -> Effect:
    def send(at: Meeting) -> Any:
        dropped = {name: at.request[name] for name in names if at.request.get(name)}
        if not dropped or at.request.get("action") not in _ORDERS:
            return at.spare()
        kept = {name: value for name, value in at.request.items() if name not in dropped}
        return _send_as(at, kept, **dropped)

    return send


def _delayed_history(at: Meeting) -> Any:
    world = at.world
    since = world.server_msc() - (at.fault.seconds or 0.0) * 1_000
    world.hide(Hiding(world.number, after_msc=since))
    return at.ask()


def _stale_ticks(at: Meeting) -> Any:
    tick = at.world.ticks.get(at.args[0])
    return at.spare() if tick is None else tick


def _duplicate_bar(at: Meeting) -> Any:
    symbol, timeframe, start, count = at.args
    seen = at.world.newest.get((symbol, timeframe))
    if seen is None:
        return at.spare()
    back = at.world.newer(symbol, timeframe, seen) + 1
    return at.go_on(symbol, timeframe, start + back, count)


def _late_bar(at: Meeting) -> Any:
    symbol, timeframe, start, count = at.args
    seen = at.world.newest.get((symbol, timeframe))
    back = 1 if seen is None else at.world.newer(symbol, timeframe, seen)
    return at.go_on(symbol, timeframe, start + back, count) if back else at.spare()


EFFECTS: Mapping[Kind, Effect] = {
    Kind.NULL: _null,
    Kind.TIMEOUT: _timeout,
    Kind.DISCONNECT: _disconnect,
    Kind.RESTART: _restart,
    Kind.WRONG_ACCOUNT: _wrong_account,
    Kind.REQUOTE: _refusal(mt5.TRADE_RETCODE_REQUOTE),
    Kind.PRICE_OFF: _refusal(mt5.TRADE_RETCODE_PRICE_OFF),
    Kind.RETCODE: _refusal(None),
    Kind.PARTIAL_FILL: _partial_fill,
    Kind.PLACED_THEN_DONE: _placed_then_done,
    Kind.PLACED_THEN_REJECTED: _placed_then_rejected,
    Kind.COMMENT_EMPTIED: _without("comment"),
    Kind.STOPS_IGNORED: _without("sl", "tp"),
    Kind.DELAYED_HISTORY: _delayed_history,
    Kind.STALE_TICKS: _stale_ticks,
    Kind.DUPLICATE_BAR: _duplicate_bar,
    Kind.LATE_BAR: _late_bar,
    Kind.SLOW: _slow,
    Kind.CRASH: _crash,
}
