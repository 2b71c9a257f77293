"""Bars and ticks as arrays: the two dtypes of the package, and how arrays are made and sealed.

A bar's ``time`` is its *open*, in server time (see ``servertime``). Arrays run oldest first.
Source: descriptors and flags read from the wheel 5.0.6231.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RATES = [
    ("time", "<i8"),
    ("open", "<f8"),
    ("high", "<f8"),
    ("low", "<f8"),
    ("close", "<f8"),
    ("tick_volume", "<u8"),
    ("spread", "<i4"),
    ("real_volume", "<u8"),
]
_TICKS = [
    ("time", "<i8"),
    ("bid", "<f8"),
    ("ask", "<f8"),
    ("last", "<f8"),
    ("volume", "<u8"),
    ("time_msc", "<i8"),
    ("flags", "<u4"),
    ("volume_real", "<f8"),
]

RATES_DTYPE = np.dtype(_RATES)
TICKS_DTYPE = np.dtype(_TICKS)

RatesArray = NDArray[np.void]
"""``(n,) RATES_DTYPE``, oldest first, read-only."""


def sealed(array: NDArray[np.void]) -> NDArray[np.void]:
    """Return ``array`` itself, read-only, as the package hands arrays out."""
    array.flags.writeable = False
    return array


def rates_of(rows: Iterable[tuple[Any, ...]]) -> RatesArray:
    """Return rows ``(time, open, high, low, close, tick_volume, spread, real_volume)`` as rates."""
    return sealed(np.array(list(rows), dtype=RATES_DTYPE))
