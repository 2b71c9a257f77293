"""The cage: what reads an unknown file runs in a child that first limits its own memory and time.

The child (``confine``) sets the limits before it imports anything that could read the file.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bridge.errors import ContractError, ModelError, ProofError

TIMEOUT = 60.0
"""Seconds that a child may take; importing onnx on a cold disk is most of it."""
MEMORY = 2 * 1024**3
"""Bytes of address space of a child; a model of 128 MB takes a third of it."""

# What a damaged file makes Python, protobuf and onnx raise beside their own errors.
FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
_ERRORS = {each.__name__: each for each in (ModelError, ContractError, ProofError)}
_PACKAGES = Path(__file__).resolve().parents[2]
_LONGEST = 1000  # characters of a sentence
_CPU_SPARE = 2  # the parent's limit is of the wall's clock; this one holds when the parent is gone


class Work(Protocol):
    """What a child does."""

    def __call__(self) -> Mapping[str, Any]:
        """Return the answer, as JSON takes it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use.

    Attributes:
        seconds: Of the wall's clock.
        memory: Bytes of address space.
    """

    seconds: float = TIMEOUT
    memory: int = MEMORY


def command(module: str, arguments: list[str], limits: Limits) -> list[str]:
    """Return the command of the child; -P keeps the working folder out of its imports."""
    bounds = [str(limits.memory), str(int(limits.seconds * _CPU_SPARE) + 1)]
    return [sys.executable, "-P", "-m", "bridge.model.confine", *bounds, module, *arguments]


def environment() -> dict[str, str]:
    """Return the child's environment: it finds the package that this process runs."""
    paths = [str(_PACKAGES), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONIOENCODING": "utf-8",
        # A pool of threads for each core would take the address space of a large model.
        "OPENBLAS_NUM_THREADS": "1",
    }


def ask(path: Path, module: str, arguments: list[str], limits: Limits) -> dict[str, Any]:
    """Return what a child says of the file at ``path``.

    Args:
        path: Of the file that the child reads; for messages.
        module: One of ours, with a ``main`` that ends in :func:`answer`.
        arguments: Of its ``main``.
        limits: What it may use.

    Raises:
        ModelError: The child refuses the file, dies of it, or does not come back.
        ContractError: The file's contract does not fit its graph.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own interpreter and module, no shell
            command(module, arguments, limits),
            capture_output=True,
            check=False,
            env=environment(),
            stdin=subprocess.DEVNULL,
            timeout=limits.seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            f"{path} did not answer one window within {limits.seconds:g} s and was stopped: "
            "look for an endless loop in the graph"
        ) from error
    return verdict(path, done.returncode, done.stdout)


def verdict(path: Path, returncode: int, stdout: bytes) -> dict[str, Any]:
    """Return the child's answer, or raise what it says or what ended it."""
    found: Any = None
    if returncode in (0, ModelError.exit_code):
        with suppress(ValueError):
            found = json.loads(stdout)
    if not isinstance(found, dict):
        raise ModelError(
            f"{path} ended the process that tried it ({_end(returncode)}): the file is malformed, "
            "or onnxruntime or onnx is not properly installed; export it again"
        )
    if returncode:
        raise _ERRORS[found["error"]](found["refused"])
    return found


def answer(path: Path, work: Work) -> int:
    """Do the work, write its answer or refusal as JSON to stdout, and return the exit code."""
    found: Mapping[str, Any]
    try:
        with redirect_stdout(sys.stderr):  # libraries print, stdout is the answer's
            found, code = work(), 0
    except ModelError as error:
        said = str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
        found, code = {"error": type(error).__name__, "refused": one_line(said)}, error.exit_code
    except FAULTS as error:
        found, code = (
            {"error": "ModelError", "refused": one_line(_fault(path, error))},
            ModelError.exit_code,
        )
    sys.stdout.write(json.dumps(found) + "\n")
    return code


def one_line(text: str) -> str:
    """Return a sentence with names from an unknown file as one line that a screen can take."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}..."


def _fault(path: Path, error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"{path} asks for more memory than a child may use: export a smaller model"
    said = (str(error).strip().splitlines() or ["no words"])[0][:200]
    return f"{path} is damaged ({type(error).__name__}: {said}): export it again"


def _end(returncode: int) -> str:
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"
