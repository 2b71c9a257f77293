"""Features, scaler, layout, the model as it came, and the answer become one graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, TensorProto, checker, helper, version_converter

from bridge.authoring.checks import FEATURES
from bridge.authoring.wrap.answer import Head
from bridge.authoring.wrap.fit import FIXED, Fit
from bridge.authoring.wrap.nodes import Nodes
from bridge.authoring.wrap.source import PREFIX, Source, names_used, needed, prefixed
from bridge.authoring.wrap.spec import Scaler
from bridge.errors import ModelError
from bridge.features.builder import PRODUCER
from bridge.features.featureset import FeatureSet
from bridge.features.graph import Layout, features_graph
from bridge.features.target import MT5, Target
from bridge.model.session import first_line

ML = "ai.onnx.ml"
# What the features' nodes mean the same in, and the newest that the terminal reads.
_OLDEST, _NEWEST, _NEWEST_ML = 11, 18, 3


def ready(source: Source) -> tuple[ModelProto, Target]:
    """Return the model in versions that the terminal reads, and these versions.

    An opset of the range that is read stays as it is; a new stamp on old operators is what the
    proof afterwards is for.

    Raises:
        ModelError: Its versions are too new, and can't be brought down.
    """
    model, versions = source.model, _versions(source.model)
    ml = versions.get(ML, MT5.ml)
    if ml > _NEWEST_ML:
        raise ModelError(
            f"{source.path} uses version {ml} of {ML}, the terminal reads up to {_NEWEST_ML}: "
            f"export it with {ML} 1 to {_NEWEST_ML}"
        )
    opset = versions.get("", MT5.opset)
    if not _OLDEST <= opset <= _NEWEST:
        model, opset = _converted(source, opset), MT5.opset
    return model, Target("wrap", opset=opset, ir=MT5.ir, ml=ml)


def join(
    source: Source,
    features: FeatureSet,
    place: Fit,
    head: Head,
    scaler: Scaler,
    bars: Layout,
) -> ModelProto:
    """Return one graph from raw bars to the answer, not proven yet.

    Args:
        source: The model as it came.
        features: Scaled by the training's constants already; those of the gates come last.
        place: Of the features in the model's input.
        head: What comes behind the model.
        scaler: Of which only the kinds by an answer's own steps are applied here.
        bars: The inputs of the file.

    Raises:
        ModelError: The model's versions are too new.
    """
    inner, target = ready(source)
    steps = place.steps
    sequence = None if steps == 1 else steps
    before = features_graph(
        features.expressions, sequence=sequence, layout=bars, target=target, output=FEATURES
    )
    nodes = Nodes(target.opset)
    value, columns = _split(nodes, len(features.names), len(head.gates.only), steps)
    value = _scaled(nodes, value, scaler, steps)
    level = _level(nodes, value, steps, head.level)
    _lay_out(nodes, value, place)
    count = len(nodes.nodes)
    head.emit(nodes, PREFIX + head.output.name, level, columns)
    graph = prefixed(inner.graph)
    kept = needed(graph.node, PREFIX + head.output.name)
    for item, number in place.fixed:
        nodes.constant(filled(item.dims, number, item.type), PREFIX + item.name)
    every = [*before.graph.node, *nodes.nodes[:count], *kept, *nodes.nodes[count:]]
    read = {name for node in every for name in names_used(node)}
    constants = [*before.graph.initializer, *nodes.constants, *graph.initializer]
    joined = helper.make_graph(
        every,
        "model",
        before.graph.input,
        [helper.make_tensor_value_info(head.table.kind, TensorProto.FLOAT, ["N", head.columns])],
        [each for each in constants if each.name in read],
    )
    if place.batch is not None:
        _fix_batch(joined)
    return _stamped(joined, inner, target)


def filled(dims: tuple[int | None, ...], number: float, kind: str) -> NDArray[Any]:
    """Return a tensor that holds one number; free dimensions are 1."""
    return np.full([size or 1 for size in dims], number, FIXED[kind])


def _fix_batch(graph: GraphProto) -> None:
    for info in (*graph.input, *graph.output):
        info.type.tensor_type.shape.dim[0].dim_value = 1


def _split(nodes: Nodes, count: int, gates: int, steps: int) -> tuple[str, str | None]:
    """Emit what the model sees, and the newest values of the gates, where there are any."""
    if not gates:
        return FEATURES, None
    axis, seen = (1 if steps == 1 else 2), count - gates
    value = nodes.add("Gather", FEATURES, nodes.integers(range(seen)), axis=axis)
    columns = nodes.add("Gather", FEATURES, nodes.integers(range(seen, count)), axis=axis)
    if steps > 1:
        columns = nodes.add("Gather", columns, nodes.constant(np.array(steps - 1)), axis=1)
    return value, columns


def _scaled(nodes: Nodes, value: str, scaler: Scaler, steps: int) -> str:
    """Emit the scaler by an answer's own steps; the twin of ``scaling.by_steps``."""
    if scaler.kind not in ("window_minmax", "window_standard"):
        return value
    wide = nodes.cast_double(value)
    if scaler.kind == "window_minmax":
        least = nodes.over_steps("ReduceMin", wide)
        span = nodes.add("Sub", nodes.over_steps("ReduceMax", wide), least)
        moved = nodes.add("Div", nodes.add("Sub", wide, least), _or_one(nodes, span))
        low, high = scaler.range
        moved = nodes.add("Mul", moved, nodes.doubles([high - low]))
        return nodes.cast_float(nodes.add("Add", moved, nodes.doubles([low])))
    off = nodes.add("Sub", wide, nodes.over_steps("ReduceMean", wide))
    variance = nodes.over_steps("ReduceMean", nodes.add("Mul", off, off))
    bessel = steps / (steps - (scaler.ddof or 0))
    spread = nodes.add("Sqrt", nodes.add("Mul", variance, nodes.doubles([bessel])))
    return nodes.cast_float(nodes.add("Div", off, _or_one(nodes, spread)))


