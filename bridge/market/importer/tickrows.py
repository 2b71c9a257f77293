"""Exports of ticks, as bars: a terminal counts the ticks of a minute the same way."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.market.importer.fault import Fault
from bridge.market.importer.moments import Ints, text_ms
from bridge.market.importer.prices import priced, whole
from bridge.market.importer.raw import Raw
from bridge.market.importer.stated import Stated
from bridge.mt5.rates import TICKS_DTYPE, RatesArray, sealed

_QUOTES = ("bid", "ask")


def ticks_of(raw: Raw, times: Ints, stated: Stated) -> tuple[RatesArray, int, int, bool]:
    """Return ticks, their digits, how many quotes were carried, and whether newest was first.

    An empty bid or ask is the one of the tick before: the terminal writes what has changed. An
    empty ``last``, or 0, is none.

    Args:
        raw: Of ticks.
        times: Server time, milliseconds; shape ``(n,)``.
        stated: What a person says of the file.

    Returns:
        Ticks dtype, shape ``(n,)``, oldest first.

    Raises:
        Fault: A tick that is wrong, or ticks in no order.
    """
    steps = np.diff(times)
    newest_first = bool(len(steps)) and bool((steps <= 0).all() and (steps < 0).any())
    if (steps < 0).any() and not newest_first:
        row = int(np.argmax(steps < 0)) + 1
        raise Fault(
            f"the tick of {text_ms(int(times[row]))} is older than the one before, and ticks of "
            "one moment can't be sorted: export them again",
            row,
        )
    carried = _carried(raw, newest_first=newest_first)
    found = priced(replace(raw, columns=carried[0]), stated, _QUOTES)
    ticks = np.zeros(len(times), dtype=TICKS_DTYPE)
    ticks["time_msc"], ticks["time"] = times, times // 1_000
    for name in _QUOTES:
        ticks[name] = found.columns[name]
    if "last" in raw.columns:
        ticks["last"] = np.nan_to_num(raw.columns["last"].astype(np.float64))
    for name in ("volume", "flags"):
        if name in raw.columns:
            ticks[name] = whole(name, raw.columns[name], rounded=True)[0]
    ordered = np.ascontiguousarray(ticks[::-1]) if newest_first else ticks
    return sealed(ordered), found.digits, carried[1], newest_first


def _carried(raw: Raw, *, newest_first: bool) -> tuple[dict[str, NDArray[Any]], int]:
    columns, number = dict(raw.columns), 0
    for name in _QUOTES:
        quotes = raw.columns[name].astype(np.float64)
        quotes = quotes[::-1] if newest_first else quotes
        empty = np.isnan(quotes) | (quotes == 0)
        if empty.any():
            newest = np.maximum.accumulate(np.where(empty, -1, np.arange(len(quotes))))
            if newest[0] < 0:
                row = len(quotes) - 1 if newest_first else 0
                raise Fault(f"the first tick has no {name}: leave it out with --skip-lines", row)
            quotes = quotes[newest]
            number += int(empty.sum())
        columns[name] = quotes[::-1] if newest_first else quotes
    return columns, number
