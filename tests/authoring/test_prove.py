"""The proof and the export: a sound model passes, and each check fails on what it is there for."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markets import SAMPLE
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from bridge.authoring import checks
from bridge.authoring.build import Expected
from bridge.authoring.export import GOLDEN, MODEL, export
from bridge.authoring.prove import prove
from bridge.errors import ProofError
from bridge.features import codec, named
from bridge.features.builder import Builder
from bridge.features.expr import FIELDS, Bars, greater
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.features.target import LEGACY, MT5, Target
from bridge.journal.write import input_sha256
from bridge.model.contract import Contract
from bridge.model.load import load_model
from bridge.model.windows import windows_of
from bridge.mt5.servertime import text

Floats = NDArray[np.float32]
RATES = SAMPLE[:600]
FEATURES = FeatureSet(
    {"move": named.log_return(Bars.close, 3), "zscore": named.zscore(Bars.close, 20)}
)
WEIGHTS = np.array([[0.0, 60.0], [0.0, -0.4]])


def shares_of(rows: Floats, scale: float = 1.0) -> NDArray[np.float64]:
    """Return the shares of a logistic model of two classes: the estimator of these tests."""
    scores = np.exp(rows.astype(np.float64) @ (WEIGHTS * scale))
    shares: NDArray[np.float64] = scores / scores.sum(axis=1, keepdims=True)
    return shares


def model(
    features: FeatureSet = FEATURES,
    target: Target = MT5,
    change: Callable[[list[Any]], list[Any]] = lambda nodes: nodes,
) -> ModelProto:
    """Return the graph of :func:`shares_of`; ``change`` may spoil its last nodes."""
    graph = features_graph(features.expressions, target=target)
    weights = helper.make_tensor("w", TensorProto.FLOAT, [2, 2], WEIGHTS.ravel())
    nodes = [
        helper.make_node("MatMul", ["features", "w"], ["scores"], name="scores"),
        helper.make_node("Softmax", ["scores"], ["shares"], name="shares", axis=1),
    ]
    graph.graph.node.extend(change(nodes))
    graph.graph.initializer.append(weights)
    del graph.graph.output[:]
    graph.graph.output.append(helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["N", 2]))
    return graph


def contract(**changes: Any) -> Contract:
    plain: dict[str, Any] = {
        "name": "tested",
        "symbol": "EURUSD",
        "timeframe": "H1",
        "window": FEATURES.window,
        "inputs": [
            {
                "name": "bars",
                "dtype": "double",
                "layout": "batch,window,columns",
                "columns": FIELDS,
            },
            {"name": "time", "dtype": "int64", "layout": "batch,window", "columns": ["time"]},
        ],
        "output": {
            "name": "shares",
            "kind": "shares",
            "classes": [{"name": "down", "side": "short"}, {"name": "up", "side": "long"}],
        },
        "decision": {"open_at": 0.55},
        "features": codec.to_json(FEATURES),
        "server_clock": "eet-us",
        "created": "2026-01-01",
        "algorithm": "two weights",
        "licence": "MIT",
    }
    return Contract.model_validate(plain | changes)


def proven(graph: ModelProto, expected: Expected = shares_of, target: Target = MT5) -> list[str]:
    checks = prove(
        graph,
        features=FEATURES,
        expected=expected,
        rates=RATES,
        contract=contract(),
        target=target,
    )
    assert all(check.ok for check in checks)
    return [check.name for check in checks]


def appended(*nodes: Any) -> Callable[[list[Any]], list[Any]]:
    """Return a change that renames the shares to ``sound`` and lets ``nodes`` make them."""

    def change(last: list[Any]) -> list[Any]:
        last[-1].name = last[-1].output[0] = "sound"
        return [*last, *nodes]

    return change


def node(operator: str, *inputs: str, output: str = "shares", **attrs: Any) -> Any:
    return helper.make_node(operator, inputs, [output], name=output, **attrs)


def test_a_sound_model_passes_every_check() -> None:
    names = proven(model())
    assert names == [
        "window equals history, ulp",
        "ONNX equals the estimator",
        "decisions of both differ",
        "runtime equals reference",
        "one window equals many",
        "flat markets without an answer",
    ]


def test_another_estimator_is_refused_with_the_worst_bars() -> None:
    with pytest.raises(
        ProofError,
        match=r"^tested is not written: ONNX equals the estimator: \S+, limit 1e-06; "
        r"worst: 2017\.01\.\d\d \d\d:\d\d",
    ):
        proven(model(), lambda rows: shares_of(rows, scale=1.01))


def test_a_difference_too_small_to_see_that_turns_a_decision_is_refused() -> None:
    # Shares that stand within a float32 of the threshold: no distance, but another decision.
    level = contract().decision.open_at

    def near(rows: Floats) -> NDArray[np.float64]:
        shares = np.full((len(rows), 2), [1.0 - level + 1e-7, level - 1e-7])
        return shares

    values = helper.make_tensor("fixed", TensorProto.FLOAT, [1, 2], [0.4499999, 0.5500001])
    spoiled = model(
        change=appended(node("Mul", "sound", "zero", output="none"), node("Add", "none", "fixed"))
    )
    spoiled.graph.initializer.extend(
        [values, helper.make_tensor("zero", TensorProto.FLOAT, [1, 1], [0.0])]
    )
    with pytest.raises(ProofError, match="decisions of both differ: "):
        proven(spoiled, near)


def test_a_graph_of_another_feature_is_refused_by_name() -> None:
    other = FeatureSet(
        {"move": named.log_return(Bars.close, 3), "zscore": named.zscore(Bars.high, 20)}
    )
    with pytest.raises(ProofError, match=r"window equals history, ulp: .* worst: .* zscore "):
        proven(model(other))


def test_a_feature_that_is_off_by_a_few_bits_is_refused() -> None:
    zscore = named.zscore(Bars.close, 20) * (1.0 + 1e-6)
    with pytest.raises(
        ProofError, match=r"window equals history, ulp: \d+(\.\d+)?, limit 1; worst"
    ):
        proven(model(FeatureSet({"move": named.log_return(Bars.close, 3), "zscore": zscore})))


def test_a_graph_that_mixes_windows_of_a_batch_is_refused() -> None:
    # The mean of the batch is added and taken away from nothing else: alone, it is another number.
    spoiled = model(
        change=appended(
            node("ReduceMean", "sound", output="mean", axes=[0], keepdims=1),
            node("Mul", "mean", "little", output="shift"),
            node("Add", "sound", "shift", output="moved"),
            node("ReduceSum", "moved", "axis", output="total", keepdims=1),
            node("Div", "moved", "total"),
        )
    )
    spoiled.graph.initializer.extend(
        [
            helper.make_tensor("little", TensorProto.FLOAT, [1, 1], [1e-3]),
            helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
        ]
    )
    with pytest.raises(ProofError, match="is not written"):
        proven(spoiled)
    feeds = windows_of(RATES, contract())
    answers, _ = checks.run(spoiled, feeds, contract(), FEATURES)
    times = RATES["time"][FEATURES.lookback :]
    assert not checks.single(spoiled, feeds, answers, contract(), times).ok


def test_a_flat_market_without_an_answer_is_refused() -> None:
    bare = FeatureSet(
        {
            "move": named.log_return(Bars.close, 3),
            "zscore": (Bars.close - Bars.close.mean(20)) / Bars.close.std(20),
        }
    )
    with pytest.raises(
        ProofError, match=r"flat markets without an answer: [1-3], limit 0; worst: pric"
    ):
        prove(
            model(bare),
            features=bare,
            expected=shares_of,
            rates=RATES,
            contract=contract(features=codec.to_json(bare)),
            target=MT5,
        )


def test_a_flat_market_is_refused_when_an_estimator_like_a_tree_hides_it() -> None:
    # Above or not above 0 is an answer for NaN, too, as in a tree.
    bare = FeatureSet(
        {
            "move": named.log_return(Bars.close, 3),
            "zscore": (Bars.close - Bars.close.mean(20)) / Bars.close.std(20),
        }
    )

    def compared(nodes: list[Any]) -> list[Any]:
        nodes[0].input[0] = "signs"
        above = node("Greater", "features", "zero", output="above")
        return [above, node("Cast", "above", output="signs", to=TensorProto.FLOAT), *nodes]

    hiding = model(bare, change=compared)
    hiding.graph.initializer.append(helper.make_tensor("zero", TensorProto.FLOAT, [1], [0.0]))
    with pytest.raises(ProofError, match=r"flat markets without an answer: [1-3], limit 0"):
        prove(
            hiding,
            features=bare,
            expected=lambda rows: shares_of((rows > 0.0).astype(np.float32)),
            rates=RATES,
            contract=contract(features=codec.to_json(bare), decision={"open_at": 0.99}),
            target=MT5,
        )


def test_an_answer_that_is_not_finite_is_refused() -> None:
    spoiled = model(change=appended(node("Log", "sound", output="below"), node("Sqrt", "below")))
    with pytest.raises(ProofError, match="ONNX equals the estimator: nan, limit"):
        proven(spoiled)


def test_a_runtime_that_differs_from_the_reference_is_refused() -> None:
    feeds = windows_of(RATES, contract())
    answers, _ = checks.run(model(), feeds, contract(), FEATURES)
    times = RATES["time"][FEATURES.lookback :]
    assert checks.reference(model(), feeds, answers, contract(), times).ok
    off = answers + np.float32(1e-5)
    assert not checks.reference(model(), feeds, off, contract(), times).ok


def in_a_domain_of_its_own(graph: ModelProto) -> None:
    graph.graph.node[-1].domain = "com.microsoft"
    graph.opset_import.append(helper.make_opsetid("com.microsoft", 1))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda m: setattr(m, "ir_version", 10), "the graph has IR 10"),
        (lambda m: setattr(m.opset_import[0], "version", 13), "opsets {'': 13}; mt5 takes IR 8"),
        (lambda m: setattr(m.graph.node[-1], "op_type", "Softest"), "no valid ONNX"),
        (
            lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[1], "dim_param", "W"),
            "only the batch may be free",
        ),
        (lambda m: setattr(m.graph.output[0].type.tensor_type, "elem_type", 11), "no valid ONNX"),
        (
            in_a_domain_of_its_own,
            "com.microsoft",
        ),
    ],
)
def test_what_a_terminal_cannot_read_is_refused(
    spoil: Callable[[ModelProto], object], words: str
) -> None:
    graph = model()
    spoil(graph)
    with pytest.raises(ProofError) as refused:
        proven(graph)
    assert words in str(refused.value)


def test_a_graph_for_another_target_is_refused() -> None:
    assert proven(model(target=LEGACY), target=LEGACY)
    with pytest.raises(ProofError, match="mt5 takes IR 8"):
        proven(model(target=LEGACY), target=MT5)


def exported(folder: Path, expected: Expected = shares_of) -> Path:
    export(
        model(),
        features=FEATURES,
        expected=expected,
        rates=RATES,
        contract=contract(),
        folder=folder,
        golden=[FEATURES.lookback, 200, len(RATES) - 1],
    )
    return folder / MODEL


def test_an_export_loads_and_answers_its_golden_rows(tmp_path: Path) -> None:
    loaded = load_model(exported(tmp_path / "new" / "folder"), probe=True)
    assert sorted(each.name for each in loaded.path.parent.iterdir()) == [GOLDEN, MODEL]
    with (loaded.path.parent / GOLDEN).open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    for row, newest in zip(rows, [FEATURES.lookback, 200, len(RATES) - 1], strict=True):
        window = RATES[newest - FEATURES.lookback : newest + 1]
        signal = loaded.signal(window)
        assert row["bar"] == text(int(window["time"][-1]))
        assert row["window_sha256"] == input_sha256(window)
        assert signal.values == pytest.approx((float(row["down"]), float(row["up"])), abs=1e-6)


def test_a_failed_proof_writes_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    with pytest.raises(ProofError):
        exported(tmp_path / "none", lambda rows: shares_of(rows, scale=2.0))
    assert not (tmp_path / "none").exists()
    before = exported(tmp_path).read_bytes()
    with pytest.raises(ProofError):
        exported(tmp_path, lambda rows: shares_of(rows, scale=2.0))
    assert (tmp_path / MODEL).read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_equal_models_give_equal_files(tmp_path: Path) -> None:
    assert exported(tmp_path / "a").read_bytes() == exported(tmp_path / "b").read_bytes()


def test_a_rule_is_proven_against_its_history() -> None:
    rule = FeatureSet({"target": greater(Bars.close, Bars.close.mean(5)) * 2.0 - 1.0})
    fields = {
        "window": rule.window,
        "output": {"name": "target", "kind": "target"},
        "features": codec.to_json(rule),
    }
    graph = features_graph(rule.expressions, output="target")
    checks = prove(
        graph,
        features=rule,
        expected=lambda history: history,
        rates=RATES,
        contract=contract(**fields),
        target=MT5,
    )
    assert all(check.ok for check in checks)
    with pytest.raises(ProofError, match="ONNX equals the estimator: 2, limit"):
        prove(
            graph,
            features=rule,
            expected=lambda history: -history,
            rates=RATES,
            contract=contract(**fields),
            target=MT5,
        )


def test_the_builder_emits_equal_nodes_once() -> None:
    builder = Builder()
    assert builder.node("Abs", "x") == builder.node("Abs", "x")
    assert builder.doubles([1.0]) == builder.doubles([1.0]) != builder.integers([1])
