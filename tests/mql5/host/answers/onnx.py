"""Sessions of onnxruntime behind the terminal's ONNX functions, with the terminal's refusals."""

import ctypes
import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from mql5.host.desktop import Desktop
from mql5.host.library import Block, Refusal

_INTERNAL, _UNSUPPORTED, _FAILED_RUN = 5800, 5802, 5803
_ARGUMENTS, _VALUE, _TYPE, _SIZE, _SHAPE = 5804, 5805, 5806, 5807, 5808
_NO_FILE = 5019
_COMMON, _NO_CONVERSION = 4096, 32
# What every build with ONNX takes: operators of runtime 1.14.
MOST_OPSET, MOST_IR, MOST_ML = 18, 8, 3

_DTYPES = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    4: np.uint16,
    5: np.int16,
    6: np.int32,
    7: np.int64,
    9: np.bool_,
    11: np.float64,
    12: np.uint32,
    13: np.uint64,
}
_NAMES = {
    "float": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "string": 8,
    "bool": 9,
    "float16": 10,
    "double": 11,
    "uint32": 12,
    "uint64": 13,
}
_TENSOR, _SEQUENCE, _MAP = 1, 2, 3


@dataclass
class _Session:
    """A session, and the shapes that the program has fixed."""

    run: Any
    inputs: list[Any]
    outputs: list[Any]
    shapes: dict[tuple[str, int], list[int]]

    def ends(self, side: str) -> list[Any]:
        return self.inputs if side == "in" else self.outputs

    def shape(self, side: str, index: int) -> list[int]:
        """Return the shape of an end, or refuse: a dimension is open."""
        declared = [d if isinstance(d, int) else -1 for d in self.ends(side)[index].shape]
        shape = self.shapes.get((side, index), declared)
        if any(d <= 0 for d in shape):
            raise Refusal(_SHAPE)
        return shape


