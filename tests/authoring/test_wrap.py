"""Wrapping small models whose answers are known: layouts, scalers, heads, filters, refusals."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from markets import SAMPLE
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from bridge.authoring.wrap.formulas import expression
from bridge.authoring.wrap.proof import notes, prove
from bridge.authoring.wrap.source import read_source
from bridge.authoring.wrap.spec import Spec, spec_of
from bridge.authoring.wrap.wrap import Wrapped, wrap
from bridge.errors import ConfigError, ContractError, ModelError, ProofError
from bridge.features.featureset import FeatureSet
from bridge.model.contract import with_contract
from bridge.model.session import ModelSession, check_declared, open_session
from bridge.model.signal import decode

RATES = SAMPLE[1_000:1_120]
ABOUT = {
    "name": "small",
    "symbol": "EURUSD",
    "timeframe": "H1",
    "server_clock": "eet-us",
    "created": "2026-01-01",
    "algorithm": "arithmetic",
    "licence": "MIT",
}
UP_DOWN = [{"name": "down", "side": "short"}, {"name": "up", "side": "long"}]
FORECAST = {"kind": "forecast", "unit": "steps"}
ONE_TWO = {"one": "close / close", "two": "close / close + 1"}
Dims = Sequence[int | str]


def floats(values: Any) -> NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)


def file_of(
    folder: Path,
    nodes: list[NodeProto],
    inputs: dict[str, Dims],
    outputs: dict[str, Dims],
    constants: dict[str, Any] | None = None,
    *,
    opset: int = 13,
    element: int = TensorProto.FLOAT,
) -> Path:
    """Write a model and return its path."""
    told = [
        [helper.make_tensor_value_info(name, element, dims) for name, dims in each.items()]
        for each in (inputs, outputs)
    ]
    held = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "small", told[0], told[1], held)
    imports = [helper.make_opsetid("ai.onnx.ml", 1)]
    imports += [helper.make_opsetid("", opset)] if opset else []
    path = folder / "small.onnx"
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def spec(features: dict[str, str], output: dict[str, Any], **tables: Any) -> Spec:
    listed = [{"name": name, "formula": text} for name, text in features.items()]
    return spec_of({"contract": ABOUT, "features": listed, "output": output, **tables}, "c.toml")


def wrapped(path: Path, said: Spec) -> Wrapped:
    return wrap(read_source(path), said, folder=path.parent)


def answers(made: Wrapped, rates: Any = RATES) -> NDArray[np.float64]:
    """Prove it, and return what the daemon's session says of the newest window."""
    assert all(check.ok for check in prove(made, rates))
    session = open_session(with_contract(made.model, made.contract))
    check_declared(session, made.contract)
    answer = ModelSession(session, made.contract).run(rates[-made.contract.window :])
    assert answer.problem is None
    return np.array(answer.values)


def d02(folder: Path) -> Path:
    node = helper.make_node(
        "LinearClassifier",
        ["float_input"],
        ["label", "zipped"],
        domain="ai.onnx.ml",
        classlabels_ints=[-1, 0, 1],
        coefficients=[0.5, -0.25, 0.0, 0.0, -0.5, 0.75],
        intercepts=[0.1, 0.0, -0.2],
        multi_class=1,
        post_transform="SOFTMAX",
    )
    zipmap = helper.make_node(
        "ZipMap", ["zipped"], ["shares"], domain="ai.onnx.ml", classlabels_int64s=[-1, 0, 1]
    )
    # As some converters do, it names no opset of the standard operators.
    inputs: dict[str, Dims] = {"float_input": [0, 2]}
    return file_of(folder, [node, zipmap], inputs, {"shares": [0, 3]}, opset=0)


