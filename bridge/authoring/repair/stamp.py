"""Older versions: stamped where no operator in the file changed, else converted, else refused.

A number is never overwritten where an operator means something else under the older one.
"""

from collections.abc import Iterator

import onnx
from onnx import defs

from bridge.authoring.repair.proof import prove
from bridge.errors import ModelError, ProofError
from bridge.model import walk
from bridge.model.cage import FAULTS
from bridge.model.lint.ceilings import Ceiling
from bridge.model.lint.facts import elements_of
from bridge.model.session import first_line

Told = list[str]

# Same inputs and attributes, another meaning; defaults that changed are seen by themselves.
_CHANGED = frozenset(
    {"AveragePool", "BatchNormalization", "GridSample", "GroupNormalization", "Hardmax"}
    | {"LogSoftmax", "Resize", "RoiAlign", "Scan", "Softmax", "Upsample"}
)
_NEW_TYPES = {9: "float8", 10: "int4", 11: "float4", 12: "e8m0", 13: "int2"}


def restamp(model: onnx.ModelProto, target: Ceiling) -> tuple[onnx.ModelProto, Told, Told]:
    """Return ``model`` at versions that the target reads.

    Returns:
        The model, what was done, and what could not be done and why.
    """
    done, left = [], []
    for domain, most in (("", target.opset), (walk.ML, target.ml)):
        version = walk.opsets(model).get(domain or "ai.onnx", 0)
        if most is None or version <= most:
            continue
        model, told, problem = _lower(model, domain, version, most)
        done += told
        left += problem
    told, problem = _lower_ir(model, target.ir)
    return model, done + told, left + problem


def _lower(
    model: onnx.ModelProto, domain: str, version: int, most: int
) -> tuple[onnx.ModelProto, Told, Told]:
    name = domain or "ai.onnx"
    changed = sorted(set(_changes(model, domain, version, most)))
    if not changed:
        for item in model.opset_import:
            if (item.domain or "ai.onnx") == name:
                item.version = most
        return model, [f"stamped {name} {most} for {version}: none of its operators changed"], []
    if domain:
        return model, [], [f"{name} {version} stays: {', '.join(changed)} changed since {most}"]
    try:
        converted = onnx.version_converter.convert_version(model, most)
        prove(model.SerializeToString(), converted.SerializeToString(), {})
    except ProofError:  # its converter overwrites the number of a Softmax, too
        why = f"{', '.join(changed)} changed since {most}, and onnx converts it to other answers"
        return model, [], [f"opset {version} stays: {why}"]
    except (*FAULTS, ModelError, onnx.version_converter.ConvertError) as error:
        why = f"{', '.join(changed)} changed since {most}, and onnx can't convert"
        return model, [], [f"opset {version} stays: {why}: {first_line(error)[:160]}"]
    return converted, [f"converted opset {version} to {most} ({', '.join(changed)})"], []


def _changes(model: onnx.ModelProto, domain: str, version: int, most: int) -> Iterator[str]:
    """Yield the operators that are not the same, or not there, under the older version."""
    types = elements_of(model)
    for node in walk.nodes(model):
        if ("" if node.domain in walk.STANDARD else node.domain) != domain:
            continue
        try:
            new = defs.get_schema(node.op_type, version, domain)
            old = defs.get_schema(node.op_type, most, domain)
        except defs.SchemaError:
            yield node.op_type
            continue
        if new.since_version != old.since_version and not _is_same(node, old, new, types):
            yield node.op_type


def _is_same(
    node: onnx.NodeProto, old: defs.OpSchema, new: defs.OpSchema, types: dict[str, str]
) -> bool:
    given = {attribute.name for attribute in node.attribute}
    defaults = (name for name in old.attributes if name not in given)
    return (
        node.op_type not in _CHANGED
        and given <= set(old.attributes)
        and old.min_input <= len(node.input) <= old.max_input
        and old.min_output <= len(node.output) <= old.max_output
        and all(_default(old, name) == _default(new, name) for name in defaults)
        and _takes(node, old, types)
    )


def _default(schema: defs.OpSchema, name: str) -> bytes:
    found = schema.attributes.get(name)
    return bytes(found.default_value.SerializeToString()) if found is not None else b""


def _takes(node: onnx.NodeProto, old: defs.OpSchema, types: dict[str, str]) -> bool:
    """Whether the older operator takes the types that this one gets, as far as they are known."""
    for place, name in enumerate(node.input):
        wanted = old.inputs[min(place, len(old.inputs) - 1)].types
        if name in types and f"tensor({types[name]})" not in wanted:
            return False
    return True


def _lower_ir(model: onnx.ModelProto, most: int | None) -> tuple[Told, Told]:
    version = model.ir_version
    if most is None or version <= most:
        return [], []
    types = set(elements_of(model).values())
    newer = [word for since, word in _NEW_TYPES.items() if since > most]
    found = sorted(each for each in types if any(each.startswith(word) for word in newer))
    if found:
        return [], [f"IR {version} stays: {', '.join(found)} came after IR {most}"]
    if model.functions and most < 8:
        return [], [f"IR {version} stays: it has functions, which came with IR 8"]
    for node in walk.nodes(model):  # remarks and places of devices, which older forms lack
        for field in ("metadata_props", "device_configurations"):
            if field in node.DESCRIPTOR.fields_by_name:
                node.ClearField(field)
    model.ir_version = most
    return [f"stamped IR {most} for {version}: the file has nothing that came later"], []
