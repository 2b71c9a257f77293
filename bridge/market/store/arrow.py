"""Bars as Parquet. The library comes with an extra and is loaded when it is needed."""

import importlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from bridge.errors import ConfigError, DataError
from bridge.mt5.rates import RATES_DTYPE, RatesArray


def library(name: str) -> Any:
    """Return the module ``pyarrow.name``; an empty name is pyarrow itself.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module(f"pyarrow.{name}" if name else "pyarrow")
    except ModuleNotFoundError as error:
        raise ConfigError(
            "bars are kept as Parquet, which needs pyarrow, and it is not installed: "
            'pip install "mt5-onnx-bridge[history]"'
        ) from error


def write_rates(file: IO[bytes], rates: RatesArray) -> None:
    """Write bars as a Parquet file with the columns of ``copy_rates``."""
    columns = {name: np.ascontiguousarray(rates[name]) for name in RATES_DTYPE.fields or ()}
    library("parquet").write_table(library("").table(columns), file, compression="snappy")


def read_rates(path: Path) -> RatesArray:
    """Return the bars of a file that :func:`write_rates` wrote; shape ``(n,)``, writable.

    Raises:
        DataError: It is no such file, or damaged.
        FileNotFoundError: There is none.
    """
    parquet, errors = library("parquet"), library("").lib
    try:
        table = parquet.read_table(path, memory_map=False, partitioning=None)
        return rates_of_table(table)
    except FileNotFoundError:
        raise
    except (errors.ArrowException, OSError, KeyError) as error:
        raise DataError(
            f"{path} can't be read as bars ({str(error).splitlines()[0]}): remove the folder "
            "that it is in, and import the bars again"
        ) from error


def rates_of_table(table: Any) -> RatesArray:
    """Return a table with the columns of ``copy_rates`` as bars; shape ``(n,)``, writable."""
    rates = np.empty(table.num_rows, dtype=RATES_DTYPE)
    for name in rates.dtype.names or ():
        rates[name] = table.column(name).to_numpy()
    return rates
