"""Facts: what a file holds and how it runs, collected once for all rules. Runs in the cage only."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
from onnx import TensorProto

from bridge.errors import ContractError, ModelError
from bridge.model import walk
from bridge.model.cage import FAULTS
from bridge.model.contract import CONTRACT_KEY, body_sha256, read_contract
from bridge.model.files import LARGEST, ModelFile
from bridge.model.inspection import open_told, parse
from bridge.model.lint.trials import Trials, no_trials, trials_of
from bridge.model.session import check_declared, first_line


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph.

    Attributes:
        kind: tensor, sequence, map, optional or sparse_tensor.
        element: Of a tensor: float, double, int64, ...; undefined when the graph says none.
        dims: Sizes; None where one is named, missing or not positive. None altogether when even
            their number is open.
    """

    name: str
    kind: str
    element: str
    dims: tuple[int | None, ...] | None

    @property
    def shape(self) -> str:
        """The dimensions in words."""
        if self.dims is None:
            return "of unknown rank"
        return f"[{', '.join('?' if size is None else str(size) for size in self.dims)}]"


@dataclass(frozen=True)
class Facts:
    """What there is to know.

    Attributes:
        model: As parsed; rules read it and change nothing.
        size: Bytes of the file.
        opsets: Version by domain.
        inputs: What a caller feeds; constants that are listed as inputs are in ``constants``.
        elements: Element type by tensor name, as far as shape inference knows it.
        outside: Where weights are that are not in the file, each place once.
        refused: Why this computer's onnxruntime does not open it; None when it does.
        fault: What onnx's checker says; None when nothing.
        contract: Why its contract does not fit; "" when it fits, None when there is none.
    """

    model: onnx.ModelProto
    size: int
    opsets: Mapping[str, int]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[str, ...]
    elements: Mapping[str, str]
    outside: tuple[str, ...]
    missing: tuple[str, ...]
    refused: str | None
    fault: str | None
    contract: str | None
    trials: Trials

    def operators(self, *names: str) -> list[onnx.NodeProto]:
        """Return the operators of these kinds, wherever they are."""
        return [node for node in walk.nodes(self.model) if node.op_type in names]


def facts_of(file: ModelFile) -> Facts:
    """Return the facts of a file.

    Raises:
        ModelError: It can't be parsed.
    """
    model = parse(file.data)
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    outside = tuple(
        sorted({place for each in walk.tensors(model) if (place := walk.location(each))})
    )
    fault = None if outside else _fault(model)
    refused, contract, trials = _opened(file.data, model, outside)
    return Facts(
        model=model,
        size=len(file.data),
        opsets=walk.opsets(model),
        inputs=tuple(_port(each) for each in graph.input if each.name not in stored),
        outputs=tuple(_port(each) for each in graph.output),
        constants=tuple(each.name for each in graph.input if each.name in stored),
        elements=elements_of(model),
        outside=outside,
        missing=tuple(place for place in outside if beside(file.path, place) is None),
        refused=refused,
        fault=fault,
        contract=contract,
        trials=trials,
    )


def beside(model: Path, location: str) -> Path | None:
    """Return the plain file that ``location`` names in the model's own folder or below it.

    None when there is none, when it is too big, or when the place leads out of the folder:
    absolute, with a drive, through "..", or by a link.
    """
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    if posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        return None
    try:
        folder = Path(os.path.realpath(model.parent))
        found = Path(os.path.realpath(folder / location))
        if not found.is_relative_to(folder) or not stat.S_ISREG(found.stat().st_mode):
            return None
        return found if found.stat().st_size <= LARGEST else None
    except (OSError, ValueError):
        return None


def element_name(number: int) -> str:
    """Return the name of an element type as onnxruntime writes it."""
    names = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
    return str(names.get(number, f"type {number}")).lower()


def _port(value: onnx.ValueInfoProto) -> Port:
    kind = (value.type.WhichOneof("value") or "tensor_type").removesuffix("_type")
    tensor = value.type.tensor_type
    dims = None
    if kind == "tensor" and tensor.HasField("shape"):
        dims = tuple(each.dim_value if each.dim_value > 0 else None for each in tensor.shape.dim)
    return Port(value.name, kind, element_name(tensor.elem_type), dims)


def elements_of(model: onnx.ModelProto) -> dict[str, str]:
    """Return the element type of each tensor that inference knows, by name."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except (onnx.shape_inference.InferenceError, *FAULTS):
        inferred = model
    graph = inferred.graph
    found = {each.name: each.data_type for each in graph.initializer}
    for value in (*graph.input, *graph.output, *graph.value_info):
        found[value.name] = value.type.tensor_type.elem_type
    return {name: element_name(number) for name, number in found.items() if number}


def _fault(model: onnx.ModelProto) -> str | None:
    try:
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, *FAULTS) as error:
        return first_line(error)
    return None


def _opened(
    data: bytes, model: onnx.ModelProto, outside: tuple[str, ...]
) -> tuple[str | None, str | None, Trials]:
    has = any(item.key == CONTRACT_KEY for item in model.metadata_props)
    if outside:
        return None, "its graph can't be opened" if has else None, no_trials()
    try:
        session = open_told(data)
    except ModelError as error:
        return str(error), "its graph can't be opened" if has else None, no_trials()
    contract = None
    if has:
        contract = ""
        try:
            promise = read_contract({item.key: item.value for item in model.metadata_props})
            check_declared(session, promise)
            if promise.body_sha256 != body_sha256(model):
                contract = "the graph was changed after its contract was written"
        except ContractError as error:
            contract = str(error)
    return None, contract, trials_of(session)
