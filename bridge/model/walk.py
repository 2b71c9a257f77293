"""Walking a graph: every operator and every constant, also inside branches and functions.

It imports no onnx: a graph is a protobuf message to it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

STANDARD = frozenset({"", "ai.onnx"})
ML = "ai.onnx.ml"


def nodes(model: "ModelProto") -> Iterator["NodeProto"]:
    """Yield the operators of the graph, of the graphs inside them, and of local functions."""
    yield from _nodes(model.graph.node)
    for function in model.functions:
        yield from _nodes(function.node)


def tensors(model: "ModelProto") -> Iterator["TensorProto"]:
    """Yield the constants, wherever they stand."""
    yield from _stored(model.graph)
    for node in nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
            for each in (*sparse, *attribute.sparse_tensors):
                yield from (each.values, each.indices)
        for graph in inner_graphs(node):
            yield from _stored(graph)
    for training in model.training_info:
        yield from _stored(training.initialization)
        yield from _stored(training.algorithm)


def inner_graphs(node: "NodeProto") -> Iterator["GraphProto"]:
    """Yield the graphs of a node: the branches of If, the body of Loop and Scan."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def opsets(model: "ModelProto") -> dict[str, int]:
    """Return the opset of each domain; converters write one twice, then the higher one counts."""
    found: dict[str, int] = {}
    for item in model.opset_import:
        domain = item.domain or "ai.onnx"
        found[domain] = max(item.version, found.get(domain, 0))
    return found


def location(tensor: "TensorProto") -> str | None:
    """Return the file that a constant's numbers are in; None when they are in the model itself."""
    places = {item.key: item.value for item in tensor.external_data}
    if tensor.data_location == 1 or places:  # EXTERNAL
        return str(places.get("location", "?"))
    return None


def _nodes(found: "Iterator[NodeProto]") -> Iterator["NodeProto"]:
    for node in found:
        yield node
        for graph in inner_graphs(node):
            yield from _nodes(iter(graph.node))


def _stored(graph: "GraphProto") -> Iterator["TensorProto"]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
