"""The command line: help, wrong input, exit codes; no traceback ever."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.cli.main import run
from bridge.errors import (
    BridgeError,
    ConfigError,
    ContractError,
    DataError,
    JournalError,
    ModelError,
    NotConnected,
    ProofError,
    RiskHalt,
    StateMismatch,
    TerminalError,
    WrongAccount,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded_after(code: str) -> set[str]:
    """Return which heavy libraries a fresh interpreter has loaded after ``code``."""
    heavy = ["onnx", "onnxruntime", "pandas", "numpy", "sklearn", "pydantic"]
    ask = f"{code}\nimport sys, json; print(json.dumps([x for x in {heavy} if x in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_loads_nothing_heavy() -> None:
    for arguments in ([], ["--help"], ["demo", "--help"], ["journal", "show", "--help"]):
        code = f"from bridge.cli.main import run\nassert run({arguments}) == 0"
        assert {"onnx", "onnxruntime", "pandas", "numpy"}.isdisjoint(loaded_after(code))


def test_a_demo_loads_neither_onnx_nor_pandas(home: Path) -> None:
    code = "from bridge.cli.main import run\nassert run(['demo', '--json']) == 0"
    assert {"onnx", "pandas", "sklearn"}.isdisjoint(loaded_after(code))


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["bogus"], 2, "No such command 'bogus'"),
        (["demo", "--speed", "0"], 2, "--speed"),
        (["demo", "--speed", "fast"], 2, "--speed"),
        (["demo", "--bogus"], 2, "--bogus"),
        (["demo", "--model", "nix"], 2, "neither a file nor one of eurusd_h1_direction"),
        (["demo", "--model", "empty.onnx"], 4, "empty.onnx"),
        (["demo", "--model", "page.onnx"], 4, "page.onnx"),
        (["demo", "--model", "pointer.onnx"], 4, "Git LFS"),
        (["demo", "--model", "folder.onnx"], 4, "folder.onnx"),
        (["demo", "--state", "empty.onnx"], 2, "name another --state"),
        (["why"], 2, "bar"),
        (["why", "yesterday"], 2, "is not a time"),
        (["why", "2017.12.29 21:00"], 2, "run mt5-onnx demo"),
        (["journal", "show"], 2, "run mt5-onnx demo"),
        (["journal", "show", "--journal", "none"], 2, "there is no journal"),
        (["journal", "show", "--journal", "page.onnx"], 2, "is no journal"),
        (["journal", "show", "--last", "0"], 2, "--last"),
        (["journal", "export", "--table", "bogus"], 2, "bogus"),
        (
            ["ea", "new", "page.onnx", "--out", "ea"],
            2,
            "from: classifier, forecast, shadow, outputs",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_its_exit_code(
    arguments: list[str],
    code: int,
    says: str,
    home: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (home / "empty.onnx").touch()
    (home / "page.onnx").write_text("<!DOCTYPE html><html><body>404</body></html>" * 30)
    (home / "pointer.onnx").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    )
    (home / "folder.onnx").mkdir()
    assert run(arguments) == code
    told = capfd.readouterr()
    assert says in told.err
    assert told.err.startswith("mt5-onnx: ")
    assert len(told.err.strip().splitlines()) == 1
    assert "Traceback" not in told.out + told.err
    assert not (home / "mt5-onnx-crash.log").exists()


def test_what_nobody_expected_is_a_sentence_and_a_file(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sample is taken away while the program runs: nobody foresees all that may happen.
    monkeypatch.setattr("bridge.share._PACKAGE", 5)
    assert run(["demo"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("mt5-onnx: unexpected TypeError")
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" in (home / "mt5-onnx-crash.log").read_text()


def test_exit_codes_are_those_of_the_table() -> None:
    codes: dict[type[BridgeError], int] = {
        BridgeError: 1,
        JournalError: 1,
        ConfigError: 2,
        DataError: 2,
        TerminalError: 3,
        NotConnected: 3,
        WrongAccount: 3,
        ModelError: 4,
        ContractError: 4,
        ProofError: 4,
        RiskHalt: 5,
        StateMismatch: 6,
    }
    assert {kind: kind.exit_code for kind in codes} == codes


def test_the_journal_is_exported_whole_and_as_tables(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--model", "eurusd_h1_sma_cross"]) == 0
    capsys.readouterr()
    assert run(["journal", "export", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["table"] for row in rows} == {
        "runs",
        "decisions",
        "intents",
        "results",
        "deals",
        "events",
    }
    assert run(["journal", "export", "--table", "deals"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(table) == sum(row["table"] == "deals" for row in rows)
    assert (
        run(["journal", "show", "--last", "2", "--json", "--journal", "mt5-onnx-state/demo-1"]) == 0
    )
    last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["action"] != "hold" for row in last] == [True, True]
    assert last[0]["intents"]
    assert run(["journal", "show"]) == 0
    assert "entry done (10009)" in capsys.readouterr().out


def test_version_and_help_are_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert "mt5-onnx-bridge" in capsys.readouterr().out
    groups = (["journal"], ["ea"], ["model"], ["bars"], ["profile"], ["paper"])
    for arguments in ([], ["--help"], ["why", "--help"], *groups):
        assert run(arguments) == 0
        said = capsys.readouterr()
        assert "Usage" in said.out
        assert said.err == ""
