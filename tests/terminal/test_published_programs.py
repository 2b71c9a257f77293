"""Published packages, as the index has them, trade on the paper terminal; the account tells.

They are no dependency: an environment is made for them, with the libraries of this one.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from terminal.exec_support import deals, execute

PACKAGES = ("mt5py", "pdmt5", "mt5cli", "aiomql", "pytz")
# Libraries for charts and indicators that aiomql imports at once; they are never called here.
BLANKS = ("pandas_ta", "mplfinance")
PROGRAMS = Path(__file__).parent / "programs"
OPENED, CLOSED = 0, 1


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment that has the packages."""
    folder = tmp_path_factory.mktemp("published")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    found = folder / ("Scripts" if os.name == "nt" else "bin")
    python = found / Path(sys.executable).name
    if reason := _refused(python):
        pytest.skip(f"pip does not install {', '.join(PACKAGES)}: {reason}")
    (folder / "blank").mkdir()
    for name in BLANKS:
        (folder / "blank" / f"{name}.py").touch()
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    )
    paths = {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}
    lines = "\n".join([*sorted(paths), str(folder / "blank")])
    (Path(purelib.stdout.strip()) / "libraries.pth").write_text(lines, encoding="utf-8")
    return found


def _refused(python: Path) -> str:
    """Install the packages; return why that is not possible, or nothing."""
    options = ["--python", str(python), "--timeout", "10", "--retries", "0"]
    line = [sys.executable, "-m", "pip", *options, "install", "-q", "--no-deps", *PACKAGES]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return "no answer within a minute"
    said = done.stderr.strip().splitlines() or ["no reason given"]
    return said[-1] if done.returncode else ""


def run(scripts: Path, state: Path, *program: str) -> str:
    path = os.pathsep.join([str(scripts), os.environ["PATH"]])
    done = execute(state, program=program, PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_with(scripts: Path, state: Path, package: str) -> Any:
    return json.loads(run(scripts, state, "python", str(PROGRAMS / f"with_{package}.py")))


def kinds(state: Path, magic: int, comment: str) -> list[tuple[int, int, float]]:
    """Return side, entry and volume of the account's deals; magic and comment are the opening's."""
    found = deals(state)
    assert [(deal.magic, deal.comment) for deal in found[:1]] == [(magic, comment)]
    assert {deal.position_id for deal in found} == {found[0].order}
    assert {deal.symbol for deal in found} == {"EURUSD"}
    return [(deal.type, deal.entry, deal.volume) for deal in found]


def test_mt5py(scripts: Path, tmp_path: Path) -> None:
    said = run_with(scripts, tmp_path, "mt5py")
    assert said["bars"] == 49
    assert said["steps"] == ["done"] * 7
    assert said["left"] == 0
    assert kinds(tmp_path, 11, "with mt5py") == [
        (0, OPENED, 0.2),
        (1, CLOSED, 0.1),
        (1, CLOSED, 0.1),
    ]
    assert said["deals"][1:] == [deal.ticket for deal in deals(tmp_path)]


def test_pdmt5(scripts: Path, tmp_path: Path) -> None:
    said = run_with(scripts, tmp_path, "pdmt5")
    assert said["bars"] == 50
    assert said["columns"][:5] == ["time", "open", "high", "low", "close"]
    assert said["retcodes"] == [0, 10009, 10009, 10009]
    assert said["levels"] == [1.1463, 1.1362]
    assert said["left"] == 0
    assert kinds(tmp_path, 22, "with pdmt5") == [(1, OPENED, 0.3), (0, CLOSED, 0.3)]
    assert said["deals"][1:] == [deal.ticket for deal in deals(tmp_path)]


def test_aiomql(scripts: Path, tmp_path: Path) -> None:
    said = run_with(scripts, tmp_path, "aiomql")
    assert said["bars"] == list(range(60, 80))
    assert said["login"] == 1
    assert said["retcodes"] == [0, 10009, 10009, 10009]
    assert said["sl"] == 1.1372
    assert said["left"] == 0
    assert kinds(tmp_path, 0, "with aiomql") == [(0, OPENED, 0.4), (1, CLOSED, 0.4)]
    assert said["deals"][1:] == [deal.ticket for deal in deals(tmp_path)]


def test_mt5cli_a_process_for_each_call(scripts: Path, tmp_path: Path) -> None:
    def call(verb: str, *options: str) -> Any:
        run(scripts, tmp_path, "mt5cli", "-o", str(tmp_path / f"{verb}.json"), verb, *options)
        return json.loads((tmp_path / f"{verb}.json").read_text("utf-8"))

    bars = call("latest-rates", "--symbol", "EURUSD", "--timeframe", "H1", "--count", "24")
    assert len(bars) == 24
    request = {"action": 1, "symbol": "EURUSD", "volume": 0.5, "type": 0, "type_filling": 1}
    tags = {"magic": 33, "comment": "with mt5cli"}
    (opened,) = call("order-send", "--yes", "--request", json.dumps(request | tags))
    move = {"action": 6, "position": opened["order"], "sl": 1.13, "tp": 1.15}
    (moved,) = call("order-send", "--yes", "--request", json.dumps(move))
    assert (opened["retcode"], moved["retcode"]) == (10009, 10009)
    (held,) = call("positions", "--symbol", "EURUSD")
    assert (held["ticket"], held["sl"], held["tp"]) == (opened["order"], 1.13, 1.15)
    (closed,) = call("close-positions", "--symbol", "EURUSD", "--yes")
    assert closed["status"] == "filled"
    assert kinds(tmp_path, 33, "with mt5cli") == [(0, OPENED, 0.5), (1, CLOSED, 0.5)]
    dates = ("--date-from", "2017-06-01", "--date-to", "2017-12-31")
    told = [deal["ticket"] for deal in call("history-deals", *dates)]
    assert told[1:] == [deal.ticket for deal in deals(tmp_path)]