def d03(folder: Path) -> Path:
    nodes = [
        helper.make_node("Gemm", ["x", "W", "b"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["prob"]),
    ]
    held = {"W": floats([[1.0], [-2.0]]), "b": floats([0.3])}
    return file_of(folder, nodes, {"x": ["N", 2]}, {"prob": ["N", 1]}, held)


def flat_sum(folder: Path, dims: Dims, size: int, **options: Any) -> Path:
    """Write a model whose answer tells each place of its input apart."""
    nodes = [
        helper.make_node("Reshape", ["x", "row"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["y"]),
    ]
    kind = np.float64 if options.get("element") == TensorProto.DOUBLE else np.float32
    held = {
        "row": np.array([-1, size]),
        "weights": np.cos(np.arange(size, dtype=kind))[:, None],
    }
    return file_of(folder, nodes, {"x": dims}, {"y": ["N", 1]}, held, **options)


def flat_sum_of(rows: NDArray[np.float64]) -> float:
    return float(rows.ravel() @ np.cos(np.arange(rows.size)))


def test_classes_carry_the_labels_of_the_graph(tmp_path: Path) -> None:
    """D02: columns are -1, 0, 1; naming others is refused, and what is right buys 0.513897."""
    path, classes = d02(tmp_path), [("sell", "short"), ("hold", "flat"), ("buy", "long")]

    def named(*labels: int | None) -> Spec:
        listed = [
            {"name": name, "side": side} | ({} if label is None else {"label": label})
            for (name, side), label in zip(classes, labels, strict=True)
        ]
        return spec(ONE_TWO, {"kind": "shares", "classes": listed})

    for labels in ((0, 1, 2), (None, None, None), (1, 0, -1)):
        with pytest.raises(ContractError, match="has the labels -1, 0, 1 in this order"):
            wrapped(path, named(*labels))
    made = wrapped(path, named(-1, 0, 1))
    found = answers(made)
    assert found == pytest.approx([0.255194, 0.230909, 0.513897], abs=1e-6)
    assert decode(made.contract, 0, "", found.tolist()).long == pytest.approx(0.513897, abs=1e-6)


def test_a_single_share_is_that_of_the_second_class(tmp_path: Path) -> None:
    """D03."""
    said = spec(ONE_TWO, {"kind": "shares", "classes": UP_DOWN})
    assert answers(wrapped(d03(tmp_path), said)) == pytest.approx([0.937027, 0.062973], abs=1e-6)


def test_another_number_of_features_is_refused_with_both(tmp_path: Path) -> None:
    """D06."""
    said = spec(ONE_TWO | {"three": "close"}, {"kind": "shares", "classes": UP_DOWN})
    with pytest.raises(
        ContractError, match=r"input x \(float \[\?, 2\]\) does not take 3 features"
    ):
        wrapped(d03(tmp_path), said)


def test_named_dimensions_are_free_and_a_batch_of_one_answers_the_same(tmp_path: Path) -> None:
    """D08, D27."""
    nodes = [
        helper.make_node("Gather", ["ohlc", "last"], ["newest"], axis=1),
        helper.make_node("Gather", ["ohlc", "first"], ["oldest"], axis=1),
        helper.make_node("Gather", ["newest", "close"], ["c"], axis=1),
        helper.make_node("Gather", ["oldest", "open"], ["o"], axis=1),
        helper.make_node("Sub", ["c", "o"], ["move"]),
    ]
    held = {
        "last": np.array(9),
        "first": np.array(0),
        "close": np.array([3]),
        "open": np.array([0]),
    }
    said = spec({n: n for n in ("open", "high", "low", "close")}, FORECAST, input={"steps": 10})
    found = []
    for batch in ("unk__6", 1):
        path = file_of(tmp_path, nodes, {"ohlc": [batch, 10, 4]}, {"move": [batch, 1]}, held)
        made = wrapped(path, said)
        assert made.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == (batch == 1)
        found.append(answers(made)[0])
    wanted = np.float32(RATES["close"][-1]) - np.float32(RATES["open"][-10])
    assert found == pytest.approx([wanted] * 2, abs=1e-7)


def test_a_batch_that_is_free_only_by_its_name_is_fixed(tmp_path: Path) -> None:
    """D27: rows that see each other would make a back-test another one than the daemon."""
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[0], keepdims=1),
        helper.make_node("Add", ["x", "mean"], ["y"]),
    ]
    path = file_of(tmp_path, nodes, {"x": ["N", 1]}, {"y": ["N", 1]})
    made = wrapped(path, spec({"close": "close"}, FORECAST))
    assert made.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    assert answers(made) == pytest.approx(2.0 * np.float32(RATES["close"][-1]))


