"""``status``: alive or not, what it holds, and JSON that any program can read."""

import json
from pathlib import Path

import numpy as np
import pytest
from journal_support import begin

from bridge.cli.machine import as_json
from bridge.cli.main import run
from bridge.clock import ManualClock, SystemClock
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.report.status import status_of
from bridge.settings import BridgeSettings, PaperBars, PaperSettings, StrategySettings

SETTINGS = BridgeSettings(
    paper=PaperSettings(
        profile="profile.json",
        bars=(PaperBars(symbol="EURUSD", timeframe="H1", path="bars.csv"),),
    ),
    strategy=(StrategySettings(model="m.onnx", symbol="EURUSD", timeframe="H1", magic=7),),
)


def health(tmp_path: Path, heartbeat: dict[str, float] | None, *, ended: bool = False) -> str:
    path = tmp_path / "journal.sqlite3"
    with Journal(path, ManualClock(0.0)) as journal:
        begin(journal)
        if ended:
            journal.end_run("SIGTERM")
    with reading(path) as reader:
        found = status_of(reader, SETTINGS, tmp_path, heartbeat=heartbeat, utc_now=1_000.0)
    said: str = found["health"]
    return said


def test_a_sign_of_life_tells_a_run_from_a_dead_one(tmp_path: Path) -> None:
    assert health(tmp_path, {"utc": 990.0}) == "running, last sign of life 10 s ago"
    assert health(tmp_path, {"utc": 819.0}) == "no sign of life for 181 s: killed, or it hangs"
    assert health(tmp_path, None).startswith("running, or killed")
    assert health(tmp_path, {"utc": 990.0}, ended=True) == "not running"


def test_c12_numpy_and_nan_are_valid_json() -> None:
    rates = np.array([(1, 1.5, np.nan)], dtype=[("time", "i8"), ("close", "f8"), ("x", "f4")])
    value = {
        "bar": [rates["time"][0], rates["close"][0], rates["x"][0]],
        "inf": float("inf"),
        "is": np.bool_(True),
        "none": None,
        1: ("a", frozenset({2})),
    }
    text = as_json(value)
    assert json.loads(text) == {
        "bar": [1, 1.5, None],
        "inf": None,
        "is": True,
        "none": None,
        "1": ["a", [2]],
    }
    assert "NaN" not in text


def test_status_shows_account_positions_and_distance_to_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bot"
    assert run(["init", str(folder)]) == 0
    config = ["-c", str(folder / "bridge.toml")]
    capsys.readouterr()
    assert run(["status", *config]) == 2  # there is no journal yet, and a sentence says so
    assert "no journal" in capsys.readouterr().err
    bars = folder / "EURUSD_H1_2017.csv"
    bars.write_text("".join(bars.read_text().splitlines(keepends=True)[:1_300]))
    assert run(["run", *config]) == 0
    capsys.readouterr()
    assert run(["status", *config, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["health"] == "not running"
    assert found["halted"] is False
    assert found["account"]["balance"] > 0
    (strategy,) = found["strategies"]
    daily = strategy["limits"]["daily_loss"]
    assert daily["left"] == pytest.approx(daily["limit"] - daily["used"])
    assert bool(found["positions"]) == (strategy["holding"] is not None)
    assert found["why_not"]["decisions"] > 1_000
    assert run(["status", *config]) == 0
    said = capsys.readouterr().out
    assert said.startswith("not running (mode paper, run 1 ended: the recording has ended)")
    assert "daily loss" in said
    assert SystemClock().now() > found["account"]["seen_utc"]
