"""What suspends entries between bars, measured on records of an account."""

from typing import Any

import pytest
from tests_support import account, record

from bridge.engine.watch import View, alarms
from bridge.mt5.records import TerminalInfo
from bridge.risk.baselines import Baselines
from bridge.settings import LimitSettings

LIMITS = LimitSettings(daily_loss_share=0.05, max_drawdown_share=0.2, min_margin_level=200.0)
FINE: dict[str, Any] = {
    "account": account(10_000.0, margin=100.0, margin_level=10_000.0),
    "terminal": record(TerminalInfo, {"connected": True, "trade_allowed": True}),
    "baselines": Baselines(day=1, day_equity=10_000.0, peak_equity=11_000.0),
    "drawdown": 0.0,
    "has_halt_file": False,
}


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
        ({"account": account(9_500.0)}, ["daily_loss"], False),
        ({"account": account(9_500.01)}, [], False),
        ({"drawdown": 0.2}, ["drawdown"], True),
        ({"drawdown": 0.1999}, [], False),
        (
            {"baselines": Baselines(day=1, day_equity=1e4, peak_equity=1e4, day_low=9_500.0)},
            ["daily_loss"],
            False,
        ),
        (
            {"account": account(10_000.0, margin=5_100.0, margin_level=196.1)},
            ["margin_level"],
            False,
        ),
        ({"account": account(10_000.0, margin=0.0, margin_level=0.0)}, [], False),
        ({"account": account(7_000.0), "drawdown": 0.3}, ["daily_loss", "drawdown"], True),
    ],
)
def test_each_limit_has_its_alarm(changed: dict[str, Any], kinds: list[str], halts: bool) -> None:
    found = alarms(View(**(FINE | changed)), LIMITS)
    assert [alarm.kind for alarm in found] == kinds
    assert any(alarm.halts for alarm in found) is halts


def test_limits_that_are_off_raise_no_alarm() -> None:
    off = LimitSettings(daily_loss_share=None, max_drawdown_share=None, min_margin_level=None)
    poor = View(**(FINE | {"account": account(10.0, margin=5_000.0, margin_level=1.0)}))
    assert alarms(poor, off) == ()
