"""Somebody's model as it came: parsed, its ZipMap taken off, its inputs, outputs and labels seen.

The file's words are checked before it is run; the first run is a child's (``bridge.model.probe``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    checker,
    helper,
    load_model_from_string,
    numpy_helper,
)
from onnx.external_data_helper import load_external_data_for_model

from bridge.errors import ModelError
from bridge.features.target import MT5
from bridge.model.contract import CONTRACT_KEY
from bridge.model.files import LARGEST, ModelFile, read_model_file
from bridge.model.session import first_line

PREFIX = "model/"
"""Before the names of all that came with a model, once it is part of another."""
DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml"})
DAMAGED = (DecodeError, ValueError, TypeError, IndexError, RecursionError)
"""What reading a damaged file raises: text that is not UTF-8, enums without a name, no outputs."""
_LABELS = ("classlabels_int64s", "classlabels_ints")
_KINDS = {TensorProto.FLOAT: "float", TensorProto.DOUBLE: "double"}


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output.

    Attributes:
        dims: None where a dimension is free: named, missing or not positive.
    """

    name: str
    type: str
    dims: tuple[int | None, ...]

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.dims)
        return f"{self.name} ({self.type} [{sizes}])"


@dataclass(frozen=True)
class Source:
    """A model without a contract.

    Attributes:
        model: Without ZipMap.
        outputs: Those that may decide: float or double tensors.
        labels: The classes that the graph knows, in the order of the shares; empty if it says none.
    """

    path: Path
    sha256: str
    model: ModelProto
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    labels: tuple[int, ...]


def read_source(path: Path) -> Source:
    """Return the model at ``path``, not run yet.

    Raises:
        ModelError: It is no model, or one that can't become part of another.
    """
    file = read_model_file(path)
    try:
        return _source(path, file)
    except DAMAGED as error:
        raise ModelError(
            f"{path} is no ONNX file, or a damaged one ({first_line(error)}): export it again"
        ) from error


def _source(path: Path, file: ModelFile) -> Source:
    model = load_model_from_string(file.data)
    if not model.graph.node:
        raise ModelError(f"{path} holds no graph of ONNX operators: export it again")
    _check(path, model)
    _take_in(path, model)
    labels = _labels(model.graph)
    _drop_zipmap(model)
    _free_sizes(model.graph)
    return Source(path, file.sha256, model, _inputs(model.graph), _outputs(model.graph), labels)


def _check(path: Path, model: ModelProto) -> None:
    if any(each.key == CONTRACT_KEY for each in model.metadata_props):
        raise ModelError(f"{path} has a contract already: nothing is missing around it")
    local = {function.domain for function in model.functions}
    for node in all_nodes(model.graph):
        if not node.output:
            raise ValueError(f"{node.op_type} has no output")
        if node.domain not in DOMAINS | local:
            raise ModelError(
                f"{path} uses {node.op_type} of the domain {node.domain}, which no terminal has: "
                "export it with standard operators only"
            )


def _take_in(path: Path, model: ModelProto) -> None:
    """Take in the weights that stand in another file, beside this one and nowhere else."""
    outside = [
        each for each in all_tensors(model.graph) if each.data_location == TensorProto.EXTERNAL
    ]
    for tensor in outside:
        name = {each.key: each.value for each in tensor.external_data}.get("location", "")
        beside = path.parent / name
        if Path(name).name != name or beside.is_symlink() or not beside.is_file():
            raise ModelError(
                f"{path} has its weights in another file, {name or 'without a name'}, which is not "
                "beside it: put it there, or save the model as one file (onnx.save with "
                "save_as_external_data=False)"
            )
        if beside.stat().st_size > LARGEST:
            raise ModelError(
                f"{beside} has {beside.stat().st_size} bytes, the limit is {LARGEST}: export a "
                "smaller model"
            )
    if outside:
        try:
            load_external_data_for_model(model, str(path.parent))
        except (ValueError, OSError, checker.ValidationError) as error:
            raise ModelError(
                f"the weights beside {path} can't be read ({first_line(error)}): save the model as "
                "one file"
            ) from error


