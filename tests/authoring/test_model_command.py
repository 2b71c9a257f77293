"""``mt5-onnx model inspect`` and ``verify``: what they show, and that each check can fail."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from markets import SAMPLE
from model.model_files import bars_model
from model.model_files import contract as plain_contract

from bridge.authoring.formula import formula
from bridge.authoring.verify import Skipped, verify
from bridge.cli.main import run
from bridge.errors import DataError
from bridge.features import codec, named
from bridge.features.expr import Bars, where
from bridge.features.featureset import FeatureSet
from bridge.model.contract import read_contract, with_contract
from bridge.model.load import load_model
from bridge.share import share_dir

DIRECTION = share_dir("models/eurusd_h1_direction") / "model.onnx"
CROSS = share_dir("models/eurusd_h1_sma_cross") / "model.onnx"
BARS = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
RATES = SAMPLE[4_000:4_500]


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["model", *(str(each) for each in arguments)])
    found = capsys.readouterr()
    return code, found.out + found.err


def test_a_shipped_model_is_shown_with_its_contract_and_its_outline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "outline.svg"
    code, shown = said(capsys, "inspect", DIRECTION, "--svg", picture)
    assert code == 0
    for words in (
        f"file       {DIRECTION}, {DIRECTION.stat().st_size:,} bytes",
        "versions   IR 8, opset ai.onnx 15, ai.onnx.ml 1",
        "EURUSD H1, 211 closed bars an answer",
        "├─ bars  double [N, 211, 6]  open, high, low, close, tick_volume, spread",
        "├─ return6 = log(close / close[6])",
        "├─ 180 trees, 2396 nodes",
        "└─ up: long",
    ):
        assert words in shown
    texts = [each.text for each in ElementTree.parse(picture).iter() if each.tag.endswith("text")]  # noqa: S314
    assert {"inputs", "features", "estimator", "output", "decision"} <= set(texts)
    code, refused = said(capsys, "inspect", DIRECTION, "--svg", picture)
    assert (code, "is there already: name another file" in refused) == (2, True)


def test_a_file_without_contract_is_shown_as_a_graph(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(bars_model().SerializeToString())
    code, shown = said(capsys, "inspect", path, "--json")
    told = json.loads(shown)
    assert (code, told["contract"], told["nodes"]) == (0, None, 14)
    assert told["outline"]["inputs"] == ["bars  double [1, 3, 4]", "time  int64 [1, 3]"]
    assert list(told["outline"]) == ["inputs", "graph", "output"]


def test_a_sound_model_is_verified_on_bars(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = said(capsys, "verify", DIRECTION, "--bars", BARS, "--windows", 300)
    lines = shown.splitlines()
    assert code == 0
    assert "300 windows" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["ok"] * 6
    assert "golden rows, 50 of 50" in lines[-1]


def test_a_model_that_differs_from_its_tree_fails_with_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = onnx.load(CROSS)
    promise = read_contract({each.key: each.value for each in model.metadata_props})
    lead = Bars.close.mean(25) - Bars.close.mean(96)  # the file's own has 24
    tree = FeatureSet({"target": where(lead, 1.0, where(-lead, -1.0, 0.0))})
    other = promise.model_copy(update={"features": codec.to_json(tree)})
    path = tmp_path / "model.onnx"
    path.write_bytes(with_contract(model, other))
    code, shown = said(capsys, "verify", path, "--bars", BARS, "--windows", 300, "--json")
    told = json.loads(shown)
    failed = [each["name"] for each in told["checks"] if each["ok"] is False]
    assert (code, told["ok"], failed[0]) == (4, False, "window equals history, ulp")
    worst = next(each["worst"] for each in told["checks"] if each["name"] in failed)
    assert worst.startswith("2017.1")


def copied(folder: Path, rows: str) -> Path:
    (folder / "golden.csv").write_text(rows, encoding="ascii")
    path = folder / "model.onnx"
    path.write_bytes(CROSS.read_bytes())
    return path


def golden_of(path: Path, rates: Any = SAMPLE) -> Any:
    return verify(load_model(path, probe=False), rates, windows=5).results[-1]


def test_golden_rows_that_are_not_answered_fail(tmp_path: Path) -> None:
    rows = CROSS.with_name("golden.csv").read_text(encoding="ascii")
    assert golden_of(copied(tmp_path, rows)).ok
    turned = rows.replace(",-1\n", ",1\n")
    assert turned != rows
    found = golden_of(copied(tmp_path, turned))
    assert (found.ok, found.value) == (False, 2.0)
    # Bars that differ in one bit are other bars: then golden rows say nothing.
    other = SAMPLE.copy()
    other["close"] = np.nextafter(other["close"], 2.0)
    assert golden_of(copied(tmp_path, rows), other) == Skipped(
        "golden rows", "none of 50 is about these bars"
    )
    with pytest.raises(DataError, match=r"golden\.csv is no table of golden rows"):
        golden_of(copied(tmp_path, rows.replace(",1\n", ",1,2\n")))


def test_a_file_made_for_one_window_and_without_a_tree_is_checked_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(with_contract(bars_model(batch=1), plain_contract()))
    found = verify(load_model(path, probe=False), RATES[:50])
    skipped = [each.name for each in found.results if isinstance(each, Skipped)]
    assert skipped == ["window equals history", "flat markets without an answer", "golden rows"]
    assert found.ok
    assert found.windows == 48


def test_an_answer_that_means_nothing_fails(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(with_contract(bars_model(softmax=False), plain_contract()))
    found = verify(load_model(path, probe=False), RATES[:50])
    assert [
        each.name for each in found.results if not isinstance(each, Skipped) and not each.ok
    ] == ["answers that mean nothing"]


def test_bars_of_another_timeframe_or_too_few_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = BARS.read_text(encoding="ascii").splitlines()
    few = tmp_path / "EURUSD_H1.csv"
    few.write_text("\n".join(lines[:60]) + "\n", encoding="ascii")
    code, shown = said(capsys, "verify", CROSS, "--bars", few)
    assert (code, "needs 96 closed bars, there are 59" in shown) == (4, True)
    slow = tmp_path / "EURUSD_H4.csv"
    kept = [line for line in lines[1:800] if int(line.split("\t")[1][:2]) % 4 == 0]
    slow.write_text("\n".join([lines[0], *kept]) + "\n", encoding="ascii")
    code, shown = said(capsys, "verify", CROSS, "--bars", slow)
    assert (code, "holds bars of H4, the model was made for H1" in shown) == (4, True)


def test_formulas_are_short_and_read_like_formulas() -> None:
    close = Bars.close
    assert (
        formula((close - close.mean(3)) / close.lag(2))
        == "(close - mean(close, 3 weights)) / close[2]"
    )
    assert formula(close.sum(4) * -1.5) == "sum(close, 4 weights) * -1.5"
    long = formula(named.rsi(close, 14) + named.rsi(close, 15) + named.rsi(close, 16))
    assert len(long) == 100
    assert long.endswith("...")
