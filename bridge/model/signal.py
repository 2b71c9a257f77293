"""The signal: what a model's numbers mean, in the terms of its contract. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.model.contract import Contract

# Float32 shares of many classes add up to a rounding error, never to this.
SHARES_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A model's answer at one closed bar.

    Attributes:
        time: Open time of the newest closed bar, server epoch seconds.
        sha256: Hash of the model file.
        kind: shares, forecast or target.
        values: The answer as the model gave it; empty when it was not asked.
        long, short: What speaks for each side, >= 0, in the unit of the kind.
        problem: Why there is no usable signal; then long and short are 0.
    """

    time: int
    sha256: str
    kind: str
    values: tuple[float, ...]
    long: float
    short: float
    problem: str | None


def no_signal(
    contract: Contract, time: int, sha256: str, problem: str, values: tuple[float, ...] = ()
) -> Signal:
    """Return a signal that says why there is none."""
    return Signal(
        time=time,
        sha256=sha256,
        kind=contract.output.kind,
        values=values,
        long=0.0,
        short=0.0,
        problem=problem,
    )


def decode(contract: Contract, time: int, sha256: str, outputs: Sequence[float]) -> Signal:
    """Return what ``outputs`` mean.

    Args:
        contract: Of the model.
        time: Open time of the newest closed bar, server epoch seconds.
        sha256: Hash of the model file.
        outputs: One window's numbers; one for each class, or a single one.
    """
    values = tuple(float(value) for value in outputs)
    problem = _problem(contract, values)
    if problem is not None:
        return no_signal(contract, time, sha256, problem, values)
    long, short = _sides(contract, values)
    return Signal(
        time=time,
        sha256=sha256,
        kind=contract.output.kind,
        values=values,
        long=long,
        short=short,
        problem=None,
    )


def _problem(contract: Contract, values: tuple[float, ...]) -> str | None:
    output = contract.output
    if len(values) != output.width:
        return f"output {output.name} has {len(values)} numbers, the contract says {output.width}"
    bad = [value for value in values if not math.isfinite(value)]
    if bad:
        return f"output {output.name} holds {bad[0]}"
    if output.kind == "shares":
        return _problem_of_shares(output.name, values)
    if output.kind == "target" and abs(values[0]) > 1 + SHARES_TOLERANCE:
        return f"target {values[0]:.6g} is outside -1 to 1"
    return None


def _problem_of_shares(name: str, values: tuple[float, ...]) -> str | None:
    lowest, total = min(values), math.fsum(values)
    if lowest < -SHARES_TOLERANCE:
        return f"output {name} holds the share {lowest:.6g}, below 0"
    if abs(total - 1) > SHARES_TOLERANCE:
        return f"the shares of output {name} sum to {total:.6g}, not to 1"
    return None


def _sides(contract: Contract, values: tuple[float, ...]) -> tuple[float, float]:
    if contract.output.kind != "shares":
        # Of two zeros max() returns the first: no side is ever -0.0.
        return max(0.0, values[0]), max(0.0, -values[0])
    share = {"long": 0.0, "short": 0.0, "flat": 0.0}
    for item, value in zip(contract.output.classes, values, strict=True):
        share[item.side] += value
    return share["long"], share["short"]
