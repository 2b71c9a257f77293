"""What suspends entries between bars, measured on records of an account."""

import math
from typing import Any

import pytest
from tests_support import account, record

from bridge.engine.alarms import View, alarms
from bridge.mt5.records import TerminalInfo
from bridge.risk.baselines import Baselines
from bridge.risk.gauges import Seen, seen_now
from bridge.settings import DayStart, LimitSettings, PropFirmSettings

LIMITS = LimitSettings(
    daily_loss_share=0.05,
    weekly_loss_share=0.1,
    max_drawdown_share=0.2,
    max_losses_in_row=3,
    min_margin_level=200.0,
)
FINE: dict[str, Any] = {
    "account": account(10_000.0, margin=100.0, margin_level=10_000.0),
    "terminal": record(TerminalInfo, {"connected": True, "trade_allowed": True}),
    "seen": seen_now(Baselines(day=1, day_equity=10_000.0, peak_equity=10_000.0), 10_000.0),
    "losses": 0,
    "has_halt_file": False,
}


def seen(equity: float, drawdown: float = 0.0, **known: float) -> Seen:
    """Return what is seen on a day that began with 10,000, which is the peak."""
    plain: dict[str, Any] = {"day": 1, "day_equity": 1e4, "peak_equity": 1e4}
    return Seen(Baselines(**(plain | known)), equity, drawdown, equity)


@pytest.mark.parametrize(
    ("changed", "kinds", "halts"),
    [
        ({}, [], False),
        ({"has_halt_file": True}, ["halt_file"], True),
        (
            {"terminal": record(TerminalInfo, {"trade_allowed": True})},
            ["connection"],
            False,
        ),
        (
            {"terminal": record(TerminalInfo, {"connected": True})},
            ["algo_trading"],
            False,
        ),
        ({"account": account(10_000.0, trade_expert=False)}, ["algo_trading"], False),
        ({"seen": seen(9_500.0)}, ["daily_loss"], False),
        ({"seen": seen(9_500.01)}, [], False),
        ({"seen": seen(9_900.0, day_low=9_500.0)}, ["daily_loss"], False),
        ({"seen": seen(9_900.0, week_equity=11_000.0)}, ["weekly_loss"], False),
        ({"seen": seen(9_900.1, week_equity=11_000.0)}, [], False),
        ({"seen": seen(9_900.0, week_low=9_000.0)}, ["weekly_loss"], False),
        ({"seen": seen(10_000.0, 0.2)}, ["drawdown"], True),
        ({"seen": seen(10_000.0, 0.1999)}, [], False),
        ({"losses": 3}, ["losses_in_row"], False),
        ({"losses": 2}, [], False),
        (
            {"account": account(10_000.0, margin=5_100.0, margin_level=196.1)},
            ["margin_level"],
            False,
        ),
        ({"account": account(10_000.0, margin=0.0, margin_level=0.0)}, [], False),
        ({"seen": seen(7_000.0, 0.3)}, ["daily_loss", "weekly_loss", "drawdown"], True),
    ],
)
def test_each_limit_has_its_alarm(changed: dict[str, Any], kinds: list[str], halts: bool) -> None:
    found = alarms(View(**(FINE | changed)), LIMITS)
    assert [alarm.kind for alarm in found] == kinds
    assert any(alarm.halts for alarm in found) is halts


def test_limits_that_are_off_raise_no_alarm() -> None:
    off = LimitSettings(daily_loss_share=None, max_drawdown_share=None, min_margin_level=None)
    poor = {"account": account(10.0, margin=5_000.0, margin_level=1.0), "seen": seen(10.0, 0.99)}
    assert alarms(View(**(FINE | poor)), off) == ()


PROP = LimitSettings(
    daily_loss_share=None,
    max_drawdown_share=None,
    prop_firm=PropFirmSettings(start_balance=10_000.0),
)


@pytest.mark.parametrize(
    ("found", "kinds", "halts"),
    [
        (seen(9_500.01), [], False),
        (seen(9_500.0), ["prop_daily_loss"], False),
        # The day's loss is counted from the larger of balance and equity at its start.
        (seen(10_000.0, day_balance=10_500.0), ["prop_daily_loss"], False),
        (seen(9_700.0, day_equity=9_000.0, day_balance=10_200.0), ["prop_daily_loss"], False),
        (seen(9_000.01, day_equity=9_100.0), [], False),
        (seen(9_000.0, day_equity=9_100.0), ["prop_total_loss"], True),
        # The lowest equity since the last look counts, whatever the day that it fell on.
        (
            Seen(Baselines(day=1, day_equity=9_100.0, peak_equity=1e4), 9_500.0, 0.0, 9_000.0),
            ["prop_total_loss"],
            True,
        ),
        (seen(10_999.99), [], False),
        (seen(11_000.0), ["prop_profit_target"], False),
        # Money paid in raises the starting balance; what is paid out does not lower it.
        (seen(12_000.0, day_equity=12_000.0, deposits=2_000.0), [], False),
        (seen(10_800.0, day_equity=11_000.0, deposits=2_000.0), ["prop_total_loss"], True),
        (seen(math.nan), ["prop_daily_loss", "prop_total_loss", "prop_profit_target"], True),
    ],
)
def test_a_prop_firm_s_limits_are_shares_of_the_starting_balance(
    found: Seen, kinds: list[str], halts: bool
) -> None:
    told = alarms(View(**(FINE | {"seen": found})), PROP)
    assert [alarm.kind for alarm in told] == kinds
    assert any(alarm.halts for alarm in told) is halts


@pytest.mark.parametrize(
    ("start", "broken"),
    [(DayStart.LARGER, True), (DayStart.BALANCE, True), (DayStart.EQUITY, False)],
)
def test_a_prop_firm_may_count_the_day_from_balance_or_equity(
    start: DayStart, broken: bool
) -> None:
    firm = PropFirmSettings(start_balance=10_000.0, daily_from=start, total_loss_share=None)
    limits = LimitSettings(daily_loss_share=None, max_drawdown_share=None, prop_firm=firm)
    found = seen(9_600.0, day_equity=10_000.0, day_balance=10_100.0)
    assert bool(alarms(View(**(FINE | {"seen": found})), limits)) is broken
