import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_support import symbol_info

from bridge.risk.volume import fixed_volume, floor_to_step, volume_for_risk

STEPS = st.sampled_from(
    [(0.01, 0.01, 100.0), (0.1, 0.1, 50.0), (1.0, 1.0, 500.0), (0.5, 0.25, 7.5)]
)
MONEY = st.floats(min_value=0.01, max_value=1e7)


@given(STEPS, MONEY, st.floats(min_value=0.0001, max_value=1.0), MONEY)
def test_never_above_the_risk_always_on_the_step(
    terms: tuple[float, float, float], equity: float, share: float, loss: float
) -> None:
    least, step, most = terms
    symbol = symbol_info(volume_min=least, volume_step=step, volume_max=most)
    volume = volume_for_risk(symbol, equity=equity, share=share, loss_per_lot=loss).volume
    # A billionth of a step is what rounding may add.
    assert volume * loss <= equity * share + loss * step * 1e-8
    assert volume == 0.0 or least <= volume <= most
    assert math.isclose(volume / step, round(volume / step), abs_tol=1e-6)
    # One step more would be too much, or is not allowed.
    if 0.0 < volume < most - step:
        assert (volume + step) * loss > equity * share


@given(STEPS, st.floats(min_value=0.0, max_value=1e4))
def test_flooring_twice_is_flooring_once(terms: tuple[float, float, float], lots: float) -> None:
    least, step, most = terms
    symbol = symbol_info(volume_min=least, volume_step=step, volume_max=most)
    once = floor_to_step(symbol, lots)
    assert floor_to_step(symbol, once) == once


def test_three_steps_of_a_tenth_are_three() -> None:
    symbol = symbol_info(volume_min=0.1, volume_step=0.1, volume_max=10.0)
    assert fixed_volume(symbol, 0.3).volume == 0.3
    assert fixed_volume(symbol, 0.1 + 0.2).volume == 0.3
    assert fixed_volume(symbol, 0.39).volume == 0.3


def test_a25_a_risk_below_the_minimum_lot_does_not_trade_and_says_the_numbers() -> None:
    # 200 USD at 1 %, EURUSD with a stop of 500 points: 500 USD a lot.
    sizing = volume_for_risk(symbol_info(), equity=200.0, share=0.01, loss_per_lot=500.0)
    assert sizing.volume == 0.0
    assert "needs 0.004 lots" in sizing.words
    assert "the minimum is 0.01, which would risk 5.00 (2.5% of equity)" in sizing.words


def test_a34_gold_in_euros_is_sized_by_money_alone() -> None:
    # 10,000 EUR at 1 %; 8.50 USD on 100 ounces at 1.0850 is 783.41 EUR a lot.
    sizing = volume_for_risk(symbol_info(), equity=10_000.0, share=0.01, loss_per_lot=783.41)
    assert sizing.volume == 0.12


def test_a_fixed_volume_below_the_minimum_is_not_lifted() -> None:
    sizing = fixed_volume(symbol_info(volume_min=0.1, volume_step=0.01), 0.05)
    assert sizing.volume == 0.0
    assert "below the minimum of 0.1" in sizing.words


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_a_loss_that_is_no_positive_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="out of range"):
        volume_for_risk(symbol_info(), equity=1000.0, share=0.01, loss_per_lot=bad)


def test_nan_equity_is_refused_and_a_negative_one_sizes_nothing() -> None:
    with pytest.raises(ValueError, match="out of range"):
        volume_for_risk(symbol_info(), equity=math.nan, share=0.01, loss_per_lot=1.0)
    assert volume_for_risk(symbol_info(), equity=-5.0, share=0.01, loss_per_lot=1.0).volume == 0.0
