"""Bars in a DataFrame become bars in an array; pandas itself is not loaded here."""

from collections.abc import Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bridge.errors import DataError
from bridge.features.operations import FIELDS
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed

_WHOLE = ("time", "tick_volume", "spread")


class Frame(Protocol):
    """What is used of a ``pandas.DataFrame``."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    @property
    def index(self) -> Any:
        """Labels of the rows."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: str, /) -> Any: ...


def rates_of_frame(frame: Frame, needed: Collection[str]) -> RatesArray:
    """Return the bars of a DataFrame.

    Args:
        frame: A row a bar, oldest first, columns named as ``copy_rates`` does. ``time`` is the open
            in server time: a column, or else the index, of seconds or of dates without a zone.
        needed: Columns that have to be there, of ``FIELDS`` and ``time``; others may lack.

    Raises:
        DataError: A column lacks or has an unusable value, or the bars are not in order.
    """
    rates = np.zeros(len(frame), dtype=RATES_DTYPE)
    for name in FIELDS:
        if name in frame.columns:
            rates[name] = _numbers(frame, name)
        elif name in needed:
            raise DataError(
                f"the frame has no column {name!r}, which a feature uses: its columns are "
                f"{', '.join(map(str, frame.columns))}"
            )
    times = _times(frame)
    if times is not None:
        rates["time"] = times
    elif "time" in needed:
        raise DataError("the frame has no times, which a feature uses: name a column 'time'")
    return sealed(rates)


def _numbers(frame: Frame, name: str) -> NDArray[np.float64]:
    values = _doubles(frame[name], name)
    usable = np.isfinite(values)
    if name in _WHOLE:
        # In a comparison NaN is no whole number either.
        usable &= (values >= 0) & (values == np.floor(values))
    if not usable.all():
        row = int(np.argmin(usable))
        wanted = "a whole number from 0" if name in _WHOLE else "a number"
        raise DataError(
            f"row {row} of the frame has the {name} {values[row]}: it has to be {wanted}"
        )
    return values


def _times(frame: Frame) -> NDArray[np.int64] | None:
    """Return the bars' times, seconds; None where the frame has none."""
    column: Any = frame["time"] if "time" in frame.columns else frame.index
    if getattr(column.dtype, "tz", None) is not None:
        raise DataError(
            "the frame's times have a zone, bars have the server's wall clock: convert them to it "
            "and remove the zone with tz_localize(None)"
        )
    if column.dtype.kind == "M":
        seconds = column.to_numpy().astype("datetime64[s]").astype(np.int64)
    elif "time" in frame.columns:
        seconds = _numbers(frame, "time").astype(np.int64)
    else:
        return None
    # A date that is missing is the smallest number there is, the first row of all may have it.
    late = np.flatnonzero(np.diff(seconds, prepend=-1) <= 0)
    if len(late):
        raise DataError(
            f"row {late[0]} of the frame has no time later than the one before: sort the bars by "
            "time, each once"
        )
    return np.asarray(seconds, dtype=np.int64)


def _doubles(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the frame's column {name!r} holds {column.dtype}, which is no number in every row: "
            "convert it with pandas.to_numeric or pandas.to_datetime"
        ) from error
