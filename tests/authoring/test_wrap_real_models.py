"""Every model of the test data, wrapped: its inner model answers as it did, and the proof holds."""

import csv
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from bridge.authoring import wrap as wrapping
from bridge.authoring.wrap.answer import chosen
from bridge.authoring.wrap.proof import prove, sample_bars
from bridge.authoring.wrap.source import PREFIX, read_source
from bridge.authoring.wrap.spec import spec_of
from bridge.authoring.wrap.wrap import Wrapped, wrap
from bridge.errors import ModelError
from bridge.market.importer import Stated, load
from bridge.model.contract import with_contract
from bridge.model.session import ModelSession, check_declared, open_session
from bridge.model.signal import decode
from bridge.mt5.servertime import parse
from bridge.mt5.sides import Side
from bridge.strategy.decide import decide

pytestmark = pytest.mark.skipif(
    "BRIDGE_TEST_DATA" not in os.environ, reason="BRIDGE_TEST_DATA names no folder of real models"
)
MODELS = Path(os.environ.get("BRIDGE_TEST_DATA", ".")) / "models"
REFERENCE: dict[str, Any] = (
    json.loads((MODELS / "reference_outputs.json").read_text())["models"]
    if "BRIDGE_TEST_DATA" in os.environ
    else {}
)
STATED = Stated(symbol="EURUSD", times="server")
# Windows of each proof; a longer look: BRIDGE_SWEEP=100.
WINDOWS = 8 + int(os.environ.get("BRIDGE_SWEEP", "0"))

Floats = NDArray[np.float32]
TWO = [("down", "short"), ("up", "long")]
THREE = [("hold", "flat"), ("buy", "long"), ("sell", "short")]
XAU13 = {
    "returns": "simple_return(close)",
    "log_returns": "log_return(close)",
    "range_pct": "bar_range(bars)",
    "rsi": "rsi(close, 14) / 100",
    "atr_norm": "atr_ratio(bars, 14)",
    "ma_dist": "sma_ratio(close, 20)",
    "bb_pos": "bollinger_position(close, 20)",
    "hurst": "efficiency_ratio(close, 50)",
    "entropy": "volatility_ratio(close, 10, 50)",
    "hour_sin": "hour_sin()",
    "hour_cos": "hour_cos()",
    "session": "session(8, 17)",
    "vol_regime": "volatility_ratio(close, 14, 50)",
}
XAU15 = {
    "returns": "simple_return(close)",
    "log_returns": "log_return(close)",
    "range_pct": "bar_range(bars)",
    "body_pct": "body(bars).abs()",
    "upper_shadow_pct": "upper_wick(bars)",
    "rsi_m5": "rsi(close, 14) / 100",
    "rsi_m15": "higher_rsi(close, 'M15', of='M5', period=5) / 100",
    "rsi_h1": "higher_rsi(close, 'H1', of='M5', period=2) / 100",
    "hurst": "efficiency_ratio(close, 50)",
    "entropy": "volatility_ratio(close, 10, 50)",
    "regime_code": "adx(bars, 7) > 25",
    "session_code": "session(8, 17)",
    "hour_sin": "hour_sin()",
    "atr_norm": "atr_ratio(bars, 14)",
    "vol_ratio": "volume_ratio(bars, 20) + 1",
}
XAU26 = {
    "body": "close - open",
    "body_abs": "(close - open).abs()",
    "candle_range": "high - low",
    "close_position": "safe_div(close - low, high - low, default=0.5, scale=close)",
    **{f"return_{n}": f"simple_return(close, {n})" for n in (1, 5, 15, 60)},
    "tr": "true_range(bars)",
    "atr_14": "iATR(bars, 14)",
    "rsi_14": "rsi(close, 14)",
    **{f"ema_{n}": f"ema(close, {n})" for n in (10, 20, 50)},
    "hour_sin": "hour_sin()",
    "hour_cos": "hour_cos()",
    **{
        f"{name}_{what}": f"zscore(close, {n + k})"
        for n, name in enumerate(("M5", "M15", "H1", "H4", "D1"), start=10)
        for k, what in ((0, "trend"), (20, "position"))
    },
}
NAIVE_BAYES = {
    "RSI": "iRSI(close, 14)",
    "ATR": "iATR(bars, 14)",
    "MACD_Main": "iMACD(close, 12, 26)",
    "Hour": "hour()",
}


def of_nothing_known(count: int) -> dict[str, str]:
    """Return stand-ins for features that nobody has published."""
    return {f"unknown {n}": f"(close / close.lag({n}) - 1) * 100" for n in range(1, count + 1)}