class Onnx:
    """The ONNX functions of one program."""

    def __init__(self, desktop: Desktop, log: list[str]) -> None:
        self._desktop = desktop
        self._log = log
        self.sessions: dict[int, _Session] = {}
        self._next = 1

    def onnx_create(self, name: str, flags: int) -> int:
        base = self._desktop.common if flags & _COMMON else self._desktop.folder / "MQL5" / "Files"
        path = base / name.replace("\\", "/")
        found = next((one for one in (path, Path(f"{path}.onnx")) if one.is_file()), None)
        if found is None:
            raise Refusal(_NO_FILE, -1)
        return self._open(found.read_bytes())

    def onnx_create_from_buffer(self, buffer: Block, flags: int) -> int:
        return self._open(buffer.as_bytes())

    def _open(self, model: bytes) -> int:
        try:
            run = _opened(model)
        except Exception as error:  # noqa: BLE001  whatever the runtime dislikes is a refusal
            self._log.append(f"ONNX: {error}")
            raise Refusal(_INTERNAL, -1) from None
        handle, self._next = self._next, self._next + 1
        self.sessions[handle] = _Session(run, run.get_inputs(), run.get_outputs(), {})
        return handle

    def _at(self, handle: int) -> _Session:
        if handle not in self.sessions:
            raise Refusal(_VALUE)
        return self.sessions[handle]

    def _end(self, handle: int, side: str, index: int) -> Any:
        ends = self._at(handle).ends(side)
        if not 0 <= index < len(ends):
            raise Refusal(_VALUE)
        return ends[index]

    def onnx_release(self, handle: int) -> bool:
        self._at(handle)
        del self.sessions[handle]
        return True

    def onnx_get_input_count(self, handle: int) -> int:
        return len(self._at(handle).inputs)

    def onnx_get_output_count(self, handle: int) -> int:
        return len(self._at(handle).outputs)

    def onnx_get_input_name(self, handle: int, index: int) -> str:
        return str(self._end(handle, "in", index).name)

    def onnx_get_output_name(self, handle: int, index: int) -> str:
        return str(self._end(handle, "out", index).name)

    def onnx_get_input_type_info(self, handle: int, index: int) -> Any:
        return _type_info(self._end(handle, "in", index))

    def onnx_get_output_type_info(self, handle: int, index: int) -> Any:
        return _type_info(self._end(handle, "out", index))

    def onnx_set_input_shape(self, handle: int, index: int, shape: Block) -> bool:
        return self._set_shape(handle, "in", index, shape)

    def onnx_set_output_shape(self, handle: int, index: int, shape: Block) -> bool:
        return self._set_shape(handle, "out", index, shape)

    def _set_shape(self, handle: int, side: str, index: int, shape: Block) -> bool:
        declared = self._end(handle, side, index).shape
        wanted = np.frombuffer(shape.as_bytes(8), np.int64).tolist()
        fits = len(wanted) == len(declared) and all(
            want > 0 and (not isinstance(have, int) or have == want)
            for have, want in zip(declared, wanted, strict=True)
        )
        if not fits:
            raise Refusal(_SHAPE)
        self._at(handle).shapes[side, index] = wanted
        return True

    def onnx_run(self, handle: int, flags: int, *blocks: Block) -> bool:
        session = self._at(handle)
        count = len(session.inputs)
        if len(blocks) != count + len(session.outputs):
            raise Refusal(_ARGUMENTS)
        if not all(block.count for block in blocks):
            self._log.append("ONNX: parameter is empty")
            raise Refusal(_VALUE)
        is_exact = bool(flags & _NO_CONVERSION)
        feed = {
            end.name: self._taken(session, index, blocks[index], is_exact)
            for index, end in enumerate(session.inputs)
        }
        for index, block in enumerate(blocks[count:]):
            self._check(session, "out", index, block, is_exact)
        try:
            results = session.run.run(None, feed)
        except Exception as error:  # noqa: BLE001  the terminal has one code for all of it
            self._log.append(f"ONNX: {error}")
            raise Refusal(_FAILED_RUN) from None
        for index, (result, block) in enumerate(zip(results, blocks[count:], strict=True)):
            self._give(session.shape("out", index), result, block)
        return True

    def _check(
        self, session: _Session, side: str, index: int, block: Block, is_exact: bool
    ) -> list[int]:
        element = _element(session.ends(side)[index])
        if element not in _DTYPES:
            raise Refusal(_UNSUPPORTED)
        shape = session.shape(side, index)
        if is_exact and element != block.type:
            raise Refusal(_TYPE)
        if math.prod(shape) != block.count:
            self._log.append(
                f"ONNX: invalid parameter size, expected {math.prod(shape)} elements instead of "
                f"{block.count}"
            )
            raise Refusal(_SIZE)
        return shape

    def _taken(self, session: _Session, index: int, block: Block, is_exact: bool) -> Any:
        shape = self._check(session, "in", index, block, is_exact)
        given = np.dtype(_DTYPES[block.type])
        wanted = _DTYPES[_element(session.inputs[index])]
        numbers = np.frombuffer(block.as_bytes(given.itemsize), given)
        with np.errstate(all="ignore"):
            return numbers.astype(wanted).reshape(shape)

    def _give(self, shape: list[int], result: Any, block: Block) -> None:
        if list(result.shape) != shape:
            self._log.append(f"ONNX: output of shape {list(result.shape)}, expected {shape}")
            raise Refusal(_SHAPE)
        with np.errstate(all="ignore"):
            numbers = np.ascontiguousarray(result.astype(_DTYPES[block.type]))
        ctypes.memmove(block.address, numbers.ctypes.data, numbers.nbytes)


def _element(end: Any) -> int:
    """Return the number of a tensor's element type; 0 for what is no tensor."""
    kind, _, inner = end.type.partition("(")
    return _NAMES.get(inner.rstrip(")"), 0) if kind == "tensor" else 0


def _type_info(end: Any) -> Any:
    kind = {"tensor": _TENSOR, "seq": _SEQUENCE, "map": _MAP}.get(end.type.partition("(")[0], 0)
    shape = [d if isinstance(d, int) else -1 for d in end.shape or ()]
    return np.array([kind, _element(end), *shape], dtype=np.float64)


def _above(model: bytes) -> str:
    """Return why a build with the first runtime refuses the model; empty when it takes it."""
    read = onnx.load_from_string(model)
    opsets = {one.domain or "ai.onnx": one.version for one in read.opset_import}
    limits = {"ai.onnx": MOST_OPSET, "ai.onnx.ml": MOST_ML}
    for domain, version in opsets.items():
        if version > limits.get(domain, 0):
            return f"opset {version} of {domain} is above what this build takes"
    return f"IR {read.ir_version} is above {MOST_IR}" if read.ir_version > MOST_IR else ""


def _opened(model: bytes) -> Any:
    """Return a session; raises whatever speaks against one."""
    if fault := _above(model):
        raise ValueError(fault)
    return _session_of(hashlib.sha256(model).hexdigest(), model)


@lru_cache(maxsize=32)
def _session_of(sha256: str, model: bytes) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
