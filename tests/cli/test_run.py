"""``init``, ``run`` and control, as real processes: stopped, killed, started again."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from models_support import write_last_move

from bridge.cli.main import run
from bridge.clock import SystemClock
from bridge.errors import ConfigError
from bridge.journal.read import reading
from bridge.market.barfile import read_bars, write_bars
from bridge.mt5 import constants as mt5
from bridge.share import share_dir

BARS = 700


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder made by init, with a shorter recording."""
    folder = tmp_path / "bot"
    assert run(["init", str(folder)]) == 0
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    write_bars(folder / "EURUSD_H1_2017.csv", rates[4300 : 4300 + BARS], digits=5)
    capsys.readouterr()
    return folder


def change(home: Path, old: str, new: str) -> None:
    path = home / "bridge.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def start(home: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bridge", "run", "-c", str(home / "bridge.toml"), *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts its tests in the background makes them deaf to SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def rows(home: Path, table: str, *apart: str) -> list[dict[str, Any]]:
    with reading(home / "state" / "journal.sqlite3") as journal:
        return [
            {name: value for name, value in row.items() if name not in apart}
            for row in journal.rows(table)
        ]


def decided(home: Path) -> list[dict[str, Any]]:
    return rows(home, "decisions", "id", "run", "at_utc")


def deals(home: Path) -> list[Any]:
    return [row["deal"] for row in rows(home, "deals")]


def wait_for(home: Path, count: int, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert child.poll() is None, child.communicate()
        try:
            if len(rows(home, "decisions")) >= count:
                return
        except (ConfigError, sqlite3.Error):  # it is being made
            continue
    raise AssertionError("the run decides nothing")


def test_init_makes_a_folder_in_which_run_works_at_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    assert "the recording has ended" in capsys.readouterr().out
    assert len(decided(home)) == BARS - 211
    assert any(deal["entry"] == mt5.DEAL_ENTRY_OUT for deal in deals(home))
    # Once more: there is nothing left to decide, and nothing is decided twice.
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    assert len(decided(home)) == BARS - 211


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_at_random_times_it_comes_to_the_same_end(home: Path, tmp_path: Path) -> None:
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    wanted, dealt = decided(home), deals(home)
    (home / "state").rename(tmp_path / "whole")
    chance = random.Random(3)  # noqa: S311  not a secret
    for _ in range(3):
        # One dies while it loads, and one in the middle of its bars.
        child = start(home, "--speed", "240000")
        SystemClock().wait_until(SystemClock().now() + chance.uniform(0.2, 1.0))
        child.kill()
        child.communicate()
        child = start(home, "--speed", "240000")
        count = len(decided(home)) if (home / "state" / "journal.sqlite3").exists() else 0
        wait_for(home, count + chance.randint(1, 60), child)
        child.kill()
        child.communicate()
    assert 0 < len(decided(home)) < len(wanted)
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    assert decided(home) == wanted
    assert deals(home) == dealt


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 0)])
def test_a_signal_stops_cleanly_and_the_next_run_goes_on(
    home: Path, number: str, code: int
) -> None:
    if sys.platform == "win32":
        pytest.skip("a console signal can't be sent to one process on Windows")
    child = start(home, "--speed", "72000")
    wait_for(home, 3, child)
    child.send_signal(getattr(signal, number))
    out, err = child.communicate(timeout=20)
    assert (child.returncode, "Traceback" in err) == (code, False)
    assert f"stopped by {number}" in out
    before = len(decided(home))
    assert rows(home, "runs")[-1]["ending"] == number
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    assert len(decided(home)) == BARS - 211 > before


def test_a_second_run_on_the_account_is_refused(home: Path) -> None:
    first = start(home, "--speed", "36000")
    try:
        wait_for(home, 1, first)
        second = start(home)
        _, err = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "close the program that has it open" in err
    finally:
        first.kill()
        first.communicate()


