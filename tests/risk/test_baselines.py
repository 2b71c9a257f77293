"""What losses are measured from: day by day, through deposits, at the worst moment."""

import math

import pytest

from bridge.mt5.servertime import parse
from bridge.risk.baselines import first_baselines

MONDAY = parse("2017.03.13 10:00")


def test_a_day_s_worst_loss_stays_until_the_day_is_over() -> None:
    first = first_baselines(MONDAY, 10_000.0)
    dipped = first.advanced(MONDAY + 60, 9_400.0)
    again = dipped.advanced(MONDAY + 120, 10_100.0)
    assert again.day_loss_share(10_100.0) == pytest.approx(0.06)
    assert again.drawdown_share(10_100.0) == 0.0
    tuesday = again.advanced(MONDAY + 86_400, 10_050.0)
    assert tuesday.day_loss_share(10_050.0) == 0.0
    assert tuesday.peak_equity == 10_100.0


def test_money_paid_is_neither_gain_nor_loss() -> None:
    dipped = first_baselines(MONDAY, 10_000.0).advanced(MONDAY + 60, 9_400.0)
    paid = dipped.shifted(5_000.0)
    assert paid.day_loss_share(14_400.0) == pytest.approx(600 / 15_000)
    assert paid.drawdown_share(14_400.0) == pytest.approx(600 / 15_000)
    taken = dipped.shifted(-5_000.0)
    assert taken.day_loss_share(4_400.0) == pytest.approx(600 / 5_000)


def test_a_tick_of_yesterday_opens_no_day_again() -> None:
    today = first_baselines(MONDAY, 10_000.0).advanced(MONDAY, 9_900.0)
    late = today.advanced(MONDAY - 86_400, 8_000.0)
    assert (late.day, late.day_equity, late.day_low) == (today.day, 10_000.0, 9_900.0)


def test_no_number_breaks_every_limit() -> None:
    first = first_baselines(MONDAY, 10_000.0)
    assert math.isnan(first.day_loss_share(math.nan))
    assert not first.day_loss_share(math.nan) < 0.05
    assert first_baselines(MONDAY, 0.0).drawdown_share(0.0) == 1.0
