"""The results of ``order_check`` and ``order_send``, and the texts of retcodes.

Source: mostly the names of the server's API; those of 10009, 10013 to 10019, 10027 and 10030 were
seen in results. A profile may name its broker's own.
"""

from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderCheckResult, OrderSendResult, TradeRequest
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.script import Answer

HEDGE_PROHIBITED = 10046
"""Opposite positions are forbidden; MQL5 names it, the package has no constant."""
_TEXTS = {
    0: "Done",
    mt5.TRADE_RETCODE_REQUOTE: "Requote",
    mt5.TRADE_RETCODE_REJECT: "Request rejected",
    mt5.TRADE_RETCODE_CANCEL: "Request canceled",
    mt5.TRADE_RETCODE_PLACED: "Order placed",
    mt5.TRADE_RETCODE_DONE: "Request executed",
    mt5.TRADE_RETCODE_DONE_PARTIAL: "Request executed partially",
    mt5.TRADE_RETCODE_ERROR: "Request common error",
    mt5.TRADE_RETCODE_TIMEOUT: "Request timeout",
    mt5.TRADE_RETCODE_INVALID: "Invalid request",
    mt5.TRADE_RETCODE_INVALID_VOLUME: "Invalid volume",
    mt5.TRADE_RETCODE_INVALID_PRICE: "Invalid price",
    mt5.TRADE_RETCODE_INVALID_STOPS: "Invalid stops",
    mt5.TRADE_RETCODE_TRADE_DISABLED: "Trade disabled",
    mt5.TRADE_RETCODE_MARKET_CLOSED: "Market closed",
    mt5.TRADE_RETCODE_NO_MONEY: "No money",
    mt5.TRADE_RETCODE_PRICE_CHANGED: "Price changed",
    mt5.TRADE_RETCODE_PRICE_OFF: "No prices",
    mt5.TRADE_RETCODE_INVALID_EXPIRATION: "Invalid expiration",
    mt5.TRADE_RETCODE_ORDER_CHANGED: "Order changed",
    mt5.TRADE_RETCODE_TOO_MANY_REQUESTS: "Too many requests",
    mt5.TRADE_RETCODE_NO_CHANGES: "No changes",
    mt5.TRADE_RETCODE_SERVER_DISABLES_AT: "AutoTrading disabled by server",
    mt5.TRADE_RETCODE_CLIENT_DISABLES_AT: "AutoTrading disabled by client",
    mt5.TRADE_RETCODE_LOCKED: "Request locked",
    mt5.TRADE_RETCODE_FROZEN: "Order or position frozen",
    mt5.TRADE_RETCODE_INVALID_FILL: "Unsupported filling mode",
    mt5.TRADE_RETCODE_CONNECTION: "No connection",
    mt5.TRADE_RETCODE_ONLY_REAL: "Only real accounts allowed",
    mt5.TRADE_RETCODE_LIMIT_ORDERS: "Orders limit reached",
    mt5.TRADE_RETCODE_LIMIT_VOLUME: "Volume limit reached",
    mt5.TRADE_RETCODE_INVALID_ORDER: "Invalid order",
    mt5.TRADE_RETCODE_POSITION_CLOSED: "Position closed",
    mt5.TRADE_RETCODE_INVALID_CLOSE_VOLUME: "Invalid close volume",
    mt5.TRADE_RETCODE_CLOSE_ORDER_EXIST: "Close order exists",
    mt5.TRADE_RETCODE_LIMIT_POSITIONS: "Positions limit",
    mt5.TRADE_RETCODE_REJECT_CANCEL: "Rejected, order canceled",
    mt5.TRADE_RETCODE_LONG_ONLY: "Long only",
    mt5.TRADE_RETCODE_SHORT_ONLY: "Short only",
    mt5.TRADE_RETCODE_CLOSE_ONLY: "Close only",
    mt5.TRADE_RETCODE_FIFO_CLOSE: "FIFO close only",
    HEDGE_PROHIBITED: "Hedge prohibited",
}


def text_of(desk: Desk, code: int) -> str:
    """Return what the broker says beside a retcode; empty for one that nobody knows."""
    return desk.terms.retcode_texts.get(code) or _TEXTS.get(code, "")


def sent(
    desk: Desk,
    request: TradeRequest,
    code: int = mt5.TRADE_RETCODE_DONE,
    *,
    deal: int = 0,
    order: int = 0,
    volume: float = 0.0,
    price: float = 0.0,
    quote: tuple[float, float] = (0.0, 0.0),
) -> OrderSendResult:
    """Return the answer to a request that the server has taken."""
    number = desk.ledger.next_request()
    text = text_of(desk, code)
    return OrderSendResult((code, deal, order, volume, price, *quote, text, number, 0, request))


def refused(
    desk: Desk, request: TradeRequest, code: int, quote: tuple[float, float] = (0.0, 0.0)
) -> OrderSendResult:
    """Return the answer to a request that does nothing."""
    text = text_of(desk, code)
    return OrderSendResult((code, 0, 0, 0.0, 0.0, *quote, text, 0, 0, request))


def unchecked(desk: Desk, request: TradeRequest, code: int) -> OrderCheckResult:
    """Return the answer to a check that fails."""
    return OrderCheckResult((code, *[0.0] * 6, text_of(desk, code), request))


_TAKEN = (
    mt5.TRADE_RETCODE_PLACED,
    mt5.TRADE_RETCODE_DONE,
    mt5.TRADE_RETCODE_DONE_PARTIAL,
)


def send_as_told(
    desk: Desk, step: Answer, request: TradeRequest, done: OrderSendResult | None
) -> OrderSendResult:
    """Return the result that a script wants, with current quotes.

    Args:
        desk: The account.
        step: What it wants.
        request: What was sent.
        done: The true result, when the request was done; only a code of success shows it.
    """
    series = desk.market.at(request.symbol)
    quote = (series.bid, series.ask) if series else (0.0, 0.0)
    told = refused(desk, request, step.retcode, quote)
    if done is not None and step.retcode in _TAKEN:
        told = done
    text = step.text or text_of(desk, step.retcode)
    return OrderSendResult({**told._asdict(), "retcode": step.retcode, "comment": text}.values())


def check_as_told(
    desk: Desk, step: Answer, request: TradeRequest, done: OrderCheckResult | None
) -> OrderCheckResult:
    """Return the check that a script wants."""
    told = done or unchecked(desk, request, step.retcode)
    text = step.text or text_of(desk, step.retcode)
    return OrderCheckResult({**told._asdict(), "retcode": step.retcode, "comment": text}.values())
