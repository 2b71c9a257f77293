"""What a repair is asked for, and what came of it. It imports no onnx."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Batch = Literal["1", "free"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do.

    Attributes:
        target: mt5 or legacy; its ceilings are the ones to get below.
        keep: Outputs to keep; none keeps all that a terminal can read.
        batch: What a free first dimension becomes: 1, or free under one name.
        dims: Size of other free dimensions, by their name in the file.
        rows: File of rows to prove the repair on, beside random ones: .npy, or .csv of numbers.
    """

    target: str = "mt5"
    keep: tuple[str, ...] = ()
    batch: Batch = "1"
    dims: Mapping[str, int] = field(default_factory=dict)
    rows: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON takes it."""
        return asdict(self) | {"rows": str(self.rows) if self.rows else None}


def plan_of(given: Mapping[str, Any]) -> Plan:
    """Return the plan that ``as_json`` gave."""
    rows = Path(given["rows"]) if given["rows"] else None
    return Plan(given["target"], tuple(given["keep"]), given["batch"], given["dims"], rows)


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done.

    Attributes:
        done: Each change, in words; empty when there was nothing to mend.
        left: What the lint still finds: level, what and fix.
        difference: Largest difference of an answer as it runs, in its own unit; as the graphs are
            written, there is none.
        proven: Rows that were compared.
        outputs: Names in the repaired file.
        is_blocked: Whether the target would still refuse it.
    """

    done: tuple[str, ...]
    left: tuple[tuple[str, str, str], ...]
    difference: float
    proven: int
    outputs: tuple[str, ...]
    is_blocked: bool
