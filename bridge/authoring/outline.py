"""The outline of a model file: what a bar goes through from the inputs to the decision."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from onnx import (
    GraphProto,
    NodeProto,
    TensorProto,
    helper,
    load_model_from_string,
)

from bridge.authoring.checks import FEATURES
from bridge.authoring.formula import formula
from bridge.features.codec import from_json
from bridge.model.contract import CONTRACT_KEY, Contract, read_contract


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of the way.

    Attributes:
        title: What it is.
        lines: What there is to say about it, in order.
    """

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A model file from the inputs to the decision.

    Attributes:
        contract: None in a file that has none.
        nodes: Operators in the graph.
        operators: How many of each, commonest first.
        stages: In the order of the way.
    """

    contract: Contract | None
    nodes: int
    operators: dict[str, int]
    stages: tuple[Stage, ...]


def outline(data: bytes) -> Outline:
    """Return the outline of a model that has been read in a child process before.

    Args:
        data: The file's content.

    Raises:
        ContractError: It has a contract, and a malformed one.
    """
    model = load_model_from_string(data)
    metadata = {each.key: each.value for each in model.metadata_props}
    contract = read_contract(metadata) if CONTRACT_KEY in metadata else None
    inside, behind = _parts(model.graph)
    stages = [_inputs(model.graph, contract)]
    if inside:
        stages.append(_features(model.graph, inside, contract))
        stages.append(_estimator(model.graph, behind, contract))
    else:
        stages.append(_whole(model.graph, contract))
    stages.append(_outputs(model.graph, contract))
    if contract is not None:
        stages.append(Stage("decision", _decision(contract)))
    return Outline(contract, len(model.graph.node), _operators(model.graph.node), tuple(stages))


def _parts(graph: GraphProto) -> tuple[list[NodeProto], list[NodeProto]]:
    """Return the nodes up to the features and those behind; none and all when nothing shows it."""
    wanted, inside = {FEATURES}, []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            inside.append(node)
    # A rule's features are its answer: there is nothing behind.
    ids = {id(node) for node in inside}
    behind = [node for node in graph.node if id(node) not in ids]
    return (inside[::-1], behind) if behind and inside else ([], list(graph.node))


def _operators(nodes: Sequence[NodeProto]) -> dict[str, int]:
    return dict(Counter(node.op_type for node in nodes).most_common())


def _shape(info: object) -> str:
    tensor = info.type.tensor_type  # type: ignore[attr-defined]
    sizes = [str(each.dim_value or each.dim_param or "?") for each in tensor.shape.dim]
    kind = TensorProto.DataType.Name(tensor.elem_type).lower()
    return f"{kind} [{', '.join(sizes)}]"


def _inputs(graph: GraphProto, contract: Contract | None) -> Stage:
    columns = {each.name: each.columns for each in contract.inputs} if contract else {}
    constants = {each.name for each in graph.initializer}
    return Stage(
        "inputs",
        tuple(
            f"{info.name}  {_shape(info)}  {', '.join(columns.get(info.name, ()))}".rstrip()
            for info in graph.input
            if info.name not in constants
        ),
    )


def _features(graph: GraphProto, nodes: list[NodeProto], contract: Contract | None) -> Stage:
    return Stage("features", (_size(graph, nodes), *_formulas(contract)))


def _formulas(contract: Contract | None) -> tuple[str, ...]:
    if contract is None or contract.features is None:
        return ()
    tree = from_json(contract.features)
    pairs = zip(tree.names, tree.expressions, strict=True)
    return tuple(f"{name} = {formula(expression)}" for name, expression in pairs)


def _estimator(graph: GraphProto, nodes: list[NodeProto], contract: Contract | None) -> Stage:
    rows = f"sees the last {contract.sequence} rows" if contract and contract.sequence else None
    said = (contract.algorithm if contract else None, rows, *_kinds(nodes), _size(graph, nodes))
    return Stage("estimator", tuple(each for each in said if each))


def _whole(graph: GraphProto, contract: Contract | None) -> Stage:
    said = (contract.algorithm if contract else None, *_kinds(graph.node), *_formulas(contract))
    return Stage("graph", (*(each for each in said if each), _size(graph, list(graph.node))))


def _kinds(nodes: Sequence[NodeProto]) -> list[str]:
    """Return what the tree and recurrent operators say of themselves."""
    said = []
    for node in nodes:
        attrs = {each.name: each for each in node.attribute}
        if node.op_type.startswith("TreeEnsemble") and "nodes_treeids" in attrs:
            places = helper.get_attribute_value(attrs["nodes_treeids"])
            said.append(f"{len(set(places))} trees, {len(places)} nodes")
        elif node.op_type in ("LSTM", "GRU", "RNN") and "hidden_size" in attrs:
            said.append(f"{node.op_type} of {attrs['hidden_size'].i} units")
    return said


def _size(graph: GraphProto, nodes: list[NodeProto]) -> str:
    used = {name for node in nodes for name in node.input}
    constants = [each for each in graph.initializer if each.name in used]
    size = sum(node.ByteSize() for node in nodes) + sum(each.ByteSize() for each in constants)
    counts = ", ".join(f"{count} {name}" for name, count in _operators(nodes).items())
    return f"{len(nodes)} nodes, {size:,} bytes: {counts}"


def _outputs(graph: GraphProto, contract: Contract | None) -> Stage:
    lines = [f"{info.name}  {_shape(info)}" for info in graph.output]
    if contract is not None:
        output = contract.output
        unit = f" in {output.unit}" if output.unit else ""
        lines = [f"{lines[0]}  {output.kind}{unit}", *lines[1:]]
        lines += [f"{each.name}: {each.side}" for each in output.classes]
    return Stage("output", tuple(lines))


def _decision(contract: Contract) -> tuple[str, ...]:
    given = contract.decision.model_dump(mode="json", exclude_defaults=True)
    return tuple(f"{name} = {value}" for name, value in given.items()) or ("all as by default",)
