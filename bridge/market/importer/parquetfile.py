"""Parquet files of bars or ticks, whoever wrote them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.market.importer.columns import MOMENTS, PRICES, QUOTES, header_of
from bridge.market.importer.fault import Fault
from bridge.market.importer.moments import Moments, of_epoch, of_text
from bridge.market.importer.raw import Raw
from bridge.market.importer.stated import Stated
from bridge.market.store.arrow import library

_UNITS = {"s": (1_000, 1), "ms": (1, 1), "us": (1, 1_000), "ns": (1, 1_000_000)}


def read_parquet(data: bytes, stated: Stated) -> Raw:
    """Return the rows of a Parquet file.

    Raises:
        Fault: It is damaged, lacks columns, or has rows without a time.
        ConfigError: pyarrow is missing.
    """
    arrow = library("")
    try:
        table = library("parquet").ParquetFile(arrow.BufferReader(data)).read()
    except (arrow.lib.ArrowException, OSError, ValueError) as error:
        why = next(iter(str(error).splitlines()), "no reason given")
        raise Fault(f"the Parquet file is damaged ({why}): copy it again") from error
    written = table.column_names
    names = _names(written, stated)
    if not table.num_rows:
        raise Fault("no bars: the table has no rows, export the bars again")
    table = table.select([n for n, name in enumerate(names) if name])
    table = table.rename_columns([name for name in names if name])
    if "symbol" in table.column_names or "timeframe" in table.column_names:
        table = table.drop_columns([n for n in ("symbol", "timeframe") if n in table.column_names])
    moments, zone = _moments(table, stated)
    return Raw(
        moments,
        zone,
        {name: _numbers(table, name) for name in table.column_names if name not in MOMENTS},
        {},
        ticks="open" not in table.column_names,
        left_out=tuple(w for w, name in zip(written, names, strict=True) if name is None),
        encoding="Parquet",
    )


def _names(written: list[str], stated: Stated) -> tuple[str | None, ...]:
    if stated.columns and len(stated.columns) == len(written):
        return tuple(None if name == "-" else name for name in stated.columns)
    names = header_of(written) or ()
    needed = QUOTES[:2] if "bid" in names and "open" not in names else PRICES
    missing = [name for name in needed if name not in names]
    if not set(MOMENTS) & set(names):
        missing.insert(0, "time")
    if missing:
        raise Fault(
            f"the table has no column {missing[0]}, it has {', '.join(written)}: name its columns "
            "with --columns, one for each, as in --columns time,open,high,low,close,-"
        )
    return names


def _moments(table: Any, stated: Stated) -> tuple[Moments, str | None]:
    arrow = library("")
    column = table.column("time" if "time" in table.column_names else "date")
    if column.null_count:
        raise Fault("the time is missing", int(np.argmax(column.is_null().to_numpy())))
    kind = column.type
    if arrow.types.is_timestamp(kind):
        times, part = _UNITS[kind.unit]
        raw = column.cast(arrow.int64()).to_numpy()
        # With a zone the number is UTC, whatever zone it is shown in.
        return Moments(raw * times // part), "utc" if kind.tz else None
    if arrow.types.is_date(kind):
        days = column.cast(arrow.date32()).cast(arrow.int32()).to_numpy().astype(np.int64)
        return Moments(days * 86_400_000), None
    if arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
        return Moments(of_epoch(column.to_numpy().astype(np.int64))), None
    text = column.cast(arrow.string())
    if "date" in table.column_names and "time" in table.column_names:
        return of_text(table.column("date").cast(arrow.string()), text, stated.date_order), None
    return of_text(None, text, stated.date_order), None


def _numbers(table: Any, name: str) -> NDArray[Any]:
    arrow = library("")
    column = table.column(name)
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        try:
            column = column.cast(arrow.float64())
        except (arrow.lib.ArrowInvalid, arrow.lib.ArrowNotImplementedError) as error:
            raise Fault(f"the column {name} holds {column.type}, not numbers") from error
    if column.null_count and name not in (*PRICES, *QUOTES):
        column = column.fill_null(0)
    found: NDArray[Any] = column.to_numpy()
    return found
