"""``mt5-onnx ea parity`` over the CSV of an EA on the test host, as it is and tampered with."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mql5.host.compiler import Compiler, has_compiler, session_compiler
from mql5.host.play import desk, play
from mql5.host.program import Program
from mql5.parity.markets import Market, eurusd
from mql5.support import ROOT

from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import play as play_backtest
from bridge.cli.main import run
from bridge.market.barfile import read_bars, write_bars
from bridge.mql.runs import read_csv
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import timeframe
from bridge.settings import load_settings
from bridge.share import share_dir

MODEL = share_dir("models") / "eurusd_h1_direction" / "model.onnx"
MAGIC, BARS, FIRST = 26001, 420, 240
Row = dict[str, str]
Said = pytest.CaptureFixture[str]

SETTINGS = """mode = "paper"
[paper]
profile = "{profile}"
[[paper.bars]]
symbol = "EURUSD"
timeframe = "H1"
path = "{bars}"
[[strategy]]
model = "{model}"
symbol = "EURUSD"
timeframe = "H1"
magic = 26001
"""


Change = Callable[[RatesArray], RatesArray]


def expert_csv(folder: Path, compiler: Compiler, change: Change) -> Market:
    """Run the shipped classifier on the host, over changed bars, and leave its CSV in a folder."""
    market = eurusd(folder, margin_mode="hedging", count=BARS)
    built = compiler.build(ROOT / "Experts" / "OnnxBridge" / "Classifier.mq5", ROOT)
    frame, rates = timeframe("H1"), change(market.rates().copy())
    start = int(rates["time"][FIRST])
    desktop = desk(folder / "t", market.broker(), {"EURUSD": (frame, rates)}, start)
    program = Program(built, desktop, "EURUSD", frame.value, {"InpMagic": MAGIC})
    assert program.start() == 0, program.log
    play(desktop, program)
    program.stop()
    desktop.paper.close()
    (journal,) = desktop.common.rglob("decisions_*.csv")
    shutil.copy(journal, folder / "decisions.csv")
    return market


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    if not has_compiler():
        pytest.skip("no g++: there is no EA to compare with")
    base = tmp_path_factory.getbasetemp()
    is_shared = "PYTEST_XDIST_WORKER" in os.environ  # the other process compiles it, too
    return session_compiler((base.parent if is_shared else base) / "mql5")


@pytest.fixture(scope="module")
def place(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An EA's CSV and the settings of the same, in a folder."""
    folder = tmp_path_factory.mktemp("ea")
    market = expert_csv(folder, compiler, lambda rates: rates)
    settings = SETTINGS.format(
        profile=market.profile.as_posix(), bars=market.bars.as_posix(), model=MODEL.as_posix()
    )
    (folder / "bridge.toml").write_text(settings, encoding="utf-8")
    return folder


