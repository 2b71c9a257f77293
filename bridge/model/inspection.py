"""What the probe's child does with an unknown file: parse, check, open, run one window.

It imports onnx, so nothing that the daemon loads may import it.
"""

import math
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from bridge.errors import ContractError, ModelError
from bridge.model import walk
from bridge.model.cage import answer
from bridge.model.contract import CONTRACT_KEY, body_sha256, read_contract
from bridge.model.files import ModelFile, read_model_file
from bridge.model.probe import Report
from bridge.model.session import (
    RUNTIME_ERRORS,
    ModelSession,
    check_declared,
    first_line,
    metadata_of,
    open_session,
)
from bridge.model.signal import decode
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.timeframes import timeframe

_DOMAINS = walk.STANDARD | {walk.ML}
_MOST_NUMBERS = 50_000_000  # of one input; 400 MB of doubles
_NO_TENSOR = {
    "sequence_type": "a sequence",
    "map_type": "a map",
    "optional_type": "optional",
    "sparse_tensor_type": "a sparse tensor",
}
_FED = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
# The runtime's words for a file that is too new, and ours.
_TOO_NEW = (
    (
        re.compile(r"model IR version: (?P<value>\d+), max supported IR version: (?P<limit>\d+)"),
        "its IR version is {value}, onnxruntime {runtime} reads up to {limit}: "
        "export with ir_version 8, or update onnxruntime",
    ),
    (
        re.compile(
            r"Opset (?P<value>\d+) is under .* domain (?P<domain>\S+) is till opset (?P<limit>\d+)"
        ),
        "its opset of {domain} is {value}, onnxruntime {runtime} reads up to {limit}: "
        "export with target opset 15 (ai.onnx.ml 1 to 3), or update onnxruntime",
    ),
)
_START = 1_483_315_200  # a Monday, 2017.01.02 00:00
_BASE = 1.1


def inspect_file(path: Path) -> Report:
    """Return what is in the file at ``path``; it has run once.

    Raises:
        ModelError: It can't be used, and why.
        ContractError: It has a contract that does not fit it.
    """
    file = read_model_file(path)
    try:
        return _inspect(file)
    except ModelError as error:
        raise type(error)(f"{path}: {error}") from error


def _inspect(file: ModelFile) -> Report:
    model = parse(file.data)
    _check_graph(model)
    session = open_told(file.data)
    _check_model(model)
    body, metadata = body_sha256(model), metadata_of(session)
    if CONTRACT_KEY in metadata:
        _run_contract(session, body, metadata)
    else:
        _run_blind(session)
    return Report(
        sha256=file.sha256,
        body_sha256=body,
        ir=model.ir_version,
        opsets=walk.opsets(model),
        has_contract=CONTRACT_KEY in metadata,
        inputs={item.name: f"{item.type} {item.shape}" for item in session.get_inputs()},
        outputs={item.name: f"{item.type} {item.shape}" for item in session.get_outputs()},
    )


def parse(data: bytes) -> onnx.ModelProto:
    """Return the model that ``data`` holds.

    Raises:
        ModelError: They are no model, or there is no graph in it.
    """
    try:
        model = onnx.load_model_from_string(data)
    except DecodeError as error:
        raise ModelError("it is no ONNX file, or a damaged one: export it again") from error
    if not model.graph.node:
        raise ModelError("it holds no graph of ONNX operators: export it again")
    return model


def _check_graph(model: onnx.ModelProto) -> None:
    _check_domains(model)
    for tensor in walk.tensors(model):
        place = walk.location(tensor)
        if place is not None:
            raise ModelError(
                f"its weights are in another file, {place}: save the model as one file "
                "(onnx.save with save_as_external_data=False)"
            )
    for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
        for value in values:
            _check_tensor(kind, value)


def _check_domains(model: onnx.ModelProto) -> None:
    local = {function.domain for function in model.functions}
    for node in walk.nodes(model):
        if node.domain not in _DOMAINS | local:
            raise ModelError(
                f"its operator {node.op_type} is of the domain {node.domain}, which no terminal "
                "has: export with standard operators only"
            )


def _check_tensor(kind: str, value: onnx.ValueInfoProto) -> None:
    found = value.type.WhichOneof("value")
    if found in _NO_TENSOR:
        raise ModelError(
            f"its {kind} {value.name} is {_NO_TENSOR[found]}, not a tensor (a classifier's ZipMap "
            "does that): export it again with zipmap=False"
        )
    element = value.type.tensor_type.elem_type
    name = onnx.TensorProto.DataType.Name(element) if element else "of no type"
    if kind == "input" and f"tensor({name.lower()})" not in _FED:
        raise ModelError(
            f"its input {value.name} is {name}, which bars can't fill without loss: "
            "export it with float, double or int64 inputs"
        )


def open_told(data: bytes) -> ort.InferenceSession:
    """Return a session over a model's bytes; one that is too new is told with the limit.

    Raises:
        ModelError: The runtime refuses them.
    """
    try:
        return open_session(data)
    except ModelError as error:
        for pattern, words in _TOO_NEW:
            if found := pattern.search(str(error)):
                raise ModelError(
                    words.format(runtime=ort.__version__, **found.groupdict())
                ) from error
        raise


def _check_model(model: onnx.ModelProto) -> None:
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise ModelError(
            f"onnx {onnx.__version__} finds a fault in it: {first_line(error)}; export it again"
        ) from error


def _run_contract(session: ort.InferenceSession, body: str, metadata: dict[str, str]) -> None:
    contract = read_contract(metadata)
    if contract.body_sha256 != body:
        raise ContractError(
            f"the graph has the hash {body}, its contract was written for {contract.body_sha256}: "
            "somebody changed the graph afterwards; export it again"
        )
    check_declared(session, contract)
    bars = benign(contract.window, timeframe(contract.timeframe).seconds)
    answer = ModelSession(session, contract).run(bars)
    problem = answer.problem or decode(contract, 0, "", answer.values).problem
    if problem is not None:
        raise ModelError(f"it can't answer a plain window of {contract.window} bars: {problem}")


def benign(count: int, seconds: int) -> RatesArray:
    """Return bars that rise and fall around 1.1 and are all possible."""
    rows = []
    for i in range(count):
        opens, closes = (_BASE + 0.001 * ((j * 5) % 7 - 3) for j in (i, i + 1))
        high, low = max(opens, closes) + 0.0005, min(opens, closes) - 0.0005
        rows.append((_START + i * seconds, opens, high, low, closes, 100 + i % 7, 10, 0))
    return rates_of(rows)


def _run_blind(session: ort.InferenceSession) -> None:
    """Run a file that says nothing of its inputs, each number 0.5 or 0, free dimensions 1."""
    feed: dict[str, NDArray[Any]] = {}
    for item in session.get_inputs():
        shape = [size if isinstance(size, int) and size > 0 else 1 for size in item.shape]
        if math.prod(shape) > _MOST_NUMBERS:
            raise ModelError(
                f"its input {item.name} wants {math.prod(shape)} numbers, the limit is "
                f"{_MOST_NUMBERS}: export it for one window"
            )
        value = 0.5 if item.type in ("tensor(float)", "tensor(double)") else 0
        feed[item.name] = np.full(shape, value, _FED[item.type])
    try:
        session.run(None, feed)
    except RUNTIME_ERRORS as error:
        raise ModelError(f"it fails at its first run: {first_line(error)}") from error


def main(arguments: list[str]) -> int:
    """Look into a file, write what is found as JSON to stdout, and return the exit code."""
    path = Path(arguments[0])
    return answer(path, lambda: asdict(inspect_file(path)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