def test_the_halt_file_ends_entries_and_resume_allows_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ["-c", str(home / "bridge.toml")]
    assert run(["halt", *config]) == 0
    assert (home / "state" / "HALT").exists()
    rates = read_bars(home / "EURUSD_H1_2017.csv")
    write_bars(home / "EURUSD_H1_2017.csv", rates[:450], digits=5)
    assert run(["run", *config]) == 0
    assert [deal["type"] for deal in deals(home)] == [mt5.DEAL_TYPE_BALANCE]
    denied = {row["denied"] for row in rows(home, "intents")}
    assert denied == {"state"}
    capsys.readouterr()
    assert run(["status", *config, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["halted"] is True
    assert told["strategies"][0]["state"] == "halted"
    # More bars, and leave to trade.
    write_bars(home / "EURUSD_H1_2017.csv", rates, digits=5)
    assert run(["resume", *config]) == 0
    assert run(["run", *config]) == 0
    assert len(deals(home)) > 10
    assert not (home / "state" / "RESUME").exists()
    capsys.readouterr()
    assert run(["status", *config]) == 0
    assert "direction: active" in capsys.readouterr().out


def test_flatten_closes_and_halts(home: Path) -> None:
    config = ["-c", str(home / "bridge.toml")]
    child = start(home, "--speed", "144000")
    try:
        wait_for(home, 5, child)
        deadline = time.monotonic() + 60
        while not any(row["holding"] for row in decided(home)) and time.monotonic() < deadline:
            assert child.poll() is None
        assert run(["flatten", *config]) == 0
        while (home / "state" / "FLATTEN").exists() and time.monotonic() < deadline:
            assert child.poll() is None
        wait_for(home, len(decided(home)) + 3, child)
    finally:
        child.terminate()
        child.communicate(timeout=20)
    last = decided(home)[-1]
    assert last["holding"] is None
    assert last["state"] == "halted"
    volume = {
        kind: sum(deal["volume"] for deal in deals(home) if deal["type"] == kind)
        for kind in (mt5.DEAL_TYPE_BUY, mt5.DEAL_TYPE_SELL)
    }
    assert round(volume[mt5.DEAL_TYPE_BUY] - volume[mt5.DEAL_TYPE_SELL], 8) == 0.0


def test_a_run_is_decided_like_the_demo(home: Path, tmp_path: Path) -> None:
    """The settings file takes the same path: equal bars give equal decisions."""
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    first = int(len(rates) * 0.7)
    # The window before the first bar of the demo, so that both begin at the same one.
    write_bars(home / "EURUSD_H1_2017.csv", rates[first - 210 : first + 300], digits=5)
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    assert run(["demo", "--state", str(tmp_path / "demo")]) == 0
    with reading(tmp_path / "demo" / "demo-1" / "journal.sqlite3") as journal:
        demo = [
            (row["bar_time"], row["action"], row["side"], row["outputs"], row["equity"])
            for row in journal.rows("decisions")
        ]
    ran = [
        (row["bar_time"], row["action"], row["side"], row["outputs"], row["equity"])
        for row in decided(home)
    ]
    assert len(ran) == 299
    assert ran == demo[:299]


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ('mode = "paper"', 'mode = "live"', 2, "terminal.login"),
        ("magic = 20170101", "magik = 20170101", 2, "magic"),
        ("magic = 20170101", "magic = 0", 2, "magic"),
        ('timeframe = "H1"\nmagic', 'timeframe = "H4"\nmagic', 4, "was made for H1"),
        ('timeframe = "H1"\nmagic', 'timeframe = "M30"\nmagic', 2, "can't show M30"),
        ('model = "eurusd_h1_direction.onnx"', 'model = "nix.onnx"', 4, "nix.onnx"),
        ('path = "EURUSD_H1_2017.csv"', 'path = "nix.csv"', 2, "nix.csv"),
        ('profile = "profile.json"', 'profile = "nix.json"', 2, "nix.json"),
        ("volume = 0.1", 'password = "x"', 2, "MT5_PASSWORD"),
    ],
)
def test_wrong_settings_are_one_sentence(
    home: Path, old: str, new: str, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(home, old, new)
    assert run(["run", "-c", str(home / "bridge.toml")]) == code
    told = capsys.readouterr().err
    assert says in told
    assert len(told.strip().splitlines()) == 1


def test_another_recording_on_an_old_journal_needs_a_person(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "-c", str(home / "bridge.toml")]) == 0
    rates = read_bars(home / "EURUSD_H1_2017.csv")
    write_bars(home / "EURUSD_H1_2017.csv", rates[:400], digits=5)
    assert run(["run", "-c", str(home / "bridge.toml")]) == 6
    assert "which the recording does not have" in capsys.readouterr().err


