"""A moment at which an entry passes every rule, to be changed by tests."""

from typing import Any

from tests_support import account, symbol_info, tick

from bridge.mt5 import constants as mt5
from bridge.mt5.request import Purpose, Request
from bridge.mt5.servertime import parse
from bridge.risk.baselines import Baselines
from bridge.risk.guard import Bounds, Denial, Facts, TradingState, check
from bridge.settings import HoursSettings, LimitSettings, RiskSettings

BUY = Request(
    purpose=Purpose.ENTRY,
    action=mt5.TRADE_ACTION_DEAL,
    symbol="EURUSD",
    magic=7,
    type=mt5.ORDER_TYPE_BUY,
    volume=0.1,
    price=1.08512,
    sl=1.08000,
    tp=1.09000,
)
SELL = BUY._replace(type=mt5.ORDER_TYPE_SELL, price=1.08500, sl=1.09000, tp=1.08000)
CLOSE = BUY._replace(purpose=Purpose.EXIT, type=mt5.ORDER_TYPE_SELL, sl=None, tp=None, position=55)
TIGHTEN = Request(
    purpose=Purpose.PROTECT,
    action=mt5.TRADE_ACTION_SLTP,
    symbol="EURUSD",
    magic=7,
    sl=1.08400,
    position=55,
)
HEDGING = mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING
# A Wednesday.
NOW = parse("2017.03.15 12:00")
EURUSD = {
    "trade_tick_value": 1.0,
    "currency_base": "EUR",
    "currency_profit": "USD",
    "currency_margin": "EUR",
}
FACTS = Facts(
    account=account(margin_mode=HEDGING),
    symbol=symbol_info(**EURUSD),
    tick=tick(),
    positions=(),
    baselines=Baselines(day=NOW // 86_400, day_equity=10_000.0, peak_equity=10_000.0),
    state=TradingState.ACTIVE,
    server_time=NOW,
)


def asked(
    request: Request,
    facts: dict[str, Any] | None = None,
    *,
    risk: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    hours: dict[str, Any] | None = None,
) -> Denial | None:
    """Return why a request is denied, where facts and settings differ from plain ones."""
    bounds = Bounds(
        RiskSettings(**(risk or {})),
        LimitSettings(**(limits or {})),
        HoursSettings(**(hours or {})),
    )
    return check(request, FACTS._replace(**(facts or {})), bounds).denial


def rule_of(denial: Denial | None) -> str | None:
    """Return the rule behind a denial, or None."""
    return None if denial is None else denial.rule
