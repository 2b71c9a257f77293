import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.model.signal import Signal
from bridge.mt5.rates import rates_of
from bridge.mt5.sides import Side
from bridge.settings import DecisionSettings, Sides
from bridge.strategy.decide import Action, Holding, decide
from bridge.strategy.recent import bars_since, range_points


def signal(long: float, short: float, problem: str | None = None) -> Signal:
    return Signal(
        time=1, sha256="0" * 64, kind="shares", values=(), long=long, short=short, problem=problem
    )


def holding(side: Side, bars: int = 1) -> Holding:
    return Holding(ticket=5, side=side, volume=0.1, bars=bars)


LONG, SHORT = holding(Side.LONG), holding(Side.SHORT)
PLAIN = DecisionSettings(open_at=0.5)
FADE = DecisionSettings(open_at=0.5, close_at=0.3)


@pytest.mark.parametrize(
    ("shares", "held", "settings", "action", "side", "says"),
    [
        ((0.6, 0.2), None, PLAIN, Action.OPEN, Side.LONG, "long reaches open_at 0.5"),
        ((0.2, 0.6), None, PLAIN, Action.OPEN, Side.SHORT, "short reaches open_at 0.5"),
        ((0.5, 0.2), None, PLAIN, Action.OPEN, Side.LONG, "reaches"),
        ((0.49, 0.2), None, PLAIN, Action.HOLD, None, "neither reaches open_at 0.5"),
        ((0.5, 0.5), None, PLAIN, Action.HOLD, None, "neither side is above the other"),
        ((0.0, 0.0), None, PLAIN, Action.HOLD, None, "neither side"),
        ((0.6, 0.2), LONG, PLAIN, Action.HOLD, None, "keeps the position"),
        ((0.0, 0.1), LONG, PLAIN, Action.HOLD, None, "keeps the position"),
        ((0.2, 0.6), LONG, PLAIN, Action.REVERSE, Side.SHORT, "short reaches"),
        ((0.6, 0.2), SHORT, PLAIN, Action.REVERSE, Side.LONG, "long reaches"),
        ((0.29, 0.2), LONG, FADE, Action.CLOSE, None, "below close_at 0.3"),
        ((0.30, 0.2), LONG, FADE, Action.HOLD, None, "keeps"),
        (
            (0.2, 0.6),
            LONG,
            DecisionSettings(reverse=False),
            Action.CLOSE,
            None,
            "short reaches",
        ),
        (
            (0.6, 0.2),
            None,
            DecisionSettings(sides=Sides.SHORT),
            Action.HOLD,
            None,
            "long is switched off",
        ),
        (
            (0.6, 0.2),
            holding(Side.LONG, 12),
            DecisionSettings(max_bars=12),
            Action.CLOSE,
            None,
            "held for 12 bars",
        ),
        (
            (0.6, 0.2),
            holding(Side.LONG, 11),
            DecisionSettings(max_bars=12),
            Action.HOLD,
            None,
            "keeps",
        ),
    ],
)
def test_a_signal_becomes_the_decision_of_the_table(
    shares: tuple[float, float],
    held: Holding | None,
    settings: DecisionSettings,
    action: Action,
    side: Side | None,
    says: str,
) -> None:
    decision = decide(signal(*shares), held, settings, range_points=100.0)
    assert (decision.action, decision.side) == (action, side)
    assert says in decision.reason


def test_what_a_person_closed_waits_for_another_signal() -> None:
    same = decide(signal(0.9, 0.0), None, PLAIN, range_points=1.0, declined=Side.LONG)
    assert same.action is Action.HOLD
    assert "a person closed long" in same.reason
    other = decide(signal(0.0, 0.9), None, PLAIN, range_points=1.0, declined=Side.LONG)
    assert (other.action, other.side) == (Action.OPEN, Side.SHORT)


def test_no_usable_signal_opens_and_closes_nothing_but_time_still_does() -> None:
    bad = signal(0.0, 0.0, "the model answered nan")
    for held in (None, LONG):
        decision = decide(bad, held, FADE, range_points=100.0)
        assert decision.action is Action.HOLD
        assert "the model answered nan" in decision.reason
    late = decide(bad, holding(Side.LONG, 9), DecisionSettings(max_bars=9), range_points=100.0)
    assert late.action is Action.CLOSE


@pytest.mark.parametrize(
    ("settings", "stop", "take"),
    [
        (DecisionSettings(), None, None),
        (DecisionSettings(stop_points=50, take_points=80), 50.0, 80.0),
        (DecisionSettings(stop_ranges=1.5, take_ranges=3), 150.0, 300.0),
        (DecisionSettings(stop_ranges=1.5, take_points=80), 150.0, 80.0),
    ],
)
def test_distances_come_from_points_or_from_the_recent_range(
    settings: DecisionSettings, stop: float | None, take: float | None
) -> None:
    decision = decide(signal(0.9, 0.0), None, settings, range_points=100.0)
    assert (decision.stop_points, decision.take_points) == (stop, take)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([None, LONG, SHORT]),
    st.floats(0.01, 1),
    st.floats(0, 1),
    st.booleans(),
    st.sampled_from(Sides),
)
def test_whatever_comes_is_decided_alike_for_both_sides(
    long: float,
    short: float,
    held: Holding | None,
    open_at: float,
    close_at: float,
    reverse: bool,
    sides: Sides,
) -> None:
    settings = DecisionSettings(open_at=open_at, close_at=close_at, reverse=reverse, sides=sides)
    mirrored = settings.model_copy(update={"sides": _MIRROR[sides]})
    decision = decide(signal(long, short), held, settings, range_points=1.0)
    other = decide(
        signal(short, long),
        None if held is None else holding(held.side.other),
        mirrored,
        range_points=1.0,
    )
    assert decision.action is other.action
    assert decision.reason
    assert (decision.side is None) == (decision.action in (Action.HOLD, Action.CLOSE))
    assert decision.side is (None if other.side is None else other.side.other)


_MIRROR = {Sides.BOTH: Sides.BOTH, Sides.LONG: Sides.SHORT, Sides.SHORT: Sides.LONG}


def test_the_recent_range_counts_gaps() -> None:
    rates = rates_of(
        [
            (0, 1.0, 1.0, 1.0, 1.0, 1, 0, 0),
            (60, 1.0, 1.2, 0.9, 1.1, 1, 0, 0),
            (120, 1.5, 1.6, 1.5, 1.6, 1, 0, 0),
        ]
    )
    # 0.3 of the second bar; 1.6 - 1.1 of the third, which opened above the second's close.
    assert math.isclose(range_points(rates, bars=2, point=0.1), 4.0)
    assert math.isclose(range_points(rates, bars=1, point=0.1), 5.0)


def test_bars_are_counted_from_the_one_in_which_the_position_was_opened() -> None:
    rates = rates_of((60 * i, 1.0, 1.0, 1.0, 1.0, 1, 0, 0) for i in range(10))
    assert bars_since(rates, 540) == 1
    assert bars_since(rates, 0) == 10
    assert bars_since(rates, 600) == 0