def _or_one(nodes: Nodes, value: str) -> str:
    is_some = nodes.add("Greater", value, nodes.doubles([0.0]))
    return nodes.add("Where", is_some, value, nodes.doubles([1.0]))


def _level(nodes: Nodes, value: str, steps: int, column: int | None) -> str | None:
    """Emit the newest value of a feature, ``[N, 1]``; None where none is asked for."""
    if column is None:
        return None
    if steps > 1:
        value = nodes.add("Gather", value, nodes.constant(np.array(steps - 1)), axis=1)
    return nodes.add("Gather", value, nodes.integers([column]), axis=1)


def _lay_out(nodes: Nodes, value: str, place: Fit) -> None:
    """Emit what brings the features into the model's input; the twin of ``Fit.laid_out``."""
    if place.is_newest_first:
        turned = nodes.integers(range(place.steps - 1, -1, -1))
        value = nodes.add("Gather", value, turned, axis=1)
    if place.is_turned:
        value = nodes.add("Transpose", value, perm=[0, 2, 1])
    shape = nodes.integers([*([-1] if place.is_batched else []), *place.dims])
    into = PREFIX + place.input.name
    if place.input.type == "double":
        nodes.cast_double(nodes.add("Reshape", value, shape), into)
    else:
        nodes.add("Reshape", value, shape, output=into)


def _versions(model: ModelProto) -> dict[str, int]:
    """Return the version of each domain; converters write one twice, then the higher one counts."""
    versions: dict[str, int] = {}
    for each in model.opset_import:
        domain = "" if each.domain == "ai.onnx" else each.domain
        versions[domain] = max(each.version, versions.get(domain, 0))
    return versions


def _converted(source: Source, opset: int) -> ModelProto:
    try:
        return version_converter.convert_version(source.model, MT5.opset)
    except (RuntimeError, ValueError, checker.ValidationError) as error:
        raise ModelError(
            f"{source.path} has opset {opset}, features go with {_OLDEST} to {_NEWEST}, and it "
            f"can't be converted ({first_line(error)}): export it with opset {MT5.opset}"
        ) from error


def _stamped(graph: GraphProto, inner: ModelProto, target: Target) -> ModelProto:
    versions = _versions(inner) | {"": target.opset}
    used = {node.domain for node in graph.node} | {each.domain for each in inner.functions} | {""}
    return helper.make_model(
        graph,
        opset_imports=[
            helper.make_opsetid(domain, versions.get(domain, 1)) for domain in sorted(used)
        ],
        ir_version=target.ir,
        producer_name=PRODUCER,
        functions=list(inner.functions),
    )
