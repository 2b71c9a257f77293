"""The care of a position: trailing, break-even, a part closed, the weekend."""

from typing import Any

import pytest

from bridge.mt5.servertime import parse
from bridge.mt5.sides import Side
from bridge.settings import ManageSettings
from bridge.strategy.manage import Care, Kept, care, is_weekend_near

POINT = 0.00001


def cared(settings: dict[str, Any], **kept: Any) -> Care:
    usual: dict[str, Any] = {
        "side": Side.LONG,
        "opened": 1.10080,
        "sl": 1.09880,
        "best": 1.10110,
        "close": 1.10100,
        "is_reduced": False,
    }
    return care(Kept(**(usual | kept)), ManageSettings(**settings), range_points=100.0, point=POINT)


def test_f11_a_trailing_stop_follows_the_bar_that_has_closed() -> None:
    """F11: SL 200 points trailing 200, from the start or from 200 points of profit on."""
    at_once = cared({"trail_points": 200})
    assert at_once.sl == pytest.approx(1.09910)
    assert cared({"trail_points": 200, "trail_after_points": 200}).sl is None


@pytest.mark.parametrize(
    ("settings", "kept", "sl"),
    [
        ({}, {}, None),
        ({"trail_ranges": 2.0}, {}, 1.09910),
        # It never goes back, and a step too small is not worth a request.
        ({"trail_points": 200}, {"sl": 1.09910}, None),
        ({"trail_points": 200}, {"sl": 1.09920}, None),
        ({"trail_points": 200, "trail_step_points": 31}, {}, None),
        ({"trail_points": 200, "trail_step_points": 30}, {}, 1.09910),
        # Without a stop there is nothing to be better than.
        ({"trail_points": 200, "trail_step_points": 500}, {"sl": 0.0}, 1.09910),
        ({"breakeven_after_points": 31}, {}, None),
        ({"breakeven_after_points": 30}, {}, 1.10080),
        ({"breakeven_after_points": 30, "breakeven_plus_points": 5}, {}, 1.10085),
        # The better of both.
        ({"breakeven_after_points": 30, "trail_points": 10}, {}, 1.10100),
        ({"trail_points": 200}, {"side": Side.SHORT, "sl": 1.10300, "best": 1.10050}, 1.10250),
        ({"trail_points": 200}, {"side": Side.SHORT, "sl": 1.10240, "best": 1.10050}, None),
        ({"breakeven_after_points": 30}, {"side": Side.SHORT, "sl": 1.103, "best": 1.1005}, 1.1008),
    ],
)
def test_where_the_stop_goes(
    settings: dict[str, Any], kept: dict[str, Any], sl: float | None
) -> None:
    found = cared(settings, **kept)
    assert found.sl == (None if sl is None else pytest.approx(sl))
    assert bool(found.reason) == (sl is not None)


def test_a_part_is_closed_once() -> None:
    partly = {"partial_at_points": 20, "partial_share": 0.25}
    assert cared(partly).close_share == 0.25
    assert cared(partly, is_reduced=True).close_share == 0.0
    assert cared(partly, close=1.10099).close_share == 0.0


@pytest.mark.parametrize(
    ("moment", "near"),
    [
        ("2017.03.16 23:59", False),
        ("2017.03.17 20:59", False),
        ("2017.03.17 21:00", True),
        ("2017.03.18 00:00", True),
        ("2017.03.19 23:59", False),
        ("2017.03.20 00:00", False),
    ],
)
def test_the_weekend_begins_on_friday(moment: str, near: bool) -> None:
    settings = ManageSettings(flat_before_weekend="21:00")
    assert is_weekend_near(parse(moment), settings) is near
    assert not is_weekend_near(parse(moment), ManageSettings())
