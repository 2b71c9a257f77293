"""Whose account, of which kind, and what keeps a program from trading on it."""

from pathlib import Path
from typing import Any

import pytest
from doctor.doctor_desk import Patient, broker

from bridge.doctor import account
from bridge.doctor.finding import Finding, Grade
from bridge.settings import Mode


def code(found: Finding) -> tuple[Grade, int]:
    return found.grade, found.exit_code


def test_the_account_of_the_settings_is_named_without_its_owner(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, profile=broker(account={"owner": "Jane Doe"}))
    found = account.account(patient.site())
    assert code(found) == (Grade.OK, 0)
    assert found.found == "1 on Paper-Demo, USD, leverage 1:100"


@pytest.mark.parametrize("account_of", [{"login": 2}, {"server": "Other-Demo"}])
def test_another_account_is_a_fault_of_the_terminal(
    tmp_path: Path, account_of: dict[str, Any]
) -> None:
    site = Patient(folder=tmp_path, profile=broker(account=account_of)).site()
    found = account.account(site)
    assert code(found) == (Grade.FAIL, 3)
    assert "the settings name 1 on Paper-Demo" in found.found
    assert "terminal.login" in found.todo


def test_a_recording_is_nobodys_account(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, profile=broker(account={"login": 2}))
    settings = patient.settings().model_copy(update={"mode": Mode.PAPER})
    assert code(account.account(patient.site(settings))) == (Grade.OK, 0)


@pytest.mark.parametrize(
    ("kind", "top", "grade", "exit_code"),
    [
        (0, {}, Grade.OK, 0),
        (1, {}, Grade.OK, 0),
        (2, {}, Grade.FAIL, 2),
        (2, {"allow_real": True}, Grade.OK, 0),
        (2, {"mode": "dry-run"}, Grade.OK, 0),
        (7, {}, Grade.FAIL, 2),
    ],
)
def test_real_money_wants_to_be_allowed(
    tmp_path: Path, kind: int, top: dict[str, Any], grade: Grade, exit_code: int
) -> None:
    site = Patient(folder=tmp_path, top=top, odd={"account_info": {"trade_mode": kind}}).site()
    found = account.account_type(site)
    assert code(found) == (grade, exit_code)
    assert ("allow_real = true" in found.todo) == (grade is Grade.FAIL)


@pytest.mark.parametrize(
    ("mode", "second", "grade"),
    [
        ("hedging", "EURUSD", Grade.OK),
        ("netting", "EURUSD", Grade.FAIL),
        ("exchange", "EURUSD", Grade.FAIL),
        ("netting", "GBPUSD", Grade.OK),
    ],
)
def test_netting_has_one_strategy_a_symbol(
    tmp_path: Path, mode: str, second: str, grade: Grade
) -> None:
    patient = Patient(folder=tmp_path, profile=broker(account={"margin_mode": mode}))
    settings = patient.settings()
    other = settings.strategy[0].model_copy(update={"name": "b", "magic": 8, "symbol": second})
    both = settings.model_copy(update={"strategy": (*settings.strategy, other)})
    found = account.margin_mode(patient.site(both))
    assert code(found) == (grade, 2 if grade is Grade.FAIL else 0)


@pytest.mark.parametrize(
    ("check", "odd", "says"),
    [
        (
            account.autotrading,
            {"terminal_info": {"trade_allowed": False}},
            "AutoTrading button",
        ),
        (
            account.python_api,
            {"terminal_info": {"tradeapi_disabled": True}},
            "tradeapi_disabled",
        ),
        (
            account.account_trading,
            {"account_info": {"trade_allowed": False}},
            "investor",
        ),
        (
            account.expert_trading,
            {"account_info": {"trade_expert": False}},
            "trade_expert",
        ),
    ],
)
def test_each_switch_that_is_off_is_named_by_itself(
    tmp_path: Path, check: account.Switch, odd: dict[str, Any], says: str
) -> None:
    """A22: AutoTrading in the terminal, the account's right, and the broker's for programs."""
    assert code(check(Patient(folder=tmp_path).site())) == (Grade.OK, 0)
    found = check(Patient(folder=tmp_path, odd=odd).site())
    assert code(found) == (Grade.FAIL, 3)
    assert says in found.found
    assert found.todo


def test_autotrading_off_alone_makes_the_doctor_exit_3(tmp_path: Path) -> None:
    """A22: trade_allowed False: the doctor exits non-zero, naming AutoTrading and nothing else."""
    odd = {"terminal_info": {"trade_allowed": False}}
    findings = Patient(folder=tmp_path, odd=odd).examined()
    bad = [name for name, each in findings.items() if each.grade is Grade.FAIL]
    assert bad == ["AutoTrading"]
    assert findings["AutoTrading"].exit_code == 3
    # Data is fine, so all that looks at it has answered.
    assert findings["history mover"].grade is Grade.OK


def test_a_paper_account_may_be_forbidden_to_trade_too(tmp_path: Path) -> None:
    """A22: on the paper terminal itself, as a profile says."""
    profile = broker(account={"trade_allowed": False, "trade_expert": False})
    site = Patient(folder=tmp_path, profile=profile).site()
    for check in (account.account_trading, account.expert_trading):
        assert check(site).grade is Grade.FAIL


def test_a_dry_run_needs_no_leave_to_trade(tmp_path: Path) -> None:
    odd = {"terminal_info": {"trade_allowed": False}, "account_info": {"trade_allowed": False}}
    site = Patient(folder=tmp_path, top={"mode": "dry-run"}, odd=odd).site()
    for check in (account.autotrading, account.account_trading):
        found = check(site)
        assert code(found) == (Grade.OK, 0)
        assert "a dry run sends nothing" in found.found
