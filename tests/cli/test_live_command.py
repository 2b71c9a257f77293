"""``mt5-onnx run --live`` as real processes, on the computer's clock, with the paper terminal."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_support import LOGIN, Plan, environment, plan, write_settings
from models_support import write_last_move

from bridge.cli.main import run
from bridge.clock import SystemClock
from bridge.errors import ConfigError
from bridge.journal.read import reading

SECRET = "hunter2-is-no-password"  # noqa: S105  it is what nothing may show
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


class Daemon:
    """A folder with settings, and the processes that run it."""

    def __init__(self, folder: Path, **fields: Any) -> None:
        self.folder = folder
        self.plan: Plan = plan(folder, **fields)
        model = write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
        self.config = write_settings(folder, models={7: model.name})
        self._children: list[subprocess.Popen[str]] = []

    def start(self, *options: str, config: Path | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "bridge", "run", "-c", str(config or self.config)]
        child = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **environment(self.plan),
                "XDG_STATE_HOME": str(self.folder / "home"),
                "MT5_PASSWORD": SECRET,
            },
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self._children.append(child)
        return child

    def close(self) -> None:
        for child in self._children:
            child.kill()
            child.communicate()

    def rows(self, table: str) -> list[dict[str, Any]]:
        with reading(self.folder / "state" / "journal.sqlite3") as journal:
            return list(journal.rows(table))

    def wait_for(self, count: int, child: subprocess.Popen[str]) -> None:
        """Wait until so many bars are decided."""
        clock = SystemClock()
        until = clock.now() + 90
        while clock.now() < until:
            assert child.poll() is None, child.communicate()
            try:
                if len(self.rows("decisions")) >= count:
                    return
            except (ConfigError, sqlite3.Error):  # it is being made
                pass
            clock.wait_until(clock.now() + 0.05)
        raise AssertionError("the run decides nothing")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    made = Daemon(tmp_path)
    yield made
    made.close()


def ends(child: subprocess.Popen[str], name: str) -> tuple[int, str, str]:
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=20)
    return child.returncode, out, err


def test_it_runs_is_stopped_killed_and_goes_on(daemon: Daemon) -> None:
    child = daemon.start("--live")
    daemon.wait_for(1, child)
    assert run(["status", "-c", str(daemon.config), "--json"]) == 0
    code, out, err = ends(child, "SIGTERM")
    assert (code, err) == (0, "")
    assert f"live on DEMO account {LOGIN} at Paper-Demo" in out
    assert "stopped by SIGTERM" in out
    assert daemon.rows("runs")[-1]["ending"] == "SIGTERM"

    killed = daemon.start("--live")
    daemon.wait_for(1, killed)
    killed.kill()
    killed.communicate()
    # A bar closes at the latest a minute later: it is decided by the next run, once.
    last = daemon.start("--live")
    daemon.wait_for(2, last)
    code, out, err = ends(last, "SIGINT")
    assert (code, err) == (130, "mt5-onnx: interrupted; what was journalled is kept\n")
    bars = [row["bar_time"] for row in daemon.rows("decisions")]
    assert bars == sorted(set(bars))
    assert [row["kind"] for row in daemon.rows("events") if row["kind"] == "adopted"] == []


def test_a_second_daemon_on_the_strategy_is_refused(daemon: Daemon, tmp_path: Path) -> None:
    """Another state folder, the same account, magic and symbol."""
    child = daemon.start("--live")
    daemon.wait_for(1, child)
    other = tmp_path / "other.toml"
    text = daemon.config.read_text(encoding="utf-8").replace('"state"', '"elsewhere"')
    other.write_text(text, encoding="utf-8")
    # Its own terminal: the paper account of the first is open.
    moved = tmp_path / "moved"
    moved.mkdir()
    second_plan = plan(moved)
    second = subprocess.run(
        [sys.executable, "-m", "bridge", "run", "-c", str(other), "--live"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(second_plan), "XDG_STATE_HOME": str(daemon.folder / "home")},
        timeout=60,
    )
    assert second.returncode == 2
    assert f"another program of this computer trades magic 7 on EURUSD of {LOGIN}" in second.stderr
    assert ends(child, "SIGTERM")[0] == 0


def test_c03_a_signal_ends_the_wait_for_a_terminal(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, is_silent=True)
    child = daemon.start("--live")
    clock = SystemClock()
    calls = tmp_path / "calls"
    while not calls.exists() or len(calls.read_text(encoding="utf-8").splitlines()) < 2:
        assert child.poll() is None, child.communicate()
    asked = clock.now()
    code, out, err = ends(child, "SIGTERM")
    assert clock.now() - asked < 2.0
    assert (code, err) == (0, "")
    assert "waiting for the terminal" in out
    assert "-10005" in out


@pytest.mark.parametrize(
    ("mode", "options", "says"),
    [
        ("live", [], "say so a second time"),
        ("paper", ["--live"], '--live is for mode = "live"'),
        ("live", ["--live", "--speed", "60"], "--speed is for mode paper"),
        ("dry-run", ["--live"], '--live is for mode = "live"'),
        ("dry-run", ["--speed", "60"], "--speed is for mode paper"),
    ],
)
def test_live_is_asked_for_twice(
    daemon: Daemon, mode: str, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = daemon.config.read_text(encoding="utf-8").replace('mode = "live"', f'mode = "{mode}"')
    if mode == "paper":
        text += '\n[paper]\nprofile = "profile.json"\n[[paper.bars]]\nsymbol = "EURUSD"\n'
        text += 'timeframe = "M1"\npath = "bars.csv"\n'
    daemon.config.write_text(text, encoding="utf-8")
    assert run(["run", "-c", str(daemon.config), *options]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.skipif(
    sys.platform == "win32", reason="on Windows the package is there and finds no terminal"
)
def test_c01_without_the_package_one_sentence_says_what_to_do(
    daemon: Daemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "-c", str(daemon.config), "--live"]) == 3
    told = capsys.readouterr().err
    assert "No module named 'MetaTrader5'" in told
    assert "terminal.python" in told
    assert 'mode = "paper"' in told
    assert len(told.strip().splitlines()) == 1


def test_no_secret_is_in_anything_that_a_run_writes(daemon: Daemon) -> None:
    text = daemon.config.read_text(encoding="utf-8")
    daemon.config.write_text(f'{text}\n[log]\nlevel = "debug"\n', encoding="utf-8")
    child = daemon.start("--live")
    daemon.wait_for(1, child)
    code, out, err = ends(child, "SIGTERM")
    assert code == 0
    assert SECRET not in out + err
    written = [path for path in daemon.folder.rglob("*") if path.is_file()]
    names = {path.name for path in written}
    assert {"journal.sqlite3", "mt5-onnx.log", "heartbeat.json"} <= names
    for path in written:
        assert SECRET.encode() not in path.read_bytes(), path


def test_the_log_is_json_lines_where_asked_and_quiet(daemon: Daemon) -> None:
    text = daemon.config.read_text(encoding="utf-8")
    daemon.config.write_text(f"{text}\n[log]\njson_lines = true\n", encoding="utf-8")
    child = daemon.start("--live")
    daemon.wait_for(1, child)
    clock = SystemClock()
    clock.wait_until(clock.now() + 3.0)
    assert ends(child, "SIGTERM")[0] == 0
    log = (daemon.folder / "state" / "mt5-onnx.log").read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in log]
    assert all(set(line) == {"time", "level", "strategy", "kind", "text"} for line in lines)
    # Where it is and whose clock it follows; at most what the bars closed meanwhile came to.
    assert {"run"} <= {line["kind"] for line in lines} <= {"run", "decision"}
    assert len(lines) <= 6
