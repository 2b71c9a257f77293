"""Unknown files are tried in a child process; what happens to it becomes one sentence."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from model.model_files import bars_model, contract, endless_model, fixed_answer, made, stored
from onnx import TensorProto, helper

from bridge.errors import ContractError, ModelError
from bridge.model.contract import CONTRACT_KEY, body_sha256
from bridge.model.files import read_model_file
from bridge.model.probe import probe, probe_command, probe_environment, verdict

FLOAT, STRING, HALF = TensorProto.FLOAT, TensorProto.STRING, TensorProto.FLOAT16


def _one_node(
    op: str = "Relu", *, element: int = FLOAT, domain: str = "", opset: int = 15, ir: int = 8
) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", element, ["N", 2])
    y = helper.make_tensor_value_info("y", element, ["N", 2])
    return made([helper.make_node(op, ["x"], ["y"], domain=domain)], [x], [y], opset=opset, ir=ir)


def _zipmap() -> onnx.ModelProto:
    model = _one_node()
    scores = helper.make_node("Relu", ["x"], ["scores"])
    to_map = helper.make_node(
        "ZipMap", ["scores"], ["shares"], domain="ai.onnx.ml", classlabels_int64s=[0, 1]
    )
    del model.graph.node[:]
    model.graph.node.extend([scores, to_map])
    model.graph.output[0].CopyFrom(
        helper.make_value_info(
            "shares",
            helper.make_sequence_type_proto(
                helper.make_map_type_proto(
                    TensorProto.INT64, helper.make_tensor_type_proto(FLOAT, [])
                )
            ),
        )
    )
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return model


def _external() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", FLOAT, ["N", 2])
    y = helper.make_tensor_value_info("y", FLOAT, ["N", 2])
    weights = {"w": np.ones((1, 2), np.float32)}
    model = made([helper.make_node("Mul", ["x", "w"], ["y"])], [x], [y], weights)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.data")
    return model


def _wrong_shape() -> onnx.ModelProto:
    """Return a graph that fails only when it runs: two columns reshaped to three."""
    x = helper.make_tensor_value_info("x", FLOAT, ["N", 2])
    y = helper.make_tensor_value_info("y", FLOAT, ["M", 3])
    return made(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])], [x], [y], {"shape": np.array([1, 3])}
    )


def test_a_file_that_runs_is_described(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model(), contract())
    report = probe(path)
    assert report.sha256 == read_model_file(path).sha256
    assert report.body_sha256 == body_sha256(onnx.load(path))
    assert (report.ir, report.opsets, report.has_contract) == (8, {"ai.onnx": 15}, True)
    assert report.inputs["bars"] == "tensor(double) [1, 3, 4]"


def test_a_file_without_contract_runs_and_a_domain_imported_twice_is_no_fault(
    tmp_path: Path,
) -> None:
    # skl2onnx 1.20 writes the default domain twice; the higher one counts.
    model = _one_node()
    model.opset_import.append(helper.make_opsetid("", 11))
    report = probe(stored(tmp_path / "m.onnx", model))
    assert (report.opsets, report.has_contract) == ({"ai.onnx": 15}, False)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (_one_node(ir=99), "its IR version is 99, onnxruntime .* reads up to [0-9]+: export"),
        (_one_node(opset=99), "its opset of ai.onnx is 99, onnxruntime .* reads up to [0-9]+"),
        (_one_node("Gelu", domain="com.microsoft"), "Gelu is of the domain com.microsoft"),
        (_one_node("NoSuchOperator"), "onnxruntime .* refuses it: .*NoSuchOperator"),
        (_zipmap(), "output shares is a sequence, not a tensor .*zipmap=False"),
        (_external(), "weights are in another file, weights.data: save the model as one file"),
        (_one_node("Identity", element=STRING), "input x is STRING"),
        (_one_node(element=HALF), "input x is FLOAT16"),
        (_wrong_shape(), "fails at its first run"),
        (onnx.ModelProto(ir_version=8), "holds no graph"),
    ],
)
def test_what_can_not_be_used_is_refused_in_one_sentence(
    tmp_path: Path, model: onnx.ModelProto, words: str
) -> None:
    path = stored(tmp_path / "m.onnx", model)
    with pytest.raises(ModelError, match=words) as caught:
        probe(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_damaged_bytes_are_refused_whatever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    # A whole field 7, the graph, whose inside is no protobuf.
    path.write_bytes(b"\x08\x08\x3a\x04\xff\xff\xff\xff")
    with pytest.raises(ModelError, match="no ONNX file, or a damaged one"):
        probe(path)


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        (b'"symbol"', b'"symb\xf5l"'),
        (b"closes", b"clos\xf5s"),
        (CONTRACT_KEY.encode(), b"\xf5" * 17),
    ],
)
def test_text_that_is_not_utf8_is_refused_and_nothing_else_is_printed(
    tmp_path: Path, whole: bytes, damaged: bytes
) -> None:
    # onnxruntime answers it with a Python error of its own and, unless told not to, with prints.
    path = stored(tmp_path / "m.onnx", bars_model(), contract())
    assert whole in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(whole, damaged))
    with pytest.raises(ModelError, match=r"export it again|refuses it"):
        probe(path)


def test_a_graph_changed_after_its_contract_is_refused(tmp_path: Path) -> None:
    model = onnx.load(stored(tmp_path / "m.onnx", bars_model(), contract()))
    model.graph.name = "another"
    with pytest.raises(ContractError, match="somebody changed the graph"):
        probe(stored(tmp_path / "m.onnx", model))


def test_a_model_that_answers_no_shares_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", fixed_answer([0.5, 0.5, 0.5]), contract())
    with pytest.raises(ModelError, match=r"plain window of 3 bars: the shares .* sum to 1\.5"):
        probe(path)


def test_a_child_that_hangs_is_stopped(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", endless_model())
    with pytest.raises(ModelError, match="did not answer one window within 2 s"):
        probe(path, timeout=2)


@pytest.mark.skipif(os.name == "nt", reason="Windows has exit codes, not signals")
def test_a_child_that_dies_by_a_signal_is_told_by_its_name(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", endless_model())
    with subprocess.Popen(
        probe_command(path), env=probe_environment(), stdout=subprocess.PIPE
    ) as child:
        child.send_signal(signal.SIGSEGV)
        stdout, _ = child.communicate(timeout=30)
    with pytest.raises(ModelError, match="signal SIGSEGV") as caught:
        verdict(path, child.returncode, stdout)
    assert str(path) in str(caught.value)


def test_a_child_that_fails_in_its_own_way_is_told_by_its_exit_code(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="exit code 1"):
        verdict(tmp_path / "m.onnx", 1, b"")


def test_the_command_answers_with_exit_code_4_and_one_json_object(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", _zipmap())
    done = subprocess.run(
        [sys.executable, "-m", "bridge.model.inspection", str(path)],
        capture_output=True,
        check=False,
        env=probe_environment(),
    )
    assert done.returncode == 4
    assert done.stdout.count(b"\n") == 1
    assert b'"error": "ModelError"' in done.stdout
    assert done.stderr == b""


# Files of the public collection that no terminal could use, and why.
REFUSED = {
    "fail_catboost_native_cbm.onnx": "native CatBoost",
    "fail_external_data_missing.onnx": "in another file",
    "fail_lfs_pointer.onnx": "Git LFS pointer",
    "external/model_3class.onnx": "in another file",
    "lightgbm_xau26_zipmap.onnx": "zipmap=False",
    "sklearn_logistic_zipmap.onnx": "zipmap=False",
    "naive_bayes/naive_bayes_eurusd_zipmap.onnx": "zipmap=False",
}


@pytest.mark.skipif(
    "BRIDGE_TEST_DATA" not in os.environ, reason="BRIDGE_TEST_DATA names no folder of real models"
)
def test_every_public_model_either_runs_or_is_refused_with_a_reason() -> None:
    folder = Path(os.environ["BRIDGE_TEST_DATA"]) / "models"
    refused: dict[str, ModelError] = {}
    for path in sorted(folder.rglob("*.onnx")):
        try:
            assert probe(path).sha256 == read_model_file(path).sha256
        except ModelError as error:
            refused[path.relative_to(folder).as_posix()] = error
    assert refused.keys() == REFUSED.keys()
    assert {error.exit_code for error in refused.values()} == {4}
    assert all(words in str(refused[name]) for name, words in REFUSED.items())
