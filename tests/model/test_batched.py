"""Answers made ahead are those of the single session, bit for bit, or they are not used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models_support import COLUMNS, contract, last_move
from onnx import ModelProto, TensorProto, helper

from bridge.market.barfile import read_bars
from bridge.model.batched import BatchedSession, batched, near_limits, sides_of
from bridge.model.contract import with_contract
from bridge.model.load import LoadedModel, load_model
from bridge.mt5.rates import RatesArray
from bridge.share import share_dir

RATES = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")[:1_200]


def shipped(name: str) -> LoadedModel:
    return load_model(share_dir(f"models/{name}") / "model.onnx", probe=False)


def written(path: Path, model: ModelProto) -> LoadedModel:
    path.write_bytes(with_contract(model, contract(2)))
    return load_model(path, probe=False)


def session_of(model: LoadedModel, rates: RatesArray = RATES) -> BatchedSession:
    session = batched(model, rates).session
    assert isinstance(session, BatchedSession)
    return session


def windows(model: LoadedModel, rates: RatesArray = RATES) -> list[RatesArray]:
    length = model.contract.window
    return [rates[end - length : end] for end in range(length, len(rates) + 1, 7)]


@pytest.mark.parametrize(
    "name", ["eurusd_h1_direction", "eurusd_h1_sma_cross", "eurusd_h1_lstm", "eurusd_h1_forecast"]
)
def test_a_file_with_its_tree_is_answered_from_the_history(name: str) -> None:
    model = shipped(name)
    session = session_of(model)
    assert session.method == "history"
    for window in windows(model):
        assert session.run(window) == model.session.run(window)


def test_a_file_without_a_tree_is_asked_in_batches_of_windows(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", last_move())
    session = session_of(model)
    assert session.method == "windows"
    assert all(session.run(window) == model.session.run(window) for window in windows(model))


def test_columns_before_the_window_are_asked_in_batches_too(tmp_path: Path) -> None:
    bars = helper.make_tensor_value_info("bars", TensorProto.DOUBLE, ["N", len(COLUMNS), 2])
    time = helper.make_tensor_value_info("time", TensorProto.INT64, ["N", 2])
    target = helper.make_tensor_value_info("target", TensorProto.FLOAT, ["N", 1])
    nodes = [
        helper.make_node("Gather", ["bars", "close"], ["closes"], axis=1),
        helper.make_node("Gather", ["closes", "first"], ["before"], axis=2),
        helper.make_node("Gather", ["closes", "last"], ["now"], axis=2),
        helper.make_node("Sub", ["now", "before"], ["move"]),
        helper.make_node("Reshape", ["move", "column"], ["move1"]),
        helper.make_node("Sign", ["move1"], ["sign"]),
        helper.make_node("Cast", ["sign"], ["target"], to=TensorProto.FLOAT),
    ]
    constants = [
        helper.make_tensor("close", TensorProto.INT64, [1], [COLUMNS.index("close")]),
        helper.make_tensor("first", TensorProto.INT64, [1], [0]),
        helper.make_tensor("last", TensorProto.INT64, [1], [1]),
        helper.make_tensor("column", TensorProto.INT64, [2], [-1, 1]),
    ]
    graph = helper.make_graph(nodes, "move", [bars, time], [target], constants)
    imports = [helper.make_opsetid("", 15)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=8)
    first, *others = contract(2).inputs
    turned = first.model_copy(update={"layout": "batch,columns,window"})
    path = tmp_path / "model.onnx"
    path.write_bytes(
        with_contract(made, contract(2).model_copy(update={"inputs": (turned, *others)}))
    )
    model = load_model(path, probe=False)
    session = session_of(model)
    assert session.method == "windows"
    assert all(session.run(window) == model.session.run(window) for window in windows(model))
    assert set(session.values[1:, 0]) == {-1.0, 0.0, 1.0}


def test_a_graph_of_a_fixed_batch_is_asked_one_by_one(tmp_path: Path) -> None:
    """Case D27: the batch dimension is 1, not free."""
    graph = last_move()
    for each in (*graph.graph.input, *graph.graph.output):
        each.type.tensor_type.shape.dim[0].dim_value = 1
    model = written(tmp_path / "model.onnx", graph)
    session = session_of(model, RATES[:60])
    assert session.method == "single"
    some = windows(model, RATES[:60])
    assert all(session.run(window) == model.session.run(window) for window in some)


def test_answers_that_depend_on_the_batch_are_not_used(tmp_path: Path) -> None:
    """The graph takes the mean over the batch: alone each window is its own mean."""
    bars = helper.make_tensor_value_info("bars", TensorProto.DOUBLE, ["N", 2, len(COLUMNS)])
    time = helper.make_tensor_value_info("time", TensorProto.INT64, ["N", 2])
    target = helper.make_tensor_value_info("target", TensorProto.FLOAT, ["N", 1])
    nodes = [
        helper.make_node("ReduceMean", ["bars"], ["mean"], axes=[0], keepdims=1),
        helper.make_node("Sub", ["bars", "mean"], ["off"]),
        helper.make_node("ReduceMax", ["off"], ["most"], axes=[1, 2], keepdims=0),
        helper.make_node("Reshape", ["most", "column"], ["off1"]),
        helper.make_node("Sign", ["off1"], ["sign"]),
        helper.make_node("Cast", ["sign"], ["target"], to=TensorProto.FLOAT),
    ]
    column = helper.make_tensor("column", TensorProto.INT64, [2], [-1, 1])
    graph = helper.make_graph(nodes, "mean", [bars, time], [target], [column])
    imports = [helper.make_opsetid("", 15)]
    model = written(
        tmp_path / "model.onnx", helper.make_model(graph, opset_imports=imports, ir_version=8)
    )
    assert session_of(model, RATES[:200]).method == "single"
    assert not session_of(model, RATES[:200]).values[2:].any()


def test_another_window_is_asked_singly_even_at_a_known_time(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", last_move())
    session = session_of(model)
    window = RATES[100:102].copy()
    assert session.run(window).values == model.session.run(window).values
    window["close"][1] = window["close"][0] + (window["close"][0] - window["close"][1] or 1.0)
    other = model.session.run(window)
    assert session.run(window) == other
    assert other != session.run(RATES[100:102])
    assert session.run(RATES[100:101]).problem == model.session.run(RATES[100:101]).problem


def test_a_window_with_a_number_that_is_none_keeps_its_problem(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", last_move())
    rates = RATES[:50].copy()
    rates["low"][20] = np.nan
    session = session_of(model, rates)
    for end in range(2, 50):
        window = rates[end - 2 : end]
        assert session.run(window) == model.session.run(window)
    assert session.run(rates[20:22]).problem


def test_sides_by_columns_are_those_that_are_decoded_one_by_one() -> None:
    for name in ("eurusd_h1_direction", "eurusd_h1_sma_cross"):
        model = batched(shipped(name), RATES)
        session = model.session
        assert isinstance(session, BatchedSession)
        long, short, good = sides_of(model.contract, session.values)
        first = model.contract.window - 1
        assert good[first:].all()
        assert not good[:first].any()
        for place in range(first, len(RATES), 11):
            signal = model.signal(RATES[place - first : place + 1])
            assert (repr(long[place].item()), repr(short[place].item())) == (
                repr(signal.long),
                repr(signal.short),
            )


def test_a_zero_target_has_no_sign_on_either_side() -> None:
    contract = shipped("eurusd_h1_sma_cross").contract
    long, short, good = sides_of(contract, np.array([[0.0], [-0.0], [0.5], [-0.5]]))
    assert good.all()
    assert list(map(repr, long.tolist())) == ["0.0", "0.0", "0.5", "0.0"]
    assert list(map(repr, short.tolist())) == ["0.0", "0.0", "0.0", "0.5"]


def test_what_a_last_bit_decides_is_asked_again() -> None:
    long = np.array([0.5, 0.5 + 1e-8, 0.3, 0.0, 0.4])
    short = np.array([0.1, 0.1, 0.3 + 1e-9, 0.0, 0.4])
    assert near_limits(long, short, (0.5, 0.0)).tolist() == [0, 1, 2]
    model = shipped("eurusd_h1_direction")
    session = session_of(model)
    wrong = replace(model, session=session)
    place = 700
    session.values[place] = 0.5
    session.ask_singly(np.array([place]))
    window = RATES[place + 1 - model.contract.window : place + 1]
    assert wrong.session.run(window) == model.session.run(window)
