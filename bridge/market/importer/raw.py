"""Rows as they were in a file, column by column, before anything is made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bridge.market.importer.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """The rows of a file, in its order.

    Attributes:
        moments: Their times, as written.
        zone: What the file says of all its times: ``utc``, ``local``, or None.
        columns: Prices as float64 (NaN where a cell is empty), others as integers or float64;
            shape ``(n,)`` each.
        said: Symbol or timeframe, where rows say them.
        ticks: Whether the rows are ticks.
        decimals: Decimals of the prices of the first rows, as they are written; 0 if unknown.
        headers: How many headers stood between the rows.
        left_out: Columns that are not needed.
        encoding: Of the text; ``Parquet`` for that.
    """

    moments: Moments
    zone: str | None
    columns: Mapping[str, NDArray[Any]]
    said: Mapping[str, str]
    ticks: bool
    decimals: int = 0
    headers: int = 0
    left_out: tuple[str, ...] = ()
    encoding: str = "utf-8"
