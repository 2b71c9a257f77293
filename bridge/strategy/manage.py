"""Look after an open position, once per closed bar: where its stop goes, what part is closed. Pure.

The old stop was tested by the server while the bar ran; what is decided here counts from the next
bar on.
"""

from dataclasses import dataclass

from bridge.mt5.servertime import DAY, weekday
from bridge.mt5.sides import Side
from bridge.settings import ManageSettings

_FRIDAY = 5
# Points; the noise of differences of prices.
_NOISE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A position that is kept, with the bar that has just closed.

    Attributes:
        opened: Its open price.
        sl: Its stop loss; 0.0 without one.
        best: The best closing price of the bar: the high for a long position, the low plus the
            spread for a short one.
        close: The bar's last closing price, likewise.
        is_reduced: Whether a part of it was closed already.
    """

    side: Side
    opened: float
    sl: float
    best: float
    close: float
    is_reduced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """What a position needs.

    Attributes:
        sl: New stop loss, not on the tick yet; None leaves it.
        close_share: Share of its volume to close; 0.0 closes nothing.
        reason: Why, in words; empty when nothing is needed.
    """

    sl: float | None = None
    close_share: float = 0.0
    reason: str = ""


def care(kept: Kept, settings: ManageSettings, *, range_points: float, point: float) -> Care:
    """Return what ``kept`` needs.

    Args:
        kept: The position.
        settings: What is wanted.
        range_points: The recent range, points.
        point: Price of one point.
    """
    stop, why = _stop(kept, settings, range_points, point)
    share = 0.0
    profit = _points(kept, kept.close, point)
    at = settings.partial_at_points
    if at is not None and not kept.is_reduced and profit >= at - _NOISE:
        share = settings.partial_share
        why = [*why, f"profit is {profit:.0f} points: {share:.0%} is closed"]
    return Care(sl=stop, close_share=share, reason="; ".join(why))


def _points(kept: Kept, price: float, point: float) -> float:
    return kept.side.sign * (price - kept.opened) / point


def _stop(
    kept: Kept, settings: ManageSettings, range_points: float, point: float
) -> tuple[float | None, list[str]]:
    """Return the best of what trailing and break-even ask for, if it is better than the stop."""
    sign, profit = kept.side.sign, _points(kept, kept.best, point)
    wanted: list[tuple[float, str]] = []
    distance = _distance(settings, range_points)
    if distance is not None and profit >= settings.trail_after_points - _NOISE:
        wanted.append((kept.best - sign * distance * point, f"the stop trails {distance:.0f}"))
    after = settings.breakeven_after_points
    if after is not None and profit >= after - _NOISE:
        plus = settings.breakeven_plus_points
        wanted.append((kept.opened + sign * plus * point, f"break-even plus {plus:g}"))
    if not wanted:
        return None, []
    level, why = max(wanted, key=lambda each: sign * each[0])
    gained = sign * (level - kept.sl) / point if kept.sl else float("inf")
    if gained < max(settings.trail_step_points - _NOISE, _NOISE):
        return None, []
    return level, [f"{why} points at {profit:.0f} points of profit"]


def _distance(settings: ManageSettings, range_points: float) -> float | None:
    if settings.trail_ranges is not None:
        return settings.trail_ranges * range_points
    return settings.trail_points


def is_weekend_near(server_time: float, settings: ManageSettings) -> bool:
    """Return whether positions are to be closed before the weekend at ``server_time``."""
    if settings.flat_before_weekend is None:
        return False
    hours, _, minutes = settings.flat_before_weekend.partition(":")
    since = int(hours) * 3_600 + int(minutes) * 60
    day = weekday(server_time)
    return day > _FRIDAY or (day == _FRIDAY and server_time % DAY >= since)
