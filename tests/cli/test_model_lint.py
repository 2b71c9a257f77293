"""``model lint`` and ``model bench`` as commands: exit codes, JSON, what is written."""

import json
import os
import shutil
from pathlib import Path

import pytest
from model.model_files import bars_model, contract, stored
from models_support import write_last_move

from bridge.cli.main import run
from bridge.cli.model_bench import _write
from bridge.engine.strategy import load_strategies
from bridge.errors import ConfigError, ModelError
from bridge.model import bench
from bridge.model.bench import Measured, Option, best, grid
from bridge.settings import load_settings

SETTINGS = """mode = "live"
server_clock = "eet-us"

[terminal]
login = 123
server = 'Broker-Demo'

[[strategy]]
model = "m.onnx"   # the first
symbol = "EURUSD"
timeframe = "H1"
magic = 7

[strategy.risk]
volume = 0.1

[[strategy]]
model = 'other.onnx'
symbol = "EURUSD"
timeframe = "H1"
magic = 8
"""


def test_lint_tells_a_blocked_file_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = stored(tmp_path / "m.onnx", bars_model(), contract())
    assert run(["model", "lint", str(good)]) == 0
    assert "m.onnx for mt5: nothing in the way" in capsys.readouterr().out
    assert run(["model", "lint", str(good), "--target", "legacy", "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["blocked"], told["findings"][0]["rule"]) == (True, "ir-too-new")
    assert set(told["findings"][0]) == {"rule", "level", "what", "why", "fix"}


def test_lint_of_what_is_no_model_is_a_finding_not_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"CBM1" + bytes(40))
    assert run(["model", "lint", str(path)]) == 4
    out = capsys.readouterr().out
    assert "BLOCKED" in out
    assert 'fix  save it with save_model(path, format="onnx")' in out
    assert run(["model", "lint", str(path), "--target", "mt6"]) == 2


@pytest.mark.skipif(
    "BRIDGE_TEST_DATA" not in os.environ, reason="BRIDGE_TEST_DATA names no folder of real models"
)
def test_trees_are_not_blamed_for_5019(capsys: pytest.CaptureFixture[str]) -> None:
    # andywarui/xaubot blamed the operator; the sequence is what its EA could not read.
    folder = Path(os.environ["BRIDGE_TEST_DATA"]) / "models"
    assert run(["model", "lint", str(folder / "lightgbm_xau26_zipmap.onnx"), "--json"]) == 4
    found = {each["rule"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found["no-tensor"]["what"] == "its output probabilities is a sequence, not a tensor"
    assert found["trees-are-fine"]["level"] == "note"
    assert (
        "5019, often blamed on them, means that the file was not found"
        in (found["trees-are-fine"]["why"])
    )


def test_a_pinned_file_that_was_changed_is_never_loaded(tmp_path: Path) -> None:
    path = write_last_move(tmp_path / "m.onnx")
    write_last_move(tmp_path / "other.onnx")
    config = tmp_path / "bridge.toml"
    pinned = SETTINGS.replace("magic = 8", f'magic = 8\nsha256 = "{"0" * 64}"')
    config.write_text(pinned)
    with pytest.raises(ModelError, match="the settings pin 0000"):
        load_strategies(load_settings(config, {}).strategy[1:])
    assert path.exists()


def measured(threads: int, p50: float, *, answers: str = "a", spinning: bool = False) -> Measured:
    option = Option(threads, arena=True, spinning=spinning)
    return Measured(option, 1.0, p50, p50, p50, 1.0, True, 1, answers)


def test_the_best_option_is_safe_and_worth_it() -> None:
    default = measured(1, 100)
    assert best((default, measured(2, 95))) is default  # not worth a setting
    faster = measured(2, 50)
    assert best((default, faster, measured(4, 10, answers="b"))) is faster
    assert best((default, measured(4, 10, spinning=True))) is default
    assert grid(1)[0] == Option(1, arena=True)
    assert {each.threads for each in grid(2)} == {1, 2}


def test_a_bench_measures_real_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.1)
    path = stored(tmp_path / "m.onnx", bars_model(batch="N"), contract())
    found = bench.measure(path, Option(1, arena=True))
    assert 0 < found["p50_us"] <= found["p99_us"] < 1e6
    assert found["rows"] > 0
    assert found["answers"] == bench.measure(path, Option(1, arena=False))["answers"]
    (tmp_path / "bad.onnx").write_bytes(path.read_bytes().replace(b"ReduceSum", b"ReduceXum"))
    with pytest.raises(ModelError, match="can't be measured"):
        bench.measure(tmp_path / "bad.onnx", Option(1, arena=True))


def test_options_are_written_beside_the_models_line_and_used(tmp_path: Path) -> None:
    path = write_last_move(tmp_path / "m.onnx")
    shutil.copy(path, tmp_path / "other.onnx")
    config = tmp_path / "bridge.toml"
    config.write_text(SETTINGS)
    said = _write(config, path, measured(2, 1))
    assert said.endswith("for 1 strategy")
    first, second = load_settings(config, {}).strategy
    assert (first.session.threads, second.session.threads) == (2, 1)
    text = config.read_text()
    assert text.replace("session = { threads = 2, arena = true }\n", "") == SETTINGS
    _write(config, path, measured(4, 1))  # once more: replaced, not doubled
    assert load_settings(config, {}).strategy[0].session.threads == 4
    (loaded,) = load_strategies(load_settings(config, {}).strategy[:1])
    assert loaded.model.session.session.get_session_options().intra_op_num_threads == 4
    with pytest.raises(ConfigError, match="no strategy with the model"):
        _write(config, tmp_path / "third.onnx", measured(2, 1))
    table = SETTINGS.replace("[strategy.risk]", "[strategy.session]\nthreads = 1\n[strategy.risk]")
    config.write_text(table)
    with pytest.raises(ConfigError, match="left as it is"):
        _write(config, path, measured(2, 1))
    assert config.read_text() == table
    assert not config.with_name("bridge.toml.new").exists()
