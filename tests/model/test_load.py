"""Loading and asking a model: what is checked, what it answers, what it costs the process."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from model.model_files import (
    COLUMNS,
    SHARES,
    bars,
    bars_model,
    contract,
    fixed_answer,
    made,
    stored,
)
from onnx import TensorProto, helper

from bridge.errors import ContractError, ModelError
from bridge.features import codec
from bridge.features.expr import Bars, higher
from bridge.features.featureset import FeatureSet
from bridge.model.load import LoadedModel, check_bars, check_fits, load_model
from bridge.model.probe import probe_environment
from bridge.share import share_dir

PLAIN = [1.0, 1.0, 1.5]


def _loaded(folder: Path, model: onnx.ModelProto | None = None, **changes: Any) -> LoadedModel:
    path = stored(folder / "m.onnx", model or bars_model(), contract(**changes))
    return load_model(path, probe=False)


def test_a_probed_model_answers_what_its_formula_says(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model(), contract())
    model = load_model(path)
    rates = bars(PLAIN)
    signal = model.signal(rates)
    # Worked out by hand: the move is 0.5, so the scores are -0.5, 0 and 0.5.
    total = math.exp(-0.5) + 1 + math.exp(0.5)
    assert signal.problem is None
    assert signal.time == int(rates["time"][-1])
    assert signal.sha256 == model.sha256
    assert signal.long == pytest.approx(math.exp(0.5) / total, abs=1e-7)
    assert signal.short == pytest.approx(math.exp(-0.5) / total, abs=1e-7)


def test_repeated_runs_give_the_same_bits_and_keep_no_state(tmp_path: Path) -> None:
    model = _loaded(tmp_path)
    first = model.signal(bars(PLAIN))
    other = model.signal(bars([1.0, 1.0, 0.25]))
    assert model.signal(bars(PLAIN)) == first
    assert other.short > other.long


def test_a_free_batch_dimension_runs_one_window(tmp_path: Path) -> None:
    free = _loaded(tmp_path, bars_model(batch="unk__6")).signal(bars(PLAIN))
    fixed = _loaded(tmp_path, bars_model(batch=1)).signal(bars(PLAIN))
    assert free.values == fixed.values


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_number_in_the_bars_that_is_not_finite_is_never_run(tmp_path: Path, wrong: float) -> None:
    model = _loaded(tmp_path)
    signal = model.signal(bars([1.0, wrong, 1.5]))
    assert (signal.values, signal.long, signal.short) == ((), 0.0, 0.0)
    assert signal.problem == "input bars holds a number that is not finite"
    assert model.signal(bars(PLAIN)).problem is None


def test_zero_prices_run(tmp_path: Path) -> None:
    assert _loaded(tmp_path).signal(bars([0.0, 0.0, 1.0])).values == pytest.approx([1 / 3] * 3)


def test_too_few_bars_are_never_run(tmp_path: Path) -> None:
    signal = _loaded(tmp_path).signal(bars([1.0, 1.5]))
    assert (signal.values, signal.problem) == ((), "2 closed bars, the model needs 3")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([math.nan, 0.5, 0.5], "holds nan"),
        ([math.inf, 0.0, 0.0], "holds inf"),
        ([0.5, 0.5, 0.5], "sum to 1.5"),
    ],
)
def test_an_answer_that_is_none_gives_a_reason(
    tmp_path: Path, answer: list[float], words: str
) -> None:
    # A finite number times zero plus NaN is NaN: the graph answers it for every window.
    signal = _loaded(tmp_path, fixed_answer(answer)).signal(bars(PLAIN))
    assert words in str(signal.problem)
    assert (signal.long, signal.short) == (0.0, 0.0)


def _float_model() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["N", 1])
    aux = helper.make_tensor_value_info("aux", TensorProto.FLOAT, ["N", 3])
    nodes = [
        helper.make_node("Identity", ["x"], ["aux"]),
        helper.make_node("ReduceMax", ["x"], ["out"], axes=[1], keepdims=1),
    ]
    return made(nodes, [x], [aux, out])


FLOAT_INPUT = [{"name": "x", "dtype": "float", "layout": "batch,window", "columns": ["close"]}]
FORECAST = {"name": "out", "kind": "forecast", "unit": "price"}


def test_the_output_is_taken_by_its_name_not_by_its_place(tmp_path: Path) -> None:
    # onnx/sklearn-onnx issue 506: the first output is not the one that decides.
    model = _loaded(tmp_path, _float_model(), inputs=FLOAT_INPUT, output=FORECAST)
    assert model.signal(bars([1.0, 3.0, 2.0])).values == (3.0,)


@pytest.mark.parametrize("last", [1.5, 0.25])
def test_one_tensor_of_rows_as_mql5_copies_rates_is_filled_in_order(
    tmp_path: Path, last: float
) -> None:
    # Rows are columns of the bars, time among them; the answer adds the newest of each row.
    rows = ("open", "high", "low", "close", "tick_volume", "spread", "time")
    x = helper.make_tensor_value_info("rates", TensorProto.DOUBLE, ["N", 7, 3])
    out = helper.make_tensor_value_info("out", TensorProto.DOUBLE, ["N", 7])
    nodes = [helper.make_node("Gather", ["rates", "newest"], ["out"], axis=2)]
    one = {
        "name": "rates",
        "dtype": "double",
        "layout": "batch,columns,window",
        "columns": rows,
    }
    output = {
        "name": "out",
        "kind": "shares",
        "classes": [{"name": each, "side": "long"} for each in rows],
    }
    model = _loaded(
        tmp_path,
        made(nodes, [x], [out], {"newest": np.array(2)}),
        inputs=[one],
        output=output,
    )
    newest = bars([1.0, 3.0, last])
    assert model.session.run(newest).values == tuple(float(newest[name][-1]) for name in rows)
    with pytest.raises(ContractError, match=r"shape \['N', 7, 3\], the contract gives \[1, 3, 7\]"):
        _loaded(
            tmp_path,
            made(nodes, [x], [out], {"newest": np.array(2)}),
            inputs=[one | {"layout": "batch,window,columns"}],
            output=output,
        )


def test_a_price_beyond_float32_is_never_run(tmp_path: Path) -> None:
    model = _loaded(tmp_path, _float_model(), inputs=FLOAT_INPUT, output=FORECAST)
    assert "not finite" in str(model.signal(bars([1.0, 1e300, 2.0])).problem)


def _inputs(**changes: Any) -> list[dict[str, Any]]:
    rates = {
        "name": "bars",
        "dtype": "double",
        "layout": "batch,window,columns",
        "columns": COLUMNS,
    }
    when = {"name": "time", "dtype": "int64", "layout": "batch,window", "columns": ["time"]}
    return [rates | changes, when]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": _inputs()[:1]}, "input time is in the graph and not in the contract"),
        ({"inputs": _inputs(name="x")}, "input bars is in the graph and not in the contract"),
        ({"inputs": _inputs(dtype="float")}, r"is tensor\(double\) in the graph and float in"),
        (
            {"inputs": _inputs(columns=["open", "close"])},
            r"shape \[1, 3, 4\], the contract gives \[1, 3, 2\]",
        ),
        ({"window": 4}, r"shape \[1, 3, 4\], the contract gives \[1, 4, 4\]"),
        (
            {"output": {"name": "prob", "kind": "shares", "classes": SHARES}},
            "output prob is in the contract and not in the graph, which has out",
        ),
        (
            {"output": {"name": "out", "kind": "shares", "classes": SHARES[::2]}},
            "has 3 columns, the contract describes 2",
        ),
    ],
)
def test_a_contract_that_does_not_fit_the_graph_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ContractError, match=words) as caught:
        _loaded(tmp_path, **changes)
    assert str(caught.value).startswith(str(tmp_path))
    with pytest.raises(ContractError, match=words):
        load_model(tmp_path / "m.onnx")


def test_a_file_without_contract_is_refused_with_the_next_step(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model())
    with pytest.raises(ContractError, match=r"m\.onnx: there is no contract .*: export it with"):
        load_model(path)


def test_a_pin_holds_the_file(tmp_path: Path) -> None:
    model = _loaded(tmp_path)
    assert load_model(model.path, pin=model.sha256, probe=False).sha256 == model.sha256
    with pytest.raises(ModelError, match="the settings pin"):
        load_model(model.path, pin="0" * 64)


@pytest.mark.parametrize(
    ("symbol", "alias"),
    [
        ("EURUSD", None),
        ("EURUSDm", None),
        ("EURUSD.m", None),
        ("EURUSD.pro", None),
        ("EURUSD_i", None),
        ("EURUSD#", None),
        ("EURUSD-ECN", None),
        ("EURUSDpro", None),
        ("#EURUSD", "EURUSD"),
        ("Euro", "EURUSD"),
    ],
)
def test_a_brokers_name_of_the_symbol_fits(tmp_path: Path, symbol: str, alias: str | None) -> None:
    check_fits(_loaded(tmp_path), symbol=symbol, timeframe="H1", alias=alias)


@pytest.mark.parametrize(
    ("symbol", "alias"),
    [
        ("GBPUSD", None),
        ("eurusd", None),
        ("EURUSDX", None),
        ("EURUSD2", None),
        ("EURUSDmicro", None),
        ("#EURUSD", None),
        ("EURUSD .m", None),
        ("EURUS", None),
        ("EURUSD.m", "GBPUSD"),
    ],
)
def test_another_symbol_is_refused(tmp_path: Path, symbol: str, alias: str | None) -> None:
    with pytest.raises(ContractError, match=f"made for EURUSD, the settings trade {symbol}"):
        check_fits(_loaded(tmp_path), symbol=symbol, timeframe="H1", alias=alias)


def test_another_timeframe_and_too_few_bars_are_refused(tmp_path: Path) -> None:
    model = _loaded(tmp_path)
    with pytest.raises(ContractError, match="made for H1, the settings trade M5"):
        check_fits(model, symbol="EURUSD", timeframe="M5")
    check_bars(model, count=3, clock="eet-us")
    with pytest.raises(ContractError, match="needs 3 closed bars, there are 2"):
        check_bars(model, count=2, clock="eet-us")


def test_hours_of_another_clock_are_refused_where_hours_matter() -> None:
    direction = load_model(share_dir("models/eurusd_h1_direction") / "model.onnx", probe=False)
    check_bars(direction, count=1_000, clock="eet-us")
    with pytest.raises(ContractError, match="server clock eet-us, these bars follow utc"):
        check_bars(direction, count=1_000, clock="utc")
    # A crossing of averages does not look at the clock.
    cross = load_model(share_dir("models/eurusd_h1_sma_cross") / "model.onnx", probe=False)
    check_bars(cross, count=1_000, clock="utc")


def test_bars_of_a_longer_timeframe_depend_on_the_clock_too(tmp_path: Path) -> None:
    tree = codec.to_json(FeatureSet({"day": higher(Bars.close, "D1", of="H1")}))
    model = _loaded(tmp_path, features=tree)
    with pytest.raises(ContractError, match="server clock eet-us, these bars follow utc"):
        check_bars(model, count=1_000, clock="utc")


def test_sessions_have_one_thread_that_does_not_spin(tmp_path: Path) -> None:
    session = _loaded(tmp_path).session.session
    options = session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    for pool in ("intra_op", "inter_op"):
        assert options.get_session_config_entry(f"session.{pool}.allow_spinning") == "0"
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_loading_and_asking_leaves_onnx_and_pandas_out_of_the_process(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model(), contract())
    rates = tmp_path / "rates.npy"
    np.save(rates, bars(PLAIN))
    code = (
        "import sys, numpy as np; from pathlib import Path; from bridge.model.load import *;"
        f"signal = load_model(Path({str(path)!r})).signal(np.load({str(rates)!r}));"
        "assert signal.problem is None and signal.long > 0;"
        "sys.exit(','.join({'onnx', 'pandas', 'google.protobuf'} & sys.modules.keys()) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=probe_environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_run_costs_little_beside_the_runtimes_own(tmp_path: Path) -> None:
    model, rates = _loaded(tmp_path), bars(PLAIN)

    def cost() -> float:
        start = time.perf_counter()
        for _ in range(500):
            model.session.run(rates)
        return (time.perf_counter() - start) / 500

    # About 15 us on a slow core; the limit only tells a lost buffer or a copied session.
    assert min(cost() for _ in range(5)) < 500e-6 * (1 if os.name == "posix" else 4)
