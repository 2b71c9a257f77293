"""What losses are measured from: day by day, through deposits, at the worst moment."""

import math

import pytest

from bridge.mt5.servertime import parse
from bridge.risk.baselines import Baselines, first_baselines, merged

DAY = 86_400
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


def test_a_week_begins_on_sunday_and_stays_broken_until_the_next() -> None:
    first = first_baselines(MONDAY, 10_000.0)
    dipped = first.advanced(MONDAY + 60, 9_000.0)
    friday = dipped.advanced(MONDAY + 4 * DAY, 10_400.0)
    assert friday.day_loss_share(10_400.0) == 0.0
    assert friday.week_loss_share(10_400.0) == pytest.approx(0.1)
    saturday = friday.advanced(parse("2017.03.18 23:59:59"), 10_500.0)
    assert saturday.week_loss_share(10_500.0) == pytest.approx(0.1)
    sunday = saturday.advanced(parse("2017.03.19 00:00"), 10_500.0)
    assert sunday.week_loss_share(10_500.0) == 0.0
    assert sunday.week_loss_share(9_975.0) == pytest.approx(0.05)
    # A week without a look on Sunday begins with the first one.
    assert saturday.advanced(MONDAY + 7 * DAY, 8_000.0).first_of_week == 8_000.0


def test_a_day_s_low_is_the_week_s_when_the_day_is_over() -> None:
    old = Baselines(day=MONDAY // DAY, day_equity=10_000.0, peak_equity=10_000.0, day_low=9_000.0)
    # A journal that knew no weeks: the week begins with the day that it knew.
    assert old.week_loss_share(9_900.0) == pytest.approx(0.1)
    tuesday = old.advanced(MONDAY + DAY, 9_900.0)
    assert tuesday.day_loss_share(9_900.0) == 0.0
    assert tuesday.week_loss_share(9_900.0) == pytest.approx(0.1)


def test_money_paid_moves_week_and_balance_and_counts_as_deposit_when_it_comes_in() -> None:
    first = first_baselines(MONDAY, 10_000.0).advanced(MONDAY + 60, 9_400.0, 9_800.0)
    assert first.day_balance == 9_800.0
    paid = first.advanced(MONDAY + 120, 9_400.0, 9_700.0).shifted(5_000.0).shifted(-1_000.0)
    assert (paid.day_balance, paid.first_of_week, paid.deposits) == (13_800.0, 14_000.0, 5_000.0)
    assert paid.week_loss_share(13_400.0) == pytest.approx(600 / 14_000)
    tuesday = paid.advanced(MONDAY + DAY, 13_500.0, 13_600.0)
    assert (tuesday.day_balance, tuesday.deposits) == (13_600.0, 5_000.0)


def test_of_what_strategies_know_the_strictest_counts() -> None:
    long_known = first_baselines(MONDAY - DAY, 10_000.0).advanced(MONDAY, 9_900.0)
    dipped = long_known.advanced(MONDAY + 60, 9_000.0, 9_500.0)
    newcomer = first_baselines(MONDAY + 60, 9_500.0).advanced(MONDAY + 60, 9_500.0, 9_600.0)
    of_yesterday = first_baselines(MONDAY - DAY, 12_000.0).shifted(100.0)
    all_of_them = merged([newcomer, of_yesterday, dipped])
    assert all_of_them == Baselines(
        day=MONDAY // DAY,
        day_equity=9_900.0,
        peak_equity=12_100.0,
        day_low=9_000.0,
        day_balance=9_600.0,
        week_equity=12_100.0,
        week_low=9_000.0,
        deposits=100.0,
    )
    assert merged([dipped, dipped]) == dipped
