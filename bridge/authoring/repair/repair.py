"""Repair for callers: the file is mended in a child with limits, and written beside, never over."""

import json
import tempfile
from pathlib import Path

from bridge.authoring.repair.plan import Plan, Repaired
from bridge.errors import ConfigError, DataError
from bridge.model.cage import Limits, ask
from bridge.model.files import read_model_file

_LIMITS = Limits(seconds=240, memory=4 * 1024**3)
_CHILD = "bridge.authoring.repair.mend"


def repaired(path: Path, plan: Plan) -> tuple[bytes, Repaired]:
    """Return the repaired bytes of the file at ``path``, and what was done.

    Args:
        path: Of the file, with its .data file beside it if it has one.
        plan: What to do.

    Raises:
        ModelError: The file can't be read or opened.
        ProofError: The repaired file answers otherwise.
        DataError: The rows of the plan don't fit.
    """
    read_model_file(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "repaired.onnx"
        found = ask(path, _CHILD, [str(path), json.dumps(plan.as_json()), str(out)], _LIMITS)
        if "rows" in found:
            raise DataError(found["rows"])
        left = tuple((str(level), str(what), str(fix)) for level, what, fix in found["left"])
        report = Repaired(
            tuple(found["done"]),
            left,
            found["difference"],
            found["proven"],
            tuple(found["outputs"]),
            found["is_blocked"],
        )
        return out.read_bytes(), report


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet.

    Raises:
        ConfigError: It is there, or the place can't be written to.
    """
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already: name another file with -o") from error
    except OSError as error:
        raise ConfigError(f"{path} can't be written ({error.strerror}): name another") from error
