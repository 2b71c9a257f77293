"""The probe: an unknown file is parsed and first run in a child process with limits.

A file that kills or hangs a parser ends the child; here it becomes a sentence. The child runs
``bridge.model.inspection``: one JSON object on stdout, exit code 0 or 4.
"""

from dataclasses import dataclass
from pathlib import Path

from bridge.model import cage
from bridge.model.cage import TIMEOUT, Limits

_CHILD = "bridge.model.inspection"


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
    """Return the command of the child."""
    return cage.command(_CHILD, [str(path)], Limits())


def probe_environment() -> dict[str, str]:
    """Return the child's environment."""
    return cage.environment()


def probe(path: Path, *, timeout: float = TIMEOUT) -> Report:
    """Return what a child process found in the file at ``path``.

    Args:
        path: Of the file; ``files.read_model_file`` has looked at it.
        timeout: Seconds that the child may take.

    Raises:
        ModelError: The child refuses the file, dies of it, or does not come back.
        ContractError: The file's contract does not fit its graph.
    """
    return Report(**cage.ask(path, _CHILD, [str(path)], Limits(seconds=timeout)))


def verdict(path: Path, returncode: int, stdout: bytes) -> Report:
    """Return the child's report, or raise what it says or what ended it."""
    return Report(**cage.verdict(path, returncode, stdout))
