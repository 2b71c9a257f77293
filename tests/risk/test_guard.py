import math
from typing import Any

import pytest
from risk.rule_facts import BUY, CLOSE, FACTS
from tests_support import account, position, symbol_info, tick

from bridge.mt5 import constants as mt5
from bridge.mt5.request import Request
from bridge.risk.baselines import Baselines, first_baselines
from bridge.risk.guard import Bounds, Facts, TradingState, check
from bridge.risk.rules import ENTRY_RULES
from bridge.settings import LimitSettings, RiskSettings

LIMITS = RiskSettings()
ACCOUNT = LimitSettings(max_positions=3, daily_loss_share=None, max_drawdown_share=None)


def bounds(risk: RiskSettings = LIMITS) -> Bounds:
    return Bounds(risk, ACCOUNT)


def denied(request: Request, facts: Facts, settings: RiskSettings = LIMITS) -> str | None:
    denial = check(request, facts, bounds(settings)).denial
    return None if denial is None else denial.rule


def test_a_plain_entry_passes_every_rule() -> None:
    ruling = check(BUY, FACTS, bounds())
    assert ruling.denial is None
    assert [each.rule for each in ruling.verdicts] == list(ENTRY_RULES)
    assert not ruling.halts


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"state": TradingState.REDUCING}, "state"),
        ({"state": TradingState.HALTED}, "state"),
        ({"alarms": frozenset({"connection"})}, "alarms"),
        ({"unresolved": frozenset({3})}, "unresolved"),
        ({"tick": tick(0.0, 0.0)}, "quote"),
        ({"tick": tick(1.0, math.nan)}, "quote"),
        ({"tick": tick(1.0852, 1.0851)}, "quote"),
        ({"account": account(trade_allowed=False)}, "account"),
        ({"account": account(trade_expert=False)}, "account"),
        ({"symbol": symbol_info(trade_mode=mt5.SYMBOL_TRADE_MODE_DISABLED)}, "trade_mode"),
        ({"symbol": symbol_info(trade_mode=mt5.SYMBOL_TRADE_MODE_CLOSEONLY)}, "trade_mode"),
        ({"symbol": symbol_info(trade_mode=mt5.SYMBOL_TRADE_MODE_SHORTONLY)}, "trade_mode"),
        ({"tick": tick(1.08500, 1.08531)}, "spread"),
        ({"positions": (position(),)}, "positions"),
        ({"symbol": symbol_info(trade_stops_level=501)}, "stop"),
        ({"quote_age": 60.1}, "quote_age"),
        ({"quote_age": -901.0}, "quote_age"),
        ({"quote_age": math.nan}, "quote_age"),
        ({"bar_age": 60.1}, "bar_age"),
        ({"own_positions": (position(magic=8, symbol="GBPUSD"),) * 3}, "account_positions"),
        ({"account": account(9_500.0)}, "daily_loss"),
        (
            {"baselines": Baselines(day=1, day_equity=1e4, peak_equity=1e4, day_low=9_500.0)},
            "daily_loss",
        ),
        ({"account": account(math.nan)}, "daily_loss"),
        ({"baselines": Baselines(day=1, day_equity=9_000.0, peak_equity=13_400.0)}, "drawdown"),
    ],
)
def test_each_rule_stops_an_entry_and_no_exit(facts: dict[str, Any], rule: str) -> None:
    changed = FACTS._replace(**facts)
    assert denied(BUY, changed) == rule
    # An exit is stopped by nothing but a missing quote.
    assert denied(CLOSE, changed) == (rule if rule == "quote" else None)


def test_limits_are_where_they_are_said_to_be() -> None:
    assert denied(BUY, FACTS._replace(tick=tick(1.08500, 1.08530))) is None
    assert denied(BUY, FACTS._replace(account=account(9_500.01))) is None
    assert denied(BUY, FACTS._replace(symbol=symbol_info(trade_stops_level=500))) is None


def test_volume_counts_what_is_held_of_the_same_magic_only() -> None:
    two = RiskSettings(max_positions=5, max_volume=0.3)
    held = (position(volume=0.2),)
    assert denied(BUY, FACTS._replace(positions=held), two) is None
    more = (position(volume=0.1), position(volume=0.11, ticket=56))
    assert denied(BUY, FACTS._replace(positions=more), two) == "volume"
    foreign = (position(volume=5.0, magic=8), position(volume=5.0, magic=0))
    assert denied(BUY, FACTS._replace(positions=foreign), two) is None


@pytest.mark.parametrize(
    ("levels", "rule"),
    [
        ({"sl": None}, "stop"),
        ({"sl": 1.08500}, "stop"),
        ({"sl": 1.08506}, "stop"),
        ({"sl": 1.09000}, "stop"),
        ({"sl": 1.08499}, None),
        ({"tp": 1.08500}, "take"),
        ({"tp": 1.08000}, "take"),
        ({"tp": 1.08501}, None),
        ({"tp": None}, None),
        ({"volume": None}, "volume"),
    ],
)
def test_levels_lie_beyond_the_closing_price(levels: dict[str, Any], rule: str | None) -> None:
    assert denied(BUY._replace(**levels), FACTS) == rule


def test_a_sell_is_measured_from_the_ask() -> None:
    quote = FACTS._replace(tick=tick(1.08201, 1.08209))
    sell = BUY._replace(type=mt5.ORDER_TYPE_SELL, tp=None)
    low = check(sell._replace(sl=1.08200), quote, bounds()).denial
    assert low is not None
    assert (low.rule, low.value) == ("stop", "1.082 is -9.0 points beyond 1.08209")
    assert denied(sell._replace(sl=1.08300), quote) is None


def test_without_a_stop_only_where_settings_say_so() -> None:
    assert denied(BUY._replace(sl=None), FACTS, RiskSettings(require_stop=False)) is None


def test_a_rule_that_raises_denies_the_entry_and_halts() -> None:
    broken = FACTS._replace(symbol=symbol_info(point=0.0))
    ruling = check(BUY, broken, bounds())
    assert ruling.denial is not None
    assert ruling.denial.rule == "spread"
    assert "ZeroDivisionError" in ruling.denial.value
    assert ruling.halts


def test_only_the_drawdown_halts() -> None:
    deep = FACTS._replace(account=account(7_500.0))
    ruling = check(BUY, deep, bounds(RiskSettings(daily_loss_share=None)))
    assert ruling.halts
    assert ruling.denial is not None
    assert ruling.denial.rule == "drawdown"
    assert not check(BUY, FACTS._replace(account=account(9_000.0)), bounds()).halts


def test_an_exit_waits_only_for_an_order_on_its_own_ticket() -> None:
    assert denied(CLOSE, FACTS._replace(unresolved=frozenset({55}))) == "unresolved"
    assert denied(CLOSE, FACTS._replace(unresolved=frozenset({54}))) is None


def test_baselines_follow_the_server_day() -> None:
    day = 86_400
    start = first_baselines(10 * day, 1_000.0)
    later = start.advanced(10 * day + 3_600, 1_100.0)
    assert (later.day_equity, later.peak_equity) == (1_000.0, 1_100.0)
    assert math.isclose(later.drawdown_share(990.0), 0.1)
    assert math.isclose(later.day_loss_share(990.0), 0.01)
    tomorrow = later.advanced(11 * day, 990.0)
    assert (tomorrow.day_equity, tomorrow.peak_equity) == (990.0, 1_100.0)


def test_an_account_without_equity_has_lost_everything() -> None:
    assert first_baselines(0, 0.0).drawdown_share(0.0) == 1.0
