"""Sessions: closed bars in, the model's numbers out. One thread, no spinning, reused buffers.

A session knows its contract; what the numbers mean is decided in ``signal``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as state

from bridge.errors import ContractError, ModelError
from bridge.model.contract import Contract, Input
from bridge.mt5.rates import RatesArray
from bridge.settings import SessionSettings

# onnxruntime's errors share no base class of their own; versions differ in which there are.
_NAMES = (
    "EngineError EPFail Fail InvalidArgument InvalidGraph InvalidProtobuf ModelLoadCanceled "
    "ModelLoaded ModelRequiresCompilation NoModel NoSuchFile NotFound NotImplemented "
    "RuntimeException"
)
RUNTIME_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    *(getattr(state, name) for name in _NAMES.split() if hasattr(state, name)),
)

_Number = type[np.float64] | type[np.float32] | type[np.int64]
_NUMPY: dict[str, _Number] = {"double": np.float64, "float": np.float32, "int64": np.int64}
_OUTPUTS = frozenset({"tensor(float)", "tensor(double)"})

_PLAIN = SessionSettings()

Buffer = NDArray[np.float64 | np.float32 | np.int64]


def numpy_type(dtype: str) -> _Number:
    """Return numpy's type of an input's elements."""
    return _NUMPY[dtype]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run gave.

    Attributes:
        values: One window's numbers, in the output's order; empty when nothing was run.
        problem: Why nothing was run, or why the run failed.
    """

    values: tuple[float, ...]
    problem: str | None = None


def session_options(settings: SessionSettings = _PLAIN) -> ort.SessionOptions:
    """Return options that leave a small computer in peace: threads that sleep when idle."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.enable_cpu_mem_arena = settings.arena
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    # What goes wrong is raised and told once, not printed beside.
    options.log_severity_level = 4
    return options


def open_session(data: bytes, settings: SessionSettings = _PLAIN) -> ort.InferenceSession:
    """Return a session over a model's bytes.

    Raises:
        ModelError: The runtime refuses them; the message is the runtime's first line.
    """
    try:
        return ort.InferenceSession(
            data,
            session_options(settings),
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # trying again, with a print about it, helps no file
        )
    except RUNTIME_ERRORS as error:
        raise ModelError(
            f"onnxruntime {ort.__version__} refuses it: {first_line(error)}"
        ) from error


def metadata_of(session: ort.InferenceSession) -> dict[str, str]:
    """Return the metadata of a session's model.

    Raises:
        ModelError: It is not text.
    """
    try:
        metadata: dict[str, str] = session.get_modelmeta().custom_metadata_map
    except UnicodeDecodeError as error:
        raise ModelError(
            "its metadata is not UTF-8 text, the file is damaged: export it again"
        ) from error
    return metadata


def first_line(error: Exception) -> str:
    """Return the first line of a runtime's message, or its type's name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_declared(session: ort.InferenceSession, contract: Contract) -> None:
    """Check what the graph declares against what the contract says.

    A named, missing or non-positive dimension is free; the first run decides it.

    Raises:
        ContractError: An input or the output is missing, or of another type or shape.
    """
    declared = {item.name: item for item in session.get_inputs()}
    promised = {item.name: item for item in contract.inputs}
    for name in sorted(declared.keys() ^ promised.keys()):
        where = ("graph", "contract") if name in declared else ("contract", "graph")
        raise ContractError(
            f"input {name} is in the {where[0]} and not in the {where[1]}: "
            "describe every input of the graph in the contract, and no other"
        )
    for name, item in promised.items():
        _check_input(declared[name], item, contract.window)
    _check_output({item.name: item for item in session.get_outputs()}, contract)


def _check_input(declared: ort.NodeArg, promised: Input, window: int) -> None:
    if declared.type != f"tensor({promised.dtype})":
        raise ContractError(
            f"input {promised.name} is {declared.type} in the graph and {promised.dtype} in the "
            "contract: write the contract again for this graph"
        )
    wanted = _shape(promised, window)
    fits = len(declared.shape) == len(wanted) and all(
        not isinstance(size, int) or size <= 0 or size == want
        for size, want in zip(declared.shape, wanted, strict=False)
    )
    if not fits:
        raise ContractError(
            f"input {promised.name} wants the shape {declared.shape}, the contract gives "
            f"{list(wanted)} ({promised.layout}): make both agree"
        )


def _check_output(declared: dict[str, ort.NodeArg], contract: Contract) -> None:
    output = contract.output
    if output.name not in declared:
        raise ContractError(
            f"output {output.name} is in the contract and not in the graph, which has "
            f"{', '.join(declared)}: name one of them"
        )
    kind, shape = declared[output.name].type, declared[output.name].shape
    if kind not in _OUTPUTS:
        raise ContractError(
            f"output {output.name} is {kind}, only float and double tensors decide: export again"
        )
    if len(shape) > 1 and isinstance(shape[-1], int) and 0 < shape[-1] != output.width:
        raise ContractError(
            f"output {output.name} has {shape[-1]} columns, the contract describes "
            f"{output.width}: describe each column in order"
        )


def _shape(item: Input, window: int) -> tuple[int, ...]:
    return (1, *item.shape(window))


def columns_of(tensor: Buffer, item: Input) -> Buffer:
    """Return a view ``(batch, columns, window)`` of an input's tensor, whatever its layout."""
    if item.layout == "batch,window":
        return tensor[:, None, :]
    return tensor if item.layout == "batch,columns,window" else np.moveaxis(tensor, 1, 2)


class ModelSession:
    """Runs a model on exactly one window of closed bars at a time. Not for several threads.

    Args:
        session: Of the model.
        contract: Checked against the session by ``check_declared``.
    """

    def __init__(self, session: ort.InferenceSession, contract: Contract) -> None:
        self._session = session
        self._contract = contract
        self._window = contract.window
        self._outputs = [contract.output.name]
        self._feed: dict[str, Buffer] = {
            item.name: np.zeros(_shape(item, contract.window), _NUMPY[item.dtype])
            for item in contract.inputs
        }
        self._fillers: list[tuple[str, Buffer]] = []
        for item in contract.inputs:
            series = columns_of(self._feed[item.name], item)
            self._fillers += [(name, series[0, i]) for i, name in enumerate(item.columns)]
        self._checked = [
            (item.name, self._feed[item.name]) for item in contract.inputs if item.dtype != "int64"
        ]
        self._run: Callable[..., list[NDArray[np.float64]]] = session.run

    @property
    def session(self) -> ort.InferenceSession:
        """The runtime's own session."""
        return self._session

    def run(self, rates: RatesArray) -> Answer:
        """Return what the model says about a window.

        Args:
            rates: Shape ``(window,)``, closed bars, oldest first.
        """
        if len(rates) != self._window:
            return Answer((), f"{len(rates)} closed bars, the model needs {self._window}")
        # A price beyond float32 becomes infinity, which the next check names.
        with np.errstate(over="ignore"):
            for name, column in self._fillers:
                column[:] = rates[name]
        for name, buffer in self._checked:
            if not np.isfinite(buffer).all():
                return Answer((), f"input {name} holds a number that is not finite")
        try:
            outputs = self._run(self._outputs, self._feed)[0]
        except RUNTIME_ERRORS as error:
            return Answer((), f"the model failed: {first_line(error)}")
        return Answer(tuple(outputs.ravel().tolist()))
