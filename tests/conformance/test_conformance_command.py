"""``mt5-onnx conformance`` over a terminal in a child process, as a person calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from live_support import LOGIN, Plan, environment, plan, write_settings

from bridge.cli.main import run


class Desk:
    """A settings file whose terminal is a paper terminal under the package's name."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, **fields: Any) -> None:
        self.plan: Plan = plan(folder, **fields)
        self.config = write_settings(folder, models={7: "none.onnx"})
        for name in ("PYTHONPATH", "BRIDGE_STANDIN"):
            patch.setenv(name, environment(self.plan)[name])

    def run(self, *options: str) -> int:
        return run(["conformance", "-c", str(self.config), "--account", "demo", *options])


def test_a_terminal_in_a_child_does_not_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    assert desk.run("--trade") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert "same    trade: removed order" in lines
    assert lines[-1] == "128 same, 0 DIFFERS, 9 skipped"
    assert str(LOGIN) not in out
    terminal = desk.plan.terminal()
    terminal.initialize()
    assert (terminal.positions_total(), terminal.orders_total()) == (0, 0)
    assert terminal.history_deals_total(0, 2**31 - 1) == 4  # deposit, in, out, out
    terminal.close()


def test_json_is_one_object_without_trading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    assert desk.run("--json", "--symbol", "EURUSD") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert set(told) == {"version", "symbol", "exit_code", "ended_early", "outcomes"}
    assert (told["exit_code"], told["ended_early"]) == (0, False)
    buy = next(each for each in told["outcomes"] if each["probe"] == "trade: buy")
    assert (buy["verdict"], buy["why"]) == ("skipped", "not asked for: add --trade")


def test_a_brokers_own_text_is_a_difference_and_6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    profile = tmp_path / "profile.json"
    plain = json.loads(profile.read_text(encoding="utf-8"))
    plain["account"]["retcode_texts"] = {"10035": "No such order"}
    profile.write_text(json.dumps(plain), encoding="utf-8")
    assert desk.run("--trade") == 6
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("DIFFERS check: limit that is of no pending type")
    assert lines[at + 1].strip() == "terminal: comment 'No such order'"
    assert lines[at + 2].strip() == "paper:    comment 'Invalid order'"


def test_a_real_account_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, monkeypatch, is_real=True)
    assert desk.run("--trade") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "this one is REAL" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("options", [[], ["--account", "real"], ["--account", "77"]])
def test_demo_has_to_be_said(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No terminal is even started."""
    assert run(["conformance", "-c", str(tmp_path / "none.toml"), *options]) == 2
    assert "--account" in capsys.readouterr().err
