"""Settings of when a strategy may open positions; exits go out at any time."""

from typing import Annotated, Literal

from pydantic import Field

from bridge.settings.values import Frozen, OrOff, TimeOfDay, TimeSpan

Weekday = Literal["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


class HoursSettings(Frozen):
    """When a strategy may open positions, by the server's clock. All of it is off unless named.

    A span holds its first minute and not its last; one that ends before it begins goes over
    midnight.
    """

    weekdays: OrOff[Annotated[tuple[Weekday, ...], Field(min_length=1)]] = None
    """Days on which anything is opened, such as ["mon", "tue"]; the day of the moment counts, also
    in a span over midnight."""
    windows: OrOff[Annotated[tuple[TimeSpan, ...], Field(min_length=1)]] = None
    """Spans in which anything is opened, such as ["08:00-12:00", "22:00-02:00"]."""
    rollover: OrOff[TimeSpan] = None
    """Span around the server's midnight in which nothing is opened, such as "23:55-00:15": swaps
    are booked then, and spreads are wide."""
    friday_until: OrOff[TimeOfDay] = None
    """Time on Friday from which nothing is opened until Saturday is over."""
