"""Settings of an open position's care, which acts once per closed bar."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from bridge.settings.values import Frozen, NotNegative, OrOff, Positive, TimeOfDay


class ManageSettings(Frozen):
    """How an open position is looked after. All of it is off unless it is named.

    Distances are points. Profit is counted from the open price to the best price of the bar that
    closed: the high for a long position, the low plus the spread for a short one.
    """

    trail_points: OrOff[Positive] = None
    """The stop loss follows the best price at this distance; it never goes back."""
    trail_ranges: OrOff[Positive] = None
    """The same distance as a multiple of the recent range."""
    trail_after_points: NotNegative = 0.0
    """Profit from which it follows."""
    trail_step_points: NotNegative = 0.0
    """A move smaller than this is not sent."""
    breakeven_after_points: OrOff[Positive] = None
    """Profit at which the stop loss is moved to the open price."""
    breakeven_plus_points: NotNegative = 0.0
    """How far beyond the open price it is moved then."""
    partial_at_points: OrOff[Positive] = None
    """Profit at the bar's close at which a part is closed, once."""
    partial_share: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    """The part, share of the position's volume."""
    flat_before_weekend: OrOff[TimeOfDay] = None
    """Server time on Friday from which positions are closed and nothing is opened."""

    @model_validator(mode="after")
    def _one_way_to_trail(self) -> Self:
        if self.trail_points and self.trail_ranges:
            raise ValueError("trail_points and trail_ranges are both set: keep one of them")
        if self.trail_step_points and not (self.trail_points or self.trail_ranges):
            raise ValueError("trail_step_points needs trail_points or trail_ranges: set one")
        return self
