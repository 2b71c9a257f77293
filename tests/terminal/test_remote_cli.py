"""terminal.remote in a settings file: which terminal the commands take, and what they say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from live_support import write_settings
from models_support import write_last_move
from terminal.remote_desk import far

from bridge.cli.live_terminal import terminal_of
from bridge.clock import ManualClock
from bridge.errors import ConfigError
from bridge.settings import TerminalSettings, load_settings
from bridge.terminal.host.terminal import HostTerminal
from bridge.terminal.remote.terminal import RemoteTerminal


def written(folder: Path, remote: str) -> Path:
    write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
    path = write_settings(folder, models={7: "model.onnx"})
    text = path.read_text(encoding="utf-8")
    text = text.replace("[terminal]", f'[terminal]\nremote = "{remote}"').replace("= 77", "= 1")
    path.write_text(text, encoding="utf-8")
    return path


def test_doctor_asks_the_terminal_behind_the_server(tmp_path: Path) -> None:
    with far(tmp_path) as served:
        config = written(tmp_path, str(served.address))
        line = [sys.executable, "-m", "bridge", "doctor", "--json", "--config", str(config)]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    found = {each["check"]: each for each in json.loads(done.stdout)["findings"]}
    assert "MetaTrader5 5.0.6231" in found["package"]["found"]
    assert found["account"]["found"].startswith("1 on Paper-Demo")
    assert {found[name]["grade"] for name in ("package", "terminal", "account")} == {"ok"}


def test_a_server_that_is_not_there_is_told_and_is_no_success(tmp_path: Path) -> None:
    config = written(tmp_path, "127.0.0.1:9")
    text = config.read_text(encoding="utf-8").replace("timeout_seconds = 10", "timeout_seconds = 1")
    config.write_text(text, encoding="utf-8")
    line = [sys.executable, "-m", "bridge", "run", "--live", "--config", str(config)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert "no server at 127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_settings_pick_the_terminal() -> None:
    clock = ManualClock(0.0)
    assert type(terminal_of(TerminalSettings(), clock)) is HostTerminal
    remote = TerminalSettings(remote="localhost:18812")
    assert isinstance(terminal_of(remote, clock), RemoteTerminal)


@pytest.mark.parametrize("remote", ["18812", "a b:1", "host:port", "::1:5", "h:0", "h:65536"])
def test_what_is_no_address_is_refused_by_the_file(tmp_path: Path, remote: str) -> None:
    with pytest.raises(ConfigError, match=r"terminal\.remote.*host:port in quotes"):
        load_settings(written(tmp_path, remote), {})


def test_without_rpyc_a_remote_terminal_names_the_extra() -> None:
    code = """
import sys
sys.modules["rpyc"] = None
from bridge.cli.live_terminal import terminal_of
from bridge.clock import ManualClock
from bridge.errors import ConfigError
from bridge.settings import TerminalSettings
try:
    terminal_of(TerminalSettings(remote="h:1"), ManualClock(0.0))
except ConfigError as error:
    sys.stdout.write(str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        'terminal.remote needs rpyc, which is not installed: pip install "mt5-onnx-bridge[remote]"'
    )