def test_of_several_outputs_one_is_named(tmp_path: Path) -> None:
    """D10: by name, never by place; x = 0.4 gives 0.598688."""
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["aux"], axis=1),
        helper.make_node("Sigmoid", ["x"], ["prob"]),
    ]
    path = file_of(tmp_path, nodes, {"x": ["N", 1]}, {"aux": ["N", 2], "prob": ["N", 1]})
    output = {"kind": "shares", "classes": UP_DOWN}
    features = {"x": "close / close - 0.6"}
    with pytest.raises(ContractError, match=r"has several outputs .* aux \(float .* prob"):
        wrapped(path, spec(features, output))
    with pytest.raises(ContractError, match="has no number output probability"):
        wrapped(path, spec(features, output | {"name": "probability"}))
    made = wrapped(path, spec(features, output | {"name": "prob"}))
    assert answers(made)[1] == pytest.approx(0.598688, abs=1e-6)


def test_constants_of_a_range_travel_with_the_model(tmp_path: Path) -> None:
    """D19: 1.1080 of 1.05 to 1.15 is 0.58; 1.16 is 1.1, cut only when asked, and told."""
    node = helper.make_node("Identity", ["x"], ["y"])
    path = file_of(tmp_path, [node], {"x": ["N", 1]}, {"y": ["N", 1]})
    with pytest.raises(ConfigError, match="minmax has no min: the constants of the training"):
        wrapped(path, spec({"close": "close"}, FORECAST, scaler={"kind": "minmax"}))
    scaler = {"kind": "minmax", "min": [1.05], "max": [1.15]}
    rates = RATES.copy()
    for price, wanted, cut in ((1.1080, 0.58, 0.58), (1.1600, 1.1, 1.0)):
        rates["close"] = price
        for clip, value in ((False, wanted), (True, cut)):
            said = spec({"close": "close"}, FORECAST, scaler=scaler | {"clip": clip})
            made = wrapped(path, said)
            assert answers(made, rates)[0] == np.float32(value)
            outside = price > 1.15 and not clip
            assert (
                any("outside the scaler's range" in n for n in notes(made, said, rates)) == outside
            )


def test_an_input_that_nothing_is_said_about_is_named(tmp_path: Path) -> None:
    """D23: a state is kept by nobody; it may begin anew at each answer when that is said."""
    nodes = [
        helper.make_node("Add", ["x", "h_in"], ["y"]),
        helper.make_node("Identity", ["y"], ["h_out"]),
    ]
    inputs: dict[str, Dims] = {"x": [1, 1], "h_in": [1, 1]}
    path = file_of(tmp_path, nodes, inputs, {"y": [1, 1], "h_out": [1, 1]})
    features, output = {"x": "close / close"}, FORECAST | {"name": "y"}
    with pytest.raises(ContractError, match=r"nothing is said about the input h_in \(float"):
        wrapped(path, spec(features, output, input={"name": "x"}))
    assert answers(wrapped(path, spec(features, output, fixed={"h_in": 2.0}))) == [3.0]
    model, half = onnx.load(path), tmp_path / "half.onnx"
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT16
    half.write_bytes(model.SerializeToString())
    with pytest.raises(ContractError, match=r"input h_in \(float16 .* can't be fixed"):
        wrapped(half, spec(features, output, fixed={"h_in": 2.0}))
    with pytest.raises(ContractError, match="has no input h"):
        wrapped(path, spec(features, output, fixed={"h": 0.0}))


LAYOUTS: dict[str, tuple[list[int], bool]] = {
    "batch,steps,features": ([3, 2], False),
    "batch,features,steps": ([2, 3], True),
    "batch,steps*features": ([6], False),
    "batch,features*steps": ([6], True),
    "batch,1,steps,features": ([1, 3, 2], False),
    "batch,1,features,steps": ([1, 2, 3], True),
    "batch,steps,features,1": ([3, 2, 1], False),
}


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_steps_and_features_go_where_the_layout_says(tmp_path: Path, order: str) -> None:
    features = {"move": "(close / close.lag(1) - 1) * 1000", "age": "close.bars_since_highest(9)"}
    raw = FeatureSet({name: expression(name, text) for name, text in features.items()})
    rows = raw.history(RATES)[-3:].astype(np.float64)
    rows = rows[::-1] if order == "newest first" else rows
    for layout, (dims, is_turned) in LAYOUTS.items():
        path = flat_sum(tmp_path, ["N", *dims], 6)
        table = {"steps": 3, "layout": layout, "order": order}
        found = answers(wrapped(path, spec(features, FORECAST, input=table)))
        assert found == pytest.approx(flat_sum_of(rows.T if is_turned else rows), abs=1e-5), layout


