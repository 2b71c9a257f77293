"""The operations of expressions: what each takes and how far back it looks.

Twins: ``history`` and ``emit`` each have one function for every name in ``OPERATIONS``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import ConfigError
from bridge.mt5.timeframes import timeframe

FIELDS = ("open", "high", "low", "close", "tick_volume", "spread")
"""Columns of bars that features may use, in the order of the graph's input."""

Attribute = int | float | str | tuple[float, ...]
Attributes = Mapping[str, Any]
HOWS = ("first", "max", "sum")
"""What ``so_far`` makes of the bars since the higher bar began."""


def _none(attrs: Attributes) -> int:
    return 0


def _rolling(attrs: Attributes) -> int:
    return int(attrs["bars"]) - 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        arity: How many arguments it takes.
        kinds: Its attributes.
        reach: Bars before the asked one that it needs of its arguments.
        is_clocked: Whether its value depends on the server's clock.
        is_scoped: Whether its argument is a tree of its own, over other bars.
    """

    arity: int
    kinds: Mapping[str, type]
    reach: Callable[[Attributes], int] = _none
    is_clocked: bool = False
    is_scoped: bool = False


_BARS = {"bars": int}
_FRAMES = {"timeframe": str, "of": str}


def per(attrs: Attributes) -> int:
    """Return how many bars of ``attrs["of"]`` make one of ``attrs["timeframe"]``, at most."""
    return timeframe(attrs["timeframe"]).seconds // timeframe(attrs["of"]).seconds


OPERATIONS: dict[str, Operation] = {
    "field": Operation(0, {"name": str}),
    "constant": Operation(0, {"value": float}),
    "calendar": Operation(0, {"table": tuple, "unit": int, "shift": int}, is_clocked=True),
    "add": Operation(2, {}),
    "sub": Operation(2, {}),
    "mul": Operation(2, {}),
    "div": Operation(2, {}),
    "max": Operation(2, {}),
    "greater": Operation(2, {}),
    "neg": Operation(1, {}),
    "abs": Operation(1, {}),
    "log": Operation(1, {}),
    "sqrt": Operation(1, {}),
    "where": Operation(3, {}),
    "safe_div": Operation(3, {"default": float}),
    "lag": Operation(1, _BARS, lambda attrs: int(attrs["bars"])),
    "fir": Operation(1, {"weights": tuple}, lambda attrs: len(attrs["weights"]) - 1),
    "rolling_max": Operation(1, _BARS, _rolling),
    "rolling_var": Operation(1, _BARS, _rolling),
    "rolling_dev": Operation(1, _BARS, _rolling),
    "bars_since_max": Operation(1, _BARS, _rolling),
    "so_far": Operation(1, {"how": str, **_FRAMES}, per, is_clocked=True),
    "higher": Operation(1, _FRAMES, is_clocked=True, is_scoped=True),
}


def check(op: str, arity: int, attrs: Attributes) -> None:
    """Check what a node is made of.

    Raises:
        ValueError: The operation does not take these arguments or attributes.
        ConfigError: An attribute has an unusable value.
    """
    operation = OPERATIONS[op]
    if arity != operation.arity:
        raise ValueError(f"{op} takes {operation.arity} arguments, not {arity}")
    if {name: type(value) for name, value in attrs.items()} != operation.kinds:
        raise ValueError(f"{op} takes {operation.kinds}, not {attrs}")
    for name, checked in _CHECKS.items():
        if name in attrs:
            checked(attrs)


def checked_bars(bars: int) -> int:
    """Return ``bars``.

    Raises:
        ConfigError: It is below 1.
    """
    if bars < 1:
        raise ConfigError(f"a feature over {bars} bars is none: use 1 or more")
    return bars


def _check_column(attrs: Attributes) -> None:
    if attrs["name"] not in FIELDS:
        raise ConfigError(f"bars have no column {attrs['name']!r}: use one of {', '.join(FIELDS)}")


def _check_how(attrs: Attributes) -> None:
    if attrs["how"] not in HOWS:
        raise ConfigError(f"so far can't be {attrs['how']!r}: use one of {', '.join(HOWS)}")


def _check_frames(attrs: Attributes) -> None:
    high, low = timeframe(attrs["timeframe"]), timeframe(attrs["of"])
    if "MN1" in (high.name, low.name):
        raise ConfigError("MN1 bars have no fixed length: use W1 or a shorter timeframe")
    if high.seconds <= low.seconds or high.seconds % low.seconds:
        raise ConfigError(
            f"bars of {high.name} are not made of whole bars of {low.name}: use a timeframe whose "
            f"length is a multiple of {low.name}"
        )


def _check_table(attrs: Attributes) -> None:
    if not attrs["table"] or attrs["unit"] < 1 or attrs["shift"] < 0:
        raise ConfigError(
            f"a calendar of {len(attrs['table'])} places, {attrs['unit']} seconds each, shifted by "
            f"{attrs['shift']} is none: use at least one place and second, and no negative shift"
        )


_CHECKS: dict[str, Callable[[Attributes], object]] = {
    "bars": lambda attrs: checked_bars(attrs["bars"]),
    "name": _check_column,
    "how": _check_how,
    "timeframe": _check_frames,
    "table": _check_table,
}
