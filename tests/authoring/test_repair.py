"""Repair: each change is the right one, the answers stay, and what can't be done is said."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from model.model_files import bars_model, contract, made, stored
from onnx import TensorProto, helper, numpy_helper

from bridge.authoring.repair import mend
from bridge.authoring.repair.plan import Plan
from bridge.authoring.repair.proof import prove
from bridge.authoring.repair.stamp import restamp
from bridge.cli.main import run
from bridge.errors import DataError, ModelError, ProofError
from bridge.model.files import read_model_file
from bridge.model.lint.ceilings import ceiling
from bridge.model.load import load_model

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
value = helper.make_tensor_value_info


def net(*, opset: int = 21, ir: int = 10, softmax: bool = False) -> onnx.ModelProto:
    """Return a layer as today's exporters stamp it, with a free batch."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("Softmax" if softmax else "Relu", ["scores"], ["y"]),
    ]
    weights = {"w": np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)}
    ports = [value("x", FLOAT, ["batch", 2])], [value("y", FLOAT, ["unk__7", 2])]
    return made(nodes, *ports, weights, opset=opset, ir=ir)


def classifier(*, text: bool = False) -> onnx.ModelProto:
    """Return a linear classifier with a ZipMap, whose labels are not in sorted order."""
    labels: dict[str, Any] = {"classlabels_int64s": [1, 0]}
    own: dict[str, Any] = {"classlabels_ints": [1, 0]}
    kind, element = "label", INT64
    if text:
        labels, own, element = (
            {"classlabels_strings": ["up", "dn"]},
            {"classlabels_strings": ["up", "dn"]},
            TensorProto.STRING,
        )
    weights: dict[str, Any] = {
        "coefficients": [1.0, -0.5, -1.0, 0.5],
        "intercepts": [0.0, 0.1],
        "post_transform": "SOFTMAX",
    }
    ml = "ai.onnx.ml"
    nodes = [
        helper.make_node("LinearClassifier", ["x"], [kind, "scores"], domain=ml, **own, **weights),
        helper.make_node("ZipMap", ["scores"], ["prob"], domain=ml, **labels),
    ]
    entry = helper.make_map_type_proto(element, helper.make_tensor_type_proto(FLOAT, []))
    outputs = [
        value(kind, element, ["N"]),
        helper.make_value_info("prob", helper.make_sequence_type_proto(entry)),
    ]
    model = made(nodes, [value("x", FLOAT, ["N", 2])], outputs)
    model.opset_import.append(helper.make_opsetid(ml, 1))
    model.opset_import.append(helper.make_opsetid("", 9))
    return model


def mended(folder: Path, model: onnx.ModelProto, **plan: Any) -> tuple[onnx.ModelProto, Any]:
    data, report = mend.mend(read_model_file(stored(folder / "m.onnx", model)), Plan(**plan))
    found = onnx.load_from_string(data)
    onnx.checker.check_model(found, full_check=True)
    return found, report


def shape(port: onnx.ValueInfoProto) -> list[int | str]:
    return [each.dim_value or each.dim_param for each in port.type.tensor_type.shape.dim]


def test_versions_are_lowered_where_no_operator_changed(tmp_path: Path) -> None:
    found, report = mended(tmp_path, net())
    assert (found.ir_version, found.opset_import[0].version) == (8, 18)
    assert (shape(found.graph.input[0]), shape(found.graph.output[0])) == ([1, 2], [1, 2])
    assert (report.difference, report.is_blocked) == (0.0, False)
    assert report.proven >= 64
    older, _ = mended(tmp_path, net(), target="legacy")
    assert (older.ir_version, older.opset_import[0].version) == (7, 14)


def test_a_free_batch_can_stay_free_under_one_name(tmp_path: Path) -> None:
    found, _ = mended(tmp_path, net(), batch="free")
    assert shape(found.graph.input[0])[1:] == [2]
    assert shape(found.graph.output[0]) == ["N", 2]


def test_a_number_is_never_overwritten_where_the_meaning_changed() -> None:
    # Softmax flattens to two dimensions before opset 13: other answers on three dimensions.
    nodes = [helper.make_node("Softmax", ["x"], ["y"], axis=1)]
    ports = [value("x", FLOAT, [1, 2, 3])], [value("y", FLOAT, [1, 2, 3])]
    model = made(nodes, *ports, opset=13, ir=7)
    lower = replace(ceiling("legacy"), opset=12)
    found, done, left = restamp(model, lower)
    assert (found.opset_import[0].version, done) == (13, [])
    assert "Softmax changed since 12, and onnx" in left[0]
    # A Clip with its bounds as constants can be converted, and is proven.
    bounds = {"low": np.array(0.0, np.float32), "high": np.array(1.0, np.float32)}
    clip = made([helper.make_node("Clip", ["x", "low", "high"], ["y"])], *ports, bounds, opset=12)
    clipped, done, left = restamp(clip, replace(lower, opset=11, ir=8))
    assert (clipped.opset_import[0].version, left) == (11, []), done
    # Overwriting is what the proof catches.
    wrong = onnx.ModelProto()
    wrong.CopyFrom(model)
    wrong.opset_import[0].version = 12
    with pytest.raises(ProofError, match="answers y otherwise"):
        prove(model.SerializeToString(), wrong.SerializeToString(), {})


