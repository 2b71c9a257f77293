"""Decide ahead: at which of many known bars a decision only holds, and in which words. Pure.

Twin of ``decide`` over whole columns. What is not certain counts as acting, so that it is decided
in full.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.mt5.servertime import DAY
from bridge.mt5.sides import Side
from bridge.settings import DecisionSettings, ManageSettings
from bridge.strategy.decide import NEITHER_ABOVE, NEITHER_REACHES, SIDE_OFF, WEEKEND, allows

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]

ACTS = -1
"""Instead of a reason's number: the bar is decided in full."""
_ABOVE, _REACHES, _LONG_OFF, _SHORT_OFF, _WEEKEND = range(5)
# Points; far above the noise of the arithmetic, far below what anybody sets.
_SLACK = 1e-6
_NOISE = 1e-3
_FRIDAY = 5


@dataclass(frozen=True, slots=True)
class Holds:
    """Where a strategy only holds, shape ``(n,)`` each.

    Attributes:
        flat: Number of the reason without a position, or ``ACTS``.
        keeps: By side, whether a position of it is kept.
    """

    flat: NDArray[np.int8]
    keeps: dict[Side, Flags]


def reasons(settings: DecisionSettings) -> list[str]:
    """Return the words of each reason, with ``{long}`` and ``{short}`` to fill in."""
    off = [
        SIDE_OFF.replace("{side}", side).replace("{sides}", settings.sides)
        for side in (Side.LONG, Side.SHORT)
    ]
    reaches = NEITHER_REACHES.replace("{open_at:g}", f"{settings.open_at:g}")
    return [NEITHER_ABOVE, reaches, *off, WEEKEND]


def holds(
    long: Doubles, short: Doubles, good: Flags, settings: DecisionSettings, weekend: Flags
) -> Holds:
    """Return where a strategy only holds.

    Args:
        long: What speaks for each side, shape ``(n,)``.
        short: Likewise.
        good: Where the signal has no problem.
        settings: Thresholds.
        weekend: Where positions are to be closed before the weekend.
    """
    is_long = long > short
    reaches = (np.maximum(long, short) >= settings.open_at) & (long != short)
    flat = np.full(len(long), ACTS, dtype=np.int8)
    flat[reaches & is_long & (not allows(settings, Side.LONG))] = _LONG_OFF
    flat[reaches & ~is_long & (not allows(settings, Side.SHORT))] = _SHORT_OFF
    flat[~reaches] = _REACHES
    flat[long == short] = _ABOVE
    flat[~good] = ACTS
    flat[weekend] = _WEEKEND
    wants = {
        Side.LONG: reaches & is_long & allows(settings, Side.LONG),
        Side.SHORT: reaches & ~is_long & allows(settings, Side.SHORT),
    }
    keeps = {
        side: good & ~weekend & ~wants[side.other] & (value >= settings.close_at)
        for side, value in ((Side.LONG, long), (Side.SHORT, short))
    }
    return Holds(flat, keeps)


def weekend_is_near(times: NDArray[np.int64], settings: ManageSettings) -> Flags:
    """Return ``manage.is_weekend_near`` at each server time."""
    if settings.flat_before_weekend is None:
        return np.zeros(len(times), dtype=bool)
    hours, _, minutes = settings.flat_before_weekend.partition(":")
    since = int(hours) * 3_600 + int(minutes) * 60
    day = (times // DAY + 4) % 7
    found: Flags = (day > _FRIDAY) | ((day == _FRIDAY) & (times % DAY >= since))
    return found


def may_need_care(
    *,
    side: Side,
    opened: float,
    sl: float,
    best: Doubles,
    close: Doubles,
    settings: ManageSettings,
    is_reduced: bool,
    ranges: Doubles,
    point: float,
) -> Flags:
    """Return where ``manage.care`` may ask for something; where not, it certainly does not.

    Args:
        side: Of the position.
        opened: Its open price.
        sl: Its stop loss; 0.0 without one.
        best: The best closing price of each bar, shape ``(n,)``; see ``manage.Kept``.
        close: The last one, likewise.
        settings: What is wanted.
        is_reduced: Whether a part of it was closed already.
        ranges: The recent range at each bar, points; near enough.
        point: Price of one point.
    """
    sign = side.sign
    profit = sign * (best - opened) / point
    least = max(settings.trail_step_points - _NOISE, _NOISE) - _SLACK
    found = np.zeros(len(best), dtype=bool)
    distance = _distance(settings, ranges)
    if distance is not None:
        gained = sign * (best - sign * distance * point - sl) / point
        found |= (profit >= settings.trail_after_points - 2 * _NOISE) & (
            (gained >= least) | (not sl)
        )
    after = settings.breakeven_after_points
    if after is not None:
        level = opened + sign * settings.breakeven_plus_points * point
        is_better = not sl or sign * (level - sl) / point >= least
        found |= (profit >= after - 2 * _NOISE) & is_better
    at = settings.partial_at_points
    if at is not None and not is_reduced:
        found |= sign * (close - opened) / point >= at - 2 * _NOISE
    return found


def _distance(settings: ManageSettings, ranges: Doubles) -> Doubles | float | None:
    if settings.trail_ranges is not None:
        return settings.trail_ranges * ranges - _SLACK
    return settings.trail_points
