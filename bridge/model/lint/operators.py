"""Rules about the operators inside, and about how the graph answers."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx

from bridge.model import walk
from bridge.model.lint.ceilings import Ceiling
from bridge.model.lint.facts import Facts
from bridge.model.lint.finding import Level
from bridge.model.lint.rule import Rule

_TREES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
_RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli")
_QUANTISED = (
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "ConvInteger",
    "QLinearMatMul",
    "QLinearConv",
)
_TURNS = ("Loop", "Scan")
_PLAIN = ("zero", "flat", "great")
_SUM = 1e-3


def _no_kernel(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    """Yield operators that open here, on a type that the target's runtime has no kernel for."""
    found: dict[tuple[str, str], int] = {}
    for node in walk.nodes(facts.model):
        lacks = ceiling.lacks.get(node.op_type, ()) if node.domain in walk.STANDARD else ()
        element = facts.elements.get(node.input[0], "") if lacks and node.input else ""
        if element in lacks:
            found[node.op_type, element] = found.get((node.op_type, element), 0) + 1
    for (operator, element), count in sorted(found.items()):
        yield f"{operator} of {element} ({count} times)"


def _unknown(facts: Facts, _: Ceiling) -> Iterable[str]:
    """Yield standard operators that the file's own opset does not have."""
    found = set()
    for node in walk.nodes(facts.model):
        domain = "" if node.domain in walk.STANDARD else node.domain
        version = facts.opsets.get(domain or "ai.onnx", 1)
        known = domain in ("", walk.ML) and version <= onnx.defs.onnx_opset_version()
        if known and not _has(node.op_type, version, domain):
            found.add(f"{node.op_type} is not in opset {version} of {domain or 'ai.onnx'}")
    yield from sorted(found)


def _has(operator: str, version: int, domain: str) -> bool:
    try:
        return not onnx.defs.get_schema(operator, version, domain).deprecated
    except onnx.defs.SchemaError:
        return False


def _not_finite(facts: Facts, _: Ceiling) -> Iterable[str]:
    words = {"zero": "zeros", "flat": "one value everywhere", "great": "values of 1,000,000"}
    for trial in _PLAIN:
        bad = [name for name, each in _numbers(facts, trial) if not np.isfinite(each).all()]
        if bad:
            yield f"on an input of {words[trial]} its output {', '.join(bad)} is no finite number"


def _blind(facts: Facts, _: Ceiling) -> Iterable[str]:
    answers = [(name, each) for name, each in _numbers(facts, "nan") if each.size]
    if answers and all(np.isfinite(each).all() for _, each in answers):
        yield "on an input of NaN it answers finite numbers"


def _numbers(facts: Facts, trial: str) -> Iterable[tuple[str, Any]]:
    for name, each in facts.trials.answers.get(trial, {}).items():
        if isinstance(each, np.ndarray) and np.issubdtype(each.dtype, np.floating):
            yield name, each


def _fails(facts: Facts, _: Ceiling) -> Iterable[str]:
    failed = facts.trials.failed
    if "random" in failed:
        yield f"it fails on a plain row: {failed['random']}"


def _fixed_inside(facts: Facts, _: Ceiling) -> Iterable[str]:
    failed = facts.trials.failed
    if "several" in failed and "random" not in failed:
        yield f"it declares a free batch and fails on three rows: {failed['several']}"


def _restless(facts: Facts, _: Ceiling) -> Iterable[str]:
    names = sorted({node.op_type for node in facts.operators(*_RANDOM)})
    if names or facts.trials.is_steady is False:
        yield f"two runs on one row differ{f' ({chr(44).join(names)})' if names else ''}"


