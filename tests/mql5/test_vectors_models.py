"""The generated includes that ship: the models' own bytes, and golden rows of their own files."""

import csv
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.mt5.rates import rates_of
from bridge.mt5.servertime import text
from bridge.share import share_dir

GENERATED = Path(__file__).parents[2] / "mql5" / "Include" / "OnnxBridge" / "Generated"
NAMES = sorted(path.stem for path in GENERATED.glob("*.mqh"))


def numbers(source: str, name: str) -> list[float]:
    """Return the numbers of a constant array."""
    body = re.search(rf"const double {name}\[\]=\s*\{{(.*?)\}};", source, re.DOTALL)
    assert body is not None
    return [float(each) for each in body[1].split(",")]


def test_two_models_ship() -> None:
    assert NAMES == ["eurusd_h1_direction", "eurusd_h1_sma_cross"]


@pytest.mark.parametrize("name", NAMES)
def test_an_include_is_that_of_its_model(name: str) -> None:
    """Bytes, hash, contract and golden rows are those of models/NAME."""
    folder = share_dir(f"models/{name}")
    source = (GENERATED / f"{name}.mqh").read_text(encoding="ascii")
    model = (GENERATED / f"{name}.onnx").read_bytes()
    assert model == (folder / "model.onnx").read_bytes()
    assert hashlib.sha256(model).hexdigest() in source
    contract = load_model(folder / "model.onnx", probe=False).contract
    defines = dict(re.findall(r"#define (\w+) +(.+)", source))
    assert defines["MODEL_SYMBOL"] == f'"{contract.symbol}"'
    assert int(defines["MODEL_WINDOW"]) == contract.window
    assert int(defines["MODEL_WIDTH"]) == contract.output.width
    assert float(defines["SET_OPEN_AT"]) == contract.decision.open_at
    assert int(defines["SET_RANGE_BARS"]) == contract.decision.range_bars
    rows = list(csv.DictReader((folder / "golden.csv").read_text().splitlines()))
    wanted = {row["bar"]: row for row in rows}
    bars = np.array(numbers(source, "ExtGoldenBars")).reshape(-1, contract.window, 8)
    answers = np.array(numbers(source, "ExtGoldenOutputs")).reshape(len(bars), -1)
    for window, answer in zip(bars, answers, strict=True):
        rates = rates_of(tuple(bar) for bar in window)
        row = wanted[text(int(rates["time"][-1]))]
        assert hashlib.sha256(rates.tobytes()).hexdigest() == row["window_sha256"]
        assert answer.tolist() == [float(value) for value in list(row.values())[2:]]


def test_the_bars_of_golden_rows_are_those_of_the_sample() -> None:
    """The sample that ships has the bars, so that anybody can make the rows again."""
    sample = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    source = (GENERATED / f"{NAMES[0]}.mqh").read_text(encoding="ascii")
    times = numbers(source, "ExtGoldenBars")[::8]
    assert set(times) <= set(sample["time"].tolist())
