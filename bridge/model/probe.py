"""The probe: an unknown file is parsed and first run in a child process.

A file that kills or hangs a parser ends the child; here it becomes a sentence. The child is
``python -m bridge.model.inspection PATH``: one JSON object on stdout, exit code 0 or 4.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import ContractError, ModelError

TIMEOUT = 60.0
"""Seconds that the child may take; importing onnx on a cold disk is most of it."""

_ERRORS = {"ModelError": ModelError, "ContractError": ContractError}
_PACKAGES = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Report:
    """What the child found in a file that parses and runs.

    Attributes:
        sha256: Of the file that the child read.
        body_sha256: Of the model without its metadata.
        ir: Version of the file's form.
        opsets: Version of the operators, by domain.
        has_contract: Whether there is one; then it fits the graph and its body hash is right.
        inputs, outputs: Type and declared shape of each tensor, in words.
    """

    sha256: str
    body_sha256: str
    ir: int
    opsets: dict[str, int]
    has_contract: bool
    inputs: dict[str, str]
    outputs: dict[str, str]


def probe_command(path: Path) -> list[str]:
    """Return the command of the child; -P keeps the working folder out of its imports."""
    return [sys.executable, "-P", "-m", "bridge.model.inspection", str(path)]


def probe_environment() -> dict[str, str]:
    """Return the child's environment: it finds the package that this process runs."""
    paths = [str(_PACKAGES), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONIOENCODING": "utf-8",
    }


def probe(path: Path, *, timeout: float = TIMEOUT) -> Report:
    """Return what a child process found in the file at ``path``.

    Args:
        path: Of the file; ``files.read_model_file`` has looked at it.
        timeout: Seconds that the child may take.

    Raises:
        ModelError: The child refuses the file, dies of it, or does not come back.
        ContractError: The file's contract does not fit its graph.
    """
    try:
        done = subprocess.run(  # noqa: S603  our own interpreter and module, no shell
            probe_command(path),
            capture_output=True,
            check=False,
            env=probe_environment(),
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            f"{path} did not answer one window within {timeout:g} s and was stopped: "
            "look for an endless loop in the graph"
        ) from error
    return verdict(path, done.returncode, done.stdout)


def verdict(path: Path, returncode: int, stdout: bytes) -> Report:
    """Return the child's report, or raise what it says or what ended it."""
    if returncode not in (0, ModelError.exit_code):
        raise ModelError(
            f"{path} ended the process that tried it ({_end(returncode)}): the file is malformed, "
            "or onnxruntime or onnx is not properly installed; export it again"
        )
    found = json.loads(stdout)
    if returncode:
        raise _ERRORS[found["error"]](found["refused"])
    return Report(**found)


def _end(returncode: int) -> str:
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"
