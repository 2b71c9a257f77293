"""What can go wrong with a terminal, and with which verbs.

    kind                  verbs        what the caller meets
    null                  all          ``TerminalError``; from ``order_send`` None
    timeout               all          after ``seconds`` on the clock ``NotConnected`` (-10005);
                                       from ``order_send`` None
    disconnect *          all          ``NotConnected`` (-10004), nothing is sent; "after": the
                                       first call is done and its answer lost
    restart *             all          the same; afterwards no symbol is in Market Watch:
                                       ``symbol_info_tick`` fails (-4) until ``symbol_select``
    wrong_account *       account      ``account_info`` shows the next login, flat; there are no
                                       positions, orders and deals; ``order_send`` raises
                                       ``WrongAccount``, nothing is sent
    requote               order_send   10004 with the current quote; nothing is done
    price_off             order_send   10021 with the current quote; nothing is done
    retcode               order_send   ``retcode`` with the current quote, nothing is done;
                                       "after", with a code that leaves it open: it is done
    partial_fill          order_send   a deal gets ``share`` of its volume, on the step: 10010
    placed_then_done      order_send   a deal is answered 10008, and waits in ``orders_get``; it
                                       shows as done after ``later`` calls of any verb
    placed_then_rejected  order_send   the same, but it never is: the history shows it rejected
    comment_emptied       order_send   a deal or a pending order goes out without comment
    stops_ignored         order_send   a deal or a pending order goes out without sl and tp
    delayed_history *     positions,   what happened in the last ``seconds`` does not show
                          history
    stale_ticks           tick         the last tick is repeated
    duplicate_bar         rates        the window that ends before the newest bar seen is shown
                                       again: its last closed bar closes a second time
    late_bar              rates        a bar that was not seen yet is not shown yet
    slow                  all          ``seconds`` on the clock; "before": the call is done late;
                                       "after": it is answered late
    crash                 all          ``Crash``, which is no ``Exception``: no handler stops it

A kind with * is a state of the terminal: it lasts for a number of calls of any verb. Others are
about that number of calls of their verb. null, timeout, disconnect, restart, slow, crash and some
of retcode can come before the effect of a call or after it; the rest have one way only.

What the server does at once and what shows are two things: behind placed_then_done the deal is
done when it is sent, so that its ticket is the true one, and neither it nor a later deal shows
until its time. ``account_info`` counts hidden deals at once.
Bars have no row that stands twice: a terminal reads them from one history in order of time, but
it may show an older state of it.

Source: contract of ``bridge.mt5.terminal.Terminal``; codes of the wheel 5.0.6231.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

VERBS = (
    "terminal_info",
    "account_info",
    "symbols_get",
    "symbol_info",
    "symbol_select",
    "symbol_info_tick",
    "copy_rates_from_pos",
    "positions_get",
    "orders_get",
    "history_orders_get",
    "history_deals_get",
    "order_calc_profit",
    "order_calc_margin",
    "order_check",
    "order_send",
)
"""All verbs of a ``Terminal``."""
_SEND = ("order_send",)
_HISTORY = ("positions_get", "history_orders_get", "history_deals_get")
_ACCOUNT = ("account_info", "orders_get", *_HISTORY, "order_send")


class Kind(StrEnum):
    """What goes wrong; the module's table says how."""

    NULL = "null"
    TIMEOUT = "timeout"
    DISCONNECT = "disconnect"
    RESTART = "restart"
    WRONG_ACCOUNT = "wrong_account"
    REQUOTE = "requote"
    PRICE_OFF = "price_off"
    RETCODE = "retcode"
    PARTIAL_FILL = "partial_fill"
    PLACED_THEN_DONE = "placed_then_done"
    PLACED_THEN_REJECTED = "placed_then_rejected"
    COMMENT_EMPTIED = "comment_emptied"
    STOPS_IGNORED = "stops_ignored"
    DELAYED_HISTORY = "delayed_history"
    STALE_TICKS = "stale_ticks"
    DUPLICATE_BAR = "duplicate_bar"
    LATE_BAR = "late_bar"
    SLOW = "slow"
    CRASH = "crash"


class When(StrEnum):
    """Whether a call fails before its effect or after it."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a kind is about.

    Attributes:
        verbs: Whose calls it changes.
        needs: The parameters that it takes, all of them.
        has_after: Whether it can come after the effect.
        is_state: Whether it lasts for calls of any verb.
    """

    verbs: tuple[str, ...]
    needs: tuple[str, ...] = ()
    has_after: bool = False
    is_state: bool = False


TERMS: Mapping[Kind, Terms] = {
    Kind.NULL: Terms(VERBS, has_after=True),
    Kind.TIMEOUT: Terms(VERBS, ("seconds",), has_after=True),
    Kind.DISCONNECT: Terms(VERBS, has_after=True, is_state=True),
    Kind.RESTART: Terms(VERBS, has_after=True, is_state=True),
    Kind.WRONG_ACCOUNT: Terms(_ACCOUNT, is_state=True),
    Kind.REQUOTE: Terms(_SEND),
    Kind.PRICE_OFF: Terms(_SEND),
    Kind.RETCODE: Terms(_SEND, ("retcode",), has_after=True),
    Kind.PARTIAL_FILL: Terms(_SEND, ("share",)),
    Kind.PLACED_THEN_DONE: Terms(_SEND, ("later",)),
    Kind.PLACED_THEN_REJECTED: Terms(_SEND, ("later",)),
    Kind.COMMENT_EMPTIED: Terms(_SEND),
    Kind.STOPS_IGNORED: Terms(_SEND),
    Kind.DELAYED_HISTORY: Terms(_HISTORY, ("seconds",), is_state=True),
    Kind.STALE_TICKS: Terms(("symbol_info_tick",)),
    Kind.DUPLICATE_BAR: Terms(("copy_rates_from_pos",)),
    Kind.LATE_BAR: Terms(("copy_rates_from_pos",)),
    Kind.SLOW: Terms(VERBS, ("seconds",), has_after=True),
    Kind.CRASH: Terms(VERBS, has_after=True),
}
