"""The lint: each rule finds its fault in a file made for it, and says nothing of a good one."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from model.model_files import bars_model, contract, endless_model, made, stored
from onnx import TensorProto, helper

from bridge.errors import ConfigError, ModelError
from bridge.model import cage, walk
from bridge.model.cage import Limits, ask
from bridge.model.confine import job_limits
from bridge.model.contract import with_contract
from bridge.model.files import read_model_file
from bridge.model.lint.ceilings import ceiling
from bridge.model.lint.examine import lint
from bridge.model.lint.facts import beside
from bridge.model.lint.finding import Level, Verdict
from bridge.model.lint.judge import RULES, judge
from bridge.model.probe import probe

FLOAT, DOUBLE, HALF, BRAIN = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
)
STRING, INT64, INT8 = TensorProto.STRING, TensorProto.INT64, TensorProto.INT8
value = helper.make_tensor_value_info
Made = dict[str, onnx.ModelProto]


def one(
    op: str = "Relu",
    *,
    element: int = FLOAT,
    shape: tuple[Any, ...] = (1, 2),
    domain: str = "",
    opset: int = 15,
    ir: int = 8,
    **attributes: Any,
) -> onnx.ModelProto:
    node = helper.make_node(op, ["x"], ["y"], domain=domain, **attributes)
    return made(
        [node], [value("x", element, shape)], [value("y", element, shape)], opset=opset, ir=ir
    )


def labelled(zipmap: bool = True, *, names: bool = False) -> onnx.ModelProto:
    """Return a linear classifier with labels 0 and 1, or of text."""
    kind: dict[str, Any] = {"classlabels_strings": ["dn", "up"]} if names else {}
    ints: dict[str, Any] = {} if names else {"classlabels_ints": [0, 1]}
    given: dict[str, Any] = {"coefficients": [-1.0, 0.5, 1.0, -0.5], "intercepts": [0.0, 0.1]}
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            post_transform="SOFTMAX",
            **kind,
            **ints,
            **given,
        )
    ]
    outputs = [value("label", STRING if names else INT64, ["N"])]
    if zipmap:
        labels = kind or {"classlabels_int64s": [0, 1]}
        nodes.append(
            helper.make_node("ZipMap", ["scores"], ["prob"], domain="ai.onnx.ml", **labels)
        )
        entry = helper.make_map_type_proto(
            STRING if names else INT64, helper.make_tensor_type_proto(FLOAT, [])
        )
        outputs.append(helper.make_value_info("prob", helper.make_sequence_type_proto(entry)))
    else:
        outputs.append(value("scores", FLOAT, ["N", 2]))
    model = made(nodes, [value("x", FLOAT, ["N", 2])], outputs)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return model


def outside(place: str) -> onnx.ModelProto:
    """Return a model whose weight is in another file."""
    model = made(
        [helper.make_node("Mul", ["x", "w"], ["y"])],
        [value("x", FLOAT, [1, 2])],
        [value("y", FLOAT, [1, 2])],
        {"w": np.array([[2.0, 3.0]], np.float32)},
    )
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=place)
    return model


def _twice() -> onnx.ModelProto:
    model = one()
    model.opset_import.append(helper.make_opsetid("", 11))
    return model


def _listed() -> onnx.ModelProto:
    weights = {"w": np.ones((1, 2), np.float32)}
    ports = [value("x", FLOAT, [1, 2]), value("w", FLOAT, [1, 2])]
    node = helper.make_node("Mul", ["x", "w"], ["y"])
    return made([node], ports, [value("y", FLOAT, [1, 2])], weights)


def _state() -> onnx.ModelProto:
    """Return D23: the state is an input and an output."""
    nodes = [
        helper.make_node("Add", ["x", "h_in"], ["y"]),
        helper.make_node("Identity", ["y"], ["h_out"]),
    ]
    ports = [value(name, FLOAT, [1, 1]) for name in ("x", "h_in", "y", "h_out")]
    return made(nodes, ports[:2], ports[2:])


def _random() -> onnx.ModelProto:
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["noise"]),
        helper.make_node("Add", ["x", "noise"], ["y"]),
    ]
    return made(nodes, [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 2])])


def _chain(*ops: str, element: int = FLOAT) -> onnx.ModelProto:
    names = ["x", *(f"t{number}" for number in range(1, len(ops))), "y"]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]]) for i, op in enumerate(ops)]
    return made(nodes, [value("x", element, [1, 2])], [value("y", element, [1, 2])])


def _changed() -> onnx.ModelProto:
    model = onnx.load_from_string(with_contract(bars_model(), contract()))
    model.graph.name = "another"
    return model


def _fixed_inside() -> onnx.ModelProto:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    return made(
        [node],
        [value("x", FLOAT, ["N", 2])],
        [value("y", FLOAT, ["M", 2])],
        {"shape": np.array([1, 2])},
    )


def _declared_one() -> onnx.ModelProto:
    """Return what converters of LightGBM write: one label declared, whatever the batch."""
    model = labelled(zipmap=False)
    model.graph.output[0].CopyFrom(value("label", INT64, [1]))
    return model


def _quantised() -> onnx.ModelProto:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node("MatMulInteger", ["q", "w", "zero"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["f"], to=FLOAT),
        helper.make_node("Mul", ["f", "scale"], ["y"]),
    ]
    ports = [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 1])]
    return made(nodes, *ports, {"w": np.array([[3], [-2]], np.int8)})


def _is_nan() -> onnx.ModelProto:
    ports = [value("x", FLOAT, [1, 2])], [value("y", TensorProto.BOOL, [1, 2])]
    return made([helper.make_node("IsNaN", ["x"], ["y"])], *ports)


def _blind() -> onnx.ModelProto:
    """Return a comparison, which takes NaN for a number."""
    nodes = [
        helper.make_node("Greater", ["x", "zero"], ["up"]),
        helper.make_node("Cast", ["up"], ["y"], to=FLOAT),
    ]
    ports = [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 2])]
    return made(nodes, *ports, {"zero": np.array(0.0, np.float32)})


def _turns() -> onnx.ModelProto:
    """Return a loop that turns three times only."""
    model = endless_model()
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array(3), "turns"))
    return model


# What is in the file, the rule, how bad, and what the finding names.
CASES = [
    (one(ir=99), "ir-too-new", "blocked", "99, the terminal .* up to 8"),
    (one(opset=21, ir=10), "opset-too-new", "blocked", "opset is 21, too new .*, limit 18"),
    (one("Gelu", domain="com.microsoft"), "custom-domain", "blocked", "Gelu of the domain com.mi"),
    (one("Gelu", opset=15), "unknown-operator", "blocked", "Gelu is not in opset 15"),
    (one("NoSuchOperator"), "refused", "blocked", "NoSuchOperator"),
    (one("Cos", element=DOUBLE), "no-kernel", "blocked", r"Cos of double \(1 times\)"),
    (outside("w.data"), "missing-weights", "blocked", "w.data, which is no file"),
    (outside("../../etc/passwd"), "missing-weights", "blocked", "leads out of it"),
    (labelled(), "no-tensor", "blocked", "output prob is a sequence"),
    (labelled(zipmap=False, names=True), "string", "blocked", "output label is string"),
    (one("Identity", element=STRING), "string", "blocked", "input x is string"),
    (one(element=HALF), "float16", "blocked", "input x is float16"),
    (one("Identity", element=BRAIN), "bfloat16", "blocked", "bfloat16"),
    (one("Identity", element=INT8), "odd-input", "blocked", "input x is int8"),
    (one("Identity", element=INT64), "no-answer", "blocked", "y is int64"),
    (_changed(), "bad-contract", "blocked", "changed after its contract"),
    (_random(), "restless", "wrong", "RandomNormalLike"),
    (_chain("Log"), "not-finite", "wrong", "zeros its output y is no finite"),
    (one(shape=(4, 2)), "wide-batch", "wrong", "takes 4 rows"),
    (one(shape=("N", 2)), "free-batch", "care", r"template sets \{1,2\}"),
    (one(shape=(1, "w")), "free-inside", "care", r"x \[1, \?\]"),
    (_fixed_inside(), "free-in-name-only", "care", "fails on three rows"),
    (_state(), "several-inputs", "care", "x, h_in"),
    (labelled(zipmap=False), "several-outputs", "care", r"label \(int64\), scores"),
    (_listed(), "weights-as-inputs", "care", "1 of its weights"),
    (_twice(), "imported-twice", "care", "ai.onnx is imported 2 times"),
    (one(), "not-shares", "care", "sum to"),
    (one(), "no-contract", "care", "no contract"),
    (one("Sigmoid", shape=(1, 1)), "one-column", "note", "from 0 to 1"),
    (labelled(zipmap=False), "classes", "note", "classes are 0, 1"),
    (one(), "one-row", "note", "fixed to 1"),
    (_declared_one(), "declared-shape", "care", r"label says \[1\] and is \[3\] for three rows"),
    (_quantised(), "quantised", "care", "MatMulInteger"),
    (_is_nan(), "no-answer", "blocked", "y is bool"),
    (_blind(), "answers-nan", "note", "on an input of NaN"),
    (_turns(), "turns", "note", "Loop"),
    (one(opset=9), "old-opset", "note", "opset is 9"),
]


def judged(folder: Path, model: onnx.ModelProto, target: str = "mt5") -> Verdict:
    return judge(read_model_file(stored(folder / "m.onnx", model)), ceiling(target))


# The public cases that a rule answers.
PUBLIC = {
    "classes": "D02",
    "one-column": "D03",
    "imported-twice": "D04",
    "declared-shape": "D04",
    "free-batch": "D08",
    "several-outputs": "D10",
    "answers-nan": "D11",
    "float16": "D13",
    "ir-too-new": "D14",
    "opset-too-new": "D14",
    "no-tensor": "D15",
    "several-inputs": "D23",
    "string": "D24",
    "quantised": "D25",
    "one-row": "D27",
}


@pytest.mark.parametrize(
    ("model", "rule", "level", "words"),
    CASES,
    ids=[f"{rule}-{PUBLIC.get(rule, 'ours')}" for _, rule, _, _ in CASES],
)
def test_each_fault_is_found_and_named(
    tmp_path: Path, model: onnx.ModelProto, rule: str, level: str, words: str
) -> None:
    verdict = judged(tmp_path, model)
    hits = [each for each in verdict.findings if each.rule == rule]
    assert hits, [each.rule for each in verdict.findings]
    assert hits[0].level == level
    assert any(re.search(words, each.what) for each in hits), hits
    assert all(each.why and each.fix for each in hits)
    levels = [list(Level).index(each.level) for each in verdict.findings]
    assert levels == sorted(levels)


def test_a_model_of_ours_has_nothing_in_its_way(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", bars_model(), contract())
    file = read_model_file(path)
    for target in ("mt5", "this"):
        verdict = judge(file, ceiling(target))
        assert {each.level for each in verdict.findings} <= {Level.NOTE}, verdict
        assert not verdict.is_blocked
    assert judge(
        file, ceiling("legacy")
    ).is_blocked  # its IR 8 is newer than onnxruntime 1.8.1 reads


def test_daemon_and_terminal_have_their_own_verdicts(tmp_path: Path) -> None:
    # D14: opset 21 runs here and is too new there, unless the terminal is known to be newer.
    path = stored(tmp_path / "m.onnx", one(opset=21, ir=10))
    file = read_model_file(path)
    here, there = judge(file, ceiling("this")), judge(file, ceiling("mt5"))
    assert "opset-too-new" not in {each.rule for each in here.findings}
    assert {"ir-too-new", "opset-too-new"} <= {each.rule for each in there.findings}
    newer = {each.rule for each in lint(path, limits="23/11/5").findings}
    assert not {"ir-too-new", "opset-too-new"} & newer
    # What a terminal takes, the daemon refuses without a contract.
    assert here.is_blocked
    assert next(each for each in here.findings if each.rule == "no-contract").level == "blocked"


def test_a_wrong_target_or_limit_is_refused() -> None:
    for target, limits, words in (
        ("mt4", None, "mt4"),
        ("mt5", "20/9", "20/9"),
        ("this", "1/2/3", "1"),
    ):
        with pytest.raises(ConfigError, match=words):
            ceiling(target, limits)


def test_what_can_not_be_read_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (found,) = lint(path).findings
    assert (found.level, found.fix) == ("blocked", "fetch it with git lfs pull")
    (found,) = lint(tmp_path / "none.onnx").findings
    assert "does not exist" in found.what


def test_a_place_outside_the_models_folder_is_never_read(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    model = folder / "m.onnx"
    for place in (folder / "w.data", tmp_path / "secret.data"):
        place.write_bytes(b"12345678")
    (folder / "sub").mkdir()
    assert beside(model, "w.data") == (folder / "w.data").resolve()
    for location in ("../secret.data", str(tmp_path / "secret.data"), "sub/../../secret.data"):
        assert beside(model, location) is None
    for location in (r"..\secret.data", r"C:\secret.data", "C:secret.data", "sub", "", "no\0name"):
        assert beside(model, location) is None
    if hasattr(os, "symlink") and os.name == "posix":
        (folder / "link.data").symlink_to(tmp_path / "secret.data")
        assert beside(model, "link.data") is None


def test_weights_outside_are_found_in_branches_and_functions_too(tmp_path: Path) -> None:
    inner = outside("hidden.data").graph.initializer[0]
    constant = helper.make_node("Constant", [], ["c"], value=inner)
    function = helper.make_function(
        "own", "f", ["a"], ["b"], [constant, helper.make_node("Mul", ["a", "c"], ["b"])],
        [helper.make_opsetid("", 15)],
    )  # fmt: skip
    model = one("f", domain="own")
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("own", 1))
    assert [each for t in walk.tensors(model) if (each := walk.location(t))] == ["hidden.data"]
    assert "missing-weights" in {each.rule for each in judged(tmp_path, model).findings}
    with pytest.raises(ModelError, match=r"in another file, hidden\.data"):
        probe(stored(tmp_path / "f.onnx", model))


def _greedy() -> onnx.ModelProto:
    """Return a graph that makes 64 GB of zeros."""
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["much"]),
        helper.make_node("ReduceSum", ["much"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    size = {"shape": np.array([2**34])}
    return made(nodes, [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 2])], size)


@pytest.mark.skipif(os.name != "posix", reason="resource limits are POSIX; the job is not run yet")
def test_a_graph_that_eats_memory_or_time_ends_its_child_and_nothing_else(tmp_path: Path) -> None:
    path = stored(tmp_path / "m.onnx", _greedy())
    with pytest.raises(ModelError, match=r"m\.onnx"):
        ask(path, "bridge.model.inspection", [str(path)], Limits())
    path = stored(tmp_path / "e.onnx", endless_model())
    # The child's own limit of computing time holds when nobody waits for it any more.
    words = cage.command("bridge.model.inspection", [str(path)], Limits(seconds=0.6))
    done = subprocess.run(words, capture_output=True, env=cage.environment(), timeout=30)
    assert done.returncode in (-24, -9)  # SIGXCPU, SIGKILL
    with pytest.raises(ModelError, match="signal SIG"):
        cage.verdict(path, done.returncode, done.stdout)


def test_windows_is_told_memory_and_time_of_the_job() -> None:
    limits = job_limits(2 * 1024**3, 60)
    assert limits.ProcessMemoryLimit == 2 * 1024**3
    assert limits.BasicLimitInformation.PerProcessUserTimeLimit == 600_000_000
    assert limits.BasicLimitInformation.LimitFlags == 0x2 | 0x100 | 0x400


def test_names_from_a_file_can_not_write_to_the_screen(tmp_path: Path) -> None:
    model = made(
        [helper.make_node("Identity", ["\x1b[2J\nx"], ["y"])],
        [value("\x1b[2J\nx", INT8, [1, 2])],
        [value("y", INT8, [1, 2])],
    )
    whats = [each.what for each in judged(tmp_path, model).findings]
    assert "its input  [2J x is int8" in whats
    with pytest.raises(ModelError, match=r"input  \[2J x is INT8"):
        probe(stored(tmp_path / "m.onnx", model))


def test_every_rule_has_a_name_of_its_own_and_whole_words() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert not [rule.name for rule in RULES if rule.why.endswith(".") or rule.fix.endswith(".")]
