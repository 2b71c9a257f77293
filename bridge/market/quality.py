"""Checks on bars: what is wrong is named, nothing is repaired."""

import numpy as np

from bridge.errors import DataError
from bridge.mt5 import servertime
from bridge.mt5.rates import RATES_DTYPE, RatesArray

_PRICES = ("open", "high", "low", "close")


def check_rates(rates: RatesArray, *, what: str) -> None:
    """Check that bars are sorted, unique, finite and possible.

    Args:
        rates: Shape ``(n,)``.
        what: What the bars are, for the message: ``EURUSD H1`` or a file's name.

    Raises:
        DataError: The first bar that is wrong, and why.
    """
    if rates.dtype != RATES_DTYPE:
        raise DataError(f"{what}: bars have the columns {rates.dtype.names}, not those of rates")
    if _are_good(rates):
        return
    for reason, wrong in _faults(rates):
        if wrong.any():
            bar = int(np.argmax(wrong))
            raise DataError(
                f"{what}: the bar of {servertime.text(int(rates['time'][bar]))} {reason}; "
                "export the bars again or remove it"
            )


def _are_good(rates: RatesArray) -> bool:
    """Whether nothing of ``_faults`` is wrong: asked at each bar, so in as few passes as it goes.

    A price that is no number makes each of its comparisons false.
    """
    opens, high, low, close = (rates[name] for name in _PRICES)
    times = rates["time"]
    good = (low > 0) & (high < np.inf) & (low <= opens) & (low <= close)
    good &= (opens <= high) & (close <= high) & (rates["spread"] >= 0)
    good[1:] &= times[1:] > times[:-1]
    return bool(np.logical_and.reduce(good))


def _faults(rates: RatesArray) -> list[tuple[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]]:
    prices = np.stack([rates[name] for name in _PRICES]) if len(rates) else np.ones((4, 0))
    highest, lowest = prices.max(axis=0), prices.min(axis=0)
    step = np.diff(rates["time"], prepend=rates["time"][:1] - 1)
    return [
        ("has a price that is not a positive number", ~(np.isfinite(prices) & (prices > 0)).all(0)),
        ("has a high below another of its prices", rates["high"] < highest),
        ("has a low above another of its prices", rates["low"] > lowest),
        ("has a negative spread", rates["spread"] < 0),
        ("stands twice", step == 0),
        ("is older than the bar before it", step < 0),
    ]