def _logits(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.contract == "":
        return
    for name, each in _numbers(facts, "random"):
        columns = each.shape[-1] if each.ndim > 1 else 1
        if columns > 1 and abs(float(each.reshape(-1, columns)[0].sum()) - 1) > _SUM:
            yield (
                f"its output {name} has {columns} columns that sum to "
                f"{float(each.reshape(-1, columns)[0].sum()):.3g}, not to 1"
            )


def _one_column(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.contract == "":
        return
    for name, each in _numbers(facts, "random"):
        if each.size == 1 and 0 <= float(each.ravel()[0]) <= 1 and facts.operators("Sigmoid"):
            yield f"its output {name} is a single number from 0 to 1"


def _trees(facts: Facts, _: Ceiling) -> Iterable[str]:
    names = sorted({node.op_type for node in facts.operators(*_TREES)})
    if names:
        yield f"it holds trees ({', '.join(names)})"


def _labels(facts: Facts, _: Ceiling) -> Iterable[str]:
    for node in walk.nodes(facts.model):
        given = {each.name: each for each in node.attribute}
        named = _label_names(given)
        if named and facts.contract != "":
            yield f"its classes are {', '.join(named)}, in the order of the columns"
            return


def _label_names(given: Mapping[str, onnx.AttributeProto]) -> list[str]:
    for name in ("classlabels_ints", "classlabels_int64s"):
        if name in given:
            return [str(each) for each in given[name].ints]
    if "classlabels_strings" in given:
        return [each.decode("utf-8", "replace") for each in given["classlabels_strings"].strings]
    return []


def _quantised(facts: Facts, _: Ceiling) -> Iterable[str]:
    names = sorted({node.op_type for node in facts.operators(*_QUANTISED)})
    if names:
        yield f"it is quantised ({', '.join(names)})"


def _turns(facts: Facts, _: Ceiling) -> Iterable[str]:
    names = sorted({node.op_type for node in facts.operators(*_TURNS)})
    if names:
        yield f"it runs in turns ({', '.join(names)})"


def _halves_inside(facts: Facts, _: Ceiling) -> Iterable[str]:
    ports = {port.name for port in (*facts.inputs, *facts.outputs)}
    inner = [
        name
        for name, element in facts.elements.items()
        if element == "float16" and name not in ports
    ]
    if inner:
        yield f"{len(inner)} tensors inside are float16"


def _no_contract(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.contract is None:
        yield "it has no contract: nothing says for which symbol, timeframe and inputs it was made"


def _bad_contract(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.contract:
        yield f"its contract can't be used: {facts.contract}"


RULES = (
    Rule(
        name="unknown-operator",
        look=_unknown,
        level=Level.BLOCKED,
        why="the number of the opset does not fit the operators; somebody overwrote it",
        fix="export it again with the opset that you want",
    ),
    Rule(
        name="no-kernel",
        look=_no_kernel,
        level=Level.BLOCKED,
        why="the operator exists, its kernel for this type came with a later runtime: the session "
        "is refused there, or the process ends",
        fix="cast to float before it, or use another operator; export again",
    ),
    Rule(
        name="fails",
        look=_fails,
        level=Level.BLOCKED,
        why="OnnxRun gives 5803 and the daemon gets no signal",
        fix="look at Reshape and Slice with fixed sizes; export again for one window",
    ),
    Rule(
        name="bad-contract",
        look=_bad_contract,
        level=Level.BLOCKED,
        why="what the file promises is not what it holds",
        fix="export it again, or wrap it anew with mt5-onnx model wrap",
    ),
    Rule(
        name="no-contract",
        look=_no_contract,
        level=Level.CARE,
        levels={"this": Level.BLOCKED},
        why="a terminal takes it; daemon, back-test and the generated EA refuse it",
        fix="mt5-onnx model wrap puts one into it, with the features",
    ),
    Rule(
        name="restless",
        look=_restless,
        level=Level.WRONG,
        why="a signal that can't be repeated can't be tested",
        fix="export in inference mode, without random operators",
    ),
    Rule(
        name="not-finite",
        look=_not_finite,
        level=Level.WRONG,
        why="a flat market or a missing value becomes NaN and goes on into the order, unless the "
        "caller looks",
        fix="guard Div, Log and Sqrt in the graph; the daemon takes NaN for no signal, an EA "
        "must check MathIsValidNumber",
    ),
    Rule(
        name="free-in-name-only",
        look=_fixed_inside,
        level=Level.CARE,
        why="a size is written into the graph, so only one row at a time works",
        fix="fix the batch to 1: mt5-onnx model repair does it",
    ),
    Rule(
        name="not-shares",
        look=_logits,
        level=Level.CARE,
        why="logits or scores are no probabilities: a threshold of 0.6 means nothing on them",
        fix="say so in the contract (softmax = true in mt5-onnx model wrap), or name it a forecast",
    ),
    Rule(
        name="float16-inside",
        look=_halves_inside,
        level=Level.CARE,
        why="decisions near a threshold differ from those of the float32 model, and a CPU is "
        "slower with it",
        fix="export in float32",
    ),
    Rule(
        name="quantised",
        look=_quantised,
        level=Level.CARE,
        why="its answers are near those of the float model, never equal: look how far",
        fix="compare it with the float model on your rows before you trade it",
    ),
    Rule(
        name="answers-nan",
        look=_blind,
        level=Level.NOTE,
        why="trees and comparisons take NaN for a number, so rubbish of the first bars gets an "
        "answer, and a forest trained with gaps loses their routing in conversion",
        fix="never feed NaN: the daemon asks no model then, an EA has to check its inputs",
    ),
    Rule(
        name="one-column",
        look=_one_column,
        level=Level.NOTE,
        why="that is the share of the positive class, not of the first one; p(0) is 1 minus it",
        fix="say in the contract which side it speaks for",
    ),
    Rule(
        name="classes",
        look=_labels,
        level=Level.NOTE,
        why="columns follow the sorted class list, whatever an EA's own list says",
        fix="say in the contract what each one means",
    ),
    Rule(
        name="turns",
        look=_turns,
        level=Level.NOTE,
        why="the terminal runs them; they cost more than one LSTM operator",
        fix="nothing to do; mt5-onnx model bench tells the time",
    ),
    Rule(
        name="trees-are-fine",
        look=_trees,
        level=Level.NOTE,
        why="the terminal runs tree ensembles; error 5019, often blamed on them, means that the "
        "file was not found: a tester's agent has no copy of a plain file",
        fix="embed the file as a #resource, as the generated EA does",
    ),
)