def test_a_layout_is_found_by_its_sizes_unless_these_leave_doubt(tmp_path: Path) -> None:
    two = {"a": "close", "b": "open"}
    rows = np.stack([RATES["close"][-3:], RATES["open"][-3:]])
    for bars in ("bars+time", "rates"):
        table = {"steps": 3, "bars": bars}
        turned = wrapped(flat_sum(tmp_path, ["N", 2, 3], 6), spec(two, FORECAST, input=table))
        assert answers(turned) == pytest.approx(flat_sum_of(rows), rel=1e-6)
    with pytest.raises(ContractError, match="as many steps as features: say which comes first"):
        wrapped(flat_sum(tmp_path, ["N", 2, 2], 4), spec(two, FORECAST, input={"steps": 2}))
    with pytest.raises(ContractError, match="made for 8 answers at once"):
        wrapped(flat_sum(tmp_path, [8, 2], 2), spec(two, FORECAST))


@pytest.mark.parametrize(("opset", "element"), [(11, TensorProto.FLOAT), (18, TensorProto.DOUBLE)])
def test_scalers_are_those_of_numpy(tmp_path: Path, opset: int, element: int) -> None:
    features = {"close": "close", "volume": "tick_volume"}
    path = flat_sum(tmp_path, ["N", 4, 2], 8, opset=opset, element=element)
    raw = np.stack([RATES["close"], RATES["tick_volume"].astype(np.float64)], axis=1)[-4:]
    mean, scale = [1.06, 2_000.0], [0.01, 900.0]
    low, high = raw.min(axis=0), raw.max(axis=0)
    wanted = {
        "standard": (raw - mean) / scale,
        "window_minmax": (raw - low) / (high - low) * 2.0 - 1.0,
        "window_standard": (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1),
    }
    more: dict[str, dict[str, Any]] = {
        "standard": {"mean": mean, "scale": scale},
        "window_minmax": {"range": [-1.0, 1.0]},
        "window_standard": {"ddof": 1},
    }
    for kind, rows in wanted.items():
        table = {"kind": kind, **more[kind]}
        made = wrapped(path, spec(features, FORECAST, input={"steps": 4}, scaler=table))
        # A window is scaled after the features' cast: a float32 price is 1e-7 of itself off.
        assert answers(made) == pytest.approx(flat_sum_of(rows), abs=2e-3)


def test_a_scaler_that_does_not_fit_is_named(tmp_path: Path) -> None:
    path = d03(tmp_path)
    (tmp_path / "s.json").write_text('{"mean": [0, 0], "std": [1, 1], "features": ["two", "one"]}')
    output = {"kind": "shares", "classes": UP_DOWN}
    for table, words in (
        ({"kind": "standard", "mean": [0.0], "scale": [1.0]}, "mean has 1 numbers, there are 2"),
        ({"kind": "standard", "mean": [0, 0], "scale": [1, 0]}, "scale of two is 0"),
        ({"kind": "standard", "file": "s.json"}, "has 'two' as feature 1"),
        ({"kind": "standard", "file": "none.json"}, "can't be read"),
        ({"kind": "window_standard"}, "does not say how it counts deviations: set ddof"),
        ({"kind": "window_minmax"}, "scales by the steps of an answer, which sees 1"),
        ({"mean": [0, 0]}, 'the kind none: set kind = "standard"'),
    ):
        with pytest.raises(ConfigError, match=words):
            wrapped(path, spec(ONE_TWO, output, scaler=table))


def numbers_of(folder: Path, values: Sequence[float]) -> Path:
    """Write a model that answers one row of numbers, whatever it sees."""
    nodes = [
        helper.make_node("Mul", ["x", "none"], ["nothing"]),
        helper.make_node("Add", ["nothing", "values"], ["y"]),
    ]
    held = {"none": floats([0.0]), "values": floats([values])}
    return file_of(folder, nodes, {"x": ["N", 1]}, {"y": ["N", len(values)]}, held)


