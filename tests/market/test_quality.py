"""Checks on bars: what is good is passed in one look, and nothing bad is passed with it."""

import math

import numpy as np
import pytest

from bridge.errors import DataError
from bridge.market.quality import _are_good, _faults, check_rates
from bridge.mt5.rates import RATES_DTYPE, RatesArray

PRICES = ("open", "high", "low", "close")
BAD = (0.0, -1.0, math.nan, math.inf, -math.inf, 1e-300, 1e300)


def bars(rng: np.random.Generator, count: int) -> RatesArray:
    """Return possible bars."""
    made = np.zeros(count, dtype=RATES_DTYPE)
    made["time"] = 600 + 60 * np.cumsum(rng.integers(1, 3, size=count))
    prices = np.round(rng.uniform(1.0, 1.001, size=(count, 4)), 5)
    made["open"], made["close"] = prices[:, 0], prices[:, 1]
    made["high"], made["low"] = prices.max(axis=1), prices.min(axis=1)
    made["spread"] = rng.integers(0, 3, size=count)
    return made


@pytest.mark.parametrize("count", [0, 1, 2, 65])
def test_good_bars_pass(count: int) -> None:
    made = bars(np.random.default_rng(count), count)
    assert _are_good(made)
    check_rates(made, what="bars")


def test_one_look_says_what_all_checks_say() -> None:
    rng = np.random.default_rng(7)
    seen = {True: 0, False: 0}
    for _ in range(2_000):
        made = bars(rng, int(rng.integers(1, 6)))
        place, name = int(rng.integers(len(made))), str(rng.choice([*PRICES, "time", "spread"]))
        if name in PRICES:
            other = made[str(rng.choice(PRICES))][place]
            made[name][place] = rng.choice([*BAD, other, other * 1.0001, other * 0.9999])
        else:
            made[name][place] += rng.integers(-130, 130)
        is_good = not any(wrong.any() for _, wrong in _faults(made))
        seen[is_good] += 1
        assert _are_good(made) is is_good, made
        if not is_good:
            with pytest.raises(DataError, match="the bar of 1970"):
                check_rates(made, what="bars")
    assert min(seen.values()) > 300
