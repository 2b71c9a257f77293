"""The single changes, each a function from a model to words about what it changed.

They change the model in place; an empty answer means that there was nothing to do.
"""

from collections.abc import Iterable
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from bridge.errors import ModelError
from bridge.model import walk
from bridge.model.lint.facts import beside

Told = list[str]


def take_in(model: onnx.ModelProto, path: Path) -> Told:
    """Take weights from files beside the model into it.

    Raises:
        ModelError: A place leads out of the model's folder, or is no file, or too short.
    """
    places = set()
    for tensor in walk.tensors(model):
        place = walk.location(tensor)
        if place is not None:
            _take_in(tensor, path, place)
            places.add(place)
    return [f"took the weights in from {', '.join(sorted(places))}"] if places else []


def _take_in(tensor: TensorProto, path: Path, place: str) -> None:
    found = beside(path, place)
    if found is None:
        raise ModelError(
            f"its weights are in {place}, which is no file in its own folder or leads out of it: "
            "put the .data file beside the model under that name"
        )
    given = {item.key: item.value for item in tensor.external_data}
    data = found.read_bytes()
    offset = int(given.get("offset", 0))
    length = int(given.get("length", len(data) - offset))
    if offset < 0 or length < 0 or offset + length > len(data):
        raise ModelError(
            f"its tensor {tensor.name} ends at byte {offset + length} of {place}, which has "
            f"{len(data)}: copy the whole file again"
        )
    tensor.raw_data = data[offset : offset + length]
    tensor.ClearField("data_location")
    del tensor.external_data[:]


def import_once(model: onnx.ModelProto) -> Told:
    """Import each domain once, with the higher version, and only domains that are used."""
    before = [(item.domain, item.version) for item in model.opset_import]
    used = {"" if node.domain in walk.STANDARD else node.domain for node in walk.nodes(model)}
    versions = walk.opsets(model)
    wanted = {domain: versions.get(domain or "ai.onnx", 1) for domain in sorted(used)}
    if sorted(before) == sorted(wanted.items()):
        return []
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*each) for each in wanted.items())
    told = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in wanted.items())
    return [f"imports each domain that it uses once: {told}"]


def free_of_weights(model: onnx.ModelProto) -> Told:
    """Take weights off the inputs, where files of IR 3 list them."""
    stored = {tensor.name for tensor in model.graph.initializer}
    listed = [each for each in model.graph.input if each.name in stored]
    for each in listed:
        model.graph.input.remove(each)
    if not listed:
        return []
    model.ir_version = max(model.ir_version, 4)  # before, every weight had to be an input
    return [f"took {len(listed)} weights off the inputs"]


def without_training(model: onnx.ModelProto) -> Told:
    """Leave out what only a training needs."""
    if not model.training_info:
        return []
    del model.training_info[:]
    return ["left out what only a training needs"]


def without_zipmap(model: onnx.ModelProto) -> tuple[Told, dict[str, list[int | str]]]:
    """Give the numbers of a ZipMap as a tensor, under the output's name.

    Returns:
        What was done, and the labels of each such output in the order of its columns.
    """
    graph, told, labels = model.graph, [], {}
    for node in [each for each in graph.node if each.op_type == "ZipMap"]:
        found = _labels(node)
        place = list(graph.node).index(node)
        graph.node.remove(node)
        graph.node.insert(place, helper.make_node("Identity", node.input[:1], node.output[:1]))
        for output in graph.output:
            if output.name == node.output[0]:
                output.CopyFrom(
                    helper.make_tensor_value_info(output.name, TensorProto.FLOAT, ["N", len(found)])
                )
                labels[output.name] = found
                told.append(
                    f"took the map off {output.name}: its columns are {', '.join(map(str, found))}"
                )
    return told, labels


def _labels(node: onnx.NodeProto) -> list[int | str]:
    for attribute in node.attribute:
        if attribute.name == "classlabels_int64s" and attribute.ints:
            return list(attribute.ints)
        if attribute.name == "classlabels_strings" and attribute.strings:
            return [each.decode("utf-8", "replace") for each in attribute.strings]
    return []


def prune(model: onnx.ModelProto, keep: Iterable[str]) -> Told:
    """Keep these outputs; without names, all but those of text beside a tensor of numbers.

    Raises:
        ModelError: An output to keep is not there.
    """
    graph = model.graph
    names = [output.name for output in graph.output]
    wanted = list(keep) or _readable(graph)
    for name in wanted:
        if name not in names:
            raise ModelError(f"it has no output {name}: keep one of {', '.join(names)}")
    dropped = [name for name in names if name not in wanted]
    for output in [each for each in graph.output if each.name in dropped]:
        graph.output.remove(output)
    if not dropped:
        return []
    _drop_unneeded(graph)
    return [f"left out the output {', '.join(dropped)}"]


def _readable(graph: onnx.GraphProto) -> list[str]:
    def is_text(output: onnx.ValueInfoProto) -> bool:
        return bool(output.type.tensor_type.elem_type == TensorProto.STRING)

    readable = [output.name for output in graph.output if not is_text(output)]
    return readable or [output.name for output in graph.output]


def _drop_unneeded(graph: onnx.GraphProto) -> None:
    wanted = {output.name for output in graph.output}
    for node in list(graph.node)[::-1]:
        if wanted.intersection(node.output):
            wanted |= _reads(node)
        else:
            graph.node.remove(node)
    for tensor in [each for each in graph.initializer if each.name not in wanted]:
        graph.initializer.remove(tensor)
    for value in [each for each in graph.value_info if each.name not in wanted]:
        graph.value_info.remove(value)


def _reads(node: onnx.NodeProto) -> set[str]:
    """Return what a node reads; graphs inside it may read anything of the outer one."""
    found = set(node.input)
    for graph in walk.inner_graphs(node):
        found |= {output.name for output in graph.output}
        for each in graph.node:
            found |= _reads(each)
    return found
