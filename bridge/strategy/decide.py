"""Decide: what to do about a signal, given what is held. Pure; its twin will be an MQL5 header."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from bridge.model.signal import Signal
from bridge.mt5.sides import Side
from bridge.settings import DecisionSettings, Sides


class Action(StrEnum):
    """What a decision asks for."""

    HOLD = "hold"
    OPEN = "open"
    CLOSE = "close"
    REVERSE = "reverse"


class Holding(NamedTuple):
    """The strategy's open position.

    Attributes:
        bars: Bars that closed since it was opened.
    """

    ticket: int
    side: Side
    volume: float
    bars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do at this bar.

    Attributes:
        side: Side to open; None when nothing is opened.
        stop_points, take_points: Distances of the new position's levels, points; None is none.
        reason: Why, in words; never empty.
    """

    action: Action
    side: Side | None = None
    stop_points: float | None = None
    take_points: float | None = None
    reason: str


_BOTH = "long {long:.6g}, short {short:.6g}: "
NEITHER_ABOVE = _BOTH + "neither side is above the other"
NEITHER_REACHES = _BOTH + "neither reaches open_at {open_at:g}"
SIDE_OFF = _BOTH + "{side} is switched off (sides = {sides})"
KEEPS = "{side} {value:.6g} keeps the position"
WEEKEND = "the weekend is near"

_ALLOWED = {
    Sides.BOTH: frozenset(Side),
    Sides.LONG: frozenset({Side.LONG}),
    Sides.SHORT: frozenset({Side.SHORT}),
}


def decide(
    signal: Signal,
    holding: Holding | None,
    settings: DecisionSettings,
    *,
    range_points: float,
    declined: Side | None = None,
) -> Decision:
    """Return what to do at the bar that gave ``signal``.

    Args:
        signal: The model's answer; with a problem it opens and closes nothing by itself.
        holding: The strategy's open position, if any.
        settings: Thresholds, exits, distances.
        range_points: The recent range, points.
        declined: Side that a person has closed; it is not opened again on the same signal.

    Returns:
        The decision. Only OPEN and REVERSE carry a side and distances.
    """
    if holding is not None:
        return _keep_or_leave(signal, holding, settings, range_points)
    if signal.problem:
        return Decision(action=Action.HOLD, reason=f"no signal: {signal.problem}")
    side, why = wanted(signal, settings)
    if side is None:
        return Decision(action=Action.HOLD, reason=why)
    if side is declined:
        reason = f"{why}; a person closed {side}, and the signal is still the same"
        return Decision(action=Action.HOLD, reason=reason)
    return _opening(Action.OPEN, side, why, settings, range_points)


def _keep_or_leave(
    signal: Signal, holding: Holding, settings: DecisionSettings, range_points: float
) -> Decision:
    if settings.max_bars is not None and holding.bars >= settings.max_bars:
        reason = f"held for {holding.bars} bars, the limit is {settings.max_bars}"
        return Decision(action=Action.CLOSE, reason=reason)
    if signal.problem:
        return Decision(action=Action.HOLD, reason=f"no signal: {signal.problem}")
    side, why = wanted(signal, settings)
    if side is holding.side.other:
        if settings.reverse:
            return _opening(Action.REVERSE, side, why, settings, range_points)
        return Decision(action=Action.CLOSE, reason=why)
    value = _value(signal, holding.side)
    if value < settings.close_at:
        reason = f"{holding.side} {value:.6g} is below close_at {settings.close_at:g}"
        return Decision(action=Action.CLOSE, reason=reason)
    return Decision(action=Action.HOLD, reason=KEEPS.format(side=holding.side, value=value))


def _value(signal: Signal, side: Side) -> float:
    return signal.long if side is Side.LONG else signal.short


def wanted(signal: Signal, settings: DecisionSettings) -> tuple[Side | None, str]:
    """Return the side that the signal asks for, and why; equal values ask for none."""
    values = {"long": signal.long, "short": signal.short}
    if signal.long == signal.short:
        return None, NEITHER_ABOVE.format(**values)
    side = Side.LONG if signal.long > signal.short else Side.SHORT
    if _value(signal, side) < settings.open_at:
        return None, NEITHER_REACHES.format(**values, open_at=settings.open_at)
    if not allows(settings, side):
        return None, SIDE_OFF.format(**values, side=side, sides=settings.sides)
    return side, f"{_BOTH.format(**values)}{side} reaches open_at {settings.open_at:g}"


def allows(settings: DecisionSettings, side: Side) -> bool:
    """Return whether a side may be opened."""
    return side in _ALLOWED[settings.sides]


def _opening(
    action: Action, side: Side, why: str, settings: DecisionSettings, range_points: float
) -> Decision:
    return Decision(
        action=action,
        side=side,
        stop_points=_distance(settings.stop_points, settings.stop_ranges, range_points),
        take_points=_distance(settings.take_points, settings.take_ranges, range_points),
        reason=why,
    )


def _distance(points: float | None, ranges: float | None, range_points: float) -> float | None:
    if points is not None:
        return points
    return None if ranges is None else ranges * range_points