def test_an_operator_that_is_too_new_is_said_to_stay(tmp_path: Path) -> None:
    nodes = [helper.make_node("Gelu", ["x"], ["y"])]
    model = made(nodes, [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 2])], opset=20, ir=9)
    found, report = mended(tmp_path, model)
    assert found.opset_import[0].version == 20
    assert report.is_blocked
    assert any("opset 20 stays: Gelu" in what for _, what, _ in report.left)


def test_a_zipmap_becomes_columns_in_its_own_order(tmp_path: Path) -> None:
    found, report = mended(tmp_path, classifier())
    assert [each.name for each in found.graph.output] == ["label", "prob"]
    assert "took the map off prob: its columns are 1, 0" in report.done
    assert len(found.opset_import) == 2  # the double import is gone
    row = {"x": np.ones((1, 2), np.float32)}
    (was,) = ort.InferenceSession(classifier().SerializeToString()).run(["prob"], row)
    (now,) = ort.InferenceSession(found.SerializeToString()).run(["prob"], row)
    assert [was[0][1], was[0][0]] == now[0].tolist()
    assert not report.is_blocked


def test_text_labels_are_dropped_and_other_outputs_only_when_asked(tmp_path: Path) -> None:
    found, report = mended(tmp_path, classifier(text=True))
    assert [each.name for each in found.graph.output] == ["prob"]
    assert "left out the output label" in report.done
    kept, _ = mended(tmp_path, classifier(), keep=("prob",))
    assert [each.name for each in kept.graph.output] == ["prob"]
    with pytest.raises(ModelError, match="no output shares: keep one of label, prob"):
        mended(tmp_path, classifier(), keep=("shares",))


def _outside(folder: Path, place: str, *, size: int = 16) -> onnx.ModelProto:
    model = net(opset=15, ir=8)
    tensor = model.graph.initializer[0]
    data = numpy_helper.to_array(tensor).tobytes()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", place), ("offset", "4"), ("length", "16")):
        tensor.external_data.add(key=key, value=text)
    (folder / "w.data").write_bytes((b"head" + data)[: 4 + size])
    return model


def test_weights_beside_the_model_are_taken_in_and_no_others(tmp_path: Path) -> None:
    found, report = mended(tmp_path, _outside(tmp_path, "w.data"))
    inside = numpy_helper.to_array(found.graph.initializer[0])
    assert inside.tolist() == [[1.0, -2.0], [0.5, 3.0]]
    assert "took the weights in from w.data" in report.done
    with pytest.raises(ModelError, match=r"ends at byte 20 of w\.data, which has 14"):
        mended(tmp_path, _outside(tmp_path, "w.data", size=10))
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(ModelError, match="leads out of it"):
        mended(inner, _outside(tmp_path, "../w.data"))


def test_a_contract_stays_valid(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model(batch="rows"), contract())
    data, report = mend.mend(read_model_file(path), Plan())
    assert report.done
    (tmp_path / "new.onnx").write_bytes(data)
    assert load_model(tmp_path / "new.onnx").contract.name == "rule"


def test_the_users_rows_are_compared_too(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("1,2\n3,4\n")
    _, plain = mended(tmp_path, net())
    _, with_rows = mended(tmp_path, net(), rows=rows)
    assert with_rows.proven == plain.proven + 2
    rows.write_text("1,2,3\n")
    with pytest.raises(DataError, match="has 3 numbers a row, the model takes 2"):
        mended(tmp_path, net(), rows=rows)


def test_the_command_writes_a_new_file_and_never_over_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(tmp_path / "m.onnx", net())
    before, new = path.read_bytes(), tmp_path / "m.repaired.onnx"
    assert run(["model", "repair", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["written"] == [str(new)]
    assert (told["difference"], told["is_blocked"]) == (0.0, False)
    assert path.read_bytes() == before
    assert run(["model", "repair", str(path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert run(["model", "repair", str(path), "-o", str(path)]) == 2
    assert path.read_bytes() == before


@pytest.mark.skipif(
    "BRIDGE_TEST_DATA" not in os.environ, reason="BRIDGE_TEST_DATA names no folder of real models"
)
def test_real_models_with_zipmap_and_outside_weights_come_out_usable() -> None:
    folder = Path(os.environ["BRIDGE_TEST_DATA"]) / "models"
    answers = json.loads((folder / "reference_outputs.json").read_text())["models"]
    for name in (
        "external/model_3class.onnx",
        "sklearn_logistic_zipmap.onnx",
        "naive_bayes/naive_bayes_eurusd_zipmap.onnx",
    ):
        data, report = mend.mend(read_model_file(folder / name), Plan())
        assert (report.is_blocked, report.difference) == (False, 0.0), name
        session = ort.InferenceSession(data)
        (port,) = session.get_inputs()
        size = int(np.prod(port.shape))
        row = (((np.arange(size) % 7) - 3) / 4).astype(np.float32).reshape(port.shape)
        last = session.run(None, {port.name: row})[-1]
        told = answers[name if name in answers else Path(name).name]["outputs"][-1]
        wanted = told["first"] if "first" in told else list(told["value"][0].values())
        assert last.ravel().tolist() == pytest.approx(wanted, abs=1e-6), name