def test_init_overwrites_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(home)]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_two_strategies_on_a_netting_symbol_are_refused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = home / "profile.json"
    profile.write_text(profile.read_text().replace('"hedging"', '"netting"'))
    config = home / "bridge.toml"
    text = config.read_text(encoding="utf-8")
    second = text[text.index("[[strategy]]") :].replace("20170101", "7").replace("direction", "two")
    second = second.replace("eurusd_h1_two.onnx", "eurusd_h1_direction.onnx")
    config.write_text(f"{text}\n{second}", encoding="utf-8")
    assert run(["run", "-c", str(config)]) == 2
    assert "one position a symbol" in " ".join(capsys.readouterr().err.split())


def test_two_strategies_trade_side_by_side_on_a_hedging_account(home: Path) -> None:
    config = home / "bridge.toml"
    text = config.read_text(encoding="utf-8")
    second = text[text.index("[[strategy]]") :].replace("20170101", "7").replace("direction", "two")
    second = second.replace("eurusd_h1_two.onnx", "eurusd_h1_direction.onnx")
    config.write_text(f"{text}\n{second}", encoding="utf-8")
    assert run(["run", "-c", str(config)]) == 0
    by_magic = {
        magic: [(row["bar_time"], row["action"]) for row in decided(home) if row["magic"] == magic]
        for magic in (20170101, 7)
    }
    assert len(by_magic[7]) == BARS - 211
    assert by_magic[7] == by_magic[20170101]
    asked = [deal for deal in deals(home) if deal["type"] != mt5.DEAL_TYPE_BALANCE]
    assert {deal["magic"] for deal in asked} == {7, 20170101}


def test_a_coarser_timeframe_is_made_of_the_recorded_one_and_survives_kills(home: Path) -> None:
    """H4 of the recorded H1, beside an H1 strategy; cut in two, it comes to the same end."""
    model = write_last_move(home / "h4.onnx", timeframe="H4")
    text = (home / "bridge.toml").read_text(encoding="utf-8")
    text += f"""
[[strategy]]
name = "coarse"
model = "{model.name}"
symbol = "EURUSD"
timeframe = "H4"
magic = 4
"""
    (home / "bridge.toml").write_text(text, encoding="utf-8")
    config = ["-c", str(home / "bridge.toml")]
    assert run(["run", *config]) == 0
    whole, dealt = decided(home), deals(home)
    coarse = [row for row in whole if row["magic"] == 4]
    assert len(coarse) > BARS // 4 - 60
    assert all(row["bar_time"] % 14_400 == 0 for row in coarse)
    assert any(row["action"] == "reverse" for row in coarse)
    (home / "state").rename(home / "whole")
    child = start(home, "--speed", "240000")
    wait_for(home, 200, child)
    child.kill()
    child.communicate()
    assert run(["run", *config]) == 0

    def by_strategy(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: (row["magic"], row["bar_time"]))

    assert by_strategy(decided(home)) == by_strategy(whole)
    assert deals(home) == dealt
