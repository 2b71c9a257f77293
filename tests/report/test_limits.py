"""Every limit with what is used and left of it, from a journal of which each number is known."""

import json
from pathlib import Path
from typing import Any

import pytest
from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.journal.read import reading
from bridge.journal.write import DecisionRow, Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.mt5.request import Purpose, Request
from bridge.mt5.servertime import DAY, parse
from bridge.report.limits import limit_lines
from bridge.report.status import status_of
from bridge.risk.baselines import Baselines
from bridge.settings import (
    BridgeSettings,
    LimitSettings,
    Mode,
    PropFirmSettings,
    RiskSettings,
    StrategySettings,
)

NOW = parse("2017.03.15 12:00")
KNOWN = Baselines(
    day=NOW // DAY,
    day_equity=10_000.0,
    peak_equity=12_500.0,
    day_low=9_700.0,
    day_balance=10_100.0,
    week_equity=11_000.0,
)
LIMITS = LimitSettings(
    weekly_loss_share=0.2,
    max_losses_in_row=3,
    max_positions=4,
    max_symbol_volume=1.0,
    max_currency_exposure=3.0,
    max_orders_per_minute=5,
    prop_firm=PropFirmSettings(start_balance=10_000.0, profit_target_share=0.08),
)
RISK = RiskSettings(max_losses_in_row=2, max_positions=2, max_volume=0.5)


def settings(limits: LimitSettings = LIMITS) -> BridgeSettings:
    strategies = tuple(
        StrategySettings(model="m", symbol="EURUSD", timeframe="H1", magic=magic, risk=RISK)
        for magic in (7, 8)
    )
    return BridgeSettings(mode=Mode.DRY_RUN, limits=limits, strategy=strategies)


def decision(magic: int, equity: float, known: Baselines) -> DecisionRow:
    return DecisionRow(
        magic=magic,
        symbol="EURUSD",
        timeframe="H1",
        bar_time=NOW - 3600,
        model_sha256="m",
        input_sha256="i",
        outputs=(0.0,),
        long=0.0,
        short=0.0,
        problem=None,
        action="hold",
        side=None,
        stop_points=None,
        take_points=None,
        reason="none",
        holding=None,
        state="active",
        baselines=known,
        bid=1.0,
        ask=1.0,
        balance=equity,
        equity=equity,
    )


def lost(ticket: int, magic: int, net: float) -> list[TradeDeal]:
    """Return the deals of a position that was closed today."""
    plain = {"magic": magic, "position_id": ticket, "volume": 0.1, "time": NOW, "symbol": "EURUSD"}
    opened = {**plain, "ticket": ticket, "entry": mt5.DEAL_ENTRY_IN}
    closed = {**plain, "ticket": ticket + 1, "entry": mt5.DEAL_ENTRY_OUT, "type": 1, "profit": net}
    return [record(TradeDeal, opened), record(TradeDeal, closed)]


def snapshot(**fields: Any) -> str:
    held = [
        {"ticket": 1, "magic": 7, "symbol": "EURUSD", "type": 0, "volume": 0.3},
        {"ticket": 2, "magic": 8, "symbol": "EURUSD", "type": 1, "volume": 0.4},
    ]
    account = {"balance": 1e4, "equity": 9_800.0, "margin_level": 450.0, "currency": "USD"}
    return json.dumps(account | {"positions": held} | fields)


def written(folder: Path, shot: str | None) -> dict[str, Any]:
    clock = ManualClock(float(NOW))
    with Journal(folder / "journal.sqlite3", clock) as journal:
        begin(journal)
        journal.decision(decision(7, 9_750.0, KNOWN))
        journal.decision(decision(8, 9_750.0, KNOWN))
        request = Request(purpose=Purpose.ENTRY, action=1, symbol="EURUSD", magic=7)
        journal.intent(None, request, [])
        journal.deals([*lost(1, 7, -5.0), *lost(3, 8, -5.0), *lost(5, 7, 1.0), *lost(7, 7, -5.0)])
        clock.wait_until(NOW + 30.0)
        journal.intent(None, request, [])
        journal.denied(None, request, [], "spread")
        clock.wait_until(NOW + 60.0)
        if shot is not None:
            journal.event("snapshot", shot)
    return found_in(folder)


def found_in(folder: Path, limits: LimitSettings = LIMITS) -> dict[str, Any]:
    with reading(folder / "journal.sqlite3") as reader:
        return status_of(reader, settings(limits), folder, heartbeat=None, utc_now=0.0)


