"""``mt5-onnx record``: a real child process answers, with the paper terminal in it."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from live_support import LOGIN, SERVER, Plan, environment, plan, write_settings
from models_support import write_last_move

from bridge.cli.main import run
from bridge.clock import SystemClock
from bridge.mt5.request import RequestDict
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.tape.replay import Tape

SECRET = "hunter2-is-no-password"  # noqa: S105  it is what nothing may show
ORDERS = {"order_send", "order_check"}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return prepared(tmp_path, monkeypatch)


def prepared(folder: Path, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Path:
    """Lay out terminal and settings, with a position of the strategy in the account."""
    made = plan(folder, **fields)
    for name, value in environment(made).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MT5_PASSWORD", SECRET)
    hold(made)
    model = write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
    return write_settings(folder, models={7: model.name}, head="")


def hold(made: Plan) -> None:
    """Buy before the child opens the account's file."""
    paper = made.terminal()
    paper.initialize()
    order: RequestDict = {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0, "magic": 7}
    answer = ModuleTerminal(paper).order_send({**order, "comment": "for Rosalind"})
    assert answer is not None
    assert answer.retcode == 10009
    paper.close()


@pytest.mark.parametrize("name", ["bug.jsonl", "bug.jsonl.gz"])
def test_a_terminal_is_recorded_and_the_tape_replays(
    config: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config.parent / name
    assert run(["record", str(path), "-c", str(config), "--seconds", "1.5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"{path}: " in out
    assert "redacted: login, name, server, company, tickets" in out
    tape = Tape(path, any_order=True)
    asked = [each.verb for each in tape.calls]
    assert not ORDERS & set(asked)
    assert f"{len(asked)} calls\n" in out
    assert asked.count("positions_get") == asked.count("symbol_info_tick") == 3
    assert tape.account_info().login != LOGIN
    assert tape.header["terminal"].startswith("Python 3.")
    (position,) = tape.positions_get()
    deals = next(each.answer for each in tape.calls if each.verb == "history_deals_get")
    assert [each.position_id for each in deals] == [0, position.identifier]
    assert (position.magic, position.comment) == (7, "")
    rates = next(each for each in tape.calls if each.verb == "copy_rates_from_pos")
    assert len(rates.answer) == rates.args[3] > 2


def test_nothing_secret_is_in_the_file(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = config.parent / "bug.jsonl"
    assert run(["record", str(path), "-c", str(config), "--seconds", "0"]) == 0
    text = path.read_text(encoding="utf-8")
    for secret in (SECRET, SERVER, f'"login":{LOGIN},', "Rosalind", str(config.parent)):
        assert secret not in text, secret
    kept = config.parent / "kept.jsonl"
    assert run(["record", str(kept), "-c", str(config), "--seconds", "0", "--keep-server"]) == 0
    assert f'"server":"{SERVER}"' in kept.read_text(encoding="utf-8")
    assert "server" not in capsys.readouterr().out.rpartition("redacted:")[2]


def test_a_symbol_that_is_not_there_is_on_the_tape(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace('symbol = "EURUSD"', 'symbol = "EURUSD.x"'), encoding="utf-8")
    path = config.parent / "bug.jsonl"
    assert run(["record", str(path), "-c", str(config), "--seconds", "0"]) == 0
    assert "calls, 4 of them failed" in capsys.readouterr().out
    failed = [each.verb for each in Tape(path).calls if isinstance(each.answer, Exception)]
    assert failed == ["symbol_info", "symbol_select", "symbol_info_tick", "copy_rates_from_pos"]


def change(config: Path, old: str, new: str) -> None:
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def test_what_can_not_be_recorded_is_said_in_a_sentence(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(tape: Path, *options: str) -> tuple[int, str]:
        code = run(["record", str(tape), "-c", str(config), *options])
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        return code, err

    mine = config.parent / "mine.jsonl"
    mine.write_text("mine", encoding="utf-8")
    code, err = told(mine)
    assert (code, "nothing is overwritten" in err) == (2, True)
    assert mine.read_text(encoding="utf-8") == "mine"
    code, err = told(config.parent / "no" / "bug.jsonl")
    assert (code, "make the folder" in err) == (2, True)
    assert told(config.parent / "bug.jsonl", "--seconds", "-1")[0] == 2
    change(config, f"login = {LOGIN}", f"login = {LOGIN + 1}")
    assert told(config.parent / "bug.jsonl")[0] == 3
    (config.parent / "model.onnx").unlink()
    assert told(config.parent / "bug.jsonl")[0] == 4
    change(config, 'mode = "live"', 'mode = "paper"')
    assert told(config.parent / "bug.jsonl")[0] == 2
    assert not (config.parent / "bug.jsonl").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
def test_ctrl_c_leaves_a_whole_tape(config: Path) -> None:
    path = config.parent / "bug.jsonl.gz"
    child = subprocess.Popen(
        [sys.executable, "-m", "bridge", "record", str(path), "-c", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        clock = SystemClock()
        until = clock.now() + 60
        while not path.exists() and clock.now() < until:
            clock.wait_until(clock.now() + 0.1)
        clock.wait_until(clock.now() + 2.0)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    finally:
        child.kill()
        child.communicate()
    assert child.returncode == 130, err
    assert f"{path}: " in out
    assert Tape(path).calls[0].verb == "terminal_info"