def shares(classes: list[tuple[str, str]], head: str = "none", **more: Any) -> dict[str, Any]:
    named = [{"name": name, "side": side} for name, side in classes]
    return {"kind": "shares", "head": head, "classes": named, **more}


def forecast(**more: Any) -> dict[str, Any]:
    return {"kind": "forecast", "unit": "as trained", **more}


# File: features, what is said of the input, of the output, of the scaler.
Row = tuple[dict[str, str], dict[str, Any], dict[str, Any], dict[str, Any]]
TABLE: dict[str, Row] = {
    "lightgbm_xau26_zipmap.onnx": (XAU26, {}, shares(THREE), {}),
    "lightgbm_xau26_fixed_batch.onnx": (XAU26, {}, shares(THREE), {}),
    "catboost_regressor.onnx": (of_nothing_known(27), {}, forecast(add=-50.0), {}),
    "xgboost_binary.onnx": (of_nothing_known(36), {}, shares(TWO), {}),
    **{
        f"naive_bayes/{name}.onnx": (NAIVE_BAYES, {}, shares(THREE), {})
        for name in (
            "cpda_eurjpy",
            "gaussian_usdjpy",
            "naive_bayes_eurusd_zipmap",
            "static_eurusd",
            "static_usdjpy",
        )
    },
    "sklearn_logistic_zipmap.onnx": (of_nothing_known(1), {}, shares(TWO), {}),
    "keras_cnn_lstm_xau_h1_120.onnx": (
        {"close": "close"},
        {"steps": 120},
        forecast(less="close"),
        {"kind": "window_minmax"},
    ),
    "keras_loop_btc_120x35.onnx": (of_nothing_known(35), {"steps": 120}, shares(THREE), {}),
    "lstm_btc_hourly.onnx": (of_nothing_known(20), {"steps": 15}, forecast(column=0), {}),
    "torch_dueling_dqn.onnx": (of_nothing_known(2), {}, shares(THREE, "softmax"), {}),
    "torch_gru_btc_54x9.onnx": (
        of_nothing_known(9),
        {"steps": 54},
        shares(THREE, "softmax"),
        {"kind": "window_standard", "ddof": 1},
    ),
    "torch_gru_xau_100x13.onnx": (
        XAU13,
        {"steps": 100},
        shares(TWO),
        {"kind": "standard", "file": "torch_gru_xau_100x13.scaler.json"},
    ),
    "torch_lstm_attention_xau_9x9_two.onnx": (
        of_nothing_known(9),
        {"steps": 9, "layout": "batch,steps,features", "order": "newest first"},
        shares(TWO, "softmax"),
        {},
    ),
    "torch_lstm_xau_10x15_dyn.onnx": (
        XAU15,
        {"steps": 10},
        shares(TWO),
        {"kind": "standard", "file": "torch_lstm_xau_10x15_dyn.scaler.json"},
    ),
    "torch_mamba_btc_54x9.onnx": (of_nothing_known(9), {"steps": 54}, shares(THREE, "softmax"), {}),
    "torch_mlp_multi_output.onnx": (
        of_nothing_known(20),
        {},
        {"kind": "target", "name": "signal"},
        {},
    ),
    "torch_mlp_us30_18.onnx": (of_nothing_known(18), {}, shares(TWO, "softmax"), {}),
    "torch_multi_head_11300.onnx": (
        of_nothing_known(113),
        {"steps": 100, "layout": "batch,steps*features"},
        shares(TWO, "softmax", name="direction_output"),
        {},
    ),
    "torch_ppo_policy_10_4.onnx": (
        of_nothing_known(10),
        {},
        shares([*THREE, ("close", "flat")]),
        {},
    ),
    "torch_tcn_btc_54x9.onnx": (of_nothing_known(9), {"steps": 54}, shares(THREE, "largest"), {}),
    "external/model_3class.onnx": (of_nothing_known(15), {}, shares(THREE, "softmax"), {}),
}


def wrapped_of(name: str, row: Row) -> tuple[Wrapped, str]:
    features, given, output, scaler = row
    source = read_source(MODELS / name)
    if source.labels:
        pairs = zip(source.labels, output["classes"], strict=True)
        output = output | {"classes": [each | {"label": label} for label, each in pairs]}
    about = {
        "name": name,
        "symbol": "EURUSD",
        "timeframe": "M5",
        "server_clock": "eet-us",
        "created": "2026-01-01",
        "algorithm": "somebody's",
        "licence": "none",
    }
    tables = {
        "contract": about,
        "features": [{"name": each, "formula": text} for each, text in features.items()],
        "input": given,
        "output": output,
        "scaler": scaler,
    }
    spec = spec_of(tables, "the table")
    return wrap(source, spec, folder=MODELS), chosen(source, spec.output.name).name