def test_a_head_turns_numbers_into_what_they_mean(tmp_path: Path) -> None:
    three = [{"name": n, "side": s} for n, s in (("d", "short"), ("f", "flat"), ("u", "long"))]
    close = np.float32(RATES["close"][-1])
    powers = np.exp([0.5, -1.0, 2.0])
    for output, values, wanted in (
        (
            {"kind": "shares", "classes": three, "head": "softmax"},
            [0.5, -1, 2],
            powers / sum(powers),
        ),
        ({"kind": "shares", "classes": three, "head": "largest"}, [0.5, -1, 2], [0, 0, 1]),
        ({"kind": "shares", "classes": UP_DOWN, "head": "sigmoid"}, [1.5], [0.182426, 0.817574]),
        ({"kind": "target", "head": "tanh"}, [-0.5], [-0.462117]),
        (FORECAST | {"column": 1, "multiply": 3.0, "add": -0.5}, [7, 2], [5.5]),
        (FORECAST | {"less": "x"}, [1.25], [1.25 - close]),
    ):
        made = wrapped(numbers_of(tmp_path, values), spec({"x": "close"}, output))
        assert answers(made) == pytest.approx(np.asarray(wanted), abs=1e-6), output


def test_a_stand_in_is_told_at_each_wrap(tmp_path: Path) -> None:
    listed = [
        {"name": "one", "formula": "close / close"},
        {"name": "hurst", "formula": "efficiency_ratio(close, 9)", "stand_in": "Hurst's exponent"},
    ]
    output = {"kind": "shares", "classes": UP_DOWN}
    said = spec_of({"contract": ABOUT, "features": listed, "output": output}, "c.toml")
    made = wrapped(d03(tmp_path), said)
    assert made.stand_ins == {"hurst": "Hurst's exponent"}
    assert notes(made, said, RATES) == (
        "hurst is a stand-in for Hurst's exponent: the answers are not those that its author meant",
    )


def test_what_is_noise_in_a_flat_market_is_told(tmp_path: Path) -> None:
    """Where nothing moves, a price and its mean differ by rounding, each way by another."""
    classes = [{"name": n, "side": s} for n, s in (("d", "short"), ("f", "flat"), ("u", "long"))]
    for where, told in (("close > close.ema(200)", 1), ("close.over_ema(200) > 0", 0)):
        only = [{"side": "long", "where": where}]
        said = spec({"x": "close"}, {"kind": "shares", "classes": classes, "only": only})
        made = wrapped(numbers_of(tmp_path, [0.2, 0.3, 0.5]), said)
        found = [each for each in notes(made, said, RATES) if "nothing moves" in each]
        assert len(found) == told, where


def test_what_a_filter_stops_becomes_flat(tmp_path: Path) -> None:
    names = (("hold", "flat"), ("buy", "long"), ("sell", "short"))
    classes = [{"name": name, "side": side} for name, side in names]
    rising = float(RATES["close"][-1]) > float(RATES["close"][-2])
    with_it = "close > close.lag(1)" if rising else "close < close.lag(1)"
    against = "close < close.lag(1)" if rising else "close > close.lag(1)"
    path = numbers_of(tmp_path, [0.2, 0.5, 0.3])
    for more, wanted in (
        ({"margin": 0.19}, [0.5, 0.5, 0.0]),
        ({"margin": 0.21}, [1.0, 0.0, 0.0]),
        ({"only": [{"side": "long", "where": with_it}]}, [0.2 + 0.3, 0.5, 0.0]),
        ({"only": [{"side": "long", "where": against}]}, [1.0, 0.0, 0.0]),
    ):
        output = {"kind": "shares", "classes": classes, **more}
        made = wrapped(path, spec({"x": "close"}, output))
        assert answers(made) == pytest.approx(wanted, abs=1e-6), more
    output = {"kind": "shares", "classes": UP_DOWN, "margin": 0.1}
    with pytest.raises(ConfigError, match="name a class with side"):
        wrapped(numbers_of(tmp_path, [0.5, 0.5]), spec({"x": "close"}, output))


def test_versions_that_the_terminal_reads_stay_and_others_are_converted(tmp_path: Path) -> None:
    for opset, kept in ((9, 15), (11, 11), (18, 18), (21, 15)):
        made = wrapped(flat_sum(tmp_path, ["N", 1], 1, opset=opset), spec({"x": "close"}, FORECAST))
        assert answers(made) == pytest.approx(np.float32(RATES["close"][-1]))
        assert made.model.ir_version == 8
        assert {each.domain: each.version for each in made.model.opset_import}[""] == kept


