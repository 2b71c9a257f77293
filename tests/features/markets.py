"""Markets for feature tests: a real one and the awkward ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.market.barfile import read_bars
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.share import share_dir

SAMPLE = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")


def market(close: NDArray[np.floating[Any]], tick: float) -> RatesArray:
    """Return hourly bars around ``close`` whose ranges are a tick or none."""
    rates = np.zeros(len(close), dtype=RATES_DTYPE)
    rates["time"] = 1_483_228_800 + 3600 * np.arange(len(close))
    rates["close"] = close
    rates["open"] = np.concatenate([close[:1], close[:-1]])
    rates["high"] = np.maximum(rates["open"], close) + tick
    rates["low"] = np.minimum(rates["open"], close) - tick
    rates["tick_volume"] = 100 + np.arange(len(close)) % 7
    rates["spread"] = 10
    return sealed(rates)


N = 900
WALK = np.cumsum(np.random.default_rng(5).integers(-3, 4, N)).astype(np.float64)
MARKETS = {
    "real": SAMPLE[:2000],
    "flat": market(np.full(N, 1.1), 0.0),
    "one tick": market(np.where(np.arange(N) == 800, 1.10001, 1.1), 0.0),
    "monotone": market(1.1 + 0.0001 * np.arange(N), 0.0001),
    "huge": market(97_000.0 + 10.0 * WALK, 5.0),
    "tiny": market(3e-6 + 1e-9 * WALK, 1e-9),
}
