"""Two programs on one strategy: the second is refused, whatever became of a third."""

import subprocess
import sys
from pathlib import Path

import pytest

from bridge.engine.lease import lease_folder, leased, terminals_folder
from bridge.errors import ConfigError

WHAT = ["magic 7 on EURUSD of 5 at Broker", "magic 8 on EURUSD of 5 at Broker"]
HOLDER = """
import sys
from pathlib import Path
from bridge.engine.lease import leased
with leased(Path(sys.argv[1]), [sys.argv[2]]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lease_goes_with_its_process_however_it_ends(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), WHAT[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == b"held"
        with (
            pytest.raises(ConfigError, match="trades magic 8 on EURUSD of 5 at Broker"),
            leased(tmp_path, WHAT),
        ):
            raise AssertionError("held twice")
        # What was held before the refusal is free again.
        with leased(tmp_path, WHAT[:1]):
            pass
    finally:
        child.kill()
        child.communicate()
    with leased(tmp_path, WHAT):
        pass


def test_other_strategies_are_free(tmp_path: Path) -> None:
    with leased(tmp_path, WHAT[:1]), leased(tmp_path, WHAT[1:]):
        pass


def test_the_folder_is_the_user_s_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    monkeypatch.setenv(name, str(tmp_path))
    assert lease_folder() == tmp_path / "mt5-onnx" / "leases"
    monkeypatch.delenv(name)
    assert lease_folder().is_relative_to(Path.home())


def test_expert_advisors_hold_theirs_in_the_folder_that_terminals_share(tmp_path: Path) -> None:
    assert terminals_folder(str(tmp_path)) == tmp_path / "Files" / "OnnxBridge"
    # A terminal behind Wine or another computer names a folder that is not here.
    assert terminals_folder(str(tmp_path / "C:\\Users\\x\\Common")) is None
    assert terminals_folder("") is None
