"""Features and estimator become one graph: raw bars in, an answer out."""

from collections.abc import Sequence

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from bridge.errors import ModelError
from bridge.features.builder import PRODUCER
from bridge.features.target import MT5, Target

SHARES = "shares"
ML = "ai.onnx.ml"


def merge(
    features: ModelProto,
    estimator: ModelProto,
    *,
    classes: int,
    output: str = SHARES,
    target: Target = MT5,
) -> ModelProto:
    """Return one model: the inputs of ``features``, one output.

    What the output does not need is left out; names are numbered, so equal parts give equal bytes.

    Args:
        features: Its only output is the estimator's only input.
        estimator: The last of its outputs is the answer.
        classes: Columns of the answer.
        output: Its name.
        target: Versions to stamp.

    Raises:
        ModelError: The estimator was written for newer versions than the target's.
    """
    _check_versions(estimator, target)
    joint, answer = features.graph.output[0].name, estimator.graph.output[-1].name
    names = _names(estimator.graph) | {estimator.graph.input[0].name: joint, answer: output}
    nodes = [_renamed(node, names) for node in _needed(estimator.graph.node, answer)]
    used = {name for node in nodes for name in node.input}
    constants = [*features.graph.initializer]
    constants += [
        _renamed_tensor(tensor, names[tensor.name])
        for tensor in estimator.graph.initializer
        if names[tensor.name] in used
    ]
    graph = helper.make_graph(
        [*features.graph.node, *nodes],
        "model",
        features.graph.input,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["N", classes])],
        constants,
    )
    _declare_types(graph)
    domains = {node.domain for node in graph.node}
    imports = [("", target.opset)] + ([(ML, target.ml)] if ML in domains else [])
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*each) for each in imports],
        ir_version=target.ir,
        producer_name=PRODUCER,
    )


def _check_versions(estimator: ModelProto, target: Target) -> None:
    ceilings = {"": target.opset, "ai.onnx": target.opset, ML: target.ml}
    for used in estimator.opset_import:
        if used.version > ceilings.get(used.domain, 0):
            raise ModelError(
                f"the estimator's graph uses version {used.version} of the domain "
                f"{used.domain or 'ai.onnx'}, the target {target.name} has "
                f"{ceilings.get(used.domain, 'none')}: convert it for that version"
            )


def _names(graph: GraphProto) -> dict[str, str]:
    """Return a numbered name for each tensor of the estimator's graph."""
    made = [tensor.name for tensor in graph.initializer]
    made += [name for node in graph.node for name in node.output if name]
    return {name: f"e{number}" for number, name in enumerate(made)}


def _needed(nodes: Sequence[NodeProto], output: str) -> list[NodeProto]:
    """Return the nodes that ``output`` depends on, in their order."""
    wanted, kept = {output}, []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            kept.append(node)
    return kept[::-1]


def _renamed(node: NodeProto, names: dict[str, str]) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    for places in (copy.input, copy.output):
        places[:] = [names[name] if name else "" for name in places]
    copy.name, copy.doc_string = copy.output[0], ""
    return copy


def _renamed_tensor(tensor: TensorProto, name: str) -> TensorProto:
    copy = TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy


def _declare_types(graph: GraphProto) -> None:
    """Declare what nodes of ai.onnx.ml give: strict shape inference knows no type for it."""
    final = {output.name for output in graph.output}
    for node in graph.node:
        if node.domain != ML:
            continue
        is_classifier = node.op_type.endswith("Classifier")
        for place, name in enumerate(node.output):
            if name and name not in final and not (is_classifier and place == 0):
                graph.value_info.append(
                    helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", None])
                )