def all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Yield the nodes of a graph and of those inside it."""
    for node in graph.node:
        yield node
        for inner in inner_graphs(node):
            yield from all_nodes(inner)


def all_tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield the constants of a graph and of those inside it."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
        for inner in inner_graphs(node):
            yield from all_tensors(inner)


def inner_graphs(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the graphs that a node runs: branches, the body of a loop."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def names_used(node: NodeProto) -> set[str]:
    """Return the tensors that a node reads, those inside its graphs among them."""
    found = set(node.input)
    for graph in inner_graphs(node):
        found.update(name for each in graph.node for name in names_used(each))
        found.update(each.name for each in graph.output)
    return found - {""}


def _labels(graph: GraphProto) -> tuple[int, ...]:
    """Return the classes that the graph writes down, where it does so."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in _LABELS and attribute.ints:
                return tuple(attribute.ints)
    # skl2onnx, of an estimator without an operator of its own: the label is picked from a list.
    constants = {each.name: each for each in graph.initializer}
    picked = [
        constants[node.input[0]]
        for node in graph.node
        if node.op_type == "ArrayFeatureExtractor" and node.input[0] in constants
    ]
    for tensor in picked:
        if tensor.data_type in (TensorProto.INT32, TensorProto.INT64) and tensor.name == "classes":
            return tuple(int(each) for each in numpy_helper.to_array(tensor).ravel())
    return ()


def _drop_zipmap(model: ModelProto) -> None:
    """Let what goes into a ZipMap come out of it: a tensor of shares, in the labels' order."""
    graph, zipped = model.graph, set()
    for node in graph.node:
        if node.op_type == "ZipMap":
            zipped.update(node.output)
            node.CopyFrom(helper.make_node("Identity", node.input, node.output, name=node.name))
    for info in graph.output:
        if info.name in zipped:
            plain = helper.make_tensor_value_info(info.name, TensorProto.FLOAT, ["N", None])
            info.CopyFrom(plain)
    if zipped and not any(each.domain in ("", "ai.onnx") for each in model.opset_import):
        model.opset_import.append(helper.make_opsetid("", MT5.opset))


def _free_sizes(graph: GraphProto) -> None:
    """Let sizes of 0 and below be what they stand for: any size."""
    for info in (*graph.input, *graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value <= 0:
                dim.Clear()


def _inputs(graph: GraphProto) -> tuple[Tensor, ...]:
    constants = {each.name for each in graph.initializer}
    return tuple(_tensor(info) for info in graph.input if info.name not in constants)


def _outputs(graph: GraphProto) -> tuple[Tensor, ...]:
    found = (_tensor(info) for info in graph.output)
    return tuple(each for each in found if each.type in _KINDS.values())


def _tensor(info: object) -> Tensor:
    kind = info.type.tensor_type  # type: ignore[attr-defined]
    sizes = tuple(each.dim_value if each.dim_value > 0 else None for each in kind.shape.dim)
    element = kind.elem_type
    kinds = TensorProto.DataType.Name(element).lower() if element else "no tensor"
    name = info.name  # type: ignore[attr-defined]
    if not isinstance(name, str):
        raise ValueError(f"the name {name!r} is not UTF-8")
    return Tensor(name, kinds, sizes)


def needed(nodes: Sequence[NodeProto], output: str) -> list[NodeProto]:
    """Return the nodes that ``output`` depends on, in their order."""
    wanted, kept = {output}, []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted.update(names_used(node))
            kept.append(node)
    return kept[::-1]


def prefixed(graph: GraphProto) -> GraphProto:
    """Return a copy whose names all begin with ``PREFIX``, those of inner graphs, too.

    What is only declared of the tensors inside goes: sizes may become others.
    """
    copy = GraphProto()
    copy.CopyFrom(graph)
    _prefix(copy)
    return copy


def _prefix(graph: GraphProto) -> None:
    del graph.value_info[:]
    for named in (*graph.initializer, *graph.input, *graph.output):
        named.name = PREFIX + named.name
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [PREFIX + name if name else "" for name in names]
        node.name, node.doc_string = node.output[0], ""
        for inner in inner_graphs(node):
            _prefix(inner)
