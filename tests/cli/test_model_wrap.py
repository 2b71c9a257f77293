"""``mt5-onnx model wrap``: from a draft to a file that the daemon loads."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from bridge.cli.main import run
from bridge.model.load import load_model
from bridge.share import share_dir

BARS = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"


def network(folder: Path) -> Path:
    """Write logits of two classes over five steps of two features, and what stands beside them."""
    weights = np.linspace(-1.0, 1.0, 20, dtype=np.float32).reshape(10, 2)
    nodes = [
        helper.make_node("Reshape", ["x", "row"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 5, 2])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 2])],
        [
            numpy_helper.from_array(np.array([-1, 10]), "row"),
            numpy_helper.from_array(weights, "weights"),
        ],
    )
    path = folder / "net.onnx"
    imports = [helper.make_opsetid("", 14)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=7)
    path.write_bytes(model.SerializeToString())
    scaler = {"features": ["rsi_14", "returns"], "means": [50.0, 0.0], "stds": [10.0, 1e-3]}
    (folder / "net.scaler.json").write_text(json.dumps(scaler))
    (folder / "net.json").write_text(json.dumps({"actions": {"0": "Sell", "1": "Buy"}}))
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["model", *(str(each) for each in arguments)])
    found = capsys.readouterr()
    return code, found.out + found.err


FILLED: list[tuple[str, str]] = [
    ("symbol", "EURUSD"),
    ("timeframe", "H1"),
    ("server_clock", "eet-us"),
    ("algorithm", "one layer"),
    ("licence", "MIT"),
    ("head", "softmax"),
]


def fill(draft: Path) -> None:
    """Fill in what a draft asks for, as a person would."""
    text = draft.read_text(encoding="utf-8")
    for key, value in FILLED:
        text = text.replace(f'{key} = "?"', f'{key} = "{value}"')
    for hint in ("rsi(close, 14)", "simple_return(close)"):
        text = text.replace(f'formula = "?"  # perhaps {hint}', f'formula = "{hint}"')
    draft.write_text(text, encoding="utf-8")


def test_a_draft_is_filled_in_and_wrapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, draft = network(tmp_path), tmp_path / "net.toml"
    code, told = said(capsys, "wrap", model, "--guess", "-o", draft)
    assert (code, "fill in what has a" in told) == (0, True)
    text = draft.read_text(encoding="utf-8")
    for known in (
        'name = "x"  # x (float [?, 5, 2])',
        "steps = 5",
        'name = "rsi_14"\nformula = "?"  # perhaps rsi(close, 14)',
        'file = "net.scaler.json"',
        '{ name = "Sell", side = "short" },  # by its name: check',
    ):
        assert known in text
    code, told = said(capsys, "wrap", model, "--contract", draft)
    assert code == 2
    assert 'contract.symbol is still "?" (and 7 more)' in told
    fill(draft)
    code, told = said(capsys, "wrap", model, "--contract", draft, "--bars", BARS, "--windows", 60)
    assert code == 0, told
    out = tmp_path / "net_wrapped"
    assert re.findall(r"^  ok ", told, re.MULTILINE) == ["  ok "] * 5
    loaded = load_model(out / "model.onnx")  # as the daemon does
    assert (loaded.contract.window, loaded.contract.sequence) == (14 * 21 + 5, 5)
    sidecar: dict[str, Any] = json.loads((out / "model.json").read_text())
    assert sidecar["sha256"] == loaded.sha256
    assert sidecar["wrapped"]["features"]["rsi_14"] == "rsi(close, 14)"
    code, told = said(capsys, "verify", out / "model.onnx", "--bars", BARS, "--windows", 60)
    assert code == 0, told
    assert "golden rows, 50 of 50" in told
    code, told = said(capsys, "wrap", model, "--contract", draft)
    assert (code, "is there already: name another place with -o" in told) == (2, True)
    code, told = said(capsys, "wrap", model, "--contract", draft, "-o", draft, "--windows", 5)
    assert (code, "can't be written" in told) == (2, True)


def test_what_can_not_be_wrapped_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = network(tmp_path)
    code, told = said(capsys, "wrap", model)
    assert (code, "draft a file with --guess" in told) == (2, True)
    shipped = share_dir("models/eurusd_h1_sma_cross") / "model.onnx"
    code, told = said(capsys, "wrap", shipped, "--guess")
    assert (code, "has a contract already" in told) == (4, True)
    draft = tmp_path / "net.toml"
    assert said(capsys, "wrap", model, "--guess", "-o", draft)[0] == 0
    fill(draft)
    newer = onnx.load(model)
    newer.opset_import[0].version = 99
    model.write_bytes(newer.SerializeToString())
    code, told = said(capsys, "wrap", model, "--contract", draft)
    assert (code, f"{model}: its opset of ai.onnx is 99" in told) == (4, True)
    model.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    code, told = said(capsys, "wrap", model, "--guess")
    assert (code, "git lfs pull" in told) == (4, True)
    assert "Traceback" not in told


def test_a_draft_of_many_numbers_stays_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph(
        [node],
        "wide",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 11_300])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 11_300])],
    )
    path = tmp_path / "wide.onnx"
    imports = [helper.make_opsetid("", 13)]
    path.write_bytes(
        helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    )
    code, told = said(capsys, "wrap", path, "--guess")
    assert code == 0
    assert "likely steps and features in one" in told
    assert len(told.splitlines()) < 100
