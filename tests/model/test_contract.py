"""The contract: what it refuses, what it stores, and that its published form is the real one."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest
from onnx import TensorProto, helper

import bridge.model.contract
from bridge.errors import ContractError
from bridge.model.contract import (
    CONTRACT_KEY,
    Contract,
    body_sha256,
    contract_schema,
    read_contract,
    with_contract,
)

RULE: dict[str, Any] = {
    "version": 1,
    "name": "rule",
    "symbol": "EURUSD",
    "timeframe": "H1",
    "window": 3,
    "inputs": [
        {
            "name": "bars",
            "dtype": "double",
            "layout": "batch,window,columns",
            "columns": ["open", "high", "low", "close"],
        },
        {"name": "time", "dtype": "int64", "layout": "batch,window", "columns": ["time"]},
    ],
    "output": {
        "name": "shares",
        "kind": "shares",
        "classes": [
            {"name": "down", "side": "short"},
            {"name": "none", "side": "flat"},
            {"name": "up", "side": "long"},
        ],
    },
    "train_from": "2017-01-02T00:00:00",
    "train_to": "2017-09-01T10:00:00",
    "server_clock": "eet-us",
    "created": "2017-12-31",
    "algorithm": "fixed rule",
    "libraries": {"onnx": "1.16.0"},
    "data_sha256": "0" * 64,
    "licence": "MIT",
}


def _graph() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


def _changed(path: str, value: object) -> dict[str, Any]:
    """Return RULE with the value at a dotted path replaced."""
    contract: dict[str, Any] = json.loads(json.dumps(RULE))
    place: Any = contract
    *parents, last = path.split(".")
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    place[last] = value
    return contract


def _read(contract: object) -> Contract:
    return read_contract({CONTRACT_KEY: json.dumps(contract)})


def test_what_is_stored_is_what_is_read() -> None:
    contract = _read(RULE)
    model = onnx.load_from_string(with_contract(_graph(), contract))
    again = read_contract({item.key: item.value for item in model.metadata_props})
    assert again == contract.model_copy(update={"body_sha256": body_sha256(_graph())})
    assert again.inputs[0].columns == ("open", "high", "low", "close")
    assert again.output.width == 3


def test_equal_models_and_contracts_give_equal_bytes_whatever_the_order_of_metadata() -> None:
    first, second = _graph(), _graph()
    first.metadata_props.add(key="a", value="1")
    first.metadata_props.add(key="b", value="2")
    second.metadata_props.add(key="b", value="2")
    second.metadata_props.add(key="a", value="1")
    assert with_contract(first, _read(RULE)) == with_contract(second, _read(RULE))


def test_writing_a_contract_twice_leaves_one() -> None:
    once = onnx.load_from_string(with_contract(_graph(), _read(RULE)))
    twice = onnx.load_from_string(with_contract(once, _read(_changed("name", "other"))))
    assert [item.key for item in twice.metadata_props] == [CONTRACT_KEY]
    assert "other" in twice.metadata_props[0].value


def test_the_body_hash_ignores_metadata_and_sees_the_graph() -> None:
    model = _graph()
    before = body_sha256(model)
    model.metadata_props.add(key="a", value="1")
    assert body_sha256(model) == before
    assert len(model.metadata_props) == 1
    model.graph.node[0].op_type = "Abs"
    assert body_sha256(model) != before


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("surprise", 1, "surprise: Extra inputs are not permitted"),
        ("timeframe", "H7", "'H7' is unknown"),
        ("window", 0, "window"),
        ("server_clock", "mars", "'mars' is unknown"),
        ("created", "2017-02-31", "created"),
        ("created", "31.12.2017", "created"),
        ("train_from", None, "belong together"),
        ("train_to", "2016-01-01T00:00:00", "is after train_to"),
        ("inputs", [], "inputs"),
        ("inputs.0.columns", ["close", "close"], "names a column twice"),
        ("inputs.0.columns", ["close", "rsi"], r"inputs\.0\.columns\.1"),
        ("inputs.0.dtype", "int64", "would cut prices to int64"),
        ("inputs.1.dtype", "float", "rounds it to minutes"),
        ("inputs.1.columns", ["time", "spread"], "holds one"),
        ("inputs.1.name", "bars", "share a name"),
        ("output.classes", [], "classes belong to shares"),
        ("output.kind", "target", "classes belong to shares"),
        ("output.unit", "points", "a unit belongs to forecast"),
        ("output.classes.0.name", "up", "two classes of one name"),
        ("output.classes.0.side", "buy", "side"),
        ("output.classes", [{"name": "none", "side": "flat"}], "could never trade"),
        ("output", {"name": "y", "kind": "forecast"}, "a unit belongs to forecast"),
        ("decision", {"open_at": 1.5}, "open_at 1.5 is above 1"),
        ("data_sha256", "abc", "data_sha256"),
        ("licence", "", "licence"),
    ],
)
def test_a_contract_that_contradicts_itself_is_refused(
    path: str, value: object, words: str
) -> None:
    with pytest.raises(ContractError, match=words) as caught:
        _read(_changed(path, value))
    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ("{}", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"version": 2, "anything": true}', "version 2, this bridge reads up to 1: update"),
        ('{"version": 0}', "malformed"),
        ('{"version": "1"}', "malformed"),
    ],
)
def test_what_is_no_contract_of_version_1_is_refused(text: str, words: str) -> None:
    with pytest.raises(ContractError, match=words):
        read_contract({CONTRACT_KEY: text})


def test_a_file_without_a_contract_says_what_to_do() -> None:
    with pytest.raises(ContractError, match=r"no contract .*mt5_onnx_contract.*: export it"):
        read_contract({"author": "somebody"})


def test_a_forecast_and_a_target_need_no_classes() -> None:
    forecast = {"name": "y", "kind": "forecast", "unit": "points"}
    assert _read(_changed("output", forecast)).output.width == 1
    assert _read(_changed("output", {"name": "y", "kind": "target"})).output.width == 1


def test_the_published_schema_is_what_the_code_generates() -> None:
    published = Path(bridge.model.contract.__file__).with_name("contract.schema.json")
    assert json.loads(published.read_text(encoding="utf-8")) == contract_schema()


def test_the_published_schema_accepts_a_real_contract_and_refuses_a_foreign_key() -> None:
    schema: Any = contract_schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(RULE)
    validator.validate(json.loads(_read(RULE).as_json()))
    for wrong in (_changed("surprise", 1), {k: v for k, v in RULE.items() if k != "version"}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(wrong)
