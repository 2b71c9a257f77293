"""What is seen ahead is what the walk finds: equity at each open, the worst of each bar."""

from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import MONDAY, Play, profile
from terminal.paper_money import pair

from bridge.mt5.rates import RatesArray, rates_of
from bridge.terminal.paper.prices import Prices

COUNT = 120


def wandering(start: float, digits: int, seed: int) -> RatesArray:
    """Return bars whose opens have gaps, and spreads that change."""
    rng = np.random.default_rng(seed)
    moves = rng.integers(-40, 41, size=(COUNT, 2)).cumsum(axis=0).sum(axis=1)
    opens = start + moves * 10.0**-digits
    up, down, end = rng.integers(0, 60, size=(3, COUNT)) * 10.0**-digits
    rows = zip(opens, opens + up, opens - down, opens + np.minimum(up, end), strict=True)
    return rates_of(
        (MONDAY + 3_600 * place, *(round(float(price), digits) for price in row), 9, spread, 0)
        for place, (row, spread) in enumerate(zip(rows, rng.integers(0, 9, COUNT), strict=True))
    )


def opened(symbol: str, start: float, prices: Prices, deals: list[dict[str, Any]]) -> Play:
    """Return an account that has dealt at the fourth bar."""
    terms = pair(symbol[:3], symbol[3:], volume_min=0.001, volume_step=0.001, swap_long=-7.3)
    bars = wandering(start, terms["digits"], seed=7)
    play = Play(bars, profile({symbol: terms}, margin_so_so=100.0, leverage=10), prices=prices)
    play.bar(3)
    for fields in deals:
        assert play.send(**fields).retcode == 10009
    return play


BUY, SELL = {"type": 0}, {"type": 1}


@pytest.mark.parametrize("prices", [Prices.OHLC, Prices.OPEN])
@pytest.mark.parametrize(
    ("symbol", "start", "deals"),
    [
        ("EURUSD", 1.1, [BUY | {"volume": 0.3}]),
        ("EURUSD", 1.1, [SELL | {"volume": 0.3}]),
        # A point is half a cent: every second profit lies on a half.
        ("EURUSD", 1.1, [BUY | {"volume": 0.005}, SELL | {"volume": 0.045}]),
        ("USDJPY", 150.0, [BUY | {"volume": 0.123}]),
        ("USDJPY", 150.0, [SELL | {"volume": 0.007, "tp": 148.8}]),
        ("EURUSD", 1.1, [BUY | {"volume": 0.2, "sl": 1.1, "tp": 1.102}]),
        ("EURUSD", 1.1, [SELL | {"volume": 0.2, "sl": 1.102, "tp": 1.1}]),
        # Beyond every open, within the bars.
        ("EURUSD", 1.1, [BUY | {"volume": 0.2, "sl": 1.1003}]),
        ("EURUSD", 1.1, [SELL | {"volume": 0.2, "sl": 1.1027}]),
        # Near its stop-out level.
        ("EURUSD", 1.1, [BUY | {"volume": 0.9}]),
        ("EURUSD", 1.1, [SELL | {"volume": 0.9}]),
    ],
)
def test_the_walk_finds_what_was_seen(
    symbol: str, start: float, prices: Prices, deals: list[dict[str, Any]]
) -> None:
    seeing, walking = (opened(symbol, start, prices, deals) for _ in range(2))
    ahead = seeing.terminal.foresee(20)  # until midnight
    assert ahead is not None
    assert ahead.equity is not None
    assert ahead.lows is not None
    assert ahead.count == len(ahead.equity) == len(ahead.lows) > 0
    held = walking.terminal.positions_get()
    for place in range(ahead.count):
        walking.bar(4 + place)
        assert walking.terminal.account_info().equity == ahead.equity[place]
        assert walking.terminal.lows(0.0)[-1][1] == ahead.lows[place]
        assert len(walking.terminal.positions_get()) == len(held)
    seeing.terminal.pass_over(ahead.count)
    seeing.bar(3 + ahead.count)
    for play in (seeing, walking):
        play.bar(50)
    assert seeing.terminal.lows(0.0) == walking.terminal.lows(0.0)
    assert seeing.terminal.account_info() == walking.terminal.account_info()
    assert seeing.terminal.positions_get() == walking.terminal.positions_get()
    if ahead.count < 20:  # it was right to stop there
        assert len(walking.terminal.positions_get()) < len(held)
