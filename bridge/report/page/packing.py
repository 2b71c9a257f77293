"""Long series for the page: thinned where a screen can't tell, and packed as base64.

Times are unsigned 32-bit seconds, values 32-bit floats, little-endian: about seven digits, enough
to draw.
"""

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.report.course import Numbers
from bridge.report.story import Times

MOST = 100_000
"""Points of a series on the page; what has more is thinned to its extremes."""


def kept(values: Numbers, most: int = MOST) -> NDArray[np.int64]:
    """Return the numbers of the points to keep: of each stretch the lowest and the highest.

    Args:
        values: Shape ``(n,)``, finite.
        most: Points to keep at most, about; all are kept when there are no more.
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    width = -(-count // (most // 2))
    whole = count // width * width
    table = values[:whole].reshape(-1, width)
    starts = np.arange(0, whole, width)
    found = np.concatenate(
        [starts + table.argmin(axis=1), starts + table.argmax(axis=1), [0, count - 1]]
    )
    return np.unique(found)


def packed_times(times: Times) -> str:
    """Return server epoch seconds, packed."""
    return _packed(times.astype("<u4").tobytes())


def packed(values: Numbers) -> str:
    """Return values, packed."""
    return _packed(values.astype("<f4").tobytes())


def embedded(value: Any) -> str:
    """Return JSON that can stand inside a script element: no character there ends it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