def inner_answer(wrapped: Wrapped, name: str, asked: dict[str, Any]) -> Floats:
    """Return what the model inside the wrapped graph says of the reference's input."""
    ((input_name, shape),) = asked["input_shapes"].items()
    graph = ModelProto()
    graph.CopyFrom(wrapped.model)
    inside = [node for node in graph.graph.node if node.name.startswith(PREFIX)]
    del graph.graph.node[:], graph.graph.input[:], graph.graph.output[:]
    graph.graph.node.extend(node for node in inside if node.output[0] != PREFIX + input_name)
    graph.graph.input.append(
        helper.make_tensor_value_info(PREFIX + input_name, TensorProto.FLOAT, shape)
    )
    graph.graph.output.append(helper.make_tensor_value_info(PREFIX + name, TensorProto.FLOAT, None))
    x = ((np.arange(np.prod(shape)) % 7 - 3) / 4).astype(np.float32).reshape(shape)
    session = open_session(graph.SerializeToString())
    return np.asarray(session.run(None, {PREFIX + input_name: x})[0]).ravel()


def reference_answer(output: dict[str, Any]) -> list[float]:
    """Return the first numbers of a recorded output; of a ZipMap its one row, in label order."""
    return list(output["value"][0].values()) if "value" in output else list(output["first"])


@pytest.mark.parametrize("name", TABLE)
def test_a_real_model_gets_through_and_answers_as_it_did(name: str) -> None:
    asked = REFERENCE[name]
    wrapped, output = wrapped_of(name, TABLE[name])
    wanted = reference_answer(next(o for o in asked["outputs"] if o["name"] == output))
    found = inner_answer(wrapped, output, asked)[: len(wanted)]
    assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    checks = prove(wrapped, sample_bars("M5"), windows=WINDOWS)
    assert all(check.ok for check in checks)
    data = with_contract(wrapped.model, wrapped.contract)
    session = open_session(data)
    check_declared(session, wrapped.contract)
    bars = sample_bars("M5")[-wrapped.contract.window :]
    answer = ModelSession(session, wrapped.contract).run(bars)
    assert answer.problem is None
    assert np.isfinite(answer.values).all()


def test_each_real_model_that_can_be_loaded_is_in_the_table() -> None:
    assert set(TABLE) == set(REFERENCE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fail_catboost_native_cbm", "native CatBoost model"),
        ("fail_external_data_missing", "which is not beside it"),
        ("fail_lfs_pointer", "git lfs pull"),
    ],
)
def test_a_file_that_is_no_model_is_refused_in_words(name: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        read_source(MODELS / f"{name}.onnx")


def test_the_example_enters_where_its_author_s_expert_did() -> None:
    """The README's file, on another broker's bars: all 40 entries of the tester's year.

    The bars are not the report's, so a model whose shares were near their limits could differ.
    """
    readme = Path(wrapping.__file__).with_name("README.md").read_text(encoding="utf-8")
    tables = tomllib.loads(readme.split("```toml\n")[1].split("```")[0])
    source = read_source(MODELS / "naive_bayes" / "static_eurusd.onnx")
    wrapped = wrap(source, spec_of(tables, "README.md"), folder=MODELS)
    data = MODELS.parent
    bars = load(data / "bars" / "fxpack" / "EURUSD_H1_2021_2026.csv.gz", STATED).rates
    with (data / "deals" / "history" / "ea_export_EURUSD_static.csv").open() as file:
        deals = [each for each in csv.DictReader(file) if each["COMMENT"] == "NB Sell + ATR"]
    decided = np.searchsorted(bars["time"], [parse(each["DATE"][:16]) for each in deals]) - 1
    need = wrapped.contract.window
    rows = np.concatenate([wrapped.rows(bars[end - need + 1 : end + 1]) for end in decided])
    shares = wrapped.expected(rows)
    asks = [_side(row, wrapped) for row in shares.tolist()]
    assert (len(deals), set(asks)) == (40, {Side.SHORT})
    # The levels were five of the terminal's iATR away: a simple mean of true ranges.
    ranges = [(float(d["PRICE"]) - float(d["TAKEPROFIT"])) / 5.0 for d in deals]
    assert np.median(ranges / rows[:, 1]) == pytest.approx(0.975, abs=0.01)


def _side(row: list[float], wrapped: Wrapped) -> Side | None:
    signal = decode(wrapped.contract, 0, "", row)
    return decide(signal, None, wrapped.contract.decision, range_points=100.0).side
