"""``mt5-onnx doctor`` as a person and as a program call it."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from bridge.cli.main import run
from bridge.market.barfile import read_bars, write_bars

SECRET = "pa55-of-mine"  # noqa: S105  it has to stay unseen


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder made by init."""
    folder = tmp_path / "bot"
    assert run(["init", str(folder)]) == 0
    capsys.readouterr()
    return folder


def change(home: Path, old: str, new: str, file: str = "bridge.toml") -> None:
    path = home / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def asked(home: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Return exit code and what ``--json`` says."""
    code = run(["doctor", "-c", str(home / "bridge.toml"), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert told["exit_code"] == code
    return code, told


def by_name(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["check"]: each for each in told["findings"]}


def test_what_init_makes_is_well(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sorted(home.iterdir())
    assert run(["doctor", "-c", str(home / "bridge.toml")]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0].startswith("  ok settings  ")
    assert lines[0].endswith("bridge.toml: mode paper, 1 strategy, no password needed")
    assert any(line.startswith("  ok history direction") for line in lines)
    assert lines[-1] == "all is well in 27 checks; skipped: 2"
    # Readable when piped, and nothing is left behind: not even the paper account.
    assert "\x1b" not in out
    assert sorted(home.iterdir()) == made


def test_json_is_one_object(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = asked(home, capsys)
    assert (code, told["worst"]) == (0, "ok")
    assert set(told) == {"worst", "exit_code", "findings"}
    assert {tuple(each) for each in told["findings"]} == {
        ("check", "grade", "found", "todo", "exit_code")
    }


def test_what_is_wrong_is_told_with_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """B08: the recording has 60 bars, the model of the sample needs 212."""
    rates = read_bars(home / "EURUSD_H1_2017.csv")
    write_bars(home / "EURUSD_H1_2017.csv", rates[:60], digits=5)
    change(home, "volume = 0.1", "volume = 0.115")
    assert run(["doctor", "-c", str(home / "bridge.toml")]) == 3
    lines = capsys.readouterr().out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("FAIL history direction"))
    assert lines[at].endswith("60 of 212 bars of EURUSD H1")
    assert lines[at + 1].strip() == "-> name a longer recording"
    assert any(line.startswith("warn volume direction") for line in lines)
    assert "checks need a hand" in lines[-1]
    assert (home / "EURUSD_H1_2017.csv").exists()


@pytest.mark.parametrize(
    ("old", "new", "code", "check", "says"),
    [
        ('model = "eurusd_h1_direction.onnx"', 'model = "nix.onnx"', 4, "model direction", "nix"),
        ('path = "EURUSD_H1_2017.csv"', 'path = "nix.csv"', 2, "terminal", "nix.csv"),
        ('profile = "profile.json"', 'profile = "nix.json"', 2, "terminal", "nix.json"),
        ('timeframe = "H1"\nmagic', 'timeframe = "H4"\nmagic', 4, "model direction", "H1"),
        ("volume = 0.1", "volume = 0.001", 2, "volume direction", "0.001 lots"),
        ('state = "state"', 'state = "profile.json/state"', 2, "state folder", "can't be written"),
    ],
)
def test_the_first_fault_gives_the_exit_code(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    code: int,
    check: str,
    says: str,
) -> None:
    change(home, old, new)
    found, told = asked(home, capsys)
    assert (found, told["worst"]) == (code, "fail")
    faults = [each for each in told["findings"] if each["grade"] == "fail"]
    assert faults[0]["check"] == check
    assert says in faults[0]["found"]
    assert faults[0]["exit_code"] == code


def test_two_strategies_on_a_netting_symbol_are_a_fault(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(home, '"hedging"', '"netting"', "profile.json")
    text = (home / "bridge.toml").read_text(encoding="utf-8")
    second = text[text.index("[[strategy]]") :].replace("20170101", "7")
    second = second.replace('name = "direction"', 'name = "two"')
    (home / "bridge.toml").write_text(f"{text}\n{second}", encoding="utf-8")
    code, told = asked(home, capsys)
    assert code == 2
    assert "one position a symbol" in by_name(told)["margin mode"]["found"]


def test_settings_that_can_not_be_read_are_one_sentence_or_one_object(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(home, "magic = 20170101", "magik = 20170101")
    assert run(["doctor", "-c", str(home / "bridge.toml")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "magic" in err
    code, told = asked(home, capsys)
    assert (code, told["worst"]) == (2, "fail")
    [finding] = told["findings"]
    assert finding["check"] == "settings"
    assert finding["found"] in err


def test_a_halt_file_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["halt", "-c", str(home / "bridge.toml")]) == 0
    capsys.readouterr()
    code, told = asked(home, capsys)
    assert (code, told["worst"]) == (0, "warn")
    assert "mt5-onnx resume" in by_name(told)["halt file"]["todo"]


LIVE = """
mode = "live"
state = "state"
[terminal]
login = 77
server = "Paper-Demo"
[[strategy]]
name = "direction"
model = "eurusd_h1_direction.onnx"
symbol = "EURUSD"
timeframe = "H1"
magic = 7
"""


@pytest.mark.skipif(
    importlib.util.find_spec("MetaTrader5") is not None, reason="the package is installed here"
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_without_the_package_live_is_a_fault_and_no_secret_is_shown(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    (home / "bridge.toml").write_text(LIVE, encoding="utf-8")
    monkeypatch.setenv("MT5_PASSWORD", SECRET)
    assert run(["doctor", "-c", str(home / "bridge.toml"), *options]) == 3
    out, err = capsys.readouterr()
    assert "No module named 'MetaTrader5'" in out
    assert "password: from MT5_PASSWORD" in out
    assert "add --live" in out
    assert SECRET not in out + err


def test_a_password_without_a_login_is_a_fault_of_settings(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = LIVE.replace('"live"', '"dry-run"').replace("login = 77\n", "")
    (home / "bridge.toml").write_text(dry, encoding="utf-8")
    monkeypatch.setenv("MT5_PASSWORD", SECRET)
    code, told = asked(home, capsys)
    assert code == 2
    assert "set login (MT5_LOGIN)" in by_name(told)["package"]["found"]
    assert SECRET not in json.dumps(told)
