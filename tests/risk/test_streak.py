"""Losses in a row: what counts, what ends them, and that a day's longest row stays."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.risk.streak import Streak


def after(*closed: tuple[int, float]) -> Streak:
    """Return the streak after positions closed on a day with a net result."""
    streak = Streak()
    for day, net in closed:
        streak = streak.after(day, net)
    return streak


def test_losses_count_until_a_win() -> None:
    assert after((1, -5.0), (1, -0.01)).losses == 2
    assert after((1, -5.0), (1, 0.01), (1, -1.0)).losses == 1
    # Even is neither.
    assert after((1, -5.0), (1, 0.0), (1, -1.0)).losses == 2


def test_the_longest_row_of_the_day_stays_until_the_day_is_over() -> None:
    won = after((1, -5.0), (1, -5.0), (1, 30.0))
    assert (won.losses, won.longest_on(1), won.longest_on(2)) == (0, 2, 0)
    assert won.after(2, -1.0).longest_on(2) == 1
    assert won.after(0, -1.0) == won


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(-9, 9)), max_size=12))
def test_it_is_what_counting_by_hand_gives(closed: list[tuple[int, float]]) -> None:
    closed.sort(key=lambda each: each[0])
    row, longest = 0, 0
    for day, net in closed:
        if day == closed[-1][0]:
            row = row + 1 if net < 0 else row if net == 0 else 0
            longest = max(longest, row)
    assert after(*closed).longest_on(closed[-1][0] if closed else 0) == longest