def compared(capsys: Said, file: Path, *options: str) -> dict[str, Any]:
    capsys.readouterr()
    code = run(["ea", "parity", str(file), "--json", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if found["equal"] else 6)
    return found


def tampered(place: Path, to: Path, change: Callable[[list[Row]], list[Row]]) -> Path:
    rows = list(csv.DictReader(StringIO((place / "decisions.csv").read_text(encoding="utf-8"))))
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(change(rows))
    return to


@pytest.fixture(scope="module")
def journal(place: Path) -> Path:
    """The daemon's back-test of the same, once for all that only read it."""
    folder = place / "daemon"
    folder.mkdir()
    first = min(read_csv(place / "decisions.csv").bars)
    settings = load_settings(place / "bridge.toml", {})
    play_backtest(make_plan(settings, Changes(since=text(first))), folder)
    return folder


def test_expert_and_daemon_are_equal(place: Path, tmp_path: Path, capsys: Said) -> None:
    """F20, over the CSV alone."""
    page = tmp_path / "p.html"
    config = ["-c", str(place / "bridge.toml")]
    found = compared(capsys, place / "decisions.csv", *config, "--html", str(page))
    assert found["equal"], found["differences"][:3]
    assert found["bars"]["daemon"] == found["bars"]["expert"] > 150
    assert found["orders"]["daemon"] == found["orders"]["expert"] > 5
    assert found["worst_output"] == 0.0
    html = page.read_text(encoding="utf-8")
    assert html.count("<polyline") == 3
    assert "No difference" in html
    assert "http" not in html


def test_a_model_alone_is_enough_on_the_sample(place: Path, capsys: Said) -> None:
    assert run(["ea", "parity", str(place / "decisions.csv"), "--model", str(MODEL)]) == 0
    said = capsys.readouterr().out
    assert said.endswith("equal\n")


def moved(seconds: int, since: str = "1970.01.01 00:00") -> Callable[[list[Row]], list[Row]]:
    def change(rows: list[Row]) -> list[Row]:
        for row in rows:
            for name in ("bar_time", "time"):
                if row[name] and int(row[name]) >= parse(since):
                    row[name] = str(int(row[name]) + seconds)
        return rows

    return change


def decided(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["row"] == "decision"]


def sent(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["row"] == "order" and not row["denied"]]


def with_another_output(rows: list[Row]) -> list[Row]:
    row = decided(rows)[30]
    first, *rest = row["outputs"].split()
    row["outputs"] = " ".join([repr(float(first) + 1e-5), *rest])
    return rows


def with_a_tiny_other_output(rows: list[Row]) -> list[Row]:
    row = decided(rows)[30]
    first, *rest = row["outputs"].split()
    row["outputs"] = " ".join([repr(float(first) + 1e-8), *rest])
    return rows


def with_other_prices(rows: list[Row]) -> list[Row]:
    for row in decided(rows)[20:]:
        row["bid"] = repr(float(row["bid"]) + 0.00003)
        row["input_sha256"] = "0" * 64
    row = decided(rows)[20]
    row["outputs"] = "0.1 0.8 0.1"
    return rows


def with_another_file(rows: list[Row]) -> list[Row]:
    for row in decided(rows):
        row["model_sha256"] = "f" * 64
        row["outputs"] = "0.2 0.6 0.2"
    return rows


def with_another_decision(rows: list[Row]) -> list[Row]:
    row = next(row for row in decided(rows) if row["action"] == "open")
    row["action"] = "hold"
    row["side"] = ""
    return rows


def with_another_volume(rows: list[Row]) -> list[Row]:
    sent(rows)[0]["volume"] = "0.2"
    return rows


def without_an_order(rows: list[Row]) -> list[Row]:
    gone = sent(rows)[0]
    return [row for row in rows if row is not gone]


def with_another_balance(rows: list[Row]) -> list[Row]:
    decided(rows)[-1]["balance"] = "1.0"
    return rows


def late(rows: list[Row]) -> list[Row]:
    for row in sent(rows):
        row["time"] = str(int(row["time"]) + 3)
    return rows


@pytest.mark.parametrize(
    ("change", "cause", "words"),
    [
        (moved(7_200), "clock", "+2 hours"),
        (moved(-3_600, "2017.01.23 00:00"), "clock", "-1 hours"),
        (with_other_prices, "prices", "another broker"),
        (with_another_output, "runtime", "terminal build"),
        (with_another_file, "file", "ffffffffffffffff"),
        (with_another_decision, "settings", "action"),
        (with_another_volume, "terms", "0.2 lots"),
        (without_an_order, "settings", "sent none"),
        (with_another_balance, "position", "what came of positions"),
        (late, "ticks", "--seconds"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_difference_names_its_cause(
    place: Path,
    journal: Path,
    tmp_path: Path,
    capsys: Said,
    change: Callable[[list[Row]], list[Row]],
    cause: str,
    words: str,
) -> None:
    file = tampered(place, tmp_path / "other.csv", change)
    options = ["-c", str(place / "bridge.toml"), "--journal", str(journal)]
    found = compared(capsys, file, *options)
    assert not found["equal"]
    assert found["cause"]["name"] == cause, found["cause"]
    assert words in found["cause"]["words"]


def with_another_spread(rates: RatesArray) -> RatesArray:
    rates["spread"] = 25
    return rates


def without_a_bar(rates: RatesArray) -> RatesArray:
    return np.delete(rates, FIRST + 60)


@pytest.mark.parametrize(
    ("change", "cause", "words"),
    [
        (with_another_spread, "spread", "and 1.05832 for the daemon"),
        (without_a_bar, "missing bars", "the EA did not decide 1 bars"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_other_bars_of_the_terminal_are_told(
    compiler: Compiler, tmp_path: Path, capsys: Said, change: Change, cause: str, words: str
) -> None:
    """The EA itself runs on the other bars; the model does not look at spreads."""
    expert_csv(tmp_path, compiler, change)
    found = compared(capsys, tmp_path / "decisions.csv", "--model", str(MODEL))
    assert found["cause"]["name"] == cause, found["cause"]
    assert words in found["cause"]["words"]
    assert found["bars_of_other_windows"] > 100


def test_what_is_within_its_tolerance_is_equal(
    place: Path, journal: Path, tmp_path: Path, capsys: Said
) -> None:
    options = ["-c", str(place / "bridge.toml"), "--journal", str(journal)]
    file = tampered(place, tmp_path / "a.csv", late)
    assert compared(capsys, file, *options, "--seconds", "3")["equal"]
    file = tampered(place, tmp_path / "b.csv", with_a_tiny_other_output)
    assert compared(capsys, file, *options)["equal"]
    assert not compared(capsys, file, *options, "--tolerance", "0")["equal"]


def as_a_shadow(rows: list[Row]) -> list[Row]:
    for row in decided(rows):
        row |= {"held_side": "", "held_volume": "", "held_bars": "", "balance": "10000"}
    return [row for row in rows if row["row"] != "order"]


def test_a_shadow_is_held_to_answers_and_to_decisions_from_the_same_position(
    place: Path, journal: Path, tmp_path: Path, capsys: Said
) -> None:
    options = ["-c", str(place / "bridge.toml"), "--journal", str(journal)]
    file = tampered(place, tmp_path / "decisions_shadow_EURUSD_H1_26001.csv", as_a_shadow)
    assert compared(capsys, file, *options)["equal"]

    def changed(rows: list[Row]) -> list[Row]:
        return with_another_decision(as_a_shadow(rows))

    file = tampered(place, tmp_path / "decisions_shadow_2.csv", changed)
    assert compared(capsys, file, *options)["cause"]["name"] == "settings"


def test_a_bar_that_the_daemons_file_lacks_is_named(
    place: Path, tmp_path: Path, capsys: Said
) -> None:
    """The daemon reads a file from which one bar was lost."""
    rates = read_bars(place / "EURUSD.csv")
    gone = int(rates["time"][FIRST + 60])
    write_bars(tmp_path / "less.csv", rates[rates["time"] != gone], digits=5)
    options = ["--model", str(MODEL), "--bars", str(tmp_path / "less.csv")]
    options += ["--profile", str(place / "profile.json")]
    found = compared(capsys, place / "decisions.csv", *options)
    assert found["cause"]["name"] == "missing bars"
    assert "the daemon's file lacks 1 bars" in found["cause"]["words"]
    assert found["differences"][0]["bar"] == gone
    assert found["bars_of_other_windows"] > 50


def test_what_cannot_be_compared_is_one_sentence(place: Path, tmp_path: Path, capsys: Said) -> None:
    csv_file = place / "decisions.csv"
    notes = tmp_path / "notes.csv"
    notes.write_text("a,b\n1,2\n", encoding="utf-8")
    head = csv_file.read_text(encoding="utf-8").splitlines()
    empty = tmp_path / "empty.csv"
    empty.write_text("\n".join(head[:1]) + "\n", encoding="utf-8")
    cut = tmp_path / "cut.csv"
    cut.write_text("\n".join([*head[:40], "decision,148"]) + "\n", encoding="utf-8")
    other = tmp_path / "bridge.toml"
    settings = (place / "bridge.toml").read_text(encoding="utf-8")
    other.write_text(settings.replace("magic = 26001", "magic = 4"), encoding="utf-8")
    for code, words, arguments in (
        (2, "name settings with -c", [str(csv_file)]),
        (2, "is no journal of an EA", [str(notes)]),
        (2, "can't be read as text", [str(tmp_path / "none.csv")]),
        (2, "holds no decision", [str(empty)]),
        (2, "line 41 is damaged", [str(cut)]),
        (2, "is of magic 26001, the settings have 4", [str(csv_file), "-c", str(other)]),
    ):
        capsys.readouterr()
        assert run(["ea", "parity", *arguments]) == code
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
