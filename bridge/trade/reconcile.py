"""What became of a request whose answer is lost: search the terminal. Pure.

A deal is recognised by magic, symbol, side, volume and time, never by its comment, which brokers
rewrite.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal

_IN = (mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_INOUT)
_OUT = (mt5.DEAL_ENTRY_OUT, mt5.DEAL_ENTRY_INOUT, mt5.DEAL_ENTRY_OUT_BY)
# Deals that nobody has sent: levels met, stop-out, rollover and the like.
_BY_SERVER = (
    mt5.DEAL_REASON_SL,
    mt5.DEAL_REASON_TP,
    mt5.DEAL_REASON_SO,
    mt5.DEAL_REASON_ROLLOVER,
    mt5.DEAL_REASON_VMARGIN,
    mt5.DEAL_REASON_SPLIT,
)
# Lots are whole steps; this is far below the smallest.
_VOLUME_SLACK = 1e-6


def find_deal(
    request: Mapping[str, Any],
    deals: Sequence[TradeDeal],
    *,
    known: Collection[int],
    since: int,
) -> TradeDeal | None:
    """Return the deal that ``request`` has become, or None; one that moves levels becomes none.

    Args:
        request: As it was sent.
        deals: Of the account, oldest first.
        known: Tickets of deals whose request is known already.
        since: Server time before which the request can't have been sent.
    """
    if request["action"] != mt5.TRADE_ACTION_DEAL:
        return None
    fits = (deal for deal in deals if deal.ticket not in known and deal.time >= since)
    return next((deal for deal in fits if _is_of(deal, request)), None)


def _is_of(deal: TradeDeal, request: Mapping[str, Any]) -> bool:
    ticket = request.get("position")
    is_same_place = (
        deal.entry in _IN if ticket is None else deal.entry in _OUT and deal.position_id == ticket
    )
    return (
        is_same_place
        and deal.reason not in _BY_SERVER
        and (deal.magic, deal.symbol) == (request["magic"], request["symbol"])
        and deal.type == request["type"]
        and deal.volume <= request["volume"] + _VOLUME_SLACK
    )