def test_every_limit_of_the_account_is_shown(tmp_path: Path) -> None:
    shot = snapshot(exposure={"EUR": 10_780.0, "USD": -14_700.0})
    limits = written(tmp_path, shot)["limits"]
    assert list(limits) == [
        "daily_loss",
        "weekly_loss",
        "drawdown",
        "losses_in_row",
        "prop_daily_loss",
        "prop_total_loss",
        "prop_profit_target",
        "margin_level",
        "positions",
        "symbol_volume",
        "currency_exposure",
        "orders_per_minute",
    ]
    shown = {name: (of["used"], of["limit"], of["left"]) for name, of in limits.items()}
    assert {name: pytest.approx(each) for name, each in shown.items()} == {
        "daily_loss": (0.03, 0.05, 0.02),
        "weekly_loss": (1_300 / 11_000, 0.2, 900 / 11_000),
        "drawdown": (0.216, 0.25, 0.034),
        "losses_in_row": (2, 3, 1),
        "prop_daily_loss": (0.04, 0.05, 0.01),
        "prop_total_loss": (0.03, 0.10, 0.07),
        "prop_profit_target": (-0.02, 0.08, 0.10),
        "margin_level": (450.0, 200.0, 250.0),
        "positions": (2, 4, 2),
        "symbol_volume": (0.7, 1.0, 0.3),
        "currency_exposure": (1.5, 3.0, 1.5),
        "orders_per_minute": (1, 5, 4),
    }
    assert limits["prop_daily_loss"]["money"] == pytest.approx(
        {"used": 400.0, "limit": 500.0, "left": 100.0, "trips_at": 9_600.0}
    )
    assert limits["prop_profit_target"]["money"]["trips_at"] == pytest.approx(10_800.0)
    assert limits["weekly_loss"]["money"]["trips_at"] == pytest.approx(8_800.0)


def test_a_strategy_s_own_limits_are_shown(tmp_path: Path) -> None:
    first, second = written(tmp_path, snapshot())["strategies"]
    assert list(first["limits"]) == ["daily_loss", "weekly_loss", "drawdown"]
    assert first["counts"] == {
        "losses_in_row": {"used": 1, "limit": 2, "left": 1, "money": None},
        "positions": {"used": 1, "limit": 2, "left": 1, "money": None},
        "volume": {"used": 0.3, "limit": 0.5, "left": 0.2, "money": None},
    }
    assert second["counts"]["volume"]["used"] == 0.4
    assert second["limits"]["weekly_loss"]["left"] is None


def test_lines_are_for_a_person_and_leave_out_what_is_off(tmp_path: Path) -> None:
    limits = written(tmp_path, snapshot(margin_level=0.0))["limits"]
    lines = list(limit_lines(limits))
    assert lines[0] == (
        "  daily loss: 3.00% of 5.00% (300.00 of 500.00), 2.00% (200.00) left, "
        "reached at equity 9500.00"
    )
    assert "  losses in row: 2 of 3, 1 left" in lines
    assert "  margin level: no positions, at least 200 %" in lines
    # Nobody has valued the currencies yet.
    assert "  currency exposure: not known, limit 3" in lines
    off = found_in(tmp_path, LimitSettings(max_orders_per_minute=None, min_margin_level=None))
    assert len(list(limit_lines(off["limits"]))) == 2


def test_the_equity_seen_last_counts_and_without_any_there_is_nothing(tmp_path: Path) -> None:
    limits = written(tmp_path, None)["limits"]
    assert limits["prop_profit_target"]["used"] == pytest.approx(-0.025)
    assert limits["currency_exposure"]["used"] == 0.0
    empty = tmp_path / "empty"
    empty.mkdir()
    with Journal(empty / "journal.sqlite3", ManualClock(0.0)) as journal:
        begin(journal)
    found = found_in(empty)
    assert found["limits"] == {}
    assert found["strategies"][0]["last_bar"] is None


def test_baselines_that_were_written_by_themselves_are_newer(tmp_path: Path) -> None:
    written(tmp_path, None)
    dipped = Baselines(**(KNOWN._asdict() | {"day_low": 9_000.0}))
    with Journal(tmp_path / "journal.sqlite3", ManualClock(NOW + 90.0)) as journal:
        begin(journal)
        journal.event("baselines", json.dumps(dipped._asdict()), 7)
    limits = found_in(tmp_path)["limits"]
    assert limits["daily_loss"]["used"] == pytest.approx(0.1)
    assert limits["daily_loss"]["left"] == pytest.approx(-0.05)
