"""What a target reads: the versions, and the element types that its operators lack.

Versions are of onnxruntime's releases, each tried with files of one node. The types were found by
opening 1,803 such files in onnxruntime 1.14.0, the release whose list of kernels the terminal's
reference points at; newer releases open all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bridge.errors import ConfigError

RESOURCE = 128 * 1024 * 1024
"""Bytes of one #resource by the terminal's reference."""


def _types(words: str) -> dict[str, frozenset[str]]:
    """Read "Cos Unique: double; ..." as types by operator."""
    found: dict[str, frozenset[str]] = {}
    for part in words.split(";"):
        operators, _, types = part.partition(":")
        for operator in operators.split():
            found[operator] = found.get(operator, frozenset()) | frozenset(types.split())
    return found


_LACKS_OF_1_14 = _types(
    "Add Sub Mul Div Max Min Equal Greater GreaterOrEqual Less LessOrEqual: int8 uint8;"
    "DepthToSpace SpaceToDepth: int8 uint8;"
    "ArgMax ArgMin: int64; ArgMin: int8 uint8; Cos Unique ReduceProd: double;"
    "ReduceL1 ReduceL2 ReduceLogSum: double int64;"
    "ReduceLogSumExp ReduceMean ReduceSumSquare Relu: int64; Trilu: bool int32;"
    "Elu HardSigmoid HardSwish Mish Selu Softplus Softsign ThresholdedRelu: double float16"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that a target reads.

    Attributes:
        runtime: Whose limits they are, in words.
        opset, ir, ml: Versions; None when only the runtime itself is asked.
        resource: Bytes that fit into an EA; None where there is no EA.
        lacks: Element types by operator of the standard domain that have no kernel.
        is_daemon: Whether the daemon is what reads the file.
    """

    name: str
    runtime: str
    opset: int | None = None
    ir: int | None = None
    ml: int | None = None
    resource: int | None = None
    lacks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    is_daemon: bool = False


CEILINGS: dict[str, Ceiling] = {
    each.name: each
    for each in (
        Ceiling(
            name="mt5",
            runtime="the terminal (onnxruntime 1.14, every build since 3620)",
            opset=18,
            ir=8,
            ml=3,
            resource=RESOURCE,
            lacks=_LACKS_OF_1_14,
        ),
        Ceiling(
            name="legacy",
            runtime="onnxruntime 1.8.1",
            opset=14,
            ir=7,
            ml=2,
            resource=RESOURCE,
            lacks=_LACKS_OF_1_14,
        ),
        Ceiling(name="this", runtime="the daemon on this computer", is_daemon=True),
    )
}
"""By the name of the target."""


def ceiling(target: str, limits: str | None = None) -> Ceiling:
    """Return what ``target`` reads.

    Args:
        target: mt5, legacy or this.
        limits: Other versions, as OPSET/IR/ML, of a terminal that is known to read more: 20/9/4
            since about build 4230.

    Raises:
        ConfigError: The target is unknown, or limits are not three numbers.
    """
    if target not in CEILINGS:
        raise ConfigError(f"the target {target} is unknown: use one of {', '.join(CEILINGS)}")
    found = CEILINGS[target]
    if limits is None:
        return found
    parts = limits.split("/")
    if found.is_daemon or len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise ConfigError(
            f"limits {limits} are not those of a terminal: give opset, IR and ai.onnx.ml as "
            "20/9/4, with the target mt5 or legacy"
        )
    opset, ir, ml = map(int, parts)
    runtime = f"the terminal that you describe ({limits})"
    return replace(found, runtime=runtime, opset=opset, ir=ir, ml=ml)