def test_a_graph_that_answers_otherwise_is_not_written(tmp_path: Path) -> None:
    made = wrapped(d03(tmp_path), spec(ONE_TWO, {"kind": "shares", "classes": UP_DOWN}))
    other = onnx.ModelProto()
    other.CopyFrom(made.model)
    for tensor in other.graph.initializer:
        if tensor.name == "model/b":
            tensor.CopyFrom(numpy_helper.from_array(floats([0.3001]), "model/b"))
    with pytest.raises(ProofError, match=r"small is not written: wrapped equals the model: .*e-06"):
        prove(replace(made, model=other), RATES)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("rsi(clos, 14)", "there is no clos: did you mean close"),
        ("rsy(close)", "there is no rsy: did you mean rsi"),
        ("rsi(14)", r"write it as rsi\(close, period=14\)"),
        ("rsi", r"write it with its arguments: rsi\(close, period=14\)"),
        ("close.maen(3)", "there is no .maen: did you mean .mean"),
        ("close ** 2", "Pow is none of"),
        ("close.mean(0)", "use 1 or more"),
        ("close.mean(10000000)", "too many bars"),
        ("__import__('os')", "there is no __import__"),
        ("close.lag.__class__", "is no number, column"),
        ("bars", "no value of a bar"),
        ("close +", "is no expression"),
        ("(" * 900 + "close" + ")" * 90, "is no expression"),
        ("1 < close < 2", "compare two values"),
        ("3.5", "no value of a bar"),
    ],
)
def test_a_formula_that_is_none_says_what_to_write(formula: str, words: str) -> None:
    with pytest.raises(ConfigError, match=f"feature mine: .*{words}"):
        expression("mine", formula)


def test_indicators_of_the_terminal_have_its_meaning() -> None:
    """iATR is a simple mean of true ranges; iMACD is in units of price; hours are whole."""
    names = ("iATR(bars, 5)", "iMACD(close, 3, 6)", "iMACD_signal(close, 3, 6, 4)", "hour(2)")
    made = FeatureSet({name: expression(name, name) for name in (*names, "day_of_week()")})
    found = made.history(RATES)[-1].astype(np.float64)
    high, low, close = (RATES[name].astype(np.float64) for name in ("high", "low", "close"))
    before = close[:-1]
    ranges = np.maximum(high[1:], before) - np.minimum(low[1:], before)
    emas = {}
    for period in (3, 6):
        mean, line = close[0], []
        for price in close:
            mean += (price - mean) * 2 / (period + 1)
            line.append(mean)
        emas[period] = np.array(line)
    macd = emas[3] - emas[6]
    time = int(RATES["time"][-1])
    wanted = [ranges[-5:].mean(), macd[-1], macd[-4:].mean()]
    wanted += [(time // 3600 + 2) % 24, (time // 86_400 + 4) % 7]
    assert found == pytest.approx(wanted, rel=1e-5, abs=1e-9)


def test_weights_outside_the_folder_are_not_read(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = flat_sum(inner, ["N", 2], 2)
    model = onnx.load(path)
    (tmp_path / "secret").write_bytes(bytes(8))
    weights = model.graph.initializer[1]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    for place in ("../secret", str(tmp_path / "secret"), "link", ""):
        del weights.external_data[:]
        weights.external_data.add(key="location", value=place)
        path.write_bytes(model.SerializeToString())
        with pytest.raises(ModelError, match="which is not beside it"):
            read_source(path)
        if not place:
            break
        if not (inner / "link").is_symlink():
            (inner / "link").symlink_to(tmp_path / "secret")


@pytest.mark.parametrize(
    ("about", "features", "words"),
    [
        ({"created": "yesterday"}, ONE_TWO, "created = 'yesterday'"),
        ({"timeframe": "H5"}, ONE_TWO, "timeframe = 'H5'"),
        ({"train_from": "2017-01-02T00:00:00"}, ONE_TWO, "train_from and train_to belong together"),
        (
            {},
            {"one": "close", "two": "higher_return(close, 'H1', of='M5')"},
            "name bars of M5, the contract H1",
        ),
    ],
)
def test_a_contract_that_is_none_is_refused(
    tmp_path: Path, about: dict[str, str], features: dict[str, str], words: str
) -> None:
    said = spec(features, {"kind": "shares", "classes": UP_DOWN}, contract=ABOUT | about)
    with pytest.raises(ConfigError, match=words):
        wrapped(d03(tmp_path), said)


def test_what_the_file_does_not_say_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r'output.kind is still "\?" \(and 1 more\)'):
        spec(ONE_TWO, {"kind": "?", "unit": "?"})
    with pytest.raises(ConfigError, match="output has no key clases: did you mean classes"):
        spec(ONE_TWO, {"kind": "shares", "clases": UP_DOWN})
