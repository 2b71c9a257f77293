"""The way to the broker, with a child process where the real package would be."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from doctor.doctor_desk import FILE, Patient
from terminal.host_desk import findable, rng, settings
from terminal.host_modules import LOGIN, SERVER

from bridge.cli.doctor import over_terminal
from bridge.clock import SystemClock
from bridge.doctor import link
from bridge.doctor.examine import examine
from bridge.doctor.finding import Finding, Grade, exit_code
from bridge.doctor.ground import Connection, Site
from bridge.mt5.records import AccountInfo
from bridge.settings import BridgeSettings
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal


def code(found: Finding) -> tuple[Grade, int]:
    return found.grade, found.exit_code


def chosen(tmp_path: Path, **strategy: Any) -> BridgeSettings:
    """Return settings of the account that the child has; their model is not there."""
    top = {"mode": "dry-run", "terminal": {"login": LOGIN, "server": SERVER}}
    plain = {"model": "nix.onnx", **strategy}
    return Patient(folder=tmp_path, top=top, strategy=plain).settings()


def hosted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: HostSettings, **strategy: Any
) -> dict[str, Finding]:
    findable(monkeypatch)
    made = HostTerminal(host, SystemClock(), rng())
    found = examine(chosen(tmp_path, **strategy), lambda: over_terminal(made), SystemClock(), FILE)
    return {each.check: each for each in found}


def test_package_terminal_and_account_are_named_across_the_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = settings(login=LOGIN, server=SERVER)
    findings = hosted(tmp_path, monkeypatch, host)
    about = f"Python {platform.python_version()}, MetaTrader5 5.0.6231"
    assert findings["package"].found == about
    assert findings["terminal"].found == "Paper terminal build 6000, connected"
    assert findings["account"].found == f"{LOGIN} on {SERVER}, USD, leverage 1:100"
    named = ("package", "terminal", "account", "account type", "AutoTrading", "symbol EURUSD")
    assert {findings[name].grade for name in named} == {Grade.OK}
    assert "ms" in findings["latency"].found


def test_names_are_suggested_across_the_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = hosted(tmp_path, monkeypatch, settings(), symbol="EURUSD.pro")
    assert code(findings["symbol EURUSD.pro"]) == (Grade.FAIL, 2)
    assert 'symbol = "EURUSD"' in findings["symbol EURUSD.pro"].todo


def test_a_package_that_can_not_be_had_is_a_fault_and_skips_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = hosted(tmp_path, monkeypatch, settings("failing"))
    assert code(findings["package"]) == (Grade.FAIL, 3)
    assert "no such bars" in findings["package"].found
    assert "terminal.python" in findings["package"].todo
    for name in ("terminal", "latency", "account", "AutoTrading", "symbol EURUSD", "quote EURUSD"):
        assert findings[name].grade is Grade.SKIPPED
        assert findings[name].found == "there is no connection to a terminal"
    assert exit_code(list(findings.values())) == 3


def test_a_terminal_that_does_not_start_is_told_apart_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "refuse").touch()
    host = settings("troubled", factory_arguments={"folder": str(tmp_path)})
    findings = hosted(tmp_path, monkeypatch, host)
    assert code(findings["package"]) == (Grade.OK, 0)
    assert code(findings["terminal"]) == (Grade.FAIL, 3)
    assert "MetaTrader 5 x64 not found" in findings["terminal"].found
    assert findings["account"].grade is Grade.SKIPPED


def test_a_terminal_with_another_account_is_a_fault_of_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = hosted(tmp_path, monkeypatch, settings(login=5, server=SERVER))
    assert findings["package"].grade is Grade.OK
    assert findings["terminal"].grade is Grade.SKIPPED
    assert code(findings["account"]) == (Grade.FAIL, 3)
    assert f"logged in to {LOGIN} on {SERVER} instead of 5" in findings["account"].found
    assert exit_code(list(findings.values())) == 3


def test_a_terminal_without_its_broker_is_a_fault(tmp_path: Path) -> None:
    site = Patient(folder=tmp_path).site()
    assert code(link.terminal(site)) == (Grade.OK, 0)
    odd = {"terminal_info": {"connected": False, "path": "C:\\MT5"}}
    found = link.terminal(Patient(folder=tmp_path, odd=odd).site())
    assert code(found) == (Grade.FAIL, 3)
    said = "Paper terminal build 6000 at C:\\MT5 has no connection to the broker"
    assert found.found == said
    assert "log it in" in found.todo


def test_what_is_raised_while_connecting_is_a_finding_too(tmp_path: Path) -> None:
    @contextmanager
    def broken() -> Iterator[Connection]:
        raise KeyError("nothing")
        yield

    found = {each.check: each for each in examine(chosen(tmp_path), broken, SystemClock(), FILE)}
    assert code(found["package"]) == (Grade.FAIL, 1)
    assert found["package"].found == "unexpected KeyError: 'nothing'"
    assert found["terminal"].grade is Grade.SKIPPED


class Slow(ModuleTerminal):
    """A terminal whose answers take a while."""

    def account_info(self) -> AccountInfo:
        SystemClock().wait_until(SystemClock().now() + 0.06)
        return super().account_info()


def test_slow_answers_are_told(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path, odd={"terminal_info": {"ping_last": 38_400}})
    site = patient.site()
    found = link.latency(site)
    assert found.grade is Grade.OK
    assert found.found.endswith("ms, the broker 38 ms")
    terminal = Slow(patient.module(site.link.clock))
    slow = Site(site.settings, Connection(clock=site.clock, terminal=terminal), site.clock)
    found = link.latency(slow)
    assert found.grade is Grade.WARN
    assert "more than 50 ms" in found.found
